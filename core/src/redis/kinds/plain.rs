//! The reentrant lock: one hash, the owner's field counts its holds. Redisson's `getLock`.

use super::{Cx, Kind, Wake, prefixed, renewal};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static ACQUIRE: Script = script!("plain/acquire", "_look", "_kind", "_end");
static RELEASE: Script = script!("plain/release", "_look", "_heir");
static RENEW: Script = script!("plain/renew", "_look", "_live", "_renew");
static FORCE_RELEASE: Script = script!("plain/force_release", "_look", "_kind");
static INSPECT: Script = script!("plain/inspect", "_look", "_kind");

pub struct Plain;

/// Where waiters of a lock listen.
pub fn channel(name: &str) -> String {
    prefixed("redisson_lock__channel", name)
}

/// The release of a lock whose fencing tokens are counted in `tokens`, if it has any, and whose waiters listen on `channel`, if they do.
pub fn release(cx: &Cx, tokens: &str, channel: &str) -> Call {
    let call = Call::new(&RELEASE).key("lock", cx.name).arg("owner", cx.owner).arg("leave", cx.leave).arg("lease", cx.lease_ms);
    let call = call.arg("next_owner", cx.next.0).arg("next_lease", cx.next.1).arg("tokens", tokens);
    cx.to_waiters(call, channel).not_after()
}

/// The forced release of a lock whose waiters listen on `channel`, if they do.
pub fn force_release(cx: &Cx, channel: &str) -> Call {
    cx.to_waiters(Call::new(&FORCE_RELEASE).key("lock", cx.name).arg("holder", cx.holder), channel).not_after()
}

impl Kind for Plain {
    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        Some(match op {
            Op::Acquire => {
                Call::new(&ACQUIRE).key("lock", cx.name).arg("lease", cx.lease_ms).arg("owner", cx.owner).arg("want", cx.want).not_after()
            }
            Op::Release => release(cx, "", &channel(cx.name)),
            Op::ForceRelease => force_release(cx, &channel(cx.name)),
            Op::Inspect => Call::new(&INSPECT).key("lock", cx.name).arg("owner", cx.owner),
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
