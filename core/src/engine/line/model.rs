//! The lines of two clients before one lock, driven through random schedules: calls that run late or twice, lost
//! replies and messages, waiters that give up at any moment. The world is the server's one field and the calls and
//! messages in flight.

use std::time::Duration;

use proptest::prelude::*;

mod permits;
mod rotation;
mod server;
mod world;

use server::Flying;
use world::World;

fn play(world: &mut World, schedule: &[(u8, u8)]) {
    for &(action, pick) in schedule {
        let client = usize::from(pick) % 2;
        let at = |flying: &[Flying]| (!flying.is_empty()).then(|| usize::from(pick) % flying.len());
        match action % 16 {
            0 | 1 => world.join(client, None),
            2 => world.join(client, Some(Duration::from_millis(u64::from(pick)))),
            3 => world.cancel(client, u64::from(pick) % (world.joined + 1)),
            4 | 5 => world.release(),
            // A lost reply is the same as a call that runs again before its answer.
            6..=8 => at(&world.flying).into_iter().for_each(|at| world.run(at)),
            9..=11 => {
                let answered = at(&world.flying).filter(|at| world.flying[*at].reply.is_some());
                answered.into_iter().for_each(|at| world.deliver(at));
            }
            12 => world.hear(client),
            13 => world.disconnect(client),
            14 => world.now += Duration::from_micros(u64::from(pick) * 40),
            _ => world.now += Duration::from_millis(u64::from(pick)),
        }
        (0..2).for_each(|client| world.tick(client));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_waiter_is_answered_once_in_order_and_nothing_stays(schedule in prop::collection::vec(any::<(u8, u8)>(), 1..250)) {
        let mut world = World::new();
        play(&mut world, &schedule);
        world.settle();
        prop_assert_eq!(world.field, None);
        let mut answers = world.answers.clone();
        answers.sort_unstable();
        prop_assert_eq!(answers, (1..=world.joined).collect::<Vec<_>>());
        for order in &world.order {
            prop_assert!(order.is_sorted(), "out of order: {:?}", order);
        }
    }
}
