//! Names for calls that leave no other trace, by which a script recognises a repeat. Each is a key on the server until
//! the call has its answer.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use crate::redis::kinds::prefixed;
use crate::redis::kinds::script::{Call, Script, script};

static FORGET: Script = script!("forget");
const FIRST: i64 = 1 << 62;

#[derive(Default)]
pub struct Requests {
    count: AtomicU64,
    numbers: AtomicI64,
    answered: Mutex<Vec<String>>,
}

impl Requests {
    /// The key of a new request about `name`.
    pub fn next(&self, name: &str, client: &str) -> String {
        format!("{}:{client}:{}", prefixed("redlatch_request", name), self.count.fetch_add(1, Relaxed))
    }

    /// The first of `count` fresh numbers; the numbers of owners are smaller.
    pub fn numbers(&self, count: i64) -> i64 {
        FIRST + self.numbers.fetch_add(count, Relaxed)
    }

    /// Notes an answered request; true: it is the first since [`Requests::forgetting`].
    pub fn forget(&self, request: String) -> bool {
        let mut answered = self.answered.lock().expect("nothing panics while it is held");
        answered.push(request);
        answered.len() == 1
    }

    /// The calls that delete the keys of answered requests. Those of one slot go into one call.
    pub fn forgetting(&self, slot_of: impl Fn(&str) -> u16) -> Vec<Call> {
        let answered = std::mem::take(&mut *self.answered.lock().expect("nothing panics while it is held"));
        let mut slots = BTreeMap::<u16, Vec<String>>::new();
        answered.into_iter().for_each(|request| slots.entry(slot_of(&request)).or_default().push(request));
        slots.into_values().map(|requests| forget(&requests)).collect()
    }
}

/// The call that deletes the keys of these requests, which are all in one slot.
pub fn forget(requests: &[String]) -> Call {
    requests.iter().fold(Call::new(&FORGET), |call, request| call.key("requests…", request))
}
