//! The reentrant lock that gives each hold a number greater than all before it. Redisson's `getFencedLock`.

use super::plain::{self, Plain};
use super::{Inputs, Kind, Wake, prefixed};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("fenced/acquire", "_look", "_kind", "_draw", "_end");
static INSPECT: Script = script!("fenced/inspect", "_look", "_kind");

pub(super) fn tokens_of(name: &str) -> String {
    prefixed("redisson_lock_token", name)
}

pub struct Fenced;

impl Kind for Fenced {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let tokens = tokens_of(inputs.name);
        match op {
            Op::Acquire => {
                let call = Call::new(&ACQUIRE).key("lock", inputs.name).key("tokens", tokens);
                Some(
                    call.arg("lease", inputs.lease_ms)
                        .arg("owner", inputs.owner)
                        .arg("want", inputs.want)
                        .arg("spare", inputs.spare)
                        .not_after(),
                )
            }
            Op::Release => Some(plain::release(inputs, &tokens, &plain::channel(inputs.name)).beside(tokens_of)),
            Op::Inspect => {
                Some(Call::new(&INSPECT).key("lock", inputs.name).key("tokens", tokens).arg("owner", inputs.owner))
            }
            _ => Plain.call(op, inputs),
        }
    }

    /// The holder keeps its token.
    fn take_grip(&self, inputs: &Inputs) -> Option<Call> {
        Plain.take_grip(inputs)
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}
