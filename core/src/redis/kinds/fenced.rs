//! The lock whose every hold has a number greater than all before: the reentrant one that counts. Redisson's `getFencedLock`.

use super::plain::{self, Plain};
use super::{Cx, Kind, Wake, prefixed};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("fenced/acquire", "_look", "_kind", "_end");
static INSPECT: Script = script!("fenced/inspect", "_look", "_kind");

fn tokens_of(name: &str) -> String {
    prefixed("redisson_lock_token", name)
}

pub struct Fenced;

impl Kind for Fenced {
    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        let tokens = tokens_of(cx.name);
        match op {
            Op::Acquire => {
                let call = Call::new(&ACQUIRE).key("lock", cx.name).key("tokens", tokens);
                Some(call.arg("lease", cx.lease_ms).arg("owner", cx.owner).arg("want", cx.want).resent().arg("known", cx.known).not_after())
            }
            Op::Release => Some(plain::release(cx, &tokens, &plain::channel(cx.name)).beside(tokens_of)),
            Op::Inspect => Some(Call::new(&INSPECT).key("lock", cx.name).key("tokens", tokens).arg("owner", cx.owner)),
            _ => Plain.call(op, cx),
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}
