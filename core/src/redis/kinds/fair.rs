//! The lock that whoever has waited longest gets next: a queue in Redis, and a channel for each waiter. Redisson's `getFairLock` and
//! `getNonReentrantFairLock`.

use super::plain::{self, Plain};
use super::{Cx, Kind, Wake, prefixed};
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

fn to_waiters(call: Call, cx: &Cx) -> Call {
    cx.to_waiters(call, plain::channel(cx.name)).not_after()
}

impl Kind for Fair {
    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        let call = match op {
            Op::Acquire => over_queue(&ACQUIRE, cx.name)
                .arg("lease", cx.lease_ms)
                .arg("owner", cx.owner)
                .arg("want", cx.want)
                .arg("again", u8::from(self.reentrant))
                .arg("stands", u8::from(cx.waits))
                .arg("share", cx.share_ms),
            Op::Release => over_queue(&RELEASE, cx.name).arg("owner", cx.owner).arg("leave", cx.leave).arg("lease", cx.lease_ms),
            Op::ForceRelease => over_queue(&FORCE_RELEASE, cx.name).arg("holder", cx.holder),
            _ => return Plain.call(op, cx),
        };
        Some(to_waiters(call, cx))
    }

    fn leave(&self, cx: &Cx) -> Option<Call> {
        Some(to_waiters(over_queue(&LEAVE, cx.name).arg("owner", cx.owner), cx))
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Wake::message(format!("{}:{owner}", plain::channel(name)))
    }
}
