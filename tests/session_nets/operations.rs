//! The second dimension of the table: the operations on a lock. The trouble strikes in the middle of each.

use std::thread::{self, sleep};
use std::time::Duration;

use crate::book::{LEASE, LEASED};
use crate::scene::Scene;
use crate::system::Kind;

pub struct Operation {
    pub name: &'static str,
    /// The operation itself ends holds, as losses.
    pub loses: bool,
    pub play: fn(&Scene),
}

impl Operation {
    /// A hold of a group that its program neither releases nor closes keeps its clients, as a guard of the program does.
    pub fn is_for(&self, kind: &Kind) -> bool {
        self.name != "drop" || !kind.is_group()
    }

    /// Whether it takes the lock away from its holder.
    pub fn takes_away(&self) -> bool {
        ["force", "be forced"].contains(&self.name)
    }
}

pub const ALL: [Operation; 13] = [
    Operation { name: "acquire", loses: false, play: acquire },
    Operation { name: "acquire with a wait", loses: false, play: waits },
    Operation { name: "acquire with a lease", loses: true, play: for_a_lease },
    Operation { name: "renew", loses: false, play: renew },
    Operation { name: "release", loses: false, play: release },
    Operation { name: "extend", loses: true, play: extend },
    Operation { name: "force", loses: true, play: force },
    Operation { name: "be forced", loses: true, play: be_forced },
    Operation { name: "inspect", loses: false, play: inspect },
    Operation { name: "hand on", loses: false, play: hand_on },
    Operation { name: "cancel", loses: false, play: cancel },
    Operation { name: "close", loses: true, play: close },
    Operation { name: "drop", loses: true, play: abandon },
];

const NOW: Option<Duration> = Some(Duration::ZERO);
/// Longer than a lease: by then every hold has ended.
const LONG: Option<Duration> = Some(Duration::from_secs(6));

fn part(of: f64) -> Duration {
    LEASE.mul_f64(of)
}

/// Does `act` in trouble, while the other client waits for the lock.
fn beside_a_waiter(scene: &Scene, act: impl FnOnce()) {
    let waits = scene.b.begin_take(9, LONG, None);
    act();
    let taken = scene.b.end(waits);
    scene.b.give(9, taken);
}

fn acquire(scene: &Scene) {
    let taken = scene.struck(|| scene.a.take(1, NOW, None));
    sleep(part(0.05));
    beside_a_waiter(scene, || scene.a.give(1, taken));
}

fn waits(scene: &Scene) {
    let held = scene.b.take(9, NOW, None);
    let waiting = [1, 2].map(|owner| scene.a.begin_take(owner, LONG, None));
    scene.struck(|| {
        sleep(Duration::from_millis(40));
        scene.b.give(9, held);
    });
    for (owner, waiting) in [1, 2].into_iter().zip(waiting) {
        let taken = scene.a.end(waiting);
        scene.a.give(owner, taken);
    }
}

fn for_a_lease(scene: &Scene) {
    let owner = LEASED + 1;
    let taken = scene.struck(|| scene.a.take(owner, NOW, Some(part(0.4))));
    beside_a_waiter(scene, || sleep(part(0.1)));
    scene.a.give(owner, taken);
}

fn renew(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    beside_a_waiter(scene, || {
        scene.struck(|| sleep(part(1.2)));
        scene.a.give(1, taken);
    });
}

fn release(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    beside_a_waiter(scene, || scene.struck(|| scene.a.give(1, taken)));
}

fn extend(scene: &Scene) {
    let owner = LEASED + 1;
    let taken = scene.a.take(owner, NOW, Some(part(1.0)));
    beside_a_waiter(scene, || {
        scene.struck(|| scene.a.extend(owner, taken, part(1.5)));
        sleep(part(0.1));
        scene.a.extend(owner, taken, part(0.1));
    });
}

fn force(scene: &Scene) {
    let held = scene.b.take(9, NOW, None);
    scene.struck(|| scene.a.force());
    sleep(part(0.05));
    scene.b.give(9, held);
}

fn be_forced(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    scene.struck(|| scene.b.force());
    let next = scene.b.take(9, LONG, None);
    scene.a.give(1, taken);
    scene.b.give(9, next);
}

fn inspect(scene: &Scene) {
    let taken = scene.a.take(1, NOW, None);
    scene.struck(|| {
        for _ in 0..5 {
            scene.a.inspect();
            scene.b.inspect();
        }
    });
    scene.a.give(1, taken);
}

/// Owners of both clients have the lock in turn.
fn hand_on(scene: &Scene) {
    scene.struck(|| {
        thread::scope(|scope| {
            for owner in 1..=4 {
                scope.spawn(move || {
                    for _ in 0..10 {
                        let player = if owner < 4 { &scene.a } else { &scene.b };
                        let taken = player.take(owner, LONG, None);
                        player.give(owner, taken);
                    }
                });
            }
        });
    });
}

fn cancel(scene: &Scene) {
    let held = scene.b.take(9, NOW, None);
    scene.struck(|| {
        let waiting = scene.a.begin_take(1, None, None);
        sleep(Duration::from_millis(20));
        scene.a.cancel(&waiting);
        let taken = scene.a.end(waiting);
        scene.a.give(1, taken);
    });
    scene.b.give(9, held);
}

fn close(scene: &Scene) {
    let _taken = scene.a.take(1, NOW, None);
    let waiting = scene.a.begin_take(2, None, None);
    beside_a_waiter(scene, || {
        scene.struck(|| {
            sleep(Duration::from_millis(5));
            scene.a.close();
        });
    });
    scene.a.end(waiting);
}

fn abandon(scene: &Scene) {
    let _taken = scene.a.take(1, NOW, None);
    beside_a_waiter(scene, || {
        scene.struck(|| {
            sleep(Duration::from_millis(5));
            scene.a.abandon();
        });
    });
}
