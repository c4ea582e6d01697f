//! Clients, a program of another sort and a server, played through random schedules: one owner at a time, no waiter is
//! forgotten, no grip stays, and no client asks for a key that it has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::{Grips, Heir, Step, TakenBack, Wish};
use crate::base::clock::Instant;
use crate::engine::line::Place;
use crate::engine::word::AN_ANSWER;
use crate::request::Answer;
use crate::request::error::Result;
use crate::request::seat::{Offer, Seat, WaitEnd};
use crate::sessions::driver::{Bond, Key};

const CLIENTS: usize = 3;
/// The program of another sort.
const STRANGER: usize = CLIENTS;

#[derive(Debug)]
struct Want {
    id: u64,
    once: bool,
    fenced: bool,
    seat: Option<Arc<Seat>>,
    /// How often another owner took the lock that was on its way.
    missed: u32,
}

impl Wish for Want {
    fn is_once(&self) -> bool {
        self.once
    }

    fn is_fenced(&self) -> bool {
        self.fenced
    }

    fn seat(&self) -> Option<&Arc<Seat>> {
        self.seat.as_ref()
    }

    fn is_alone(&self) -> bool {
        false
    }
}

/// The world itself knows the waiter of an offer.
struct Known;

impl Offer for Known {
    fn accepted(self: Box<Self>) {}

    fn missed(self: Box<Self>) {
        unreachable!("the world puts it back");
    }

    fn kept(self: Box<Self>, _: Answer) {
        unreachable!("a lock that was taken back goes to another");
    }
}

fn late(ticket: u64, _: Result<Answer>) {
    unreachable!("{ticket} leaves no seat");
}

/// A call under way.
#[derive(Debug)]
enum Call {
    Take { sent: Instant },
    Stand,
    LetGo { bond: Bond, again: bool },
    Fence { bond: Bond, count: i64 },
}

struct Client {
    grips: Grips<Want>,
    call: Option<Call>,
    looks: bool,
    /// The key's task was woken, or has its next step to do.
    is_awake: bool,
    /// The time at which it looks again by itself.
    asleep_until: Instant,
    /// The owner of each waiter, and the hold of each that has one.
    waiting: BTreeMap<u64, i64>,
    holding: BTreeMap<u64, i64>,
    /// The heir of each hold whose thread has not come for it.
    sleeping: BTreeMap<u64, Place<Want>>,
}

struct World {
    now: Instant,
    key: Key,
    clients: Vec<Client>,
    /// The client and the bond that have the key.
    has: Option<(usize, Bond)>,
    last: u64,
    tokens: i64,
    /// The token of the latest hold that has one.
    latest: i64,
    /// How often a running thread went before an heir.
    barged: u32,
}

impl World {
    fn new(turn: Duration, stands_at_once: bool) -> Self {
        let client = |_| Client {
            grips: Grips::new(turn).standing_at_once(stands_at_once),
            call: None,
            looks: false,
            is_awake: false,
            asleep_until: Instant::NEVER,
            waiting: BTreeMap::new(),
            holding: BTreeMap::new(),
            sleeping: BTreeMap::new(),
        };
        World {
            now: Instant::now(),
            key: "n".into(),
            clients: (0..CLIENTS).map(client).collect(),
            has: None,
            last: 0,
            tokens: 0,
            latest: 0,
            barged: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Gives the grip to its heirs, as the engine does.
    fn pass_on(&mut self, at: usize) {
        let heirs = self.clients[at].grips.heirs(&self.key, self.now);
        for Heir { place, bond, token, may_miss } in heirs {
            assert_eq!(self.has, Some((at, bond)), "the heir has what its client has not");
            let owner = self.clients[at].waiting.remove(&place.id).expect("each waiter is answered once");
            let number = self.hold(at, owner, token, place.waiter.fenced);
            if let Some(seat) = &place.waiter.seat {
                match may_miss {
                    true => seat.offer(Answer::default(), Box::new(Known)),
                    false => seat.done()(Ok(Answer::default())),
                }
                self.clients[at].sleeping.insert(number, place);
            }
        }
        self.clients[at].is_awake |= self.clients[at].grips.settle_holder(&self.key);
    }

    fn hold(&mut self, at: usize, owner: i64, token: i64, fenced: bool) -> u64 {
        if fenced {
            assert!(token > self.latest, "{token} after {}", self.latest);
            self.latest = token;
        }
        let number = self.next();
        let client = &mut self.clients[at];
        client.grips.held(&self.key, number);
        client.holding.insert(number, owner);
        let holders: Vec<_> =
            self.clients.iter().enumerate().filter(|(_, client)| !client.holding.is_empty()).collect();
        assert_eq!(holders.len(), 1, "two clients hold it");
        assert!(self.clients[at].holding.values().all(|other| *other == owner), "two owners hold it");
        number
    }

    fn join(&mut self, at: usize, owner: i64, once: bool, wait: Option<Duration>, fenced: bool, blocks: bool) {
        let id = self.next();
        let seat = (blocks && !once && !fenced).then(|| Seat::new(id, late));
        let runs = seat.is_some();
        let mut deadline = wait.map(|wait| self.now + wait);
        let waiter = Want { id, once, fenced, seat, missed: 0 };
        let place = Place { id, deadline, joined: self.now, wants: 1, number: 0, owner, waiter };
        let client = &mut self.clients[at];
        let grips = &mut client.grips;
        if grips.holder(&self.key) == Some(owner) {
            let token = if fenced { grips.token(&self.key) } else { Some(0) };
            match token {
                Some(token) => {
                    self.hold(at, owner, token, fenced);
                    return;
                }
                None => {
                    grips.join_more(&self.key, place);
                    // Its call has some time for its answer.
                    deadline = deadline.map(|deadline| deadline.max(self.now + AN_ANSWER));
                }
            }
        } else if (once && grips.is_refused(&self.key)) || (runs && self.barge(at, owner)) {
            return;
        } else {
            self.clients[at].grips.join(&self.key, place, self.now);
        }
        let client = &mut self.clients[at];
        client.waiting.insert(id, owner);
        client.is_awake |= client.grips.is_due(&self.key, self.now);
        let is_in_time = deadline.is_none_or(|deadline| client.asleep_until <= deadline);
        assert!(client.is_awake || is_in_time, "the task sleeps through the end of a wait");
    }

    /// A running thread takes the lock that is on its way to an heir, if it may. The heir waits on.
    fn barge(&mut self, at: usize, owner: i64) -> bool {
        let client = &mut self.clients[at];
        let Some(taken) = client.grips.take_back(&self.key, owner, self.now) else { return false };
        let TakenBack { number, ticket, offer } = taken;
        drop(offer);
        let mut place = client.sleeping.remove(&number).expect("its thread has not come");
        let heir = client.holding.remove(&number).expect("it was the heir's");
        assert_eq!(place.id, ticket);
        place.waiter.missed += 1;
        assert!(place.waiter.missed <= 4, "owner {heir} is passed by without end");
        client.waiting.insert(place.id, heir);
        client.grips.join(&self.key, place, self.now);
        client.is_awake |= client.grips.is_due(&self.key, self.now);
        self.hold(at, owner, 0, false);
        self.barged += 1;
        true
    }

    /// The thread of an heir comes for its lock.
    fn come(&mut self, at: usize, pick: usize) {
        let client = &mut self.clients[at];
        let Some(number) = client.sleeping.keys().nth(pick % client.sleeping.len().max(1)).copied() else { return };
        self.comes_for(at, number);
    }

    fn comes_for(&mut self, at: usize, number: u64) {
        if let Some(place) = self.clients[at].sleeping.remove(&number) {
            let seat = place.waiter.seat.expect("it has one");
            assert!(matches!(seat.wait(Some(Duration::ZERO)), WaitEnd::Over(Ok(_))), "its lock is another's");
        }
    }

    fn release(&mut self, at: usize, pick: usize) {
        let client = &mut self.clients[at];
        let Some(number) = client.holding.keys().nth(pick % client.holding.len().max(1)).copied() else { return };
        self.comes_for(at, number);
        let client = &mut self.clients[at];
        client.holding.remove(&number);
        if client.grips.let_go(&self.key, number) {
            self.pass_on(at);
            // The engine wakes it only if the grip went to no heir.
            let client = &mut self.clients[at];
            client.is_awake |= client.grips.holder(&self.key).is_none();
        }
    }

    fn cancel(&mut self, at: usize, pick: usize) {
        let client = &mut self.clients[at];
        let Some(id) = client.waiting.keys().nth(pick % client.waiting.len().max(1)).copied() else { return };
        client.waiting.remove(&id);
        client.is_awake = true;
        let gone = client.grips.leave(&self.key, id).expect("a waiter can always leave");
        assert_eq!(gone.id, id);
    }

    /// One step of a client's task, if it is awake.
    fn step(&mut self, at: usize) {
        let now = self.now;
        let task = &mut self.clients[at];
        if !task.is_awake && now < task.asleep_until {
            return;
        }
        task.is_awake = true;
        for (waiter, _) in self.clients[at].grips.expired(&self.key, self.now) {
            self.clients[at].waiting.remove(&waiter.id).expect("each waiter is answered once");
        }
        let has_it = self.has.is_some_and(|(client, _)| client == at);
        let client = &mut self.clients[at];
        match client.grips.step(&self.key, self.now) {
            Step::Take => {
                assert!(!has_it && client.call.is_none(), "it asks for what it has");
                client.call = Some(Call::Take { sent: self.now });
            }
            Step::Stand => {
                assert!(!has_it && client.call.is_none(), "it asks for what it has");
                let head = client.grips.grips[&self.key].line.first();
                assert!(head.is_some_and(|place| !place.waiter.once), "it waits for a try that waits for nothing");
                client.call = Some(Call::Stand);
            }
            Step::Leave => {
                assert!(matches!(client.call, Some(Call::Stand)));
                assert!(client.waiting.is_empty(), "{:?} want the place in the queue", client.waiting);
            }
            Step::LetGo { bond, again } => client.call = Some(Call::LetGo { bond, again }),
            Step::Fence { bond, count } => client.call = Some(Call::Fence { bond, count }),
            Step::Look => client.looks = true,
            Step::Grant => self.pass_on(at),
            Step::Sleep(until) => (client.is_awake, client.asleep_until) = (false, until),
            Step::End => {
                assert!(client.waiting.is_empty(), "{:?} are forgotten", client.waiting);
                (client.is_awake, client.asleep_until) = (false, Instant::NEVER);
            }
        }
    }

    /// The server carries out a client's call. `fails`: its session ends instead.
    fn answer(&mut self, at: usize, fails: bool, has_room: bool) {
        let now = self.now;
        if std::mem::take(&mut self.clients[at].looks) {
            let is_taken = self.has.is_some();
            self.clients[at].grips.looked(&self.key, (!fails).then_some(is_taken), now);
            self.clients[at].is_awake = true;
        }
        let key = self.key.clone();
        let bond = self.next();
        let client = &mut self.clients[at];
        let Some(call) = client.call.take() else { return };
        client.is_awake = true;
        match call {
            Call::Take { .. } | Call::Stand if fails => client.grips.failed(&key, now),
            Call::Stand if !has_room => client.grips.no_room(&key, 0.5, now),
            Call::Take { .. } | Call::Stand => {
                let sent = if let Call::Take { sent } = call { sent } else { now };
                match self.has {
                    None => {
                        self.has = Some((at, bond));
                        client.grips.took(&key, bond, now);
                        self.pass_on(at);
                    }
                    Some(_) => {
                        let once = client.grips.busy(&key, sent, now);
                        once.inspect(|waiter| {
                            assert!(client.waiting.remove(&waiter.id).is_some(), "each waiter is answered once")
                        });
                    }
                }
            }
            Call::LetGo { bond, .. } | Call::Fence { bond, .. } if fails || self.has != Some((at, bond)) => {
                self.clients[at].call = Some(call);
                self.end(at);
                match self.clients[at].call.take() {
                    Some(Call::Fence { .. }) => self.refuse_tokens(at),
                    _ => self.clients[at].grips.freed(&key, now),
                }
            }
            Call::LetGo { again, .. } => {
                assert!(client.holding.is_empty(), "it lets go what an owner holds");
                self.has = None;
                match again {
                    true => {
                        self.has = Some((at, bond));
                        client.grips.took(&key, bond, now);
                        self.pass_on(at);
                    }
                    false => client.grips.freed(&key, now),
                }
            }
            Call::Fence { count, .. } => {
                let first = self.tokens + 1;
                self.tokens += count;
                client.grips.fenced(&key, first..first + count);
            }
        }
    }

    fn refuse_tokens(&mut self, at: usize) {
        let (waiting, more) = self.clients[at].grips.not_fenced(&self.key, self.now);
        for place in waiting.into_iter().chain(more) {
            self.clients[at].waiting.remove(&place.id).expect("each waiter is answered once");
        }
    }

    /// The session by which a client has the key ends.
    fn end(&mut self, at: usize) {
        if let Some((client, bond)) = self.has
            && client == at
        {
            self.has = None;
            self.clients[at].is_awake = true;
            let lost = self.clients[at].grips.ended(&self.key, bond, self.now);
            let holding = &mut self.clients[at].holding;
            assert!(lost.iter().all(|number| holding.remove(number).is_some()), "it held none of that");
            assert!(self.clients[at].holding.is_empty(), "an owner does not hear of its loss");
            self.clients[at].sleeping.clear();
        }
    }

    fn stranger(&mut self) {
        match self.has {
            None => self.has = Some((STRANGER, 0)),
            Some((STRANGER, _)) => self.has = None,
            Some(_) => {}
        }
    }

    /// All owners release what they have or get, and all calls are answered.
    fn finish(&mut self) {
        if self.has.is_some_and(|(client, _)| client == STRANGER) {
            self.has = None;
        }
        for _ in 0..2_000 {
            self.now += Duration::from_millis(7);
            for at in 0..CLIENTS {
                while !self.clients[at].holding.is_empty() {
                    self.release(at, 0);
                }
                self.step(at);
                self.answer(at, false, true);
            }
        }
        for client in &self.clients {
            assert!(client.waiting.is_empty(), "{:?} are forgotten", client.waiting);
            assert!(client.grips.is_empty(), "a grip stays");
        }
        assert_eq!(self.has, None, "a grip stays");
    }
}

/// `is_still`: no time passes meanwhile, as if all threads ran at once.
fn play(turn: u64, stands_at_once: bool, is_still: bool, steps: &[(u8, u8, u8)]) {
    let mut world = World::new(Duration::from_millis(turn), stands_at_once);
    for &(step, pick, more) in steps {
        let at = usize::from(pick) % CLIENTS;
        match step % 21 {
            0..=4 => {
                let owner = i64::from(more % 4);
                let wait = (more & 4 == 0).then(|| Duration::from_millis(u64::from(more) / 2));
                world.join(at, owner, more & 8 == 0, wait, more & 16 == 0, more & 32 == 0);
            }
            5..=7 => world.release(at, more.into()),
            8 => world.cancel(at, more.into()),
            9..=12 => world.step(at),
            13..=16 => world.answer(at, more < 12, more & 1 == 0),
            17 => world.end(at),
            18 => world.stranger(),
            19 => world.come(at, more.into()),
            _ if is_still => {}
            _ => world.now += Duration::from_millis(more.into()),
        }
    }
    world.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn one_owner_at_a_time_and_no_waiter_is_forgotten_in_any_schedule(
        turn in prop::sample::select(&[0u64, 2, 20][..]),
        is_still in any::<bool>(),
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..150),
    ) {
        play(turn, false, is_still, &steps);
    }

    #[test]
    fn waiters_that_stand_in_the_servers_queue_at_once_are_served_as_well(
        turn in prop::sample::select(&[0u64, 2, 20][..]),
        is_still in any::<bool>(),
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..150),
    ) {
        play(turn, true, is_still, &steps);
    }
}

/// The time of a turn is the bound of a chain inside one process.
#[test]
fn after_its_turn_a_client_gives_the_grip_back_even_if_its_own_owners_wait() {
    let mut world = World::new(Duration::from_millis(2), false);
    for owner in 0..200 {
        world.join(0, owner, false, None, false, false);
    }
    world.step(0);
    world.answer(0, false, true);
    let mut handed_on = 0;
    while world.clients[0].call.is_none() {
        world.release(0, 0);
        handed_on += 1;
        world.now += Duration::from_micros(100);
        world.step(0);
    }
    assert!(matches!(world.clients[0].call, Some(Call::LetGo { again: true, .. })));
    assert!(
        (20..=100).contains(&handed_on),
        "{handed_on} owners had it in one turn of 2 ms, at most 64 or 10 ms in all"
    );
}

/// Waking a thread takes longer than many short holds.
#[test]
fn a_running_thread_goes_before_an_heir_that_sleeps_four_times_and_after_one_that_has_come() {
    let mut world = World::new(Duration::from_secs(1), false);
    let mut barged = 0;
    // A busy machine may make a short hold a long one.
    for _ in 0..100 {
        for owner in 1..=3 {
            world.join(0, owner, false, None, false, true);
        }
        world.step(0);
        world.answer(0, false, true);
        world.now = Instant::now();
        world.release(0, 0);
        for owner in 4..=9 {
            world.join(0, owner, false, None, false, true);
            world.come(0, 0);
            world.now = Instant::now();
            world.release(0, 0);
        }
        barged = barged.max(std::mem::take(&mut world.barged));
        world.finish();
        world.now = Instant::now();
    }
    assert!(barged > 0, "no thread goes before another");
}

/// R3: the place in the server's queue is the line's.
#[test]
fn a_head_that_gives_up_leaves_the_place_in_the_servers_queue_to_the_next() {
    let mut world = World::new(Duration::from_millis(2), false);
    world.stranger();
    for owner in 0..2 {
        world.join(0, owner, false, None, false, false);
    }
    world.step(0);
    world.answer(0, false, true);
    world.step(0);
    assert!(matches!(world.clients[0].call, Some(Call::Stand)));
    world.cancel(0, 0);
    world.step(0);
    assert!(matches!(world.clients[0].call, Some(Call::Stand)), "another waiter wants the place");
    world.stranger();
    world.answer(0, false, true);
    assert_eq!(world.clients[0].holding.values().collect::<Vec<_>>(), [&1]);
    world.finish();
}

/// A caller may try again before the task has taken its next step.
#[test]
fn each_try_without_a_wait_asks_the_server_and_does_not_stand_in_its_queue() {
    let mut world = World::new(Duration::from_millis(2), false);
    world.stranger();
    for owner in 0..2 {
        world.join(0, owner, true, None, false, false);
        world.step(0);
        assert!(matches!(world.clients[0].call, Some(Call::Take { .. })), "the try of owner {owner}");
        world.answer(0, false, true);
        assert!(world.clients[0].waiting.is_empty(), "owner {owner} has its answer");
    }
    world.finish();
}
