//! A change of a lock between two looks, in words and as an object.

use std::time::Duration;

use redlatch::Holder;
use serde_json::{Value, json};

use super::party;
use crate::list::holder_object;

/// The holders that a sentence names.
const NAMED: usize = 3;

#[derive(Clone, Debug)]
pub struct Event {
    /// The time of [`crate::clock`] at which the look was made that told it.
    pub at: Duration,
    /// Empty: it is about the server.
    pub name: String,
    pub kind: &'static str,
    pub change: Change,
}

/// Polling sees states and no calls. So an end that can have several reasons names all of them.
#[derive(Clone, Debug)]
pub enum Change {
    Acquired {
        by: Vec<Holder>,
    },
    /// Other holders have the lock now. Others may have had it in between.
    PassedOn {
        from: Vec<Holder>,
        to: Vec<Holder>,
    },
    /// These holders have it no more, and the lock itself is still there.
    Released {
        by: Vec<Holder>,
    },
    /// Its end came, and a look shortly before found it held.
    Expired {
        by: Vec<Holder>,
    },
    /// It is free; if that was before its end, it did not expire.
    Gone {
        by: Vec<Holder>,
        is_before_end: bool,
    },
    /// These holders have it no more, and the server was started anew, or replaced, since a look found it held.
    Forgotten {
        by: Vec<Holder>,
    },
    /// This program took it away.
    Evicted {
        from: Vec<Holder>,
    },
    /// The server does not answer. No event tells of the time until it does.
    Unreachable(String),
    Reachable,
}

impl Event {
    /// The sentence, without name and time.
    pub fn sentence(&self) -> String {
        match &self.change {
            Change::Acquired { by } => format!("acquired by {}", parties(by)),
            Change::PassedOn { from, to } => format!("passed on: {} → {}", parties(from), parties(to)),
            Change::Released { by } => format!("released by {}", parties(by)),
            Change::Expired { by } => format!("expired: {} did not release it", parties(by)),
            Change::Gone { by, is_before_end: true } => {
                format!("gone before its end: {} released it, or it was deleted", parties(by))
            }
            Change::Gone { by, is_before_end: false } => {
                format!("gone: {} released it, or it expired or was deleted", parties(by))
            }
            Change::Forgotten { by } => {
                format!(
                    "gone: {} released it, or it went with the memory of a server that was started anew or replaced",
                    parties(by)
                )
            }
            Change::Evicted { from } => format!("evicted: taken from {} by this redlatch", parties(from)),
            Change::Unreachable(why) => format!("no answer, trying again: {why}"),
            Change::Reachable => "the server answers again".to_owned(),
        }
    }

    /// Its name for programs.
    pub fn word(&self) -> &'static str {
        match self.change {
            Change::Acquired { .. } => "acquired",
            Change::PassedOn { .. } => "passed_on",
            Change::Released { .. } => "released",
            Change::Expired { .. } => "expired",
            Change::Gone { .. } => "gone",
            Change::Forgotten { .. } => "forgotten",
            Change::Evicted { .. } => "evicted",
            Change::Unreachable(_) => "unreachable",
            Change::Reachable => "reachable",
        }
    }

    /// Whether an operator should look at it: a holder has lost its lock, perhaps, or the server does not answer.
    pub fn is_trouble(&self) -> bool {
        matches!(
            self.change,
            Change::Expired { .. } | Change::Forgotten { .. } | Change::Evicted { .. } | Change::Unreachable(_)
        )
    }

    /// The holds that have ended by it, one at least; of very many readers not each is known.
    pub fn ended(&self) -> usize {
        match &self.change {
            Change::PassedOn { from, .. } | Change::Evicted { from } => from.len().max(1),
            Change::Released { by } | Change::Expired { by } | Change::Gone { by, .. } | Change::Forgotten { by } => {
                by.len().max(1)
            }
            Change::Acquired { .. } | Change::Unreachable(_) | Change::Reachable => 0,
        }
    }

    /// `time`: the text of [`Event::at`].
    pub fn object(&self, time: &str) -> Value {
        let mut object = json!({ "time": time, "event": self.word() });
        match &self.change {
            Change::Unreachable(why) => object["message"] = why.as_str().into(),
            Change::Reachable => {}
            change => {
                let (from, to): (&[Holder], &[Holder]) = match change {
                    Change::Acquired { by } => (&[], by),
                    Change::PassedOn { from, to } => (from, to),
                    Change::Released { by }
                    | Change::Expired { by }
                    | Change::Gone { by, .. }
                    | Change::Forgotten { by } => (by, &[]),
                    Change::Evicted { from } => (from, &[]),
                    Change::Unreachable(_) | Change::Reachable => (&[], &[]),
                };
                let all = |holders: &[Holder]| Value::from_iter(holders.iter().map(holder_object));
                object["name"] = self.name.as_str().into();
                object["kind"] = self.kind.into();
                object["from"] = all(from);
                object["to"] = all(to);
            }
        }
        if let Change::Gone { is_before_end, .. } = self.change {
            object["before_end"] = is_before_end.into();
        }
        object
    }
}

/// These holders in one line.
pub fn parties(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return "an unknown holder".to_owned();
    }
    let named: Vec<_> = holders.iter().take(NAMED).map(party).collect();
    match holders.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
