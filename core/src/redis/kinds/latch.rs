//! The latch: callers wait until something has happened a given number of times. Redisson's `getCountDownLatch`.

use super::semaphore::{INSPECT, delete, live_for};
use super::{Inputs, Kind, Wake, at_least};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::error::Result;
use crate::request::{Op, Request};

static AWAIT: Script = script!("latch/await", "_look", "_kind", "_number");
static TRY_SET: Script = script!("latch/try_set", "_look", "_undo", "_kind", "_number", "_once");
static COUNT_DOWN: Script = script!("latch/count_down", "_look", "_undo", "_kind", "_number", "_once");

/// The braces are there even if the name has braces of its own: Redisson's channels look so.
fn channel(name: &str) -> String {
    format!("redisson_countdownlatch__channel__{{{name}}}")
}

fn to_waiters(call: Call, inputs: &Inputs) -> Call {
    inputs.to_waiters(call, channel(inputs.name))
}

pub struct Latch;

impl Kind for Latch {
    fn check(&self, request: &Request) -> Result<()> {
        if request.op == Op::TrySet { at_least(1, "count", request) } else { Ok(()) }
    }

    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        Some(match op {
            Op::Acquire => Call::new(&AWAIT).key("latch", inputs.name),
            Op::TrySet => {
                let call = inputs.once(&TRY_SET, "latch").arg("count", inputs.number(0));
                to_waiters(call, inputs).arg("keep", inputs.keep_ms).not_after()
            }
            Op::CountDown => {
                to_waiters(inputs.once(&COUNT_DOWN, "latch"), inputs).arg("keep", inputs.keep_ms).not_after()
            }
            Op::Inspect => Call::new(&INSPECT).key("count", inputs.name),
            Op::LiveFor => live_for(self, inputs),
            Op::Delete => to_waiters(delete(inputs, "1"), inputs).arg("keep", inputs.keep_ms).not_after(),
            _ => return None,
        })
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}
