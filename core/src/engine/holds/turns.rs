//! Random histories of one client with several owners of one lock, which it hands on inside: its ledger, its grips and its
//! line against a server with one lock. Calls take time in both directions, answers get lost, waiters give up, and
//! another program uses the lock and meddles with it.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::Meant;

mod book;
mod calls;
mod checks;
mod server;
mod world;

use world::{OWNERS, Patience, World};

/// In ms; among them some that are over before the answer comes, about two thirds of the watchdog's time and about all of it.
const LEASES: [u64; 6] = [12, 30, 190, 300, 700, 2000];
/// The number of steps of a history on the average.
const STEPS: usize = 200;

fn lease(pick: u8) -> Duration {
    Duration::from_millis(LEASES[usize::from(pick) % LEASES.len()])
}

/// Mostly an owner that neither waits for the lock nor has it.
fn owner(world: &World, pick: u8) -> i64 {
    let owner = |more: i64| (i64::from(pick / 16) + more) % OWNERS + 1;
    let waits = |owner: i64| world.line.as_ref().is_some_and(|line| line.waits(owner));
    let has = |owner: i64| world.held.iter().any(|held| held.owner == owner);
    (0..OWNERS).map(owner).find(|owner| pick.is_multiple_of(16) || !(waits(*owner) || has(*owner))).unwrap_or(owner(0))
}

/// `crowd`: the number of callers that want the lock at the same time.
fn play(world: &mut World, crowd: usize, history: &[(u8, u8)]) {
    let mut late = 0;
    for &(action, pick) in history {
        let held = (!world.held.is_empty()).then(|| world.held[usize::from(pick) % world.held.len()]);
        let calls = world.in_flight();
        let at = usize::from(pick) % calls.max(1);
        // A thread may take its time to tell an heir.
        if action % 4 > 0 {
            world.tell_heir();
        }
        if pick % 3 > 0 {
            world.come();
        }
        match action % 75 {
            0..=11 if pick < 16 || world.wants() < crowd => {
                let owner = owner(world, pick);
                if !world.barge(owner) {
                    world.acquire(owner, None, Patience::Forever);
                }
            }
            12 if pick < 96 => {
                world.acquire(owner(world, pick), Some(lease(pick)), Patience::Forever);
            }
            12 => world.acquire(owner(world, pick), None, Patience::Once),
            13 => {
                let end = world.now + Duration::from_millis(u64::from(pick / 8));
                world.acquire(owner(world, pick), None, Patience::Until(end));
            }
            14..=27 => held.into_iter().for_each(|held| {
                world.release(held.owner, if pick < 224 { Meant::Given(held.number) } else { Meant::Latest });
            }),
            28..=43 if calls > 0 => {
                world.run(at);
                world.deliver(at);
            }
            44..=46 if calls > 0 => world.run(at),
            47..=49 if calls > 0 => world.deliver(at),
            50 if calls > 0 && pick < 160 => world.lose(at),
            50 if calls > 0 => world.give_up(at),
            51 | 52 => world.hear(),
            53 if pick < 128 => world.server.trade(Duration::from_millis(u64::from(pick)), world.now),
            53 if pick < 192 => world.server.meddle(pick, world.now),
            54 if pick < 128 => world.suspect = true,
            54 if pick < 144 => world.disconnect(pick < 136),
            // The client hears of the new server later.
            54 if pick < 152 => world.incarnation += 1,
            55 | 56 => world.look_into(),
            57 if pick < 128 => {
                held.into_iter().for_each(|held| world.extend(held, lease(pick)));
            }
            // The watchdog is late.
            57 => late = pick / 8,
            58 => world.cancel(world.asked.saturating_sub(u64::from(pick % 8))),
            59..=66 => world.now += Duration::from_micros(u64::from(pick) * 8),
            67..=69 => world.now += Duration::from_millis(u64::from(pick / 32)),
            70 => world.now += Duration::from_millis(u64::from(pick / 4)),
            71 => world.now += Duration::from_millis(u64::from(pick) * 2),
            // The server keeps a lock for a little longer than the client believes.
            72 => {
                let end = world.book.beliefs.values().map(|belief| belief.deadline).min();
                world.now =
                    end.map_or(world.now, |end| world.now.max(end + Duration::from_micros(u64::from(pick) * 8)));
            }
            73 | 74 => drop(world.barge(owner(world, pick))),
            _ => {}
        }
        world.go_on();
        world.step_line();
        late = late.saturating_sub(1);
        if late == 0 {
            world.watch();
        }
        world.check();
    }
}

/// Nothing more goes wrong, and every holder releases.
fn settle(world: &mut World) {
    for _ in 0..10_000 {
        world.come();
        world.tell_heir();
        world.hear();
        world.go_on();
        world.step_line();
        world.look_into();
        if world.in_flight() > 0 {
            world.run(0);
            world.deliver(0);
        } else if let Some(held) = world.held.first() {
            world.release(held.owner, Meant::Given(held.number));
        } else if world.is_still() {
            return;
        } else {
            world.now += Duration::from_millis(1);
        }
        world.check();
    }
    panic!("a waiter waits for ever");
}

#[test]
fn a_lock_that_is_handed_on_inside_has_one_holder_and_growing_tokens() {
    let config = ProptestConfig { cases: 20_000, source_file: Some(file!()), ..ProptestConfig::default() };
    let turns = [0, 10, 10, 50, 2000].map(Duration::from_millis);
    let turns = prop::sample::select(turns.to_vec());
    let steps = prop::collection::vec(any::<(u8, u8)>(), 1..=2 * STEPS);
    let histories = (any::<bool>(), turns, 2..=OWNERS as usize, steps);
    let handed_on = Cell::new(0);
    let barged = Cell::new(0);
    let played = TestRunner::new(config).run(&histories, |(fenced, turn, crowd, steps)| {
        let mut world = World::new(fenced, turn);
        play(&mut world, crowd, &steps);
        settle(&mut world);
        world.now += super::REMEMBER * 2;
        (0..4).for_each(|_| world.look_into());
        world.check_end();
        handed_on.set(handed_on.get() + world.handed_on);
        barged.set(barged.get() + world.barged);
        Ok(())
    });
    played.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(handed_on.get() > 50_000, "only {} hand-ons", handed_on.get());
    assert!(barged.get() > 1000, "a thread barged only {} times", barged.get());
}
