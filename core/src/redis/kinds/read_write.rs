//! The lock that many owners hold for reading, or one for writing; the writer may read as well. Redisson's
//! `getReadWriteLock`.

use super::{Inputs, Kind, Wake, prefixed, renewal};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::Op;

static READ_ACQUIRE: Script =
    script!("read_write/read_acquire", "_look", "_kind", "_end", "_live", "read_write/_holds");
static READ_RELEASE: Script = script!("read_write/read_release", "_look", "read_write/_holds");
static READ_FORCE_RELEASE: Script = script!("read_write/read_force_release", "_look", "_kind", "read_write/_holds");
static WRITE_ACQUIRE: Script = script!("read_write/write_acquire", "_look", "_kind", "_end", "_live");
static WRITE_RELEASE: Script = script!("read_write/write_release", "_look", "_undo", "_heir", "read_write/_holds");
static WRITE_FORCE_RELEASE: Script = script!("read_write/write_force_release", "_look", "_kind", "read_write/_holds");
static INSPECT: Script = script!("read_write/inspect", "_look", "_kind");
static RENEW: Script = script!("read_write/renew", "_look", "_live", "_renew", "read_write/_holds");

fn channel(name: &str) -> String {
    prefixed("redisson_rwlock", name)
}

/// The pattern of the keys of the readers' holds.
fn hold_keys(lock: &str) -> String {
    if lock.contains('{') { format!("{lock}:*:rwlock_timeout:*") } else { format!("{{{lock}}}:*:rwlock_timeout:*") }
}

fn to_waiters(call: Call, inputs: &Inputs) -> Option<Call> {
    Some(inputs.to_waiters(call, channel(inputs.name)).not_after())
}

pub struct Read;

impl Kind for Read {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let of = |script: &'static Script| Call::new(script).key("lock", inputs.name).beside(hold_keys);
        match op {
            Op::Acquire => Some(
                of(&READ_ACQUIRE)
                    .arg("lease", inputs.lease_ms)
                    .arg("owner", inputs.owner)
                    .arg("want", inputs.want)
                    .not_after(),
            ),
            Op::Release => to_waiters(
                of(&READ_RELEASE).arg("owner", inputs.owner).arg("leave", inputs.leave).arg("lease", inputs.lease_ms),
                inputs,
            ),
            Op::ForceRelease => to_waiters(of(&READ_FORCE_RELEASE).arg("holder", inputs.holder), inputs),
            Op::Inspect => Some(of(&INSPECT).arg("owner", inputs.owner).arg("writes", 0)),
            _ => None,
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(renewal(&RENEW, client, lease_ms, "", exact).beside(hold_keys))
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}

pub struct Write;

impl Kind for Write {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let of = |script: &'static Script| Call::new(script).key("lock", inputs.name).beside(hold_keys);
        let writer = |owner: &str| if owner.is_empty() { String::new() } else { format!("{owner}:write") };
        match op {
            Op::Acquire => {
                let call = of(&WRITE_ACQUIRE)
                    .arg("lease", inputs.lease_ms)
                    .arg("owner", writer(inputs.owner))
                    .arg("want", inputs.want);
                Some(call.arg("reader", inputs.owner).arg("forever", u8::from(inputs.forever)).not_after())
            }
            Op::Release => {
                let call = of(&WRITE_RELEASE)
                    .arg("owner", writer(inputs.owner))
                    .arg("leave", inputs.leave)
                    .arg("lease", inputs.lease_ms);
                to_waiters(
                    call.arg("next_owner", writer(inputs.next_owner)).arg("next_lease", inputs.next_lease_ms),
                    inputs,
                )
            }
            Op::ForceRelease => to_waiters(of(&WRITE_FORCE_RELEASE).arg("holder", inputs.holder), inputs),
            Op::Inspect => Some(of(&INSPECT).arg("owner", writer(inputs.owner)).arg("writes", 1)),
            _ => None,
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(renewal(&RENEW, client, lease_ms, ":write", exact).beside(hold_keys))
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}
