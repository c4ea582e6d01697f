//! Clients with four workers each that want one lock all the time, against a clock: calls, messages and wake-ups take
//! their time, and a timer is late by a millisecond or more, as the real one is. The world is the server's lock and all
//! that is under way.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::{Line, Place, Step};
use crate::base::clock::Instant;

const LEASE: Duration = Duration::from_secs(30);
const WORKERS: u64 = 4;
/// The time of one owner: its wake-up and its work.
const OWNER: Duration = Duration::from_micros(30);

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The line's task looks.
    Look,
    Listening,
    /// A try reaches the server.
    Try,
    /// Its answer reaches the client.
    Tried {
        taken: bool,
    },
    /// The owner of the moment releases.
    End,
    Passed,
    /// A true release reaches the server.
    Release {
        heard: u64,
    },
    Freed {
        enough: u64,
        listeners: u64,
    },
    Message,
}

#[derive(Default)]
struct Client {
    line: Option<Line<()>>,
    listens: bool,
    working: bool,
    missed: bool,
    heard: u64,
    sent: Option<Instant>,
    /// The number of its workers that had the lock.
    owners: u64,
    /// The program ends: its workers ask no more.
    is_leaving: bool,
}

struct World {
    now: Instant,
    begin: Instant,
    events: BTreeMap<(Instant, u64), (usize, Event)>,
    clients: Vec<Client>,
    /// Subscribers that never ask for the lock.
    strangers: u64,
    holder: Option<usize>,
    /// The time since which the lock is free; the sum of all such times, and the longest.
    free_since: Instant,
    idle: Duration,
    longest_idle: Duration,
    tries: u64,
    /// The clients in the order of their turns.
    order: Vec<usize>,
    /// The number of waiters and events so far.
    asked: u64,
    chance: u64,
}

impl World {
    fn new(clients: usize, strangers: u64, turn: Duration) -> Self {
        let now = Instant::now();
        let mut world = World {
            now,
            begin: now,
            events: BTreeMap::new(),
            clients: (0..clients).map(|_| Client::default()).collect(),
            strangers,
            holder: None,
            free_since: now,
            idle: Duration::ZERO,
            longest_idle: Duration::ZERO,
            tries: 0,
            order: Vec::new(),
            asked: 0,
            chance: 1,
        };
        for client in 0..clients {
            let mut line = Line::new(false, now);
            line.turn = turn;
            world.clients[client].line = Some(line);
            (0..WORKERS).for_each(|_| world.ask(client));
            world.look(client);
        }
        world
    }

    /// A number of µs from `least` on, up to twice as many.
    fn some(&mut self, least: u64) -> Duration {
        self.chance = self.chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Duration::from_micros(least + (self.chance >> 33) % least)
    }

    fn later(&mut self, after: Duration, client: usize, event: Event) {
        self.asked += 1;
        self.events.insert((self.now + after, self.asked), (client, event));
    }

    fn ask(&mut self, client: usize) {
        self.asked += 1;
        let id = self.asked;
        let joined = self.now;
        let line = self.clients[client].line.as_mut().expect("a line with workers stays");
        line.join(Place { id, deadline: None, joined, wants: 1, number: 0, owner: id as i64, waiter: () });
    }

    /// The work of the line's task.
    fn look(&mut self, client: usize) {
        let side = &mut self.clients[client];
        let Some(line) = &mut side.line else { return };
        match line.step(self.now) {
            Step::End => (side.line, side.listens) = (None, false),
            Step::Listen if !side.working => {
                side.working = true;
                let after = self.some(80);
                self.later(after, client, Event::Listening);
            }
            Step::Try if !side.working => {
                line.take_head(self.now).expect("a waiter");
                (side.working, side.sent) = (true, Some(self.now));
                self.tries += 1;
                let after = self.some(40);
                self.later(after, client, Event::Try);
            }
            Step::Sleep(until) => {
                let late = self.some(800);
                self.later(until.saturating_duration_since(self.now) + late, client, Event::Look);
            }
            _ => {}
        }
    }

    /// An owner of this client has the lock now.
    fn has_it(&mut self, client: usize, sent: Option<Instant>) {
        let side = &mut self.clients[client];
        let line = side.line.as_mut().expect("a waiter is out");
        sent.into_iter().for_each(|sent| line.pace.taken(sent));
        line.pace.near(Some(LEASE), self.now);
        let _ = line.returned();
        side.owners += 1;
        self.later(OWNER, client, Event::End);
    }

    fn happen(&mut self, client: usize, event: Event) {
        let now = self.now;
        let some = self.some(40);
        let side = &mut self.clients[client];
        match event {
            Event::Look => {}
            Event::Listening => {
                (side.working, side.listens) = (false, true);
                side.line.as_mut().expect("it works").pace.listening();
            }
            Event::Try => {
                let taken = self.holder.is_none();
                if taken {
                    self.holder = Some(client);
                    self.order.push(client);
                    let idle = now.saturating_duration_since(self.free_since);
                    self.idle += idle;
                    self.longest_idle = self.longest_idle.max(idle);
                }
                self.later(some, client, Event::Tried { taken });
            }
            Event::Tried { taken } => {
                side.working = false;
                let sent = side.sent.take();
                if taken {
                    self.has_it(client, sent);
                } else {
                    let line = side.line.as_mut().expect("it works");
                    line.pace.busy(Some(LEASE), true, now);
                    line.put_back();
                }
                let side = &mut self.clients[client];
                if std::mem::take(&mut side.missed) {
                    side.line.iter_mut().for_each(|line| line.pace.heard(side.heard, now));
                }
            }
            Event::End => {
                let line = side.line.as_mut().expect("it does not linger as long as a hold");
                let since = side.sent.unwrap_or(now);
                let ways = line.pass(since, now).map(|(_, ways)| ways);
                side.sent = Some(since);
                match ways {
                    Some(ways) if ways.inside && !line.pace.is_doubted() => self.has_it(client, None),
                    Some(ways) if ways.by_server => {
                        let after = some + self.some(40);
                        self.later(after, client, Event::Passed);
                    }
                    ways => {
                        if ways.is_some() {
                            line.put_back();
                        }
                        side.sent = None;
                        let heard = side.heard;
                        self.later(some, client, Event::Release { heard });
                    }
                }
                if !self.clients[client].is_leaving {
                    self.ask(client);
                }
            }
            Event::Passed => {
                let sent = now - some;
                self.has_it(client, Some(sent));
            }
            Event::Release { heard } => {
                (self.holder, self.free_since) = (None, now);
                let listening: Vec<usize> = (0..self.clients.len()).filter(|at| self.clients[*at].listens).collect();
                let listeners = listening.len() as u64 + self.strangers;
                for listener in listening {
                    let after = self.some(60);
                    self.later(after, listener, Event::Message);
                }
                self.later(some, client, Event::Freed { enough: heard + listeners, listeners });
            }
            Event::Freed { enough, listeners } => {
                side.line.iter_mut().for_each(|line| line.pace.freed(listeners, enough, now));
            }
            Event::Message => {
                side.heard += 1;
                side.missed = side.working;
                let heard = side.heard;
                let working = side.working;
                side.line.iter_mut().for_each(|line| match working {
                    true => line.pace.doubt(now),
                    false => line.pace.heard(heard, now),
                });
            }
        }
        self.look(client);
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(first) = self.events.first_entry().filter(|first| first.key().0 <= end) {
            self.now = self.now.max(first.key().0);
            let (client, event) = first.remove();
            self.happen(client, event);
        }
        self.now = end;
    }

    /// Runs until all have found their places, and forgets what was so far.
    fn settle(&mut self) {
        self.run(Duration::from_millis(200));
        self.clients.iter_mut().for_each(|client| client.owners = 0);
        (self.tries, self.idle, self.longest_idle, self.begin) = (0, Duration::ZERO, Duration::ZERO, self.now);
        self.order.clear();
    }

    /// The owners of the client that had the fewest, and of the one that had the most.
    fn owners(&self) -> (u64, u64) {
        let owners = || self.clients.iter().map(|client| client.owners);
        (owners().min().unwrap_or_default(), owners().max().unwrap_or_default())
    }
}

#[test]
fn clients_have_a_lock_in_turn_and_hardly_a_try_is_in_vain() {
    for turn in [0, 2, 10].map(Duration::from_millis) {
        let mut world = World::new(4, 0, turn);
        world.settle();
        world.run(Duration::from_secs(4));
        let out_of_turn = world.order.windows(4).filter(|four| (0..4).any(|client| !four.contains(&client))).count();
        let turns = world.order.len();
        assert!(turns > 100, "{turn:?}: {turns} turns");
        assert!(out_of_turn * 20 <= turns, "{turn:?}: {out_of_turn} of {turns} out of turn");
        assert!(world.tries <= turns as u64 * 11 / 10, "{turn:?}: {} tries for {turns} turns", world.tries);
        let (least, most) = world.owners();
        assert!(least * 10 >= most * 9, "{turn:?}: {least} to {most} owners");
    }
}

#[test]
fn a_subscriber_that_never_asks_leaves_a_lock_free_for_a_short_time_only() {
    let turn = Duration::from_millis(2);
    let mut world = World::new(3, 1, turn);
    world.settle();
    world.run(Duration::from_secs(2));
    assert!(world.idle < (world.now - world.begin) * 2 / 5, "free for {:?}", world.idle);
    let (least, most) = world.owners();
    assert!(least * 3 >= most, "{least} to {most} owners");
}

#[test]
fn a_client_that_leaves_its_place_delays_the_others_once() {
    let mut world = World::new(4, 0, Duration::from_millis(2));
    world.settle();
    world.clients[0].is_leaving = true;
    world.run(Duration::from_millis(300));
    assert!(world.longest_idle < Duration::from_millis(20), "free for {:?}", world.longest_idle);
    let before = world.order.len();
    (world.idle, world.begin) = (Duration::ZERO, world.now);
    world.run(Duration::from_millis(300));
    assert!(world.order.len() - before > 90, "{} turns", world.order.len() - before);
    assert!(!world.order[before..].contains(&0));
    assert!(world.idle < Duration::from_millis(60), "free for {:?}", world.idle);
}
