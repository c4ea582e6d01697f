//! The lock of a leader: a fenced lock that its owner takes once, with a second key that says whose the term is, and at
//! which token. No client hands it on: each term begins at the server, which writes the lock and that key in one
//! step, with the new leader's own value. So no value of a former leader ever stands beside the lock of the present one.

use super::fenced::tokens_of;
use super::plain::{self, Plain};
use super::{Inputs, Kind, Wake, prefixed, renewal};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("leader/acquire", "_look", "_kind", "_draw", "_end");
static RELEASE: Script = script!("leader/release", "_look");
static RENEW: Script = script!("leader/renew", "_look", "_live", "_renew");
static INSPECT: Script = script!("leader/inspect", "_look", "_kind", "_term");
static WATCH: Script = script!("leader/watch", "_look", "_kind", "_term");

/// The key with the leader's token and value.
fn place_of(name: &str) -> String {
    prefixed("redlatch_leader", name)
}

pub struct Leader;

impl Kind for Leader {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let channel = plain::channel(inputs.name);
        match op {
            Op::Acquire => {
                let call = Call::new(&ACQUIRE)
                    .key("lock", inputs.name)
                    .key("tokens", tokens_of(inputs.name))
                    .key("place", place_of(inputs.name))
                    .arg("lease", inputs.lease_ms)
                    .arg("owner", inputs.owner)
                    .arg("want", inputs.want)
                    .bytes("value", inputs.text(0));
                Some(inputs.to_waiters(call, channel).not_after())
            }
            Op::Release => {
                let call = Call::new(&RELEASE)
                    .key("lock", inputs.name)
                    .arg("owner", inputs.owner)
                    .arg("leave", inputs.leave)
                    .arg("lease", inputs.lease_ms)
                    .arg("place", place_of(inputs.name));
                Some(inputs.to_waiters(call, channel).not_after().beside(place_of))
            }
            Op::Inspect => Some(
                Call::new(&INSPECT)
                    .key("lock", inputs.name)
                    .key("place", place_of(inputs.name))
                    .arg("owner", inputs.owner),
            ),
            // What it leaves of the place says nothing without the holder's field.
            _ => Plain.call(op, inputs),
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(renewal(&RENEW, client, lease_ms, "", exact).beside(place_of))
    }

    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}

/// A look at the leader that waits until there is another one, or none. It takes nothing.
pub struct Watch;

impl Kind for Watch {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let call = || Call::new(&WATCH).key("lock", inputs.name).key("place", place_of(inputs.name));
        (op == Op::Acquire).then(|| call().bytes("seen", inputs.text(0)))
    }

    /// The messages of releases, of leaders and of others. A new leader sends one as well.
    fn wake(&self, name: &str, owner: &str) -> Wake {
        Plain.wake(name, owner)
    }
}
