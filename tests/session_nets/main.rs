//! The table kind × operation × trouble for locks of systems with sessions: in every cell the promises hold at every moment, each call ends in
//! time, every loss is told, the next client gets the lock, and nothing is left. See README.md in this folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use redlatch_tests::{cells, deadline, secs};

use round::{Cell, Round};
use system::System;
use troubles::Strike;
use witness::Witness;

mod book;
mod mariadb;
mod operations;
mod player;
mod round;
mod scene;
mod system;
mod troubles;
mod witness;
mod zookeeper;

/// How many rounds run at once. They wait much and work little.
const AT_ONCE: usize = 4;
/// The most cells of a round.
const MOST: usize = 24;
/// With so few cells the test shows the answers of all, good or bad.
const SHOWN: usize = 40;

/// Every cell there is.
fn all() -> Vec<Cell> {
    let mut cells = Vec::new();
    for system in system::ALL {
        for trouble in system.troubles {
            for kind in system.kinds {
                for operation in operations::ALL.iter().filter(|operation| operation.is_for(kind)) {
                    cells.push(Cell { number: cells.len(), system, kind, operation, trouble });
                }
            }
        }
    }
    cells
}

/// A part of all, which has each kind with each operation, and both with each trouble.
fn spread(cells: &[Cell]) -> BTreeSet<usize> {
    let wanted = |cell: &&Cell| cell.places().into_iter().sum::<usize>().is_multiple_of(cell.system.spread);
    cells.iter().filter(wanted).map(|cell| cell.number).collect()
}

fn chosen(cells: &[Cell]) -> BTreeSet<usize> {
    let names: Vec<_> = cells.iter().map(Cell::names).collect();
    cells::chosen("REDLATCH_SESSION_NETS", &names, spread(cells))
}

#[test]
fn the_spread_has_every_kind_with_every_operation_and_both_with_every_trouble() {
    let cells = all();
    let pairs = |cell: &Cell| {
        let [system, kind, operation, trouble] = cell.names();
        [(system, kind, operation), (system, kind, trouble), (system, operation, trouble)]
    };
    let played: BTreeSet<_> = spread(&cells).into_iter().flat_map(|at| pairs(&cells[at])).collect();
    for pair @ (system, one, other) in cells.iter().flat_map(pairs) {
        assert!(played.contains(&pair), "{system}: {one} × {other}");
    }
}

#[test]
fn the_promises_of_sessions_hold_under_each_trouble_in_the_middle_of_each_operation() {
    deadline::within(secs(1800));
    note_panics_of_the_core();
    let begun = Instant::now();
    let cells = all();
    let chosen = chosen(&cells);
    let mut rounds: BTreeMap<[&str; 2], Vec<&Cell>> = BTreeMap::new();
    for at in &chosen {
        rounds.entry(cells[*at].round()).or_default().push(&cells[*at]);
    }
    let rounds: Vec<&[&Cell]> = rounds.values().flat_map(|cells| cells.chunks(MOST)).collect();
    // The members of groups beside the one in trouble.
    let start = |system: &System| [(); 2].map(|()| Witness::start((system.start)(Strike::Nothing)));
    let is_played = |system: &&&System| chosen.iter().any(|at| cells[*at].system.name == system.name);
    let spare: BTreeMap<_, _> =
        system::ALL.iter().filter(is_played).map(|system| (system.name, start(system))).collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(cells) = rounds.get(next.fetch_add(1, SeqCst)) {
                    for (at, (told, said)) in Round::play(cells, &spare[cells[0].system.name]) {
                        let title = cells[at].title();
                        if chosen.len() <= SHOWN {
                            println!("{title}: {told}");
                        }
                        if !said.is_empty() {
                            let text = format!("{title}\n    {}\n    [{told}]", said.join("\n    "));
                            wrong.lock().expect("nothing panics while it is held").push(text);
                        }
                    }
                }
            });
        }
    });
    spare.values().flatten().for_each(|witness| witness.end());
    println!("{} cells, {} played in {:.0?}", cells.len(), chosen.len(), begun.elapsed());
    let wrong = wrong.into_inner().expect("no thread has panicked");
    let panics = PANICS.lock().expect("no hook panics").clone();
    assert!(panics.is_empty(), "threads of the core panicked: {panics:?}");
    assert!(wrong.is_empty(), "{} cells are wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// The panics of threads of the core: a client that goes on after a panic cannot be trusted.
static PANICS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn note_panics_of_the_core() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name().is_some_and(|name| name.starts_with("redlatch")) {
            PANICS.lock().expect("no hook panics").insert(panic.to_string());
        } else {
            before(panic);
        }
    }));
}
