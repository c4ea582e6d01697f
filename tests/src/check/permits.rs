//! There are never more permits out than the semaphore has, and at the end none is missing and none too many.
//!
//! Permits of a semaphore have no lease: a killed process takes its permits with it. So the rig counts the permits
//! whenever all processes rest, and then sets the number anew. Permits with ids come back when their lease ends.

use super::{Attempt, Close, End, Fault, Kind, Limits, Violations};
use crate::traffic;

/// How many permits were available while all processes rested. Afterwards the rig restores the initial number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    pub at: u64,
    pub key: u32,
    pub available: i64,
}

#[derive(Clone, Debug, Default)]
pub struct Permits {
    pub violations: Violations,
    /// How many permits were taken, one by one.
    pub taken: u64,
    /// How many permits went with killed processes, at least.
    pub of_the_dead: u64,
    /// Counts after an operator or a restart had taken a semaphore away.
    pub behind_the_back: u64,
}

/// Where the permits of one attempt have gone.
#[derive(PartialEq)]
enum Fate {
    Back,
    Gone,
    /// Unknown: no caller was told.
    Doubt,
}

/// Judges the attempts between each two counts of a semaphore.
pub fn permits(attempts: &[Attempt], faults: &[Fault], counts: &[Census], limits: &Limits) -> Permits {
    let mut found = Permits::default();
    for (place, count) in counts.iter().enumerate() {
        let key = count.key;
        let all = traffic::permits(count.key) as i64;
        let mut before = counts[..place].iter().rev().filter(|other| other.key == key).map(|other| other.at);
        let since = before.next().unwrap_or_default();
        let within = |from: u64, until: u64| {
            attempts.iter().filter(move |one| one.key == key && from < one.called && one.called <= until)
        };
        let during: Vec<&Attempt> = within(since, count.at).collect();
        // A release that failed goes on in the background, at a slow pace, and the rig has set the number anew meanwhile.
        let late = within(before.next().unwrap_or_default(), since).filter(|one| failed_to_release(one));
        let late: i64 = late.map(|one| one.takes as i64).sum();
        found.taken += during.iter().filter(|one| one.hold.is_some()).map(|one| one.takes).sum::<u64>();
        if faults.iter().any(|fault| fault.takes_away(key) && fault.overlaps(since, count.at)) {
            found.behind_the_back += 1;
            continue;
        }
        too_many(&during, count, &mut found.violations);
        let sum = |wanted: Fate| {
            let with = during.iter().filter(|one| fate(one, faults, limits) == wanted);
            with.map(|one| one.takes as i64).sum::<i64>()
        };
        let gone = sum(Fate::Gone);
        let doubt = sum(Fate::Doubt);
        found.of_the_dead += if traffic::Kind::of(key) == traffic::Kind::Semaphore { gone as u64 } else { 0 };
        // Permits with ids end with their lease, even if their process was killed.
        let (least, most) = match traffic::Kind::of(key) {
            traffic::Kind::Permits => (all, all),
            _ => (all - gone - doubt, all - gone + late),
        };
        if count.available < least || count.available > most {
            let at = count.at;
            let available = count.available;
            found
                .violations
                .add(|| format!("semaphore {key} has {available} permits at rest at {at}, not {least} to {most}"));
        }
    }
    found
}

fn failed_to_release(attempt: &Attempt) -> bool {
    let Some(Close::Released { returned: Some((_, code)) }) = attempt.hold.as_ref().map(|hold| &hold.close) else {
        return false;
    };
    !["ok", "dropped"].contains(&code.as_str())
}

/// Adds up the permits that owners believe to have. A killed process still counts with its permits: no other owner can
/// have them.
fn too_many(during: &[&Attempt], count: &Census, violations: &mut Violations) {
    let mut changes = Vec::new();
    for attempt in during {
        let Some(hold) = &attempt.hold else { continue };
        let is_lasting = traffic::Kind::of(count.key) == traffic::Kind::Semaphore;
        let until = if is_lasting && matches!(hold.close, Close::Died { .. }) { count.at } else { hold.until };
        changes.extend([(hold.from, attempt.takes as i64, *attempt), (until, -(attempt.takes as i64), *attempt)]);
    }
    // At equal times releases count before acquires.
    changes.sort_by_key(|(at, change, _)| (*at, *change));
    let mut out = 0;
    let all = traffic::permits(count.key) as i64;
    for (at, change, attempt) in changes {
        out += change;
        if change > 0 && out > all {
            violations.add(|| {
                format!("{out} permits of {all} of semaphore {} are out at {at} with {}", count.key, attempt.caller())
            });
        }
    }
}

fn fate(attempt: &Attempt, faults: &[Fault], limits: &Limits) -> Fate {
    let near = |fault: &Fault, at: u64| fault.from <= at + limits.settle && at <= fault.until + limits.settle;
    let killed =
        |at: u64| faults.iter().any(|fault| fault.kind == Kind::Kill { process: attempt.process } && near(fault, at));
    let unheard = |at: u64| faults.iter().any(|fault| fault.may_fail_calls() && near(fault, at));
    match (attempt.hold.as_ref().map(|hold| &hold.close), &attempt.end) {
        (Some(Close::Released { returned: Some((_, code)) }), _) if code == "ok" => Fate::Back,
        // The release of a dropped permit runs in the background, and reports no failure.
        (Some(Close::Released { returned: Some((at, code)) }), _)
            if code == "dropped" && !killed(*at) && !unheard(*at) =>
        {
            Fate::Back
        }
        (Some(Close::Released { .. }), _) => Fate::Doubt,
        (Some(_), _) => Fate::Gone,
        // The client gives back a permit that the server granted to an abandoned call.
        (None, Some((at, End::Failed { .. } | End::Dropped | End::NotNow))) if !killed(*at) => Fate::Back,
        (None, _) => Fate::Doubt,
    }
}
