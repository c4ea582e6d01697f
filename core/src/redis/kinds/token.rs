//! The lock that most libraries write: `SET key token NX PX lease`, and a script that compares and deletes. Programs
//! with other libraries publish no message when they release, so its waiters also poll.

use super::{Inputs, Kind, Wake, prefixed, renewal};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("token/acquire", "_look", "_kind");
static RELEASE: Script = script!("token/release", "_look");
static RENEW: Script = script!("token/renew", "_look", "_live", "_renew");
static FORCE_RELEASE: Script = script!("token/force_release", "_look", "_kind");
static INSPECT: Script = script!("token/inspect", "_look", "_kind");

static DELAYS: [u64; 6] = [8, 16, 32, 64, 128, 250];

fn channel(name: &str) -> String {
    prefixed("redlatch_token_lock", name)
}

pub struct Token;

impl Kind for Token {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let of = |script: &'static Script| Call::new(script).key("lock", inputs.name);
        let to_waiters = |call: Call| inputs.to_waiters(call, channel(inputs.name)).not_after();
        Some(match op {
            Op::Acquire => of(&ACQUIRE)
                .arg("lease", inputs.lease_ms)
                .arg("token", inputs.owner)
                .arg("want", inputs.want)
                .not_after(),
            // The key has one hold and no count: a release that leaves one changes nothing.
            Op::Release if inputs.leave > 0 => return None,
            Op::Release => to_waiters(
                of(&RELEASE)
                    .arg("token", inputs.owner)
                    .arg("next_token", inputs.next_owner)
                    .arg("next_lease", inputs.next_lease_ms),
            ),
            Op::ForceRelease => to_waiters(of(&FORCE_RELEASE).arg("holder", inputs.holder)),
            Op::Inspect => of(&INSPECT).arg("token", inputs.owner),
            _ => return None,
        })
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(renewal(&RENEW, client, lease_ms, "", exact))
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake { channel: Some(channel(name)), delays: &DELAYS }
    }
}
