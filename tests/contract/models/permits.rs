//! The model of a permit-expirable semaphore: a number, and the permits that are out with their ends.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use redlatch::{Error, Permit, PermitId, PermitSemaphore, RenewedPermit};
use redlatch_tests::secs;

use super::{Stage, play_all};

/// In seconds. None of these leases ends while a history is played.
const LEASES: [u64; 4] = [NEVER, 500, 1_000, 2_000];
const NEVER: u64 = u64::MAX;
/// The lease of a renewed permit.
const WATCHDOG: u64 = 30;

#[derive(Clone, Debug)]
enum Step {
    Take(usize, usize),
    TakeRenewed,
    GiveRenewed(usize),
    /// So many permits from that place on, perhaps together with one that is not out.
    Give(usize, usize, bool),
    Update(usize, usize),
    /// All permits that are out end now.
    End,
    Set(i64),
    TrySet(i64),
    Add(i64),
    Delete,
}

fn step() -> impl Strategy<Value = (i64, Step)> {
    let pick = 0..8_usize;
    let step = prop_oneof![
        6 => (1..4_usize, 0..LEASES.len()).prop_map(|(n, lease)| Step::Take(n, lease)),
        2 => Just(Step::TakeRenewed),
        2 => pick.clone().prop_map(Step::GiveRenewed),
        4 => (pick.clone(), 1..4_usize, prop::bool::weighted(0.25)).prop_map(|(at, n, wrong)| Step::Give(at, n, wrong)),
        3 => (pick, 0..LEASES.len()).prop_map(|(at, lease)| Step::Update(at, lease)),
        1 => Just(Step::End),
        2 => (0..8_i64).prop_map(Step::Set),
        3 => (0..8_i64).prop_map(Step::TrySet),
        2 => (-4..5_i64).prop_map(Step::Add),
        1 => Just(Step::Delete),
    ];
    (0..2_i64, step)
}

#[derive(Default)]
struct Model {
    there: Option<i64>,
    /// The permits that are out, with the seconds that each lasts.
    out: BTreeMap<PermitId, u64>,
    /// Permits that have ended and are not back yet.
    ended: Vec<PermitId>,
    /// Permits that are not out any more.
    gone: Vec<PermitId>,
    told: Vec<String>,
}

impl Model {
    fn tell(&mut self) {
        self.told.extend(self.there.filter(|there| *there > 0).map(|there| there.to_string()));
    }

    fn add(&mut self, n: i64) {
        self.there = Some(self.there.unwrap_or_default() + n);
        self.tell();
    }

    /// Returns ended permits: the server does so in the next call that looks for them.
    fn reap(&mut self) {
        if !self.ended.is_empty() {
            self.add(self.ended.len() as i64);
            self.gone.append(&mut self.ended);
        }
    }

    fn pick(&self, at: usize, n: usize) -> Vec<PermitId> {
        let count = self.out.len().max(1);
        self.out.keys().copied().cycle().skip(at % count).take(n.min(self.out.len())).collect()
    }

    /// A permit that is not out: not any more, or never was.
    fn stale(&self, at: usize) -> PermitId {
        self.gone.get(at).copied().unwrap_or_else(|| format!("{:016x}{at:016x}", 1).parse().expect("an id"))
    }

    fn take(&mut self, ids: impl IntoIterator<Item = PermitId>, lease: u64) {
        for id in ids {
            assert_eq!(self.out.insert(id, lease), None, "two permits have one id");
            self.there = self.there.map(|there| there - 1);
        }
    }

    fn give(&mut self, ids: &[PermitId]) {
        self.out.retain(|id, _| !ids.contains(id));
        self.gone.extend(ids);
        self.add(ids.len() as i64);
    }
}

fn play(stage: &Stage, name: &str, history: &[(i64, Step)]) {
    let mut view = stage.server.view();
    let mut listener = stage.server.listen(&format!("redisson_sc:{{{name}}}"));
    let mut model = Model::default();
    let mut renewed = Vec::<RenewedPermit>::new();
    let leases = format!("{{{name}}}:timeout");
    for (client, step) in history {
        let semaphore = stage.client(*client).permit_semaphore(name);
        model.told.clear();
        match *step {
            Step::Take(n, lease) => {
                model.reap();
                let taking = semaphore.try_acquire_many(n as u64);
                let lease = LEASES[lease];
                let taking = if lease == NEVER { taking } else { taking.lease(secs(lease)) };
                let taken = taking.blocking().expect("answered");
                assert_eq!(taken.is_some(), model.there.is_some_and(|there| there >= n as i64), "{step:?}");
                model.take(taken.into_iter().flatten().map(Permit::keep), lease);
            }
            Step::TakeRenewed => {
                model.reap();
                let taken = semaphore.try_acquire_renewed().blocking().expect("answered");
                assert_eq!(taken.is_some(), model.there.is_some_and(|there| there >= 1), "{step:?}");
                model.take(taken.iter().map(RenewedPermit::id), WATCHDOG);
                renewed.extend(taken);
            }
            Step::GiveRenewed(at) if !renewed.is_empty() => {
                let permit = renewed.swap_remove(at % renewed.len());
                let id = permit.id();
                match permit.release_blocking() {
                    Ok(()) => {
                        model.reap();
                        assert!(model.out.contains_key(&id), "{step:?}: {id} is not out");
                        model.give(&[id]);
                    }
                    Err(Error::Lost(_)) => {
                        assert!(!model.out.contains_key(&id), "{step:?}: {id} is out");
                        // The client may have asked the server, or have been told before.
                        if !model.ended.is_empty() && view.command::<i64>(&["ZCOUNT", &leases, "0", "1"]) == 0 {
                            model.reap();
                        }
                    }
                    other => panic!("{step:?}: {other:?}"),
                }
            }
            Step::GiveRenewed(_) => {}
            Step::Give(at, n, wrong) => {
                model.reap();
                let mut ids = model.pick(at, n);
                let right = !wrong && !ids.is_empty();
                if !right {
                    ids.push(model.stale(at));
                }
                assert_eq!(semaphore.try_release_many(&ids).blocking().expect("answered"), right, "{step:?}");
                if right {
                    model.give(&ids);
                }
            }
            Step::Update(at, lease) => {
                model.reap();
                let lease = LEASES[lease];
                let stale = model.stale(at);
                let id = model.pick(at, 1).first().copied().unwrap_or(stale);
                let updating =
                    semaphore.update_lease(id, if lease == NEVER { PermitSemaphore::NO_END } else { secs(lease) });
                assert_eq!(updating.blocking().expect("answered"), model.out.contains_key(&id), "{step:?}");
                if let Some(before) = model.out.get_mut(&id) {
                    let earlier = lease < *before;
                    *before = lease;
                    model.told.extend(earlier.then(|| model.there.unwrap_or_default().max(0).to_string()));
                }
            }
            Step::End => {
                let text = "for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, id) end";
                view.command::<()>(&["EVAL", text, "1", &leases]);
                model.ended.extend(std::mem::take(&mut model.out).into_keys());
            }
            Step::Set(n) => {
                semaphore.set_permits(n as u64).blocking().expect("answered");
                let out = (model.out.len() + model.ended.len()) as i64;
                model.there = Some(model.there.map_or(n, |_| n - out));
                model.tell();
            }
            Step::TrySet(n) => {
                assert_eq!(
                    semaphore.try_set_permits(n as u64).blocking().expect("answered"),
                    model.there.is_none(),
                    "{step:?}"
                );
                if model.there.is_none() {
                    model.there = Some(n);
                    model.told.push(n.to_string());
                }
            }
            Step::Add(n) => {
                model.there = Some(model.there.unwrap_or_default() + n);
                let by = n.unsigned_abs();
                let change = if n < 0 { semaphore.remove_permits(by) } else { semaphore.add_permits(by) };
                assert_eq!(change.blocking().ok(), model.there.map(|there| there.max(0) as u64), "{step:?}");
                model.told.extend(model.there.filter(|there| *there >= 0).map(|there| there.to_string()));
            }
            Step::Delete => {
                let there = model.there.is_some() || !model.out.is_empty() || !model.ended.is_empty();
                assert_eq!(semaphore.delete().blocking().expect("answered"), there, "{step:?}");
                model.there = None;
                model.gone.extend(std::mem::take(&mut model.out).into_keys());
                model.gone.append(&mut model.ended);
            }
        }
        assert_eq!(listener.heard(), model.told, "after {step:?}");
        assert_eq!(view.command::<Option<i64>>(&["GET", name]), model.there, "after {step:?}");
        assert_eq!(view.command::<usize>(&["ZCARD", &leases]), model.out.len() + model.ended.len(), "after {step:?}");
        let available = model.there.unwrap_or_default() + model.ended.len() as i64;
        let out = model.out.len() as i64;
        let all = model.there.map_or(0, |_| available + out);
        let counts = [semaphore.available(), semaphore.acquired(), semaphore.permits()]
            .map(|count| count.blocking().expect("answered"));
        assert_eq!(counts, [available, out, all].map(|count| count.max(0) as u64), "after {step:?}");
        for (id, lease) in &model.out {
            let left = semaphore.lease_left(*id).blocking().expect("answered");
            let fits = |left: Duration| match *lease {
                NEVER => left == PermitSemaphore::NO_END,
                lease => !left.is_zero() && left <= secs(lease),
            };
            assert!(left.is_some_and(fits), "{id} has {left:?} of {lease} s left after {step:?}");
        }
        for id in model.gone.iter().chain(&model.ended).rev().take(3) {
            assert_eq!(semaphore.lease_left(*id).blocking().expect("answered"), None, "after {step:?}");
        }
    }
    // The history is over, and nothing may be renewed beyond it.
    renewed.into_iter().for_each(|permit| drop(permit.release_blocking()));
}

#[test]
fn every_answer_key_and_message_of_a_permit_semaphore_is_that_of_the_model() {
    play_all(step(), play);
}
