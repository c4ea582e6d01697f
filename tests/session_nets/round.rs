//! Cells of one system that are played at once on a server of their own.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use redlatch_tests::{cells, ms, secs};

use crate::book::{BRIEF, LEASE, TOLD};
use crate::operations::{self, Operation};
use crate::scene::Scene;
use crate::system::{Kind, System};
use crate::troubles::{Strike, Trouble};
use crate::witness::Witness;

/// How long the cells of a round are waited for before the trouble comes.
const PATIENCE: Duration = secs(120);
/// The time after which a common trouble strikes.
const SOON: Duration = ms(15);

pub struct Cell {
    pub number: usize,
    pub system: &'static System,
    pub kind: &'static Kind,
    pub operation: &'static Operation,
    pub trouble: &'static Trouble,
}

impl Cell {
    pub fn names(&self) -> [&'static str; 4] {
        [self.system.name, self.kind.name, self.operation.name, self.trouble.name]
    }

    /// Its place in each dimension of its system's table.
    pub fn places(&self) -> [usize; 3] {
        let [_, kind, operation, trouble] = self.names();
        let kind = self.system.kinds.iter().position(|one| one.name == kind);
        let operation = operations::ALL.iter().position(|one| one.name == operation);
        let trouble = self.system.troubles.iter().position(|one| one.name == trouble);
        [kind, operation, trouble].map(|place| place.expect("it is in the table"))
    }

    /// The cells with which it may be played at once: a trouble of all strikes the server of no others.
    pub fn round(&self) -> [&'static str; 2] {
        let trouble = if self.trouble.strike.is_common() { self.trouble.name } else { "" };
        [self.system.name, trouble]
    }

    /// The time in which a holder is told that it has the lock no more.
    pub fn told(&self) -> Duration {
        let strike = self.trouble.strike;
        // No news comes from a server that is in trouble itself.
        let is_deaf = strike.needs_proxy() || strike.is_common();
        let is_forced = self.operation.takes_away();
        match strike {
            _ if !self.system.lasts => TOLD,
            // The program that ends it has entered it before, and the server leaves the holder's own connection open and silent: the
            // holder is told when it has waited for an answer for a sixth of the session's time.
            Strike::Kill(_) => TOLD + LEASE / 3,
            _ if is_forced && is_deaf => LEASE,
            _ if is_forced || strike.takes_away() => TOLD,
            _ => BRIEF,
        }
    }

    pub fn title(&self) -> String {
        cells::title(self.names())
    }

    /// The beginning of the names of its locks.
    pub fn stem(&self) -> String {
        format!("s{}.", self.number)
    }
}

pub struct Round<'a> {
    /// That of the server in trouble.
    pub witness: Arc<Witness>,
    /// The witnesses of the other members' servers, which no trouble strikes.
    spare: &'a [Arc<Witness>; 2],
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many cells are not in the middle of their operation yet.
    before: usize,
    is_over: bool,
}

impl<'a> Round<'a> {
    /// Plays the cells. Gives the answers and the violations of each, by its place in `cells`.
    pub fn play(cells: &[&Cell], spare: &'a [Arc<Witness>; 2]) -> BTreeMap<usize, (String, Vec<String>)> {
        let strike = cells[0].trouble.strike;
        let witness = Witness::start((cells[0].system.start)(strike));
        let state = State { before: cells.len(), is_over: false };
        let round = Round { witness, spare, state: Mutex::new(state), changed: Condvar::new() };
        let played = thread::scope(|scope| {
            let playing: Vec<_> = cells.iter().map(|cell| scope.spawn(|| round.play_one(cell))).collect();
            if strike.is_common() {
                round.wait_until(|state| state.before == 0);
                sleep(SOON);
                round.witness.server.strike(strike, &round.witness);
                round.change(|state| state.is_over = true);
            }
            playing.into_iter().map(|playing| playing.join().expect("its panics are caught")).enumerate().collect()
        });
        round.witness.end();
        played
    }

    fn play_one(&self, cell: &Cell) -> (String, Vec<String>) {
        let played = catch_unwind(AssertUnwindSafe(|| {
            let scene = Scene::open(cell, self);
            (cell.operation.play)(&scene);
            scene.judge()
        }));
        played.unwrap_or_else(|panic| {
            // The others wait for it no longer.
            self.change(|state| state.before = state.before.saturating_sub(1));
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            (String::new(), vec![format!("panicked: {}", text.unwrap_or_default())])
        })
    }

    /// The witness of the server in trouble, and those of the spare ones.
    pub fn witnesses(&self) -> impl Iterator<Item = Arc<Witness>> {
        std::iter::once(self.witness.clone()).chain(self.spare.iter().cloned())
    }

    /// A cell is in the middle of its operation. Returns when all are.
    pub fn enter_trouble(&self) {
        self.change(|state| state.before = state.before.saturating_sub(1));
        self.wait_until(|state| state.before == 0);
    }

    /// Returns when the common trouble is over.
    pub fn wait_for_end(&self) {
        self.wait_until(|state| state.is_over);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("nothing panics while it is held"));
        self.changed.notify_all();
    }

    fn wait_until(&self, it_is_so: impl Fn(&State) -> bool) {
        let state = self.state.lock().expect("nothing panics while it is held");
        let waited = self.changed.wait_timeout_while(state, PATIENCE, |state| !it_is_so(state));
        assert!(!waited.expect("nothing panics while it is held").1.timed_out(), "the other cells of the round hang");
    }
}
