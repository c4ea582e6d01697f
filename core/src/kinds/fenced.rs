//! The lock whose every hold has a number greater than all before: the reentrant one that counts. Redisson's `getFencedLock`.

use super::plain::{self, Plain};
use super::{Cx, Kind, Wake, prefixed};
use crate::command::Op;
use crate::script::{Call, Script, script};

static ACQUIRE: Script = script!("fenced/acquire", "_look", "_kind");
static INSPECT: Script = script!("fenced/inspect", "_look", "_kind");

pub struct Fenced;

impl Kind for Fenced {
    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        let tokens = prefixed("redisson_lock_token", cx.name);
        match op {
            Op::Acquire => {
                let call = Call::new(&ACQUIRE).key("lock", cx.name).key("tokens", tokens);
                Some(call.arg("lease", cx.lease_ms).arg("owner", cx.owner).arg("want", cx.want).resent().not_after())
            }
            Op::Release => Some(plain::release(cx, &tokens, &plain::channel(cx.name))),
            Op::Inspect => Some(Call::new(&INSPECT).key("lock", cx.name).key("tokens", tokens).arg("owner", cx.owner)),
            _ => Plain.call(op, cx),
        }
    }

    fn renew(&self, client: &str, lease_ms: u64) -> Option<Call> {
        Plain.renew(client, lease_ms)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}
