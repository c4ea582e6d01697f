//! The place of the cases: one server, and two agents of every language, so that a language also meets itself in
//! another process; and one agent of every older Redisson.

use std::sync::LazyLock;
use std::thread;

use redlatch::ffi::kinds::{self, Traits};
use redlatch_tests::{Server, all_at_once};

use crate::agent::Agent;
use crate::languages::{ALL, Language, OLDER};
use crate::party::Party;

/// An agent, or the reason why there is none.
pub type Actor = Result<Agent, String>;

/// The server and the agents. They end with this process.
pub struct Stage {
    pub server: Server,
    holders: Vec<Actor>,
    waiters: Vec<Actor>,
    older: Vec<Actor>,
}

pub static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let server = Server::start();
    let url = server.url();
    let start = |language: &'static Language| {
        let url = url.clone();
        thread::spawn(move || Agent::start(language, &url))
    };
    let starting: Vec<_> = ALL.iter().chain(ALL).chain(&*OLDER).map(start).collect();
    let mut holders: Vec<_> =
        starting.into_iter().map(|agent| agent.join().expect("starting does not panic")).collect();
    let mut waiters = holders.split_off(ALL.len());
    let older = waiters.split_off(ALL.len());
    Stage { server, holders, waiters, older }
});

impl Stage {
    /// The agents with which others only wait, and the older ones, with their languages.
    pub fn waiters(&self) -> impl Iterator<Item = (&Actor, &'static Language)> {
        self.waiters.iter().zip(ALL).chain(self.older())
    }

    /// All agents but the older ones, in the order of [`ALL`], as often as each language has one.
    pub fn agents(&self) -> impl Iterator<Item = &Actor> {
        self.holders.iter().chain(&self.waiters)
    }

    /// An agent of redlatch without a lock, which plays the newcomer where the waiter is of another library.
    pub fn bystander(&self) -> &Actor {
        &self.waiters[0]
    }

    fn holders(&self) -> impl Iterator<Item = (&Actor, &'static Language)> {
        self.holders.iter().zip(ALL).chain(self.older())
    }

    fn older(&self) -> impl Iterator<Item = (&Actor, &'static Language)> {
        self.older.iter().zip(&*OLDER)
    }
}

/// A row of the table of kinds.
#[derive(Clone, Copy)]
pub struct Kind {
    pub traits: &'static Traits,
    pub scripts: &'static dyn kinds::Kind,
}

/// The kinds for which `of` is true.
pub fn kinds(of: impl Fn(&Traits) -> bool) -> impl Iterator<Item = Kind> {
    let every = kinds::ALL.iter().map(|row| Kind { traits: &row.traits, scripts: row.kind });
    every.filter(move |kind| of(kind.traits))
}

/// Runs `check` for every kind for which `of` is true, one kind after another. All ordered pairs of languages run at
/// once, each with a lock of its own.
pub fn every_pair(case: &str, of: impl Fn(&Traits) -> bool, check: impl Fn(&Party, &Party) + Sync) {
    for kind in kinds(of) {
        let pairs = STAGE.holders().flat_map(|one| STAGE.waiters().map(move |two| (one, two)));
        let pairs = pairs.filter(|((_, one), (_, two))| one.has(kind.traits) && two.has(kind.traits) && one.meets(two));
        all_at_once(pairs.map(|((holder, one), (waiter, two))| {
            let name = format!("{case}: {}: {} → {}", kind.traits.name, one.name, two.name);
            let check = &check;
            (name.clone(), move || check(&Party::new(holder, kind, &name), &Party::new(waiter, kind, &name)))
        }));
    }
}
