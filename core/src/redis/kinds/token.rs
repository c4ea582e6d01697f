//! The lock that most libraries write: `SET key token NX PX lease`, and a script that compares and deletes. Others release without a word,
//! so its waiters also ask now and then.

use super::{Cx, Kind, Wake, prefixed, renewal};
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
    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        let of = |script: &'static Script| Call::new(script).key("lock", cx.name);
        let to_waiters = |call: Call| cx.to_waiters(call, channel(cx.name)).not_after();
        Some(match op {
            Op::Acquire => of(&ACQUIRE).arg("lease", cx.lease_ms).arg("token", cx.owner).arg("want", cx.want).not_after(),
            Op::Release => to_waiters(of(&RELEASE).arg("token", cx.owner).arg("next_token", cx.next.0).arg("next_lease", cx.next.1)),
            Op::ForceRelease => to_waiters(of(&FORCE_RELEASE).arg("holder", cx.holder)),
            Op::Inspect => of(&INSPECT).arg("token", cx.owner),
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
