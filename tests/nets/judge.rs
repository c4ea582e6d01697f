//! The judgement of a played cell, by the promises that hold in every trouble.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redlatch::ffi::Op;
use redlatch_tests::oracle::endless;
use redlatch_tests::{PATIENCE, Proxy, Server, View, eventually, ms};

use crate::cell::LEASE;
use crate::player::Player;
use crate::scene::Scene;
use crate::troubles::Strike;
use crate::warnings;

/// After these operations there may be fewer permits than before, after this part of a lease: the key of all of them
/// has ended.
const LOSES_PERMITS: [(&str, f64); 3] = [("force", 0.0), ("extend shorter", 0.0), ("extend longer", 1.5)];
/// After this time from its beginning, every delayed copy of an operation is late.
const LATE: Duration = Duration::from_millis(4500);
/// How many ms a call of these clients may be remembered.
const REMEMBERED: i64 = 600_000;

impl Scene<'_> {
    /// Returns every violation.
    pub fn judge(self) -> Vec<String> {
        let mut wrong = Vec::new();
        // An operation takes so long only on a machine that delayed renewals as well.
        let is_slow = self.begun.elapsed() > LEASE * 2;
        if let Strike::HeldUp { is_late } = self.cell.trouble.strike
            && let Some(proxy) = self.proxy.as_ref().filter(|proxy| proxy.struck() > 0)
        {
            match is_late {
                true => wrong.extend(self.late_copy_changes_nothing(proxy)),
                false => drop(proxy.deliver_kept()),
            }
        }
        self.a.close();
        wrong.extend(self.next_gets_it());
        self.b.close();
        wrong.extend(self.nothing_is_left());
        let players = [
            Some(&*self.a),
            Some(&self.b),
            self.writers.as_ref().map(|[a, _]| a),
            self.writers.as_ref().map(|[_, b]| b),
        ];
        for player in players.into_iter().flatten() {
            wrong.append(&mut player.faults.lock().expect("no call panics"));
        }
        // A lease of the caller's own may end, and a busy machine may have paused the caller.
        let has_leases = self.cell.operation.leases;
        let is_due = |error: &String| has_leases && error.contains(": expired") || error.contains("paused");
        if self.cell.trouble.spares && !is_slow && self.cell.operation.name != "extend shorter" {
            let errors = self.a.errors.lock().expect("no call panics").clone();
            wrong.extend(errors.into_iter().filter(|error| error.contains(" is lost to ") && !is_due(error)));
        }
        wrong.extend(self.of_remote());
        if matches!((self.cell.trouble.name.as_str(), &self.cell.trouble.strike), ("none", _) | (_, Strike::Forks)) {
            let errors = self.a.errors.lock().expect("no call panics").clone();
            let is_known = |error: &String| {
                is_due(error)
                    || is_slow && error.contains(" is lost to ")
                    || !self.cell.kind.reentrant && error.contains("already held")
            };
            wrong.extend(errors.into_iter().filter(|error| !is_known(error)));
            // A permit's whole semaphore is deleted, which is no forced release.
            let id = if self.cell.kind.name == "permit" { None } else { self.a.hand().map(|hand| hand.id()) };
            let warned =
                warnings::about(&self.key).into_iter().filter(|text| id.as_ref().is_some_and(|id| text.contains(id)));
            wrong.extend(
                warned
                    .filter(|text| !is_slow && !is_due(text))
                    .map(|text| format!("a warning without any trouble: {text}")),
            );
            // Each wait is longer than all holds in its way.
            let is_in_vain = ["wait in vain", "through another's grip"].contains(&self.cell.operation.name)
                || !self.cell.kind.reentrant;
            wrong.extend(
                (!is_in_vain && self.a.told().contains("take not now")).then(|| "a wait was in vain".to_owned()),
            );
        }
        let mine = format!("n{}.", self.cell.number);
        let servers: Vec<&Server> = self.own.iter().chain(self.grounds.servers()).collect();
        let seen = servers
            .iter()
            .flat_map(|server| server.watch().violations())
            .filter(|violation| violation.name.contains(&mine));
        wrong.extend(seen.map(|violation| violation.to_string()));
        if let Some(own) = &self.own {
            own.watch().take_violations();
        }
        wrong
    }

    /// Delivers the copy once it is late and the client rests. Nothing may change.
    fn late_copy_changes_nothing(&self, proxy: &Proxy) -> Option<String> {
        let mut views = self.views();
        sleep(LATE.saturating_sub(self.begun.elapsed()));
        let mut before = self.contents(&mut views);
        eventually("rest", || {
            sleep(ms(50));
            let now = self.contents(&mut views);
            std::mem::replace(&mut before, now).eq(&before).then_some(())
        });
        proxy.deliver_kept();
        let after = self.contents(&mut views);
        let changed: Vec<&String> =
            after.iter().filter(|(key, value)| before.get(*key) != Some(*value)).map(|(key, _)| key).collect();
        (!changed.is_empty()).then(|| format!("a late copy has changed {changed:?}"))
    }

    /// Every key of this cell with its contents.
    fn contents(&self, views: &mut [View]) -> BTreeMap<String, Vec<u8>> {
        let pattern = format!("*{}*", self.key);
        let keys = |view: &mut View| {
            view.keys(&pattern)
                .into_iter()
                .map(|key| (view.try_command(&["DUMP", &key]).unwrap_or_default(), key))
                .collect()
        };
        views
            .iter_mut()
            .flat_map(|view: &mut View| -> Vec<(Vec<u8>, String)> { keys(view) })
            .map(|(value, key)| (key, value))
            .collect()
    }

    /// The defects in the process of the client in trouble, if it has one of its own.
    fn of_remote(&self) -> Vec<String> {
        let Some(remote) = &self.remote else { return Vec::new() };
        let mut wrong = std::mem::take(&mut *self.seen.lock().expect("nothing panics while it is held"));
        if let Some(child) = self.child.lock().expect("nothing panics while it is held").take() {
            let said = child
                .recv_timeout(PATIENCE)
                .map_or("nothing was heard of the child".into(), |said| said["child"].to_string());
            wrong.extend((said != "\"\"").then_some(said));
        }
        wrong.extend(remote.log().contains("panicked").then(|| remote.log()));
        wrong
    }

    /// Checks that another client gets the lock within a lease.
    fn next_gets_it(&self) -> Option<String> {
        let kind = self.cell.kind.name;
        let begun = Instant::now();
        let wait = Some(self.cell.patience());
        let hand = self.b.hand().expect("no trouble meets it");
        let next = Player::new(hand, if kind == "read" { "write" } else { kind }, self.b.name.clone(), true);
        let taken = match kind {
            "semaphore" => return self.count_is_right(),
            "latch" => {
                next.force();
                next.take(99, Some(Duration::ZERO), None)
            }
            _ => loop {
                self.set_permits();
                let taken = next.take(99, wait, Some(LEASE));
                // On a busy machine the nodes of a cluster may take each other for dead.
                let waits = next.errors.lock().expect("no call panics").drain(..).count() > 0;
                if taken.is_some() || !waits || begun.elapsed() > self.cell.patience() {
                    break taken;
                }
            },
        };
        next.give(99, taken.as_ref());
        let faults = next.faults.lock().expect("no call panics").join("; ");
        match taken {
            Some(_) if faults.is_empty() => None,
            _ => Some(format!(
                "the next client does not get it within {:.1?}: {} {faults}",
                begun.elapsed(),
                next.told()
            )),
        }
    }

    /// The permits of a semaphore have no end: a caller's lost permit stays lost, but there are never more than were
    /// set.
    fn count_is_right(&self) -> Option<String> {
        let inspected = self.b.ask("inspect", self.b.request(Op::Inspect, 0))?;
        let permits = self.cell.operation.permits;
        let lived = self.begun.elapsed();
        let may_have_ended = LOSES_PERMITS
            .iter()
            .any(|(operation, leases)| *operation == self.cell.operation.name && lived > LEASE.mul_f64(*leases));
        // A release without an answer in time may have been carried out or not: its caller asks again.
        let is_settled = self.a.errors.lock().expect("no call panics").is_empty()
            && !may_have_ended
            && matches!(
                self.cell.trouble.strike,
                Strike::LostReply | Strike::HeldUp { .. } | Strike::Cancelled(_) | Strike::Nothing
            );
        let is_right = (0..=permits).contains(&inspected.number) && (!is_settled || inspected.number == permits);
        (!is_right).then(|| format!("there are {} of {permits} permits; {}", inspected.number, self.a.told()))
    }

    /// (d): after the last client is gone and a lease has passed, the server has no key of redlatch but those that may
    /// be endless.
    fn nothing_is_left(&self) -> Option<String> {
        let begun = Instant::now();
        let mut views = self.views();
        let pattern = format!("*{}*", self.key);
        loop {
            let mut left = None;
            for view in &mut views {
                for key in view.keys(&pattern) {
                    // This key is a part of a fair lock's queue, which is without an end.
                    if key.starts_with("redlatch_lock_seen:") {
                        continue;
                    }
                    let ttl = view.pttl(&key);
                    // The answer to a call is remembered for as long as a repeat may come.
                    if key.starts_with("redlatch_request:") && ttl <= REMEMBERED {
                        continue;
                    }
                    let wants = ttl == -1 && endless::wants_an_end(view, &key, |_| {}).is_some();
                    if wants || ttl > 0 {
                        left = Some(format!(
                            "`{key}` is left, for {ttl} ms, {:.1?} after the last client had gone",
                            begun.elapsed()
                        ));
                    }
                }
            }
            let left = left?;
            if begun.elapsed() > self.cell.patience() {
                return Some(left);
            }
            sleep(ms(20));
        }
    }
}
