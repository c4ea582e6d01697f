//! The cells of one trouble, which are played at once on a server of their own.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use redlatch_tests::{Mariadb, cells, ms, secs};

use crate::operations::{self, Operation};
use crate::scene::{KINDS, Kind, Scene};
use crate::troubles::{self, Strike, Trouble};
use crate::witness::{LEASE, Witness};

/// The settings that let the witness ask the server, and a log that outlives the server's process.
const OPTIONS: [&str; 5] = [
    "--performance-schema=ON",
    "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
    "--performance-schema-instrument=statement/%=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--innodb-flush-log-at-trx-commit=2",
];
/// The most connections of a server, as the rig starts it.
const CONNECTIONS: u32 = 600;
/// How long the cells of a round are waited for before the trouble comes.
const PATIENCE: Duration = secs(30);
/// The time after which a common trouble strikes.
const SOON: Duration = ms(15);

pub struct Cell {
    pub number: usize,
    pub kind: &'static Kind,
    pub operation: &'static Operation,
    pub trouble: &'static Trouble,
}

impl Cell {
    pub fn names(&self) -> [&'static str; 3] {
        [self.kind.name, self.operation.name, self.trouble.name]
    }

    /// Its place in each dimension of the table.
    pub fn places(&self) -> [usize; 3] {
        let [kind, operation, trouble] = self.names();
        let kind = KINDS.iter().position(|one| one.name == kind);
        let operation = operations::ALL.iter().position(|one| one.name == operation);
        let trouble = troubles::ALL.iter().position(|one| one.name == trouble);
        [kind, operation, trouble].map(|place| place.expect("it is in the table"))
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
    pub server: Mariadb,
    witness: Arc<Witness>,
    /// The servers of the other members of groups. No trouble strikes them.
    spare: &'a [Watched; 2],
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many cells are not in the middle of their operation yet.
    before: usize,
    is_over: bool,
}

/// A server with its witness.
pub type Watched = (Mariadb, Arc<Witness>);

pub fn start() -> Watched {
    let server = Mariadb::with(&OPTIONS);
    let witness = Witness::start(&server);
    (server, witness)
}

impl<'a> Round<'a> {
    /// Plays the cells. Gives the answers and the violations of each, by its place in `cells`.
    pub fn play(cells: &[&Cell], spare: &'a [Watched; 2]) -> BTreeMap<usize, (String, Vec<String>)> {
        let (server, witness) = start();
        let state = State { before: cells.len(), is_over: false };
        let round = Round { server, witness, spare, state: Mutex::new(state), changed: Condvar::new() };
        let strike = cells[0].trouble.strike;
        let played = thread::scope(|scope| {
            let playing: Vec<_> = cells.iter().map(|cell| scope.spawn(|| round.play_one(cell))).collect();
            if strike.is_common() {
                round.wait_until(|state| state.before == 0);
                sleep(SOON);
                round.strike(strike);
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

    /// The server in trouble and the spare ones, with their witnesses.
    pub fn servers(&self) -> impl Iterator<Item = (&Mariadb, Arc<Witness>)> {
        let spare = self.spare.iter().map(|(server, witness)| (server, witness.clone()));
        std::iter::once((&self.server, self.witness.clone())).chain(spare)
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

    fn strike(&self, strike: Strike) {
        let ask = |statement: &str| {
            self.witness.ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        };
        match strike {
            Strike::Restart => {
                self.server.stop();
                self.witness.is_down(true);
                sleep(ms(400));
                self.witness.is_down(false);
                self.server.start_again();
            }
            Strike::StandStill => {
                self.witness.stands_still(true);
                self.server.pause();
                sleep(LEASE + ms(500));
                self.server.resume();
                self.witness.stands_still(false);
            }
            Strike::NoTokens => {
                ask("DROP TABLE app.redlatch_fence");
                sleep(ms(300));
                self.witness.forgets_tokens();
                ask("CREATE TABLE app.redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL)");
            }
            Strike::Full => {
                ask("SET GLOBAL max_connections = 10");
                sleep(ms(500));
                ask(&format!("SET GLOBAL max_connections = {CONNECTIONS}"));
            }
            _ => unreachable!("each cell strikes for itself"),
        }
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
