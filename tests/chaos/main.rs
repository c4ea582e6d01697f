//! Processes that take locks under all sorts of faults, and a verdict: `redlatch-chaos [SECONDS [SEED [FAMILY|all
//! [KINDS]]]]`.
//!
//! A seed fixes the faults and their order. Without one the program takes it from the clock and prints it. With a
//! family, such as `replies`, only its faults strike. With kinds, such as `fair,semaphore`, only their locks are taken.
//! The last line is `PASS` or `FAIL`. After a failure, or with `KEEP` in the environment, the histories are kept. The
//! exit code of a failure is 1.

mod fleet;
mod nemesis;
mod quorum;
mod residue;
mod schedule;
mod stillness;
mod verb;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use redlatch_tests::{Options, Server, clock};

use fleet::Fleet;
use nemesis::Nemesis;
use quorum::Quorum;
use residue::Residue;
use schedule::Family;

/// How long all lanes together may take to come to rest.
const REST: Duration = Duration::from_secs(15);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize| words.get(place).map(|word| word.parse::<u64>().expect("the arguments are SECONDS SEED FAMILY"));
    let time = Duration::from_secs(number(0).unwrap_or(600));
    let seed = number(1).unwrap_or_else(|| clock::now() % 1_000_000);
    let family = words.get(2).filter(|name| *name != "all");
    let only = family.map(|name| schedule::named(name).unwrap_or_else(|| panic!("there is no family `{name}`")));
    let kinds = words.get(3).map_or("all", |names| names);
    println!("== {time:?} of faults, SEED={seed}");
    let dir = std::env::temp_dir().join(format!("redlatch-chaos-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let passed = run(&dir, seed, time, only, kinds);
    if passed && std::env::var_os("KEEP").is_none() {
        std::fs::remove_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    } else {
        println!("the histories are in {}", dir.display());
    }
    println!("{} (SEED={seed})", if passed { "PASS" } else { "FAIL" });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// True: nothing was wrong.
fn run(dir: &Path, seed: u64, time: Duration, only: Option<Family>, kinds: &str) -> bool {
    let began = Instant::now();
    let server = Server::with(Options { debugging: true, ..Options::default() });
    residue::set_permits(&mut server.view(), true);
    let quorum = Quorum::start();
    let fleet = Fleet::start(&server, &quorum, kinds, PathBuf::from(dir), seed);
    let nemesis =
        Nemesis { server: &server, fleet: &fleet, quorum: &quorum, faults: Mutex::default(), done: Mutex::default() };
    let servers: Vec<&Server> = std::iter::once(&server).chain(&quorum.servers).collect();
    let mut residue = Residue::default();
    let mut burden = Vec::new();
    let mut seen = Vec::new();
    // The rests take a share of the time. Every family has at least one episode, even in a short run.
    let length = (time * 3 / 4 / schedule::ROUND as u32).min(Duration::from_secs(8));
    let ((), still) = stillness::watched(|| {
        for number in 0.. {
            let episode = schedule::episode(seed, number, length, only);
            fleet.go(episode.own);
            let started = began.elapsed();
            let processes = fleet.histories().len();
            nemesis.carry_out(&episode);
            let active = began.elapsed() - started;
            let resting = Instant::now();
            seen.extend(fleet.rest(REST));
            seen.extend(
                servers
                    .iter()
                    .flat_map(|server| server.watch().take_violations())
                    .map(|violation| violation.to_string()),
            );
            let living: Vec<String> = fleet.slots().flat_map(|slot| slot.ids.clone()).collect();
            residue.check(&servers, &living, fleet.histories().len() > processes);
            burden.push(fleet.burden());
            let family = format!("{:?}", episode.family);
            let steps = episode.steps.len();
            println!(
                "{:6.1?} s {family:<12} {steps:>3} faults in {active:.1?}, at rest after {:.2?}",
                started.as_secs_f64(),
                resting.elapsed()
            );
            let over = number + 1 >= schedule::ROUND && began.elapsed() + length > time;
            if over || !seen.is_empty() || !residue.violations.is_empty() {
                break;
            }
        }
    });
    fleet.slots().for_each(|mut slot| drop(slot.process.ask("close")));
    seen.extend(servers.iter().flat_map(|server| server.judged()).map(|violation| violation.to_string()));
    println!();
    let histories = fleet.histories();
    let mut faults = nemesis.faults.into_inner().expect("nothing panics while it is held");
    faults.extend(stillness::faults(&still, histories.len()));
    let run = verdict::Run {
        dir,
        histories,
        faults,
        still: still.len(),
        done: nemesis.done.into_inner().expect("nothing panics while it is held"),
        residue,
        seen,
        lasted: began.elapsed(),
        burden: [burden[0], burden[burden.len() - 1]],
        struck: fleet.proxies.iter().map(|proxy| proxy.struck()).sum(),
        replies: [fleet.sum(|replies| replies.lost), fleet.sum(|replies| replies.late)],
    };
    run.judge()
}
