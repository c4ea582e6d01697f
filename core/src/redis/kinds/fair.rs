//! The lock that goes to the waiter that has waited longest: a queue in Redis, and a channel for each waiter.
//! Redisson's `getFairLock` and `getNonReentrantFairLock`.

use super::plain::{self, Plain};
use super::{Inputs, Kind, Wake, prefixed};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("fair/acquire", "_look", "_undo", "_kind", "_end", "fair/_queue");
static LEAVE: Script = script!("fair/leave", "fair/_queue");
static RELEASE: Script = script!("fair/release", "_look", "fair/_queue");
static FORCE_RELEASE: Script = script!("fair/force_release", "_look", "_kind", "fair/_queue");

pub struct Fair {
    pub reentrant: bool,
}

fn over_queue(script: &'static Script, name: &str) -> Call {
    let call = Call::new(script).key("lock", name).key("queue", prefixed("redisson_lock_queue", name));
    call.key("deadlines", prefixed("redisson_lock_timeout", name)).key("seen", prefixed("redlatch_lock_seen", name))
}

fn to_waiters(call: Call, inputs: &Inputs) -> Call {
    inputs.to_waiters(call, plain::channel(inputs.name)).not_after()
}

impl Kind for Fair {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let call = match op {
            Op::Acquire => over_queue(&ACQUIRE, inputs.name)
                .arg("lease", inputs.lease_ms)
                .arg("owner", inputs.owner)
                .arg("want", inputs.want)
                .arg("again", u8::from(self.reentrant))
                .arg("stands", u8::from(inputs.waits))
                .arg("share", inputs.share_ms),
            Op::Release => over_queue(&RELEASE, inputs.name)
                .arg("owner", inputs.owner)
                .arg("leave", inputs.leave)
                .arg("lease", inputs.lease_ms),
            Op::ForceRelease => over_queue(&FORCE_RELEASE, inputs.name).arg("holder", inputs.holder),
            _ => return Plain.call(op, inputs),
        };
        Some(to_waiters(call, inputs))
    }

    fn leave(&self, inputs: &Inputs) -> Option<Call> {
        Some(to_waiters(over_queue(&LEAVE, inputs.name).arg("owner", inputs.owner), inputs))
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Wake::message(format!("{}:{owner}", plain::channel(name)))
    }
}
