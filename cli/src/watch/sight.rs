//! A lock at the moment of a look.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use redlatch::ffi::OWN_OWNERS;
use redlatch::{HeldLock, Holder};
use serde_json::{Value, json};

use crate::list::{holder_object, ms};
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

    pub fn is_held(&self) -> bool {
        self.holder_count > 0
    }

    /// Whether it is a mere number that no client holds and none waits for: a semaphore without permits out.
    pub fn is_idle(&self) -> bool {
        !self.is_held() && self.waiting.unwrap_or(0) == 0
    }

    pub fn has_waiters(&self) -> bool {
        self.waiting.is_some_and(|count| count > 0)
    }

    /// A value that changes with the holders and the token: an owner that takes the lock again may have the same one. Of very many readers each
    /// look shows others, so it has their number alone.
    fn held_by(&self) -> impl Hash + PartialEq + '_ {
        let mut holders: Vec<_> = self.holders.iter().filter(|_| self.is_whole()).map(id).collect();
        holders.sort();
        (self.holder_count, self.token, holders)
    }

    /// Whether the lock has the same holders and the same token in the other sight.
    pub fn is_held_as(&self, other: &Sight) -> bool {
        self.held_by() == other.held_by()
    }

    /// A text that changes with the kind, the holders and the token.
    pub fn stamp(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (self.kind, self.held_by()).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The same lock so long after the look, if nothing has changed.
    pub fn later(&self, age: Duration) -> Sight {
        let aged = |left: Option<Duration>| left.map(|left| left.saturating_sub(age));
        let mut later = self.clone();
        later.remaining = aged(self.remaining);
        later.holders.iter_mut().for_each(|holder| holder.remaining = aged(holder.remaining));
        later
    }

    /// The same lock without these holders.
    pub fn except(mut self, is_lost: impl Fn(&Holder) -> bool) -> Sight {
        self.holders.retain(|holder| !is_lost(holder));
        self.holder_count = self.holders.len() as u64;
        self
    }

    /// `held_for`: the time for which it has been seen held; Redis does not keep the time of an acquire.
    pub fn object(&self, held_for: Option<Duration>) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind,
            "certain": self.is_certain,
            "holder_count": self.holder_count,
            "holders": self.holders.iter().map(holder_object).collect::<Vec<_>>(),
            "held_ms": ms(held_for),
            "ends_ms": ms(self.remaining),
            "waiting": self.waiting,
            "queue": self.queue.iter().map(holder_object).collect::<Vec<_>>(),
            "token": self.token,
        })
    }

    /// The holders of this sight that the other one does not have.
    pub fn without(&self, other: &Sight) -> Vec<Holder> {
        let is_there = |holder: &Holder| other.holders.iter().any(|it| is_same(it, holder));
        self.holders.iter().filter(|holder| !is_there(holder)).cloned().collect()
    }
}

pub fn is_same(one: &Holder, other: &Holder) -> bool {
    id(one) == id(other)
}

fn id(holder: &Holder) -> (&str, &str, bool) {
    (&holder.client, &holder.owner, holder.writes)
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
