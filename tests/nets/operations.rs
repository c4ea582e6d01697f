//! The second dimension of the table: the operations on a lock. The trouble strikes in the middle of each.

use std::thread::sleep;
use std::time::Duration;

use redlatch::ffi::{Op, Request};

use crate::cell::LEASE;
use crate::scene::Scene;

pub struct Operation {
    pub name: &'static str,
    /// How many permits the kinds with permits have.
    pub permits: i64,
    /// The longest lease in the operation, as a multiple of the watchdog.
    pub longest: u32,
    /// Whether the client in trouble asks for leases of its own, which may end.
    pub leases: bool,
    /// Whether the client in trouble hands its locks on without a call for as long as the cell takes.
    pub turn: bool,
    pub play: fn(&Scene),
}

pub const ALL: [Operation; 19] = [
    Operation { name: "acquire", permits: 1, longest: 2, leases: false, turn: false, play: acquire },
    Operation { name: "nested acquire", permits: 2, longest: 2, leases: false, turn: false, play: nested },
    Operation { name: "inner release first", permits: 2, longest: 2, leases: true, turn: false, play: inner_first },
    Operation { name: "outer release first", permits: 2, longest: 2, leases: true, turn: false, play: outer_first },
    Operation { name: "renew", permits: 1, longest: 2, leases: false, turn: false, play: renew },
    Operation { name: "extend longer", permits: 1, longest: 2, leases: true, turn: false, play: longer },
    Operation { name: "extend shorter", permits: 1, longest: 2, leases: true, turn: false, play: shorter },
    Operation { name: "pass on", permits: 1, longest: 2, leases: false, turn: false, play: pass },
    Operation { name: "force", permits: 1, longest: 2, leases: false, turn: false, play: force },
    Operation { name: "wait and be handed over", permits: 1, longest: 2, leases: false, turn: false, play: hand_over },
    Operation { name: "give back on cancel", permits: 1, longest: 2, leases: false, turn: false, play: give_back },
    Operation {
        name: "release beside one whose lease has ended",
        permits: 2,
        longest: 5,
        leases: true,
        turn: false,
        play: beside_ended,
    },
    Operation { name: "acquire for long", permits: 1, longest: 15, leases: false, turn: false, play: for_long },
    Operation { name: "force oneself", permits: 1, longest: 2, leases: false, turn: false, play: force_oneself },
    Operation { name: "wait twice", permits: 2, longest: 2, leases: false, turn: false, play: wait_twice },
    Operation { name: "wait in vain", permits: 1, longest: 3, leases: false, turn: false, play: in_vain },
    Operation {
        name: "release beside another lease",
        permits: 2,
        longest: 2,
        leases: false,
        turn: false,
        play: beside_another,
    },
    Operation { name: "hand on", permits: 1, longest: 2, leases: false, turn: true, play: hand_on },
    Operation { name: "through another's grip", permits: 1, longest: 2, leases: false, turn: true, play: through },
];

const NOW: Option<Duration> = Some(Duration::ZERO);
/// Longer than a lease: by then every hold has ended.
const LONG: Option<Duration> = Some(Duration::from_secs(6));

/// The owner of the inner hold. A permit belongs to one owner: two permits have two owners.
fn inner_of(scene: &Scene, owner: i64) -> i64 {
    if scene.a.kind == "permit" { owner + 10 } else { owner }
}

fn part(of: f64) -> Duration {
    LEASE.mul_f64(of)
}

fn acquire(scene: &Scene) {
    let taken = scene.struck(|| scene.a.take(1, NOW, None));
    sleep(part(0.2));
    scene.heal();
    scene.a.give(1, taken.as_ref());
}

fn nested(scene: &Scene) {
    let outer = scene.a.take(1, NOW, None);
    let inner = scene.struck(|| scene.a.take(inner_of(scene, 1), NOW, None));
    sleep(part(0.2));
    scene.heal();
    scene.a.give(inner_of(scene, 1), inner.as_ref());
    scene.a.give(1, outer.as_ref());
}

/// At first both holds are renewed. Then both have leases of their own, and the inner one is longer.
fn inner_first(scene: &Scene) {
    let outer = scene.a.take(1, NOW, None);
    sleep(part(0.25));
    let inner = scene.a.take(inner_of(scene, 1), NOW, None);
    scene.struck(|| scene.a.give(inner_of(scene, 1), inner.as_ref()));
    sleep(part(0.25));
    scene.a.give(1, outer.as_ref());
    let outer = scene.a.take(2, NOW, Some(part(0.8)));
    let inner = scene.a.take(inner_of(scene, 2), NOW, Some(part(2.0)));
    scene.a.give(inner_of(scene, 2), inner.as_ref());
    sleep(part(0.2));
    scene.heal();
    scene.a.give(2, outer.as_ref());
}

fn outer_first(scene: &Scene) {
    let outer = scene.a.take(1, NOW, Some(part(2.0)));
    let inner = scene.a.take(inner_of(scene, 1), NOW, Some(part(0.8)));
    scene.struck(|| scene.a.give(1, outer.as_ref()));
    sleep(part(0.3));
    scene.heal();
    scene.a.give(inner_of(scene, 1), inner.as_ref());
}

fn renew(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    scene.struck(|| sleep(part(1.4)));
    scene.heal();
    scene.a.give(1, taken.as_ref());
}

fn longer(scene: &Scene) {
    let taken = scene.a.take(1, NOW, Some(LEASE));
    scene.struck(|| scene.a.extend(1, taken.as_ref(), part(1.5)));
    sleep(part(0.3));
    scene.heal();
    scene.a.give(1, taken.as_ref());
}

fn shorter(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    scene.struck(|| scene.a.extend(1, taken.as_ref(), part(0.4)));
    sleep(part(0.25));
    scene.heal();
    scene.a.give(1, taken.as_ref());
}

/// The waiters of a shared lock wait for another kind of holder.
fn pass(scene: &Scene) {
    let taken = scene.blocking_a().take(1, NOW, None);
    let waiting = scene.a.begin_take(2, LONG, None);
    // No pause: only a hold that has lasted for less than 10 ms is passed on.
    let taken = scene.struck(|| {
        scene.blocking_a().give(1, taken.as_ref());
        scene.a.end(waiting)
    });
    sleep(part(0.2));
    scene.heal();
    scene.a.give(2, taken.as_ref());
}

fn force(scene: &Scene) {
    let held = scene.b.take(1, NOW, Some(part(2.0)));
    scene.struck(|| scene.a.force());
    scene.heal();
    sleep(part(0.1));
    scene.set_permits();
    let taken = scene.a.take(2, LONG, None);
    scene.a.give(2, taken.as_ref());
    if let Some(held) = held
        && scene.b.kind != "semaphore"
        && scene.b.kind != "latch"
    {
        // The hold may already be lost: both answers are right.
        scene.b.ask("give", Request { hold: held.number as u64, numbers: vec![1], ..scene.b.request(Op::Release, 1) });
        scene.b.errors.lock().expect("no call panics").clear();
    }
}

fn hand_over(scene: &Scene) {
    let held = scene.blocking_b().take(1, NOW, None);
    let waiting = scene.a.begin_take(2, LONG, None);
    sleep(part(0.1));
    let taken = scene.struck(|| {
        scene.blocking_b().give(1, held.as_ref());
        scene.a.end(waiting)
    });
    sleep(part(0.2));
    scene.heal();
    scene.a.give(2, taken.as_ref());
}

fn give_back(scene: &Scene) {
    let held = scene.blocking_b().take(1, NOW, None);
    let waiting = scene.a.begin_take(2, LONG, None);
    sleep(part(0.1));
    let taken = scene.struck(|| {
        scene.a.cancel(&waiting);
        scene.a.end(waiting)
    });
    sleep(part(0.1));
    scene.heal();
    scene.a.give(2, taken.as_ref());
    scene.blocking_b().give(1, held.as_ref());
    scene.a.errors.lock().expect("no call panics").retain(|error| !error.contains("cancelled"));
}

/// Fields of a holder whose lease has ended keep no other client out for the rest of a long lease.
fn beside_ended(scene: &Scene) {
    let ended = scene.b.take(1, NOW, Some(part(0.4)));
    let taken = scene.a.take(2, LONG, Some(LEASE * 5));
    sleep(part(0.5));
    if ["semaphore", "latch"].contains(&scene.b.kind) {
        scene.b.give(1, ended.as_ref());
    }
    scene.struck(|| scene.a.give(2, taken.as_ref()));
    scene.heal();
}

/// A hold of a caller that got an error is given back: the next owner does not wait for the end of a long lease.
fn for_long(scene: &Scene) {
    let lease = scene.is_given_back().then(|| LEASE * 15);
    let taken = scene.struck(|| scene.a.take(1, Some(part(0.3)), lease));
    sleep(part(0.1));
    scene.heal();
    scene.a.give(1, taken.as_ref());
}

/// A client that forces its own lock away does not warn of a loss.
fn force_oneself(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    scene.struck(|| scene.a.force());
    sleep(part(0.2));
    scene.heal();
    scene.set_permits();
    // Permits without ids have no end: a second return would make more than there were.
    if scene.a.kind != "semaphore" {
        scene.a.give(1, taken.as_ref());
    }
    scene.a.errors.lock().expect("no call panics").retain(|error| !error.contains(" is lost to "));
}

/// No waiter waits behind its own owner: the hold is passed on to it.
fn wait_twice(scene: &Scene) {
    let held = scene.blocking_a().take(1, NOW, None);
    let [first, second] = [2, inner_of(scene, 2)].map(|owner| scene.a.begin_take(owner, LONG, None));
    // No pause, as in `pass`.
    let [first, second] = scene.struck(|| {
        scene.blocking_a().give(1, held.as_ref());
        [first, second].map(|waiting| scene.a.end(waiting))
    });
    sleep(part(0.1));
    scene.heal();
    scene.a.give(inner_of(scene, 2), second.as_ref());
    scene.a.give(2, first.as_ref());
}

/// One waiter has the server's answer; behind it another one waits without.
fn in_vain(scene: &Scene) {
    let held = scene.blocking_b().take(1, NOW, Some(LEASE * 3));
    scene.a.take(2, Some(part(0.15)), None);
    let waiting = scene.a.begin_take(3, Some(LEASE * 2), None);
    sleep(part(0.1));
    let taken = scene.struck(|| {
        // Longer than an answer of the server counts for later callers.
        sleep(part(0.2));
        scene.a.take(4, Some(part(0.4)), None)
    });
    scene.heal();
    scene.a.give(4, taken.as_ref());
    scene.blocking_b().give(1, held.as_ref());
    let taken = scene.a.end(waiting);
    scene.a.give(3, taken.as_ref());
}

/// The end of one hold neither shortens the owner's longer hold nor prolongs the belief in it.
fn beside_another(scene: &Scene) {
    let outer = scene.a.take(1, NOW, Some(part(0.4)));
    let inner = scene.a.take(inner_of(scene, 1), NOW, Some(part(2.0)));
    scene.struck(|| scene.a.give(1, outer.as_ref()));
    sleep(part(0.6));
    scene.heal();
    scene.a.give(inner_of(scene, 1), inner.as_ref());
    let outer = scene.a.take(2, NOW, Some(part(0.5)));
    let inner = scene.a.take(inner_of(scene, 2), NOW, Some(part(0.6)));
    scene.a.give(inner_of(scene, 2), inner.as_ref());
    sleep(part(0.1));
    scene.a.give(2, outer.as_ref());
}

/// The lock goes to two owners in a row without a call, if the kind has turns.
fn hand_on(scene: &Scene) {
    let taken = scene.blocking_a().take(1, NOW, None);
    let [second, third] = [2, 3].map(|owner| scene.a.begin_take(owner, LONG, None));
    let third = scene.struck(|| {
        scene.blocking_a().give(1, taken.as_ref());
        let second = scene.a.end(second);
        scene.a.give(2, second.as_ref());
        scene.a.end(third)
    });
    sleep(part(0.2));
    scene.heal();
    scene.a.give(3, third.as_ref());
}

/// The trouble meets calls of the holder, which needs a grip of its own for them, and of the owner that has handed the
/// lock on.
fn through(scene: &Scene) {
    let taken = scene.blocking_a().take(1, NOW, None);
    let [second, third] = [2, 3].map(|owner| scene.a.begin_take(owner, LONG, None));
    scene.blocking_a().give(1, taken.as_ref());
    let second = scene.a.end(second);
    let [first, inner] = scene.struck(|| {
        let first = scene.a.take_beside(1, Some(part(0.1)));
        [first, scene.a.take(inner_of(scene, 2), NOW, None)]
    });
    scene.a.give(inner_of(scene, 2), inner.as_ref());
    sleep(part(0.2));
    scene.heal();
    scene.a.give(1, first.as_ref());
    scene.a.give(2, second.as_ref());
    let third = scene.a.end(third);
    scene.a.give(3, third.as_ref());
}
