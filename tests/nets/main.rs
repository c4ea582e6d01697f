//! The table kind × operation × trouble: in every cell the promises hold at every moment, each call ends in time, the
//! next client gets the lock, and nothing is left. See README.md in this folder.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use redlatch::ffi::kinds::{ALL, LEADERS, Traits};
use redlatch_tests::{cells, deadline, eventually, secs};

use cell::Cell;
use grounds::Grounds;
use troubles::Trouble;

mod cell;
mod clocked;
mod grounds;
mod hand;
mod judge;
mod moving;
mod operations;
mod player;
mod rights;
mod scene;
mod troubles;
mod warnings;

/// How many cells run at once. They wait much and work little.
const AT_ONCE: usize = 24;

/// With so few cells the test shows the answers of all, good or bad.
const SHOWN: usize = 40;

/// Every kind that a client can hold.
fn kinds() -> impl Iterator<Item = &'static Traits> {
    ALL.iter().chain(LEADERS).map(|row| &row.traits).filter(|traits| traits.name != "leader_watch")
}

/// Every cell there is.
fn all<'a>(troubles: &'a BTreeMap<&'static str, Vec<Trouble>>) -> Vec<Cell<'a>> {
    let mut cells = Vec::new();
    for traits in kinds() {
        for trouble in &troubles[traits.name] {
            for operation in &operations::ALL {
                cells.push(Cell { number: cells.len(), kind: traits, operation, trouble });
            }
        }
    }
    cells
}

/// A selection that has each kind with each operation, and each kind with each trouble: a fifth of all.
fn spread(cells: &[Cell]) -> BTreeSet<usize> {
    let operations = operations::ALL.len();
    let of_kind = |cell: &Cell| kinds().position(|traits| traits.name == cell.kind.name).expect("it is in the table");
    let wanted = |at: usize, cell: &Cell| (at / operations + of_kind(cell) + at % operations).is_multiple_of(5);
    cells
        .iter()
        .enumerate()
        .filter(|(at, cell)| cell.trouble.name == "none" || wanted(*at, cell))
        .map(|(at, _)| at)
        .collect()
}

fn chosen(cells: &[Cell]) -> BTreeSet<usize> {
    let names: Vec<_> = cells.iter().map(Cell::names).collect();
    cells::chosen("REDLATCH_NETS", &names, spread(cells))
}

fn troubles() -> BTreeMap<&'static str, Vec<Trouble>> {
    kinds().map(|traits| (traits.name, troubles::of(traits.name))).collect()
}

#[test]
fn the_spread_has_every_kind_with_every_operation_and_every_trouble() {
    let troubles = troubles();
    let cells = all(&troubles);
    let spread = spread(&cells);
    for traits in kinds() {
        let of_kind = || spread.iter().map(|at| &cells[*at]).filter(|cell| cell.kind.name == traits.name);
        for operation in &operations::ALL {
            assert!(
                of_kind().any(|cell| cell.operation.name == operation.name),
                "{} × {}",
                traits.name,
                operation.name
            );
        }
        for trouble in &troubles[traits.name] {
            assert!(of_kind().any(|cell| cell.trouble.name == trouble.name), "{} × {}", traits.name, trouble.name);
        }
    }
}

#[test]
fn the_promises_hold_under_each_trouble_in_the_middle_of_each_operation() {
    deadline::within(secs(3600));
    note_panics_of_the_core();
    warnings::hear();
    let begun = Instant::now();
    let troubles = troubles();
    let cells = all(&troubles);
    let chosen: Vec<usize> = chosen(&cells).into_iter().collect();
    let grounds = Grounds::new();
    let next = AtomicUsize::new(0);
    let played = AtomicUsize::new(0);
    let wrong = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(at) = chosen.get(next.fetch_add(1, SeqCst)) {
                    let cell = &cells[*at];
                    let end = catch_unwind(AssertUnwindSafe(|| cell.play(&grounds)));
                    let (told, mut said) = end.unwrap_or_else(|panic| (String::new(), vec![said(&*panic)]));
                    played.fetch_add(1, SeqCst);
                    if chosen.len() <= SHOWN {
                        println!("{}: {told}", cell.title());
                    }
                    if !said.is_empty() {
                        said.push(format!("[{told}]"));
                        wrong.lock().expect("nothing panics while it is held").insert(*at, said);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no thread has panicked");
    // By now every client is closed or dropped.
    eventually("the end of the threads of the core", || (threads_of_the_core() == 0).then_some(()));
    // The rig may have seen violations of a cell after the cell was judged.
    for server in grounds.servers() {
        for violation in server.watch().take_violations() {
            let cell = cells.iter().position(|cell| violation.name.contains(&format!("n{}.", cell.number)));
            let known = wrong.entry(cell.unwrap_or(usize::MAX)).or_insert_with(Vec::new);
            if !known.contains(&violation.to_string()) {
                known.push(violation.to_string());
            }
        }
    }
    println!("{} cells, {} played in {:.0?}", cells.len(), played.into_inner(), begun.elapsed());
    let title = |at: usize| cells.get(at).map_or("no cell".to_owned(), Cell::title);
    let lines: Vec<String> =
        wrong.iter().map(|(at, said)| format!("{}\n    {}", title(*at), said.join("\n    "))).collect();
    let panics: Vec<String> =
        PANICS.lock().expect("no hook panics").iter().map(|(panic, count)| format!("{count} × {panic}")).collect();
    assert!(
        panics.is_empty(),
        "threads of the core panicked:\n{}\n{} cells are wrong\n{}",
        panics.join("\n"),
        lines.len(),
        lines.join("\n")
    );
    assert!(lines.is_empty(), "{} cells are wrong\n{}", lines.len(), lines.join("\n"));
}

/// The places in the core where threads have panicked, and how often: a client that goes on after a panic cannot be
/// trusted.
static PANICS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

fn threads_of_the_core() -> usize {
    let names = std::fs::read_dir("/proc/self/task")
        .expect("it is Linux")
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.flatten().filter(|name| name.starts_with("redlatch")).count()
}

fn note_panics_of_the_core() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name().is_some_and(|name| name.starts_with("redlatch")) {
            *PANICS.lock().expect("no hook panics").entry(panic.to_string()).or_default() += 1;
        } else {
            before(panic);
        }
    }));
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    format!("panicked: {}", text.unwrap_or_default())
}
