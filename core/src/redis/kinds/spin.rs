//! The spin lock: the reentrant one; its waiters poll instead of listening. Redisson's `getSpinLock`.

use super::plain::{self, Plain};
use super::{Inputs, Kind, Wake};
use crate::redis::kinds::script::Call;
use crate::request::Op;

/// Redisson's exponential back-off: 1 ms, then twice as long each time, 128 ms at most.
static DELAYS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

pub struct Spin;

impl Kind for Spin {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        match op {
            Op::Release => Some(plain::release(inputs, "", "")),
            Op::ForceRelease => Some(plain::force_release(inputs, "")),
            _ => Plain.call(op, inputs),
        }
    }

    fn renew(&self, client: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Plain.renew(client, lease_ms, exact)
    }

    fn wake(&self, _: &str, _: &str) -> Wake {
        Wake { channel: None, delays: &DELAYS }
    }
}
