//! The reentrant lock: one hash, the owner's field counts its holds. Redisson's `getLock`.

use super::{Inputs, Kind, Wake, prefixed, renewal};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("plain/acquire", "_look", "_kind", "_end");
static RELEASE: Script = script!("plain/release", "_look", "_draw", "_heir");
static RENEW: Script = script!("plain/renew", "_look", "_live", "_renew");
static FORCE_RELEASE: Script = script!("plain/force_release", "_look", "_kind");
static INSPECT: Script = script!("plain/inspect", "_look", "_kind");

pub struct Plain;

/// The channel on which the waiters of a lock listen.
pub fn channel(name: &str) -> String {
    prefixed("redisson_lock__channel", name)
}

/// The release of a lock. `tokens`: the key with its fencing tokens, if it has any. `channel`: the channel of its
/// waiters, if they listen.
pub fn release(inputs: &Inputs, tokens: &str, channel: &str) -> Call {
    let call = Call::new(&RELEASE)
        .key("lock", inputs.name)
        .arg("owner", inputs.owner)
        .arg("leave", inputs.leave)
        .arg("lease", inputs.lease_ms);
    let call = call.arg("next_owner", inputs.next_owner).arg("next_lease", inputs.next_lease_ms);
    let call = call.arg("tokens", tokens).arg("spare", inputs.spare);
    inputs.to_waiters(call, channel).not_after()
}

/// The forced release of a lock. `channel`: the channel of its waiters, if they listen.
pub fn force_release(inputs: &Inputs, channel: &str) -> Call {
    inputs
        .to_waiters(Call::new(&FORCE_RELEASE).key("lock", inputs.name).arg("holder", inputs.holder), channel)
        .not_after()
}

impl Kind for Plain {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        Some(match op {
            Op::Acquire => Call::new(&ACQUIRE)
                .key("lock", inputs.name)
                .arg("lease", inputs.lease_ms)
                .arg("owner", inputs.owner)
                .arg("want", inputs.want)
                .not_after(),
            Op::Release => release(inputs, "", &channel(inputs.name)),
            Op::ForceRelease => force_release(inputs, &channel(inputs.name)),
            Op::Inspect => Call::new(&INSPECT).key("lock", inputs.name).arg("owner", inputs.owner),
            _ => return None,
        })
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(renewal(&RENEW, client, lease_ms, "", exact))
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}
