//! The release of a hold that its holder was sure of frees it, and its answer says so.

use std::collections::BTreeMap;

use super::{Attempt, Close, Fault, Limits, Violations, losses};

#[derive(Clone, Debug, Default)]
pub struct Releases {
    pub violations: Violations,
    /// How many releases returned with each code.
    pub codes: BTreeMap<String, u64>,
}

/// Judges the code of every release. The release of a dropped guard returns no code.
pub fn releases(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Releases {
    let mut found = Releases::default();
    for attempt in attempts {
        let Some(hold) = &attempt.hold else { continue };
        let Close::Released { returned: Some((at, code)) } = &hold.close else { continue };
        *found.codes.entry(code.clone()).or_default() += 1;
        let is_explained = match code.as_str() {
            "ok" | "dropped" => true,
            // The lease may have ended after the holder was last sure.
            "lost" => {
                attempt.lease.is_some() || faults.iter().any(|fault| losses::may_end_hold(fault, attempt, *at, limits))
            }
            // A cluster is down until it has heard of all its servers.
            "unavailable" | "CLUSTERDOWN" | "LOADING" => {
                let fails = |fault: &Fault| fault.may_fail_calls() && fault.concerns(attempt.key);
                faults
                    .iter()
                    .any(|fault| fails(fault) && fault.from <= *at && hold.until <= fault.until + limits.settle)
            }
            _ => false,
        };
        if !is_explained {
            let key = attempt.key;
            let caller = attempt.caller();
            found.violations.add(|| {
                format!("the release of key {key} by {caller} ended with `{code}` at {at}, and nothing explains that")
            });
        }
    }
    found
}
