//! The lines of two clients before one semaphore: waiters that want more and fewer permits, late calls, lost messages,
//! waiters that give up at any moment. The world is the server's number and the calls and messages in flight.

use std::time::Duration;

use proptest::prelude::*;

use super::super::{Line, Place, Returned, Step};
use crate::base::clock::Instant;
use crate::engine::pace::Busy;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Listen,
    Try { id: u64, wants: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    Listening,
    Taken,
    Busy(u64),
}

#[derive(Default)]
struct Client {
    line: Option<Line<()>>,
    flying: Option<(Call, Option<Reply>)>,
    subscribed: bool,
    heard: u64,
    unheard: u64,
}

struct World {
    now: Instant,
    permits: u64,
    clients: [Client; 2],
    /// The permits that are out, and the time until which their holder keeps them.
    out: Vec<(u64, Instant)>,
    joined: u64,
    answers: Vec<u64>,
    /// The waiters that got their permits.
    served: Vec<u64>,
    keep: Duration,
}

impl World {
    fn new(permits: u64, keep: Duration) -> Self {
        World {
            now: Instant::now(),
            permits,
            clients: Default::default(),
            out: Default::default(),
            joined: 0,
            answers: Default::default(),
            served: Default::default(),
            keep,
        }
    }

    fn join(&mut self, client: usize, wants: u64, wait: Option<Duration>) -> u64 {
        self.joined += 1;
        let id = self.joined;
        let now = self.now;
        let line = self.clients[client].line.get_or_insert_with(|| Line::new(false, now));
        if !line.is_waited_in(now) {
            line.pace.hurry(now);
        }
        line.join(Place {
            id,
            deadline: wait.map(|wait| now + wait),
            joined: now,
            wants,
            number: 0,
            owner: 1,
            waiter: (),
        });
        id
    }

    fn cancel(&mut self, client: usize, id: u64) {
        let left = self.clients[client].line.as_mut().and_then(|line| line.leave(id));
        self.answers.extend(left.map(|place| place.id));
    }

    /// The work of the line's task.
    fn tick(&mut self, client: usize) {
        let now = self.now;
        let side = &mut self.clients[client];
        let Some(line) = &mut side.line else { return };
        self.answers.extend(line.expired(now).into_iter().map(|place| place.id));
        let of = |place: &Place<()>| Call::Try { id: place.id, wants: place.wants };
        let step = line.step(now);
        let call = match step {
            Step::End => {
                (side.line, side.flying, side.subscribed, side.unheard) = (None, None, false, 0);
                return;
            }
            _ if side.flying.is_some() => None,
            Step::Listen => Some(Call::Listen),
            Step::Try => {
                side.unheard = 0;
                line.take_head(now).map(of)
            }
            Step::TryFitting => line.take_fitting(now).map(of),
            Step::Leave | Step::Sleep(_) => None,
        };
        side.flying = side.flying.take().or(call.map(|call| (call, None)));
    }

    /// The server carries out what a client has sent.
    fn run(&mut self, client: usize) {
        let Some((call, reply @ None)) = &mut self.clients[client].flying else { return };
        *reply = Some(match *call {
            Call::Listen => Reply::Listening,
            Call::Try { wants, .. } if wants <= self.permits => {
                self.permits -= wants;
                Reply::Taken
            }
            Call::Try { .. } => Reply::Busy(self.permits),
        });
        self.clients[client].subscribed |= *call_of(&self.clients[client]) == Call::Listen;
    }

    fn deliver(&mut self, client: usize) {
        let now = self.now;
        let keep = self.keep;
        let side = &mut self.clients[client];
        let Some((call, Some(reply))) = side.flying else { return };
        side.flying = None;
        let line = side.line.as_mut().expect("a line with a call in flight stays");
        match (call, reply) {
            (Call::Listen, _) => line.pace.listening(),
            (Call::Try { .. }, Reply::Busy(available)) => {
                line.busy(Busy { left: None, available }, true, now);
                self.answers.extend(line.put_back().map(|place| place.id));
            }
            (Call::Try { id, wants }, _) => {
                line.took(now);
                self.out.push((wants, now + keep));
                match line.returned() {
                    Returned::Wants(place) => {
                        self.answers.push(place.id);
                        self.served.push(id);
                    }
                    Returned::Cancelled(place) => {
                        self.answers.push(place.id);
                        self.release(self.out.len() - 1);
                    }
                    Returned::Late => self.release(self.out.len() - 1),
                }
            }
        }
    }

    fn release(&mut self, at: usize) {
        let (permits, _) = self.out.remove(at);
        self.add(permits);
    }

    fn add(&mut self, permits: u64) {
        self.permits += permits;
        self.clients.iter_mut().filter(|client| client.subscribed).for_each(|client| client.unheard += 1);
    }

    fn hear(&mut self, client: usize) {
        let now = self.now;
        let side = &mut self.clients[client];
        // The line's task hears nothing while it waits for an answer.
        if side.unheard > 0 && side.flying.is_none() {
            side.unheard -= 1;
            side.heard += 1;
            let heard = side.heard;
            side.line.iter_mut().for_each(|line| line.pace.heard(heard, now));
        }
    }

    /// No waiter sleeps that the server could serve, unless the line keeps the permits for an earlier waiter.
    fn nobody_sleeps_over_what_it_wants(&mut self) {
        let now = self.now;
        let permits = self.permits;
        for side in &mut self.clients {
            let (Some(line), None, 0) = (&mut side.line, side.flying, side.unheard) else { continue };
            if !matches!(line.step(now), Step::Sleep(_)) {
                continue;
            }
            let head = line.waiting.front().map(|head| head.number);
            let kept = line.overtaken.as_ref().is_some_and(|overtaken| {
                Some(overtaken.head) == head && overtaken.kept_until.is_some_and(|until| until > now)
            });
            let sleeps = line.waiting.iter().find(|place| place.wants <= permits);
            let over_it = sleeps.is_some_and(|place| !kept || Some(place.number) == head);
            assert!(!over_it, "{sleeps:?} sleeps over {permits} in {line:?}");
        }
    }

    /// Lets all calls and messages in flight arrive.
    fn settle(&mut self) {
        while self.clients.iter().any(|client| client.flying.is_some() || client.unheard > 0) {
            for client in 0..2 {
                self.hear(client);
                self.run(client);
                self.deliver(client);
                self.tick(client);
            }
        }
    }

    /// Nothing more goes wrong, and every holder gives its permits back.
    fn finish(&mut self) {
        for _ in 0..100_000 {
            (0..2).for_each(|client| self.tick(client));
            self.settle();
            if !self.out.is_empty() {
                self.release(0);
            } else if self.clients.iter().all(|client| client.line.is_none()) {
                return;
            } else {
                self.now += Duration::from_millis(1);
            }
        }
        panic!(
            "a waiter waits for ever: {} permits, lines {:?}",
            self.permits,
            self.clients.each_ref().map(|client| &client.line)
        );
    }
}

fn call_of(client: &Client) -> &Call {
    client.flying.as_ref().map(|(call, _)| call).expect("it was just carried out")
}

fn play(world: &mut World, schedule: &[(u8, u8)]) {
    for &(action, pick) in schedule {
        let client = usize::from(pick) % 2;
        let wants = 1 + u64::from(pick / 2 % 4);
        match action % 16 {
            0..=2 => _ = world.join(client, wants, None),
            3 => _ = world.join(client, wants, Some(Duration::from_millis(u64::from(pick)))),
            4 => world.cancel(client, u64::from(pick) % (world.joined + 1)),
            5..=7 if !world.out.is_empty() => world.release(usize::from(pick) % world.out.len()),
            // A program adds permits, or sets their number.
            8 if world.permits + world.out.iter().map(|(permits, _)| permits).sum::<u64>() < 12 => world.add(wants),
            9 | 10 => world.run(client),
            11 | 12 => world.deliver(client),
            13 => world.hear(client),
            14 => world.clients[client].unheard = u64::from(world.clients[client].subscribed),
            15 => world.now += Duration::from_millis(u64::from(pick)),
            _ => {}
        }
        (0..2).for_each(|client| world.tick(client));
        world.nobody_sleeps_over_what_it_wants();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn no_waiter_sleeps_over_permits_that_it_wants_and_each_is_answered_once(
        permits in 4..8_u64,
        schedule in prop::collection::vec(any::<(u8, u8)>(), 1..250),
    ) {
        let mut world = World::new(permits, Duration::ZERO);
        play(&mut world, &schedule);
        world.finish();
        prop_assert!(world.permits >= permits);
        let mut answers = world.answers.clone();
        answers.sort_unstable();
        prop_assert_eq!(answers, (1..=world.joined).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_waiter_that_wants_much_is_served_while_others_keep_coming_that_want_less(
        permits in 2..40_u64,
        much in 2..40_u64,
        less in 1..3_u64,
        ms in 1..500_u64,
        together in any::<bool>(),
    ) {
        let much = much.min(permits);
        let keep = Duration::from_millis(ms);
        let less = less.min(much - 1);
        let mut world = World::new(permits, keep);
        let begin = world.now;
        let mut big = None;
        // Others may overtake the waiter for this long, twice over, and then keep their permits for a while.
        let limit = begin + 20 * keep + 10 * Duration::from_secs(1);
        while world.now < limit && !big.is_some_and(|big| world.served.contains(&big)) {
            let waiting = world.clients[0].line.as_ref().map_or(0, |line| line.waiting.len());
            // Earlier waiters go before it.
            for _ in waiting..if big.is_none() { permits as usize / less as usize } else { 50 } {
                world.join(0, less, None);
            }
            world.tick(0);
            world.settle();
            if big.is_none() {
                big = Some(world.join(0, much, None));
            }
            // The others come all at the same time, or one after the other.
            let apart = if together { keep } else { (keep / permits as u32).max(Duration::from_micros(100)) };
            world.now += apart;
            while let Some(at) = world.out.iter().position(|(_, until)| *until <= world.now) {
                world.release(at);
                world.settle();
                if !together {
                    break;
                }
            }
            world.tick(0);
            world.settle();
        }
        prop_assert!(big.is_some_and(|big| world.served.contains(&big)), "it waits while {} others were served", world.served.len());
    }
}
