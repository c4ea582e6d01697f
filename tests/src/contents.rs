//! The whole contents of a server, for comparing and for restoring.

use std::time::Duration;

use crate::View;

/// A key with its value and its end.
#[derive(Clone, Debug)]
struct Key {
    name: String,
    /// The type, and the parts of the value in a canonical order.
    value: Vec<Vec<u8>>,
    dump: Vec<u8>,
    left: i64,
    /// In ms of the server's clock since 1970; −1: never.
    ends: i64,
}

/// The contents of a server at one moment.
#[derive(Clone, Debug)]
pub struct Contents(Vec<Key>);

/// Ends that differ by less count as equal: the rig reads one key after the other.
const SLACK: Duration = Duration::from_secs(5);

impl Contents {
    pub fn of(view: &mut View) -> Self {
        let names = view.keys("*");
        Contents(names.into_iter().filter_map(|name| Key::read(view, name)).collect())
    }

    /// Restores the server to these contents. A key that would have ended meanwhile gets its whole time once more.
    pub fn put_back(&self, view: &mut View) {
        view.command::<()>(&["FLUSHALL"]);
        for key in &self.0 {
            redis::cmd("RESTORE")
                .arg(&key.name)
                .arg(key.left.max(0))
                .arg(&key.dump)
                .exec(&mut view.connection)
                .expect("its own dump");
        }
    }

    /// The differences from `other`, in words. An empty list: none.
    pub fn changed(&self, other: &Contents) -> Vec<String> {
        self.compared(other, Key::ends_with)
    }

    /// As [`Contents::changed`], but a key's end may be later in `other`.
    pub fn changed_but_for_later_ends(&self, other: &Contents) -> Vec<String> {
        self.compared(other, |before, after| before.ends_with(after) || before.ends >= 0 && after.ends >= before.ends)
    }

    fn compared(&self, other: &Contents, ends_alike: impl Fn(&Key, &Key) -> bool) -> Vec<String> {
        let find = |contents: &Contents, name: &str| contents.0.iter().find(|key| key.name == name).cloned();
        let gone =
            self.0.iter().filter(|key| find(other, &key.name).is_none()).map(|key| format!("`{}` is gone", key.name));
        let changed = other.0.iter().filter_map(|key| match find(self, &key.name) {
            None => Some(format!("`{}` is new", key.name)),
            Some(before) if before.value != key.value => Some(format!("`{}` has other contents", key.name)),
            Some(before) if !ends_alike(&before, key) => {
                Some(format!("`{}` ends at {} and not at {}", key.name, key.ends, before.ends))
            }
            Some(_) => None,
        });
        gone.chain(changed).collect()
    }
}

impl Key {
    /// `None`: the key has ended meanwhile.
    fn read(view: &mut View, name: String) -> Option<Key> {
        let kind = view.kind(&name);
        let words: &[&str] = match kind.as_str() {
            "string" => &["GET"],
            "hash" => &["HGETALL"],
            "list" => &["LRANGE", "0", "-1"],
            "zset" => &["ZRANGE", "0", "-1", "WITHSCORES"],
            "none" => return None,
            other => panic!("`{name}` is a {other}, of which no lock has any"),
        };
        let mut command = redis::cmd(words[0]);
        command.arg(&name).arg(&words[1..]);
        let mut value = match command.query(&mut view.connection).expect("it is of that type") {
            redis::Value::Nil => return None,
            value => flat(value),
        };
        if kind == "hash" {
            let mut pairs: Vec<_> = value.chunks(2).map(<[_]>::to_vec).collect();
            pairs.sort();
            value = pairs.concat();
        }
        value.push(kind.into_bytes());
        let dump: Option<Vec<u8>> = view.command(&["DUMP", &name]);
        let left = view.pttl(&name);
        let (seconds, micros): (i64, i64) = view.command(&["TIME"]);
        let ends = if left < 0 { -1 } else { seconds * 1000 + micros / 1000 + left };
        Some(Key { name, value, dump: dump?, left, ends })
    }

    fn ends_with(&self, other: &Key) -> bool {
        (self.ends < 0) == (other.ends < 0) && self.ends.abs_diff(other.ends) < SLACK.as_millis() as u64
    }
}

fn flat(value: redis::Value) -> Vec<Vec<u8>> {
    match value {
        redis::Value::BulkString(bytes) => vec![bytes],
        redis::Value::Array(values) => values.into_iter().flat_map(flat).collect(),
        other => panic!("no contents of a key: {other:?}"),
    }
}
