//! Waiting until something has happened so many times. Redisson's `getCountDownLatch`.

use super::semaphore::{INSPECT, delete, live_for};
use super::{Cx, Kind, Wake, at_least};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::error::Result;
use crate::request::{Op, Request};

static AWAIT: Script = script!("latch/await", "_look", "_kind", "_number");
static TRY_SET: Script = script!("latch/try_set", "_look", "_undo", "_kind", "_number", "_once");
static COUNT_DOWN: Script = script!("latch/count_down", "_look", "_undo", "_kind", "_number", "_once");

/// Braces always, also around those that a name brings: so does Redisson.
fn channel(name: &str) -> String {
    format!("redisson_countdownlatch__channel__{{{name}}}")
}

fn to_waiters(call: Call, cx: &Cx) -> Call {
    cx.to_waiters(call, channel(cx.name))
}

pub struct Latch;

impl Kind for Latch {
    fn check(&self, request: &Request) -> Result<()> {
        if request.op == Op::TrySet { at_least(1, "count", request) } else { Ok(()) }
    }

    fn call(&self, op: Op, cx: &Cx) -> Option<Call> {
        Some(match op {
            Op::Acquire => Call::new(&AWAIT).key("latch", cx.name),
            Op::TrySet => {
                let call = cx.once(&TRY_SET, "latch").arg("count", cx.number(0));
                to_waiters(call, cx).arg("keep", cx.keep_ms).not_after()
            }
            Op::CountDown => to_waiters(cx.once(&COUNT_DOWN, "latch"), cx).arg("keep", cx.keep_ms).not_after(),
            Op::Inspect => Call::new(&INSPECT).key("count", cx.name),
            Op::LiveFor => live_for(self, cx),
            Op::Delete => to_waiters(delete(cx, "1"), cx).arg("keep", cx.keep_ms).not_after(),
            _ => return None,
        })
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}
