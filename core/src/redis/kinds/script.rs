//! A Lua script with the names of its inputs, a call of it with named arguments, and its reply.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::redis::kinds::texts::Texts;

/// One script of `core/scripts/`. The client sends its fragments and the file, without changes.
pub struct Script {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    sha: OnceLock<String>,
    both: OnceLock<(String, String)>,
}

/// The form in which the client sends a script.
pub(crate) struct Form<'a> {
    pub text: &'a str,
    pub sha: &'a str,
}

/// Publishes by both commands. A client that listens in both ways hears the message twice, and counts as one.
const BOTH: &str = "local function both(_, channel, message)\n  return math.max(redis.call('SPUBLISH', channel, message), \
                    redis.call('PUBLISH', channel, message))\nend\n";

/// `script!("plain/acquire")`: the script of that file. Before it come `_late.lua` and the other fragments that the
/// call names.
macro_rules! script {
    ($name:literal $(, $fragment:literal)*) => {
        $crate::redis::kinds::script::Script::new(
            $name,
            concat!(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/_late.lua")),
                $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/", $fragment, ".lua")),)*
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/", $name, ".lua"))
            ),
        )
    };
}
pub(crate) use script;

impl Script {
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Self {
        Script { name, text, sha: OnceLock::new(), both: OnceLock::new() }
    }

    fn sha(&self) -> &str {
        self.sha.get_or_init(|| redis::Script::new(self.text).get_hash().to_owned())
    }

    /// The form to send. `both`: it wakes waiters in both ways, by the channel of the slot and by an ordinary one.
    pub(crate) fn form(&self, both: bool) -> Form<'_> {
        if !both {
            return Form { text: self.text, sha: self.sha() };
        }
        let (text, sha) = self.both.get_or_init(|| {
            let text = BOTH.to_owned() + &self.text.replace("redis.call(publish,", "both(publish,");
            let sha = redis::Script::new(&text).get_hash().to_owned();
            (text, sha)
        });
        Form { text, sha }
    }

    /// The names that the file gives to `KEYS` or `ARGV`, in order. The name of a list has `…` behind it.
    #[cfg(test)]
    fn names(&self, table: &str) -> Vec<String> {
        let mut names = Vec::new();
        for line in self.text.lines().filter(|line| line.starts_with("local ") && line.contains(&format!(" {table}"))) {
            let (left, right) = line["local ".len()..].split_once(" = ").expect("a prelude line assigns");
            for (name, value) in left.split(", ").zip(right.split(", ")) {
                match value == table {
                    true => names.push(format!("{name}…")),
                    false => {
                        assert_eq!(value, format!("{table}[{}]", names.len() + 1), "{}: inputs out of order", self.name)
                    }
                }
                if value != table {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }
}

/// A script with its inputs; the client may send it any number of times.
pub struct Call {
    pub(crate) script: &'static Script,
    pub(crate) keys: Texts,
    pub(crate) args: Texts,
    /// The slot whose server gets the call, if it has no keys.
    pub(crate) slot: u16,
    /// The place of the argument `not_after`: the link fills it in when it sends.
    pub(crate) not_after: Option<usize>,
    /// The place of the argument that says whether a copy of the call may have run before.
    pub(crate) resent: Option<usize>,
    /// The place of the argument with the command that wakes the waiters.
    pub(crate) publish: Option<usize>,
    /// The key to forget once the call is answered.
    pub(crate) remembered: Option<String>,
    /// The result counts only after the replicas have confirmed it, see [`crate::SyncPolicy`].
    pub(crate) confirmed: bool,
    /// The call may give a lock to an owner that has nothing of it yet. Set only if a server may have to refuse that.
    pub(crate) grants: bool,
    /// Makes from the first key, or from the pattern of a call without keys, the pattern of the other keys that the script
    /// uses, in the form of the rights to keys, with stars.
    pub(crate) beside: Option<fn(&str) -> String>,
    #[cfg(test)]
    names: (Vec<String>, Vec<String>),
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("script", &self.script.name).finish_non_exhaustive()
    }
}

impl Call {
    pub(crate) fn new(script: &'static Script) -> Self {
        Call {
            script,
            keys: Texts::with_capacity(1, 64),
            args: Texts::with_capacity(9, 160),
            slot: 0,
            not_after: None,
            resent: None,
            publish: None,
            remembered: None,
            confirmed: false,
            grants: false,
            beside: None,
            #[cfg(test)]
            names: Default::default(),
        }
    }

    pub(crate) fn key(mut self, _name: &str, key: impl AsRef<str>) -> Self {
        self.keys.push(key.as_ref().as_bytes());
        #[cfg(test)]
        self.names.0.push(_name.to_owned());
        self
    }

    pub(crate) fn arg(mut self, _name: &str, value: impl Display) -> Self {
        self.args.print(value);
        #[cfg(test)]
        self.names.1.push(_name.to_owned());
        self
    }

    /// Sends the call to the server of that slot, unless it has keys.
    pub(crate) fn to(self, slot: u16) -> Self {
        Call { slot, ..self }
    }

    /// Adds an argument that is not a text.
    pub(crate) fn bytes(mut self, _name: &str, value: &[u8]) -> Self {
        self.args.push(value);
        #[cfg(test)]
        self.names.1.push(_name.to_owned());
        self
    }

    /// Makes room for this many calls of [`Call::also`].
    pub(crate) fn reserve(&mut self, more: usize) {
        self.keys.reserve(more, 64 * more);
        self.args.reserve(more, 8 * more);
    }

    /// Adds a text to the list at the end of each table.
    pub(crate) fn also(&mut self, _keys: &str, key: &str, _args: &str, arg: &[u8]) {
        self.keys.push(key.as_bytes());
        self.args.push(arg);
        #[cfg(test)]
        {
            self.names.0.push(_keys.to_owned());
            self.names.1.push(_args.to_owned());
        }
    }

    pub(crate) fn not_after(mut self) -> Self {
        self.not_after = Some(self.args.len());
        self.arg("not_after", 0)
    }

    pub(crate) fn publish(mut self) -> Self {
        self.publish = Some(self.args.len());
        self.arg("publish", "")
    }

    pub(crate) fn resent(mut self) -> Self {
        self.resent = Some(self.args.len());
        self.arg("resent", 0)
    }

    pub(crate) fn remembered(self, key: &str) -> Self {
        Call { remembered: Some(key.to_owned()), ..self }
    }

    pub(crate) fn beside(self, keys: fn(&str) -> String) -> Self {
        Call { beside: Some(keys), ..self }
    }

    /// The channel on which the call wakes waiters, if it does; empty: none listens.
    pub(crate) fn channel(&self) -> Option<&[u8]> {
        self.args.iter().nth(self.publish? + 1)
    }

    /// The operation and the lock, for messages.
    pub(crate) fn what(&self) -> String {
        match self.keys.iter().next() {
            Some(key) => format!("{} of `{}`", self.script.name, String::from_utf8_lossy(key)),
            None => self.script.name.to_owned(),
        }
    }

    /// Tells whether a second copy could do harm: such a call is never in flight twice.
    pub(crate) fn changes(&self) -> bool {
        self.not_after.is_some()
    }

    #[cfg(test)]
    pub(crate) fn assert_names_agree(&self) {
        let (mut keys, mut args) = self.names.clone();
        keys.dedup();
        args.dedup();
        assert_eq!(self.script.names("KEYS"), keys, "KEYS of {}", self.script.name);
        assert_eq!(self.script.names("ARGV"), args, "ARGV of {}", self.script.name);
    }
}
