//! A read-write lock with time: holds that end by themselves, extended holds, and owners that take the lock several
//! times.
//!
//! The model knows the server's time as an interval: from a moment certainly before a call to one certainly after it.
//! It foresees an answer only where both ends of the interval give the same.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use redlatch::Error;
use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch_tests::View;

use super::{Stage, play_so_many};
use crate::{ms, secs};

const KINDS: [&str; 2] = ["read", "write"];
const READ: usize = 0;
const WRITE: usize = 1;
const OWNERS: i64 = 3;
/// The lease of a renewed hold. A history is over long before its first renewal.
const WATCHDOG: Duration = secs(30);

#[derive(Clone, Copy, Debug)]
enum Act {
    Take(Option<Duration>),
    /// Releases the latest hold, or the first.
    Give {
        latest: bool,
    },
    Extend(Duration),
    Evict,
    Wait(Duration),
}

type Step = (i64, usize, Act);

fn lease() -> impl Strategy<Value = Duration> {
    prop_oneof![3 => Just(ms(60)), 2 => Just(ms(250)), 3 => Just(secs(20))]
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        12 => prop::option::of(lease()).prop_map(Act::Take),
        10 => any::<bool>().prop_map(|latest| Act::Give { latest }),
        2 => lease().prop_map(Act::Extend),
        1 => Just(Act::Evict),
        3 => prop_oneof![Just(ms(30)), Just(ms(80))].prop_map(Act::Wait),
    ];
    (0..OWNERS, 0..2_usize, act)
}

/// Until when something lasts: at least, and at most.
#[derive(Clone, Copy, Debug)]
struct Until {
    least: Instant,
    most: Instant,
}

/// A hold that its holder has neither released nor been told to have lost.
#[derive(Debug)]
struct Hold {
    way: usize,
    owner: i64,
    number: u64,
    /// Until then the hold must not be lost.
    promised: Instant,
    /// Whether the watchdog renews the hold.
    watched: bool,
}

#[derive(Default)]
struct Model {
    holds: Vec<Hold>,
    /// The server's state of each owner, even if the holder believes in it no more.
    kept: BTreeMap<(usize, i64), Until>,
}

fn believed(lease: Duration) -> Duration {
    lease - lease / 100 - ms(3)
}

impl Model {
    /// Until when the holds of others keep this owner from taking that half.
    fn in_the_way(&self, way: usize, owner: i64) -> Vec<Until> {
        let is_mine = |of: i64| of == owner;
        let stands = |(other, of): &(usize, i64)| match (way, *other) {
            (READ, READ) => false,
            (READ, _) => !is_mine(*of),
            (_, READ) => true,
            (_, _) => !is_mine(*of),
        };
        self.kept.iter().filter(|(key, _)| stands(key)).map(|(_, until)| *until).collect()
    }

    fn keep(&mut self, way: usize, owner: i64, least: Instant, most: Instant) {
        let until = self.kept.entry((way, owner)).or_insert(Until { least, most });
        *until = Until { least: until.least.max(least), most: until.most.max(most) };
        // A writer that also reads makes the lock last. Its write hold ends with the lock, even if the write lease was
        // shorter.
        if let (READ, Some(writing)) = (way, self.kept.get_mut(&(WRITE, owner))) {
            writing.most = writing.most.max(most);
        }
    }
}

struct Play<'a> {
    stage: &'a Stage,
    name: &'a str,
    view: View,
    model: Model,
}

impl Play<'_> {
    fn ask(&self, op: Op, way: usize, owner: i64, hold: u64, lease: Option<Duration>) -> Result<Answer, Error> {
        let request = Request { hold, lease, ..Request::new(op, KINDS[way], self.name, owner) };
        self.stage.client(owner).run_blocking(request)
    }

    fn take(&mut self, way: usize, owner: i64, lease: Option<Duration>) {
        let others = self.model.in_the_way(way, owner);
        let model = &self.model;
        let is_own = way == WRITE && model.kept.contains_key(&(WRITE, owner));
        let begun = Instant::now();
        let taken = self.ask(Op::Acquire, way, owner, 0, lease).expect("answered");
        let ended = Instant::now();
        // An answer that arrives after its lease does not count, but the server keeps the hold for a while.
        let time = lease.unwrap_or(WATCHDOG);
        let is_over = ended - begun >= believed(time);
        if !is_own {
            let busy = others.iter().any(|other| other.least > ended);
            assert!(!(busy && taken.done), "it was given though others have it");
            let free = others.iter().all(|other| other.most < begun);
            assert!(!free || taken.done || is_over, "the lock was not granted although no owner has it");
        }
        if !taken.done && is_over {
            self.model.keep(way, owner, begun, ended + time);
        }
        if taken.done {
            // The hold that stood in the way has ended.
            if !is_own && way == WRITE {
                self.model.kept.clear();
            }
            self.model.keep(way, owner, begun + time, ended + time);
            self.model.holds.push(Hold {
                way,
                owner,
                number: taken.number as u64,
                promised: begun + believed(time),
                watched: lease.is_none(),
            });
        }
    }

    fn give(&mut self, way: usize, owner: i64, latest: bool) {
        let is_its = |hold: &Hold| (hold.way, hold.owner) == (way, owner);
        let found =
            if latest { self.model.holds.iter().rposition(is_its) } else { self.model.holds.iter().position(is_its) };
        let Some(found) = found else { return };
        let hold = self.model.holds.remove(found);
        let given = self.ask(Op::Release, way, owner, hold.number, None);
        match given {
            Ok(_) if self.model.holds.iter().any(is_its) => {}
            Ok(_) => drop(self.model.kept.remove(&(way, owner))),
            Err(Error::Lost(_)) if Instant::now() >= hold.promised => {}
            Err(error) => panic!("{hold:?} is given back: {error}"),
        }
        let now = Instant::now();
        let is_free = self.model.kept.values().all(|until| until.most < now);
        if is_free && way == READ && self.model.kept.keys().all(|(way, _)| *way == READ) {
            self.model.kept.clear();
        }
    }

    fn extend(&mut self, way: usize, owner: i64, lease: Duration) {
        let Some(hold) = self.model.holds.iter().rfind(|hold| (hold.way, hold.owner) == (way, owner)) else { return };
        let number = hold.number;
        let promised = hold.promised;
        let begun = Instant::now();
        match self.ask(Op::Extend, way, owner, number, Some(lease)) {
            Ok(_) => {
                let most = Instant::now() + lease;
                let reading = self.model.kept.get(&(READ, owner)).filter(|_| way == WRITE).map(|reading| reading.most);
                let its: Vec<&Hold> =
                    self.model.holds.iter().filter(|hold| (hold.way, hold.owner) == (way, owner)).collect();
                // The lease is cut only where that cuts no other hold.
                let is_cut = its.len() == 1 && !its[0].watched;
                if is_cut {
                    self.model.kept.remove(&(way, owner));
                }
                self.model.keep(way, owner, begun + lease, reading.map_or(most, |reading| reading.max(most)));
                let its = self.model.holds.iter_mut().filter(|hold| (hold.way, hold.owner) == (way, owner));
                its.for_each(|hold| {
                    hold.promised =
                        if is_cut { begun + believed(lease) } else { hold.promised.max(begun + believed(lease)) }
                });
            }
            // The server may have set the end all the same.
            Err(_) if Instant::now() >= promised.min(begun + believed(lease)) => {
                self.model.keep(way, owner, begun, Instant::now() + lease);
            }
            Err(error) => panic!("it is held, and gets another end: {error}"),
        }
    }

    fn evict(&mut self, way: usize) {
        // The reader whose hold is forced away may be one whose time is over.
        if self.ask(Op::ForceRelease, way, 9, 0, None).expect("answered").number == 1 {
            self.model = Model::default();
        }
    }

    /// How many ms the server keeps an owner's hold.
    fn left(&mut self, way: usize, owner: i64) -> i64 {
        let lock = self.view.pttl(self.name);
        if way == WRITE {
            return lock;
        }
        let holds = format!("{{{}}}:{}:{owner}:rwlock_timeout:*", self.name, self.stage.client(owner).id());
        self.view.keys(&holds).iter().map(|hold| self.view.pttl(hold)).max().unwrap_or(0).min(lock)
    }

    /// No holder believes for longer than the server does, none loses its hold early, and none believes beside a
    /// writer.
    fn check(&mut self) {
        let mut ends = Vec::new();
        for at in (0..self.model.holds.len()).rev() {
            let Hold { way, owner, number, promised, .. } = self.model.holds[at];
            let asked = Instant::now();
            let look = self.stage.client(owner).look(number);
            if let Look::Held { remaining } = look {
                let server = self.left(way, owner).max(0) as u64;
                let latest = Instant::now() + ms(server);
                assert!(
                    asked + remaining <= latest,
                    "{owner} {} for {remaining:?}, the server keeps it for {server} ms",
                    KINDS[way]
                );
                ends.push((way, owner, asked + remaining));
            } else {
                assert!(Instant::now() >= promised, "{owner} {} no more, before its time: {look:?}", KINDS[way]);
                self.model.holds.remove(at);
            }
        }
        let now = Instant::now();
        ends.retain(|(_, _, end)| *end > now);
        let writer = ends.iter().find(|(way, ..)| *way == WRITE);
        let beside = writer.and_then(|(_, writer, _)| ends.iter().find(|(_, owner, _)| owner != writer));
        assert!(beside.is_none(), "{writer:?} writes, and beside it {beside:?} believes in a hold");
        let keys = [self.view.keys(self.name), self.view.keys(&format!("{{{}}}*", self.name))].concat();
        let endless = keys.iter().find(|key| self.view.pttl(key) == -1);
        assert!(endless.is_none(), "{endless:?} has no end");
    }
}

fn play(stage: &Stage, name: &str, history: &[Step]) {
    let mut play = Play { stage, name, view: stage.server.view(), model: Model::default() };
    for step @ (owner, way, act) in history.iter().copied() {
        match act {
            Act::Take(lease) => play.take(way, owner, lease),
            Act::Give { latest } => play.give(way, owner, latest),
            Act::Extend(lease) => play.extend(way, owner, lease),
            Act::Evict => play.evict(way),
            Act::Wait(time) => std::thread::sleep(time),
        }
        let _ = step;
        play.check();
    }
    // The next history has another name. The holds of this one end by themselves, or with their client.
    while let Some(hold) = play.model.holds.first() {
        let way = hold.way;
        let owner = hold.owner;
        play.give(way, owner, true);
    }
}

#[test]
fn no_history_of_timed_reads_and_writes_lets_two_owners_believe_in_excluding_holds() {
    play_so_many(40, step(), play);
}
