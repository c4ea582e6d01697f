//! Keys of whatever kind: for programs that count them and tidy up. A call whose reply was lost counts what is there at its repeat.

use super::Target;
use crate::command::Answer;
use crate::error::{Error, Result};
use crate::link::Reply;
use crate::script::{Call, Script, script};
use crate::settle::settle;

static ONE: Script = script!("keys/one");
static MATCHING: Script = script!("keys/matching");

/// By `Request::numbers[0]`: the command, and what it is about, see the scripts.
const ACTIONS: [(&str, &str); 11] = [
    ("DBSIZE", "all"),
    ("EXISTS", "key"),
    ("DEL", "key"),
    ("UNLINK", "key"),
    ("TOUCH", "key"),
    ("FLUSHDB", "all"),
    ("FLUSHALL", "all"),
    ("FLUSHDB", "later"),
    ("FLUSHALL", "later"),
    ("DEL", "matching"),
    ("UNLINK", "matching"),
];

impl Target {
    pub async fn keys(&self) -> Result<Answer> {
        let number = self.numbers.first().copied().unwrap_or_default();
        let action = usize::try_from(number).ok().and_then(|number| ACTIONS.get(number));
        let (command, on) = action.ok_or_else(|| Error::config(format!("keys have no action {number}; there are 0 to 10")))?;
        if *on != "key" && self.live.link.is_cluster() {
            return Err(Error::Unsupported(format!("{command} of all keys is not there for a cluster; ask each server by itself")));
        }
        match *on {
            "matching" => self.delete_matching(command).await,
            on => {
                let reply = self.settled(&one(&self.slot.name, command, on)).await?;
                Ok(Answer::done(reply.numbers.first().copied().unwrap_or_default()))
            }
        }
    }

    async fn delete_matching(&self, command: &str) -> Result<Answer> {
        let (mut cursor, mut deleted) = ("0".to_owned(), 0);
        loop {
            let reply = self.settled(&matching(&cursor, &self.slot.name, command)).await?;
            deleted += reply.numbers.first().copied().unwrap_or_default();
            match reply.text {
                Some(next) if next != "0" => cursor = next,
                _ => return Ok(Answer::done(deleted)),
            }
        }
    }

    async fn settled(&self, call: &Call) -> Result<Reply> {
        let settled = settle(&self.live, call, self.tries(None), None).await;
        settled.map(|settled| settled.reply).map_err(|unsettled| unsettled.error)
    }
}

fn one(name: &str, command: &str, on: &str) -> Call {
    Call::new(&ONE).key("key", name).arg("command", command).arg("on", on).not_after()
}

fn matching(cursor: &str, pattern: &str, command: &str) -> Call {
    Call::new(&MATCHING).arg("cursor", cursor).arg("pattern", pattern).arg("command", command).not_after()
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_calls_name_their_inputs_as_their_scripts_do() {
        super::one("n", "DEL", "key").assert_names_agree();
        super::matching("0", "n*", "DEL").assert_names_agree();
    }
}
