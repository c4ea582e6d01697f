//! The table of kinds for tests: a row for each kind of the core, with the facts that its traits do not have.

use redlatch::ffi::kinds::{self, KindRow, Traits};
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, LockBuilder};

/// Builds a lock of one kind under a name.
pub type Lock = fn(&Client, &str) -> LockBuilder;

/// The form of a kind's key in Redis. Kinds with the same form share their keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Lock,
    ReadWrite,
    Group,
    Token,
    Number,
}

pub struct Row {
    pub name: &'static str,
    pub form: Form,
    /// The kind's locks; `None`: a semaphore, a latch or a permit, which has calls of its own.
    pub lock: Option<Lock>,
    /// The getter in Python and, in camel case, in Java. After a dot follows a part of its object. Of a kind that
    /// Redisson does not have, Java's getter is a class of `io.redlatch`: `TokenLock.of` for `get_token_lock`.
    pub getter: &'static str,
    /// The kind whose [`Op::TrySet`] creates the permits or the count; `None`: a lock needs nothing of that sort.
    pub set_by: Option<&'static str>,
    /// The folders of core/scripts with the kind's scripts.
    pub scripts: &'static [&'static str],
}

const LOCK: Row = Row { name: "", form: Form::Lock, lock: None, getter: "", set_by: None, scripts: &[] };
const NUMBER: Row = Row { form: Form::Number, ..LOCK };

/// The kind behind leaders, which no program takes as a lock.
static LEADER: Row = Row { name: "leader", getter: "leader", scripts: &["leader", "plain"], ..LOCK };

pub static ALL: &[Row] = &[
    Row { name: "plain", lock: Some(Client::lock), getter: "get_lock", scripts: &["plain"], ..LOCK },
    Row { name: "spin", lock: Some(Client::spin_lock), getter: "get_spin_lock", scripts: &["plain"], ..LOCK },
    Row {
        name: "non_reentrant",
        lock: Some(Client::non_reentrant_lock),
        getter: "get_non_reentrant_lock",
        scripts: &["plain", "non_reentrant"],
        ..LOCK
    },
    Row {
        name: "fenced",
        lock: Some(Client::fenced_lock),
        getter: "get_fenced_lock",
        scripts: &["plain", "fenced"],
        ..LOCK
    },
    Row { name: "fair", lock: Some(Client::fair_lock), getter: "get_fair_lock", scripts: &["fair", "plain"], ..LOCK },
    Row {
        name: "non_reentrant_fair",
        lock: Some(Client::non_reentrant_fair_lock),
        getter: "get_non_reentrant_fair_lock",
        scripts: &["fair", "plain"],
        ..LOCK
    },
    Row {
        name: "read",
        form: Form::ReadWrite,
        lock: Some(|client, name| client.read_write_lock(name).read()),
        getter: "get_read_write_lock.read_lock",
        scripts: &["read_write"],
        ..LOCK
    },
    Row {
        name: "write",
        form: Form::ReadWrite,
        lock: Some(|client, name| client.read_write_lock(name).write()),
        getter: "get_read_write_lock.write_lock",
        scripts: &["read_write"],
        ..LOCK
    },
    Row {
        name: "token",
        form: Form::Token,
        lock: Some(Client::token_lock),
        getter: "get_token_lock",
        scripts: &["token"],
        ..LOCK
    },
    Row {
        name: "multi",
        form: Form::Group,
        lock: Some(|client, name| client.multi_lock_group(name, &["one", "two"])),
        getter: "get_multi_lock",
        scripts: &["multi"],
        ..LOCK
    },
    Row { name: "semaphore", getter: "get_semaphore", set_by: Some("semaphore"), scripts: &["semaphore"], ..NUMBER },
    Row { name: "latch", getter: "get_count_down_latch", set_by: Some("latch"), scripts: &["latch"], ..NUMBER },
    Row {
        name: "permit_semaphore",
        getter: "get_permit_expirable_semaphore",
        set_by: Some("permit_semaphore"),
        scripts: &["permit_semaphore"],
        ..NUMBER
    },
    Row {
        name: "permit",
        getter: "get_permit_expirable_semaphore",
        set_by: Some("permit_semaphore"),
        scripts: &["permit_semaphore"],
        ..NUMBER
    },
];

/// The row of a kind.
///
/// # Panics
/// When there is none.
pub fn row(kind: &str) -> &'static Row {
    ALL.iter()
        .chain([&LEADER])
        .find(|row| row.name == kind)
        .unwrap_or_else(|| panic!("tests/src/kinds.rs has no row for the kind `{kind}`"))
}

/// The features of a kind.
///
/// # Panics
/// When the core has no such kind.
pub fn traits(kind: &str) -> &'static Traits {
    &of_core(kind).traits
}

fn of_core(kind: &str) -> &'static KindRow {
    let mut rows = kinds::ALL.iter().chain(kinds::LEADERS);
    rows.find(|row| row.traits.name == kind).unwrap_or_else(|| panic!("the core has no kind `{kind}`"))
}

/// Every kind that is taken as a lock.
pub fn locks() -> impl Iterator<Item = (&'static Traits, Lock)> {
    kinds::ALL.iter().filter_map(|KindRow { traits, .. }| Some((traits, row(traits.name).lock?)))
}

/// The name in a request of this kind about `key`. A group's name has its values too.
pub fn name(kind: &str, key: &str) -> String {
    match row(kind).form {
        Form::Group => format!("{key}\0one\0two"),
        _ => key.to_owned(),
    }
}

/// Creates `count` permits, or sets a latch to it, where the kind has either.
///
/// # Panics
/// When the key is there already.
pub fn set_up(client: &Client, kind: &str, key: &str, count: i64) {
    if let Some(set_by) = row(kind).set_by {
        let set = Request { numbers: vec![count], ..Request::new(Op::TrySet, set_by, key, 1) };
        assert_eq!(client.run_blocking(set).expect("answered").number, 1, "{kind}: {key} is there already");
    }
}

/// Whether the kind's waiters listen on a channel. Other waiters only try now and then.
///
/// # Panics
/// When the core has no such kind.
pub fn listens(kind: &str) -> bool {
    of_core(kind).kind.wake("n", "u:1").channel.is_some()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_the_core_has_its_row_here() {
        let rows: Vec<_> = super::ALL.iter().map(|row| row.name).collect();
        let kinds: Vec<_> = redlatch::ffi::kinds::ALL.iter().map(|row| row.traits.name).collect();
        assert_eq!(rows, kinds);
    }
}
