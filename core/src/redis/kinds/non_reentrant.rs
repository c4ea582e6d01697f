//! The lock that its owner must not take twice: the reentrant one with another acquire. Redisson's
//! `getNonReentrantLock`.

use super::plain::Plain;
use super::{Inputs, Kind, Wake};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("non_reentrant/acquire", "_look", "_kind", "_end");

pub struct NonReentrant;

impl Kind for NonReentrant {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        match op {
            Op::Acquire => {
                let call = Call::new(&ACQUIRE)
                    .key("lock", inputs.name)
                    .arg("lease", inputs.lease_ms)
                    .arg("owner", inputs.owner);
                Some(call.arg("want", inputs.want).not_after())
            }
            _ => Plain.call(op, inputs),
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}
