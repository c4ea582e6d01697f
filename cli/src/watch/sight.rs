//! A lock at the moment of a look.

use std::time::Duration;

use redlatch::ffi::OWN_OWNERS;
use redlatch::{HeldLock, Holder};

use crate::table::{in_one_line, process, short};

/// A [`HeldLock`] that a test can make up.
#[derive(Clone, Debug)]
pub struct Sight {
    pub name: String,
    pub kind: &'static str,
    pub is_certain: bool,
    pub holders: Vec<Holder>,
    pub holder_count: u64,
    pub remaining: Option<Duration>,
    pub waiting: Option<u64>,
    pub queue: Vec<Holder>,
    pub token: Option<i64>,
}

impl From<HeldLock> for Sight {
    fn from(lock: HeldLock) -> Self {
        Sight {
            name: lock.name,
            kind: lock.kind,
            is_certain: lock.is_certain,
            holders: lock.holders,
            holder_count: lock.holder_count,
            remaining: lock.remaining,
            waiting: lock.waiting,
            queue: lock.queue,
            token: lock.token,
        }
    }
}

impl Sight {
    /// Whether the sight names each holder. Of very many readers the server names some.
    pub fn is_whole(&self) -> bool {
        self.holder_count == self.holders.len() as u64
    }

    /// Whether it is a mere number that no client holds and none waits for: a semaphore without permits out.
    pub fn is_idle(&self) -> bool {
        self.holder_count == 0 && self.waiting.unwrap_or(0) == 0
    }

    pub fn has_waiters(&self) -> bool {
        self.waiting.is_some_and(|count| count > 0)
    }

    /// The holders of this sight that the other one does not have.
    pub fn without(&self, other: &Sight) -> Vec<Holder> {
        let is_there = |holder: &Holder| other.holders.iter().any(|it| is_same(it, holder));
        self.holders.iter().filter(|holder| !is_there(holder)).cloned().collect()
    }
}

pub fn is_same(one: &Holder, other: &Holder) -> bool {
    let id = |holder: &Holder| (holder.client.clone(), holder.owner.clone(), holder.writes);
    id(one) == id(other)
}

/// A holder in few letters, with its owner: two tasks of a process are two holders.
pub fn party(holder: &Holder) -> String {
    let Some(process) = process(holder) else { return short(holder) };
    match holder.owner.parse::<i64>() {
        // A client counts the owners that it makes for its tasks from that number on.
        Ok(number) if number >= OWN_OWNERS => format!("{process} task {}", number - OWN_OWNERS),
        _ if holder.owner.is_empty() => process,
        _ => format!("{process} owner {}", in_one_line(&holder.owner)),
    }
}
