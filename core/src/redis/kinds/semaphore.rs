//! Permits that any caller takes and any caller gives back. Redisson's `getSemaphore`.

use super::{Inputs, Kind, Wake, at_least, prefixed};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::error::Result;
use crate::request::{Op, Request};

static ACQUIRE: Script = script!("semaphore/acquire", "_look", "_undo", "_kind", "_number", "_once");
pub static RELEASE: Script = script!("semaphore/release", "_look", "_undo", "_kind", "_number", "_once");
static UNDO: Script = script!("semaphore/undo", "_undo");
static DRAIN: Script = script!("semaphore/drain", "_look", "_undo", "_kind", "_number", "_once");
pub static TRY_SET: Script = script!("semaphore/try_set", "_look", "_undo", "_kind", "_number", "_once");
pub static INSPECT: Script = script!("semaphore/inspect", "_look", "_kind", "_number");
static LIVE_FOR: Script = script!("live_for", "_undo", "_once", "_ends");
static DELETE: Script = script!("semaphore/delete", "_once");

pub fn channel(name: &str) -> String {
    prefixed("redisson_sc", name)
}

/// The number of permits that an acquire with these numbers wants.
pub fn permits(numbers: &[i64]) -> u64 {
    numbers.first().map_or(1, |count| count.unsigned_abs())
}

pub fn to_waiters(call: Call, inputs: &Inputs) -> Call {
    inputs.to_waiters(call, channel(inputs.name))
}

/// The call that gives an end to a semaphore or a latch, see [`Op::LiveFor`].
pub fn live_for(kind: &dyn Kind, inputs: &Inputs) -> Call {
    let call = kind.keys(inputs.name).iter().fold(Call::new(&LIVE_FOR), |call, key| call.key("keys…", key));
    let call = call.key("keys…", &inputs.request).remembered(&inputs.request);
    let call = call.arg("ttl", inputs.number(0)).arg("when", inputs.number(1)).arg("since", inputs.number(2));
    call.arg("keep", inputs.keep_ms).not_after()
}

/// The call that deletes a semaphore, or a latch with `message` for its waiters; the caller adds the channel and the
/// last arguments.
pub fn delete(inputs: &Inputs, message: &str) -> Call {
    inputs.once(&DELETE, "count").arg("message", message)
}

/// `existing`: only if the semaphore exists.
fn release(inputs: &Inputs, existing: bool) -> Call {
    let call = inputs.once(&RELEASE, "permits").arg("count", inputs.number(0)).arg("existing", u8::from(existing));
    to_waiters(call, inputs).arg("keep", inputs.keep_ms).not_after()
}

pub struct Semaphore;

impl Kind for Semaphore {
    fn check(&self, request: &Request) -> Result<()> {
        match request.op {
            Op::Acquire | Op::Release | Op::ReleaseIfExists => at_least(1, "permits", request),
            Op::TrySet => at_least(0, "permits", request),
            _ => Ok(()),
        }
    }

    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        Some(match op {
            Op::Acquire => {
                inputs.once(&ACQUIRE, "permits").arg("count", inputs.number(0)).arg("keep", inputs.keep_ms).not_after()
            }
            Op::Release | Op::Add => release(inputs, false),
            Op::ReleaseIfExists => release(inputs, true),
            Op::Drain => inputs.once(&DRAIN, "permits").arg("keep", inputs.keep_ms).not_after(),
            Op::TrySet => {
                let call = inputs.once(&TRY_SET, "permits").arg("count", inputs.number(0)).arg("ttl", inputs.number(1));
                to_waiters(call, inputs).arg("keep", inputs.keep_ms).not_after()
            }
            Op::Inspect => Call::new(&INSPECT).key("count", inputs.name),
            Op::LiveFor => live_for(self, inputs),
            Op::Delete => to_waiters(delete(inputs, ""), inputs).arg("keep", inputs.keep_ms).not_after(),
            _ => return None,
        })
    }

    fn wants(&self, numbers: &[i64]) -> u64 {
        permits(numbers)
    }

    fn undo(&self, inputs: &Inputs) -> Option<Call> {
        let call =
            Call::new(&UNDO).key("permits", inputs.name).key("request", &inputs.request).arg("count", inputs.number(0));
        Some(to_waiters(call, inputs).not_after())
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}
