//! What has a name on a server, to the requests about it.

use redlatch::{Op, Request, kinds};

pub struct Named {
    pub client: redlatch::Client,
    pub kind: &'static str,
    pub name: String,
    /// What its requests take besides, unless they say so themselves.
    pub numbers: Vec<i64>,
}

impl Named {
    /// What users call it: its name, or the group of its values.
    pub fn shown(&self) -> &str {
        kinds::multi::group(&self.name)
    }

    pub fn request(&self, op: Op, owner: i64) -> Request {
        Request { numbers: self.numbers.clone(), ..Request::new(op, self.kind, self.name.clone(), owner) }
    }
}
