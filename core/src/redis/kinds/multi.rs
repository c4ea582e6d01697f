//! The lock of several values of one group, taken in one call: all or none. Redisson's `getMultiLock(group, values)`.

use super::{Inputs, Kind, Wake, plain};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::error::Result;
use crate::request::owner::OwnerField;
use crate::request::{Op, Request};

mod values;

use values::{field, fields, no_values};
pub use values::{group, name};

static ACQUIRE: Script = script!("multi/acquire", "_look", "_undo", "_kind", "_live", "multi/_values");
static RELEASE: Script = script!("multi/release", "_look", "multi/_values");
static FORCE_RELEASE: Script = script!("multi/force_release", "_look", "_kind", "multi/_values");
static INSPECT: Script = script!("multi/inspect", "_look", "_kind", "multi/_values");
static RENEW: Script = script!("multi/renew", "_look", "_live", "multi/_values");

/// A call about the group; the values follow the other arguments.
fn call(script: &'static Script, inputs: &Inputs, arguments: impl FnOnce(Call, &str, &str) -> Call) -> Call {
    let (group, fields) = fields(inputs.name);
    let call = arguments(Call::new(script).key("group", group), group, &owner(inputs.owner, &fields));
    fields.iter().fold(call, |call, field| call.arg("values…", field))
}

/// The text of the owner for these values. A set of other values makes another owner, so that the server can tell the
/// holds apart.
fn owner(owner: &str, fields: &[String]) -> String {
    format!("{owner}:{}", field(fields.concat().as_bytes()))
}

/// Locks on values of a group, several of them in one call.
#[derive(Debug)]
pub struct Multi;

impl Kind for Multi {
    fn check(&self, request: &Request) -> Result<()> {
        if request.name.contains('\0') { Ok(()) } else { Err(no_values(&request.name)) }
    }

    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        let to_waiters = |call, group: &str| inputs.to_waiters(call, plain::channel(group)).not_after();
        Some(match op {
            Op::Acquire => call(&ACQUIRE, inputs, |call, _, owner| {
                let call = call.arg("lease", inputs.lease_ms).arg("owner", owner).arg("want", inputs.want);
                call.arg("stem", format_args!("{}:", inputs.owner)).not_after()
            }),
            Op::Release => call(&RELEASE, inputs, |call, group, owner| {
                to_waiters(call.arg("owner", owner).arg("leave", inputs.leave).arg("lease", inputs.lease_ms), group)
            }),
            Op::ForceRelease => {
                call(&FORCE_RELEASE, inputs, |call, group, _| to_waiters(call.arg("holder", inputs.holder), group))
            }
            Op::Inspect => call(&INSPECT, inputs, |call, _, owner| call.arg("owner", owner)),
            _ => return None,
        })
    }

    fn renew(&self, _: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(Call::new(&RENEW).arg("lease", lease_ms).arg("exact", u8::from(exact)).not_after())
    }

    fn renew_also(&self, call: &mut Call, client: &str, name: &str, number: i64) {
        let (group, fields) = fields(name);
        let hold = format!("{} {}", owner(&OwnerField(client, number).to_string(), &fields), fields.join(" "));
        call.also("groups…", group, "holds…", hold.as_bytes());
    }

    fn shared_key(&self, name: &str) -> Option<String> {
        Some(group(name).to_owned())
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(plain::channel(group(name)))
    }
}
