//! Operations on keys of any kind: for programs that list them, move them and tidy up.

use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::{Call, Script, script};
use crate::redis::link::slot;
use crate::redis::settle::settle;
use crate::redis::target::Target;
use crate::request::Answer;
use crate::request::error::{Error, Result};
use crate::request::names::check_name;

static MATCHING: Script = script!("keys/matching");
static ASK: Script = script!("keys/ask", "keys/_commands");
static ENDS: Script = script!("keys/ends", "_ends");
static CHANGE: Script = script!("keys/change", "keys/_commands", "_once");

/// The keys that a command is about.
#[derive(Clone, Copy)]
enum About {
    /// All keys of a server, or none.
    All,
    /// The first key of the object.
    First,
    /// Each key of the object, by a command of its own.
    Each,
    /// All keys of the object, in one command.
    Whole,
    /// Each key of the object, and the matching key of the object that the request's text names.
    Moved,
}
use About::*;

/// The effect of a command.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// It reads.
    Ask,
    /// It reads the key's end.
    End,
    /// It gives the slot of the key in a cluster, without a server.
    Slot,
    /// It changes something. A repeat gets the answer of the first time.
    Once,
    /// It deletes the keys that match the name.
    Matching,
}
use Does::*;

/// An action on keys. Its name is the command, in the words of Redis.
struct Action {
    name: &'static str,
    does: Does,
    about: About,
}

const fn action(name: &'static str, does: Does, about: About) -> Action {
    Action { name, does, about }
}

const ACTIONS: [Action; 28] = [
    action("COPY", Once, Moved),
    action("DBSIZE", Ask, All),
    action("DEL", Once, First),
    action("DEL MATCHING", Matching, All),
    action("DUMP", Ask, First),
    action("EXISTS", Ask, First),
    action("KEYSLOT", Slot, First),
    action("MEMORY USAGE", Ask, Each),
    action("MIGRATE", Once, Whole),
    action("MOVE", Once, Each),
    action("OBJECT ENCODING", Ask, First),
    action("OBJECT FREQ", Ask, First),
    action("OBJECT IDLETIME", Ask, First),
    action("OBJECT REFCOUNT", Ask, First),
    action("PERSIST", Once, Each),
    action("PEXPIRE", Once, Each),
    action("PEXPIREAT", Once, Each),
    action("PEXPIRETIME", End, First),
    action("PTTL", Ask, First),
    action("RANDOMKEY", Ask, All),
    action("RENAME", Once, Moved),
    action("RENAMENX", Once, Moved),
    action("RESTORE", Once, First),
    action("SCAN", Ask, All),
    action("TOUCH", Ask, First),
    action("TYPE", Ask, First),
    action("UNLINK", Once, First),
    action("UNLINK MATCHING", Matching, All),
];

/// The actions that leave nothing of the key.
const DELETES: [&str; 2] = ["DEL", "UNLINK"];

type Words = Vec<Vec<u8>>;

impl Target {
    pub async fn keys(&self) -> Result<Answer> {
        let asked = self.texts.first().map_or("", |text| std::str::from_utf8(text).unwrap_or_default());
        let Some(Action { name, does, about }) = ACTIONS.iter().find(|action| action.name == asked) else {
            let unknown = format!(
                "the action `{asked}` on keys is unknown to this native library; use the one of the same release"
            );
            return Err(Error::config(unknown));
        };
        let about = *about;
        let rest = &self.texts[1..];
        let keys = if matches!(about, All) { Vec::new() } else { self.row.kind.keys(&self.claim.name) };
        match does {
            Matching => self.delete_matching(name.split(' ').next().unwrap_or_default()).await,
            Slot => Ok(Answer::done(slot(self.claim.name.as_bytes()).into())),
            End => self.asked(Call::new(&ENDS).key("key", &keys[0])).await,
            Ask if *name == "SCAN" => self.scan().await,
            Ask if matches!(about, All) => self.of_all(|| ask(&[], &commands(name, about, &[], &[], rest))).await,
            Ask => self.asked(ask(&keys, &commands(name, about, &keys, &[], rest))).await,
            Once => {
                let (to, rest) = match (about, rest) {
                    (Moved, [to, rest @ ..]) => (self.destination(utf8(to)?)?, rest),
                    _ => (Vec::new(), rest),
                };
                let request = self.redis.request(&self.claim.name);
                let commands = commands(name, about, &keys, &to, rest);
                let changed =
                    self.asked(change(&[&keys[..], &to].concat(), &request, self.inputs().keep_ms, &commands));
                if DELETES.contains(name) { self.taking_away(changed).await } else { changed.await }
            }
        }
    }

    /// The keys of an object of that name.
    fn destination(&self, name: &str) -> Result<Vec<String>> {
        check_name(name)?;
        Ok(self.row.kind.keys(&format!("{}{name}", self.redis.config.prefix)))
    }

    async fn asked(&self, call: Call) -> Result<Answer> {
        let reply = self.settled(&call).await?;
        self.told(&call, reply)
    }

    /// Asks every server with keys, and adds the counts.
    async fn of_all(&self, call: impl Fn() -> Call) -> Result<Answer> {
        let mut all = Answer::done(0);
        for part in self.parts().await? {
            let answer = self.asked(call().to(part)).await?;
            all.number += answer.number;
            all.texts.extend(answer.texts);
        }
        Ok(all)
    }

    /// Gives one page of names. Its first text asks for the next page; `0`: this was the last one.
    async fn scan(&self) -> Result<Answer> {
        let from = self.texts.get(1).map_or(Ok(""), |from| utf8(from))?;
        let parts = self.parts().await?;
        let (part, cursor) = from.split_once(':').unwrap_or(("0", "0"));
        let part = part.parse().map_err(|_| Error::config(format!("no page of names begins at `{from}`")))?;
        let Some(at) = parts.iter().position(|slot| *slot >= part) else { return Ok(last_page()) };
        let cursor = if parts[at] == part { cursor } else { "0" };
        let rest = [&[cursor.as_bytes().to_vec()], self.texts.get(2..).unwrap_or_default()].concat();
        let mut page = self.asked(ask(&[], &commands("SCAN", All, &[], &[], &rest)).to(parts[at])).await?;
        let Some(next) = page.texts.first() else {
            let cause = "gave a page of names without the next page; ask again".to_owned();
            return Err(Error::unavailable(self.redis.config.server(), cause, false));
        };
        let next = utf8(next)?;
        let next = match parts.get(at + 1) {
            _ if next != "0" => format!("{}:{next}", parts[at]),
            Some(part) => format!("{part}:0"),
            None => return Ok(page),
        };
        page.texts[0] = next.into_bytes();
        Ok(page)
    }

    async fn delete_matching(&self, command: &str) -> Result<Answer> {
        let mut deleted = 0;
        for part in self.parts().await? {
            let mut cursor = "0".to_owned();
            loop {
                let reply = self.settled(&matching(&cursor, &self.claim.name, command).to(part)).await?;
                deleted += reply.numbers.first().copied().unwrap_or_default();
                match reply.text() {
                    Some(next) if next != "0" => cursor = next,
                    _ => break,
                }
            }
        }
        Ok(Answer::done(deleted))
    }

    /// One slot of each server with keys.
    async fn parts(&self) -> Result<Vec<u16>> {
        self.redis.link.parts(self.response).await
    }

    async fn settled(&self, call: &Call) -> Result<Reply> {
        let settled = settle(&self.redis, call, self.retry_limits(None), None).await;
        call.changes().then(|| self.suspect(call));
        settled.map(|settled| settled.reply).map_err(|unsettled| unsettled.error)
    }
}

fn last_page() -> Answer {
    Answer { texts: vec![b"0".to_vec()], ..Answer::done(0) }
}

fn utf8(text: &[u8]) -> Result<&str> {
    std::str::from_utf8(text).map_err(|_| Error::config("the name of a key is not UTF-8; use another"))
}

/// The commands of an action, in words. `to`: the target of each key.
fn commands(name: &str, about: About, keys: &[String], to: &[String], rest: &[Vec<u8>]) -> Vec<Words> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let with = |keys: &[&String]| {
        let words = name.split(' ').map(bytes).chain(keys.iter().map(|key| bytes(key)));
        words.chain(rest.iter().cloned()).collect::<Words>()
    };
    match about {
        All => vec![with(&[])],
        First => vec![with(&[&keys[0]])],
        Each => keys.iter().map(|key| with(&[key])).collect(),
        Whole => vec![[with(&[]), vec![bytes("KEYS")], keys.iter().map(|key| bytes(key)).collect()].concat()],
        Moved => {
            // A key of an older object there would be in the way of this object's keys.
            let others =
                keys.iter().zip(to).skip(1).flat_map(|(key, to)| [vec![bytes("DEL"), bytes(to)], with(&[key, to])]);
            std::iter::once(with(&[&keys[0], &to[0]])).chain(others).collect()
        }
    }
}

fn with(call: Call, commands: &[Words]) -> Call {
    commands.iter().fold(call, |call, words| {
        words.iter().fold(call.arg("words…", words.len()), |call, word| call.bytes("words…", word))
    })
}

fn ask(keys: &[String], commands: &[Words]) -> Call {
    with(keys.iter().fold(Call::new(&ASK), |call, key| call.key("keys…", key)), commands)
}

/// `request`: the key that remembers the call, for `keep` ms.
fn change(keys: &[String], request: &str, keep: u64, commands: &[Words]) -> Call {
    let call = keys.iter().fold(Call::new(&CHANGE), |call, key| call.key("keys…", key));
    with(call.key("keys…", request).remembered(request).arg("keep", keep).not_after(), commands)
}

fn matching(cursor: &str, pattern: &str, command: &str) -> Call {
    Call::new(&MATCHING).arg("cursor", cursor).arg("pattern", pattern).arg("command", command).not_after()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_names_its_inputs_as_its_script_does() {
        let keys = ["a".to_owned(), "b".to_owned()];
        let words = commands("RENAME", Moved, &keys, &keys, &[]);
        ask(&keys, &words).assert_names_agree();
        change(&keys, "r", 1, &words).assert_names_agree();
        matching("0", "n*", "DEL").assert_names_agree();
        Call::new(&ENDS).key("key", "k").assert_names_agree();
    }

    #[test]
    fn actions_are_in_order_and_named_once() {
        assert!(ACTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
