//! The lines of two clients before one lock, driven through random schedules: calls that run late or twice, replies and messages that
//! are lost, waiters that give up at any moment. The world is the server's one field and what is on its way.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Line, Place, Returned, Step};

const LEASE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Listen,
    Try { id: u64 },
    Release { id: u64, heir: Option<u64>, heard: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    Listening,
    Taken,
    Busy,
    Freed(u64),
    Passed,
}

#[derive(Debug)]
struct Flying {
    client: usize,
    call: Call,
    reply: Option<Reply>,
}

#[derive(Default)]
struct Client {
    line: Option<Line<()>>,
    working: bool,
    subscribed: bool,
    heard: u64,
    unheard: u64,
}

struct World {
    now: Instant,
    field: Option<u64>,
    clients: [Client; 2],
    flying: Vec<Flying>,
    /// Who believes to hold the lock, and where.
    holder: Option<(usize, u64)>,
    joined: u64,
    answers: Vec<u64>,
    order: [Vec<u64>; 2],
}

impl World {
    fn new() -> Self {
        World {
            now: Instant::now(),
            field: None,
            clients: Default::default(),
            flying: Vec::new(),
            holder: None,
            joined: 0,
            answers: Vec::new(),
            order: Default::default(),
        }
    }

    fn join(&mut self, client: usize, deadline: Option<Duration>) {
        self.joined += 1;
        let (id, now) = (self.joined, self.now);
        let near = self.holder.is_some_and(|(holder, _)| holder == client);
        let place = Place { id, deadline: deadline.map(|wait| now + wait), joined: now, waiter: () };
        let line = self.clients[client].line.get_or_insert_with(|| Line::new(near, now));
        if !line.is_waited_in(now) {
            if near { line.waiter.near(None, now) } else { line.waiter.hurry(now) }
        }
        line.join(place);
    }

    fn cancel(&mut self, client: usize, id: u64) {
        let left = self.clients[client].line.as_mut().and_then(|line| line.leave(id));
        self.answers.extend(left.map(|place| place.id));
    }

    /// What the line's task does.
    fn tick(&mut self, client: usize) {
        let now = self.now;
        let Some(line) = &mut self.clients[client].line else { return };
        self.answers.extend(line.expired(now).into_iter().map(|place| place.id));
        let call = match line.step(now) {
            Step::End => {
                self.clients[client] = Client::default();
                self.flying.retain(|flying| flying.client != client || flying.call != Call::Listen);
                return;
            }
            Step::Listen if !self.clients[client].working => Some(Call::Listen),
            Step::Try if !self.clients[client].working => line.take_head(now).map(|place| Call::Try { id: place.id }),
            _ => None,
        };
        if let Some(call) = call {
            self.clients[client].working = true;
            self.flying.push(Flying { client, call, reply: None });
        }
    }

    fn release(&mut self) {
        let Some((client, id)) = self.holder.take() else { return };
        let (now, side) = (self.now, &mut self.clients[client]);
        let heir = side.line.as_mut().and_then(|line| line.pass(now, now)).map(|place| place.id);
        let call = Call::Release { id, heir, heard: side.heard };
        self.flying.push(Flying { client, call, reply: None });
    }

    /// The server carries a call out: what the scripts do, also to a repeat.
    fn run(&mut self, at: usize) {
        let Flying { client, call, .. } = self.flying[at];
        let reply = match call {
            Call::Listen => {
                self.clients[client].subscribed = true;
                Reply::Listening
            }
            Call::Try { id } if self.field.is_none_or(|field| field == id) => {
                self.field = Some(id);
                Reply::Taken
            }
            Call::Try { .. } => Reply::Busy,
            Call::Release { id, heir: Some(heir), .. } if self.field == Some(id) || self.field == Some(heir) => {
                self.field = Some(heir);
                Reply::Passed
            }
            Call::Release { id, .. } if self.field == Some(id) => {
                self.field = None;
                let listeners = self.clients.iter_mut().filter(|client| client.subscribed);
                Reply::Freed(listeners.map(|client| client.unheard += 1).count() as u64)
            }
            // A repeat finds its work done.
            Call::Release { .. } => Reply::Freed(0),
        };
        self.flying[at].reply = Some(reply);
    }

    fn deliver(&mut self, at: usize) {
        let Flying { client, call, reply: Some(reply) } = self.flying.remove(at) else { unreachable!("only answered calls end") };
        let (now, side) = (self.now, &mut self.clients[client]);
        side.working &= matches!(call, Call::Release { .. });
        match (call, reply, &mut side.line) {
            (Call::Listen, _, Some(line)) => line.waiter.listening(),
            (Call::Try { id }, Reply::Taken, Some(line)) => {
                line.waiter.near(Some(LEASE), now);
                let returned = line.returned();
                self.hand_out(client, id, returned);
            }
            (Call::Try { .. }, _, Some(line)) => {
                line.waiter.busy(Some(LEASE), true, now);
                self.answers.extend(line.put_back().map(|place| place.id));
            }
            (Call::Release { heir: Some(heir), .. }, Reply::Passed, Some(line)) => {
                line.waiter.near(Some(LEASE), now);
                let returned = line.returned();
                self.hand_out(client, heir, returned);
            }
            (Call::Release { heir, heard, .. }, Reply::Freed(listeners), Some(line)) => {
                if heir.is_some() {
                    line.waiter.hurry(now);
                    self.answers.extend(line.put_back().map(|place| place.id));
                } else {
                    line.waiter.freed(listeners, heard + listeners, now);
                }
            }
            (Call::Release { heir: None, .. }, _, None) => {}
            other => panic!("no line for {other:?}"),
        }
    }

    fn hand_out(&mut self, client: usize, id: u64, returned: Returned<()>) {
        assert_eq!(self.holder, None, "two hold it");
        self.holder = Some((client, id));
        match returned {
            Returned::Wants(place) => {
                assert_eq!(place.id, id);
                self.answers.push(id);
                self.order[client].push(id);
            }
            Returned::Cancelled(place) => {
                self.answers.push(place.id);
                self.release();
            }
            Returned::Late => self.release(),
        }
    }

    fn hear(&mut self, client: usize) {
        let (now, side) = (self.now, &mut self.clients[client]);
        if side.unheard > 0 {
            side.unheard -= 1;
            side.heard += 1;
            let heard = side.heard;
            side.line.iter_mut().for_each(|line| line.waiter.heard(heard, now));
        }
    }

    /// The connection is cut and made anew: messages on their way are lost, which is told like one message.
    fn disconnect(&mut self, client: usize) {
        self.clients[client].unheard = self.clients[client].unheard.min(1).max(u64::from(self.clients[client].subscribed));
    }

    /// Nothing more goes wrong, and everybody lets go.
    fn settle(&mut self) {
        for _ in 0..100_000 {
            (0..2).for_each(|client| self.tick(client));
            (0..2).for_each(|client| self.hear(client));
            if !self.flying.is_empty() {
                self.run(0);
                self.deliver(0);
            } else if self.holder.is_some() {
                self.release();
            } else if self.clients.iter().all(|client| client.line.is_none()) {
                return;
            } else {
                self.now += Duration::from_millis(1);
            }
        }
        panic!(
            "somebody waits for ever: field {:?}, holder {:?}, lines {:?}",
            self.field,
            self.holder,
            self.clients.each_ref().map(|client| &client.line)
        );
    }
}

fn play(world: &mut World, schedule: &[(u8, u8)]) {
    for &(action, pick) in schedule {
        let client = usize::from(pick) % 2;
        let at = |flying: &[Flying]| (!flying.is_empty()).then(|| usize::from(pick) % flying.len());
        match action % 16 {
            0 | 1 => world.join(client, None),
            2 => world.join(client, Some(Duration::from_millis(u64::from(pick)))),
            3 => world.cancel(client, u64::from(pick) % (world.joined + 1)),
            4 | 5 => world.release(),
            // A reply that gets lost is nothing but a call that runs again before it is answered.
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
    fn everybody_is_answered_once_in_order_and_nothing_stays(schedule in prop::collection::vec(any::<(u8, u8)>(), 1..250)) {
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
