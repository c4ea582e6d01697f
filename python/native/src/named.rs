//! The name and kind of a lock, semaphore or latch, for the requests about it.

use std::sync::Arc;

use redlatch::ffi::{Op, Request, kinds};

pub struct Named {
    pub client: redlatch::Client,
    pub kind: &'static str,
    pub name: Arc<str>,
    /// The numbers of its requests that give none of their own.
    pub numbers: Vec<i64>,
    /// The value of a candidate that wants to lead.
    pub value: Option<String>,
}

impl Named {
    /// The name as users know it: for a lock of several values it is their group.
    pub fn shown(&self) -> &str {
        kinds::multi::group(&self.name)
    }

    pub fn request(&self, op: Op, owner: i64) -> Request {
        let value = self.value.iter().filter(|_| op == Op::Acquire);
        let texts = value.map(|value| value.clone().into_bytes()).collect();
        Request { numbers: self.numbers.clone(), texts, ..Request::new(op, self.kind, self.name.clone(), owner) }
    }
}
