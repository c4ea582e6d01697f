//! The processes that take locks, each behind a proxy of its own.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use redlatch_tests::dice::Dice;
use redlatch_tests::proxy::Replies;
use redlatch_tests::traffic::LONGEST_RED_LEASE;
use redlatch_tests::{Process, Proxy, Server};

use crate::quorum::Quorum;
use crate::schedule::SLOTS;

/// How long calls of the fleet's clients may stay unanswered at most, and how long the clients repeat them.
pub const RESPONSE: Duration = Duration::from_millis(1000);
pub const RETRY: Duration = Duration::from_millis(3000);
/// Watchdog leases, in seconds.
const WATCHDOGS: [f64; SLOTS] = [1.0, 2.0, 3.0, 1.5];
/// For how long the clients hand their locks on inside, in seconds.
const TURNS: [f64; SLOTS] = [0.01, 0.2, 0.0, 0.05];

/// How long the calls of a slot's clients may stay unanswered.
pub fn response(slot: usize) -> Duration {
    if slot.is_multiple_of(2) { RESPONSE } else { Duration::from_millis(300) }
}

pub struct Fleet {
    pub proxies: Vec<Proxy>,
    slots: Vec<Mutex<Slot>>,
    /// The file of each process's history. The number of a process is its place here.
    histories: Mutex<Vec<PathBuf>>,
    server: String,
    urls: Vec<String>,
    /// The proxies before the servers of red locks, for each slot.
    red: Vec<String>,
    kinds: String,
    dir: PathBuf,
    seed: u64,
}

/// A process and its state.
pub struct Slot {
    pub process: Process,
    /// The number of the process.
    pub number: usize,
    /// The ids of its clients: the first halves of its owners' names.
    pub ids: Vec<String>,
}

impl Fleet {
    /// Starts the fleet. `kinds`: the kinds of the locks that its processes take.
    pub fn start(server: &Server, quorum: &Quorum, kinds: &str, dir: PathBuf, seed: u64) -> Self {
        let proxies: Vec<Proxy> = (0..SLOTS).map(|_| Proxy::start(server)).collect();
        let query = |slot: usize, watchdog: f64| {
            let response = response(slot).as_secs_f64();
            let retry = RETRY.as_secs_f64();
            let turn = TURNS[slot];
            format!("?watchdog={watchdog}&turn={turn}&response_timeout={response}&retry_for={retry}")
        };
        let url = |(slot, proxy): (usize, &Proxy)| server.url_through(proxy.port(), &query(slot, WATCHDOGS[slot]));
        let urls = proxies.iter().enumerate().map(url).collect();
        let red = (0..SLOTS).map(|slot| quorum.urls(&query(slot, LONGEST_RED_LEASE.as_secs_f64()))).collect();
        let histories = Mutex::default();
        let server = server.direct_url();
        let mut fleet =
            Fleet { proxies, slots: Vec::new(), histories, server, urls, red, kinds: kinds.to_owned(), dir, seed };
        fleet.slots = (0..SLOTS).map(|slot| Mutex::new(fleet.launch(slot))).collect();
        fleet
    }

    /// Locks a slot: no other fault strikes its process meanwhile.
    pub fn slot(&self, slot: usize) -> std::sync::MutexGuard<'_, Slot> {
        self.slots[slot].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn slots(&self) -> impl Iterator<Item = std::sync::MutexGuard<'_, Slot>> {
        (0..SLOTS).map(|slot| self.slot(slot))
    }

    /// A new process for a slot, at rest.
    pub fn launch(&self, slot: usize) -> Slot {
        let mut histories = self.histories.lock().expect("nothing panics while it is held");
        let number = histories.len();
        histories.push(self.dir.join(format!("history-{number}")));
        let program = std::env::current_exe().expect("this is a program").with_file_name("redlatch-worker");
        let mut process = Process::start(&program.display().to_string(), std::slice::from_ref(&self.urls[slot]));
        // A lane keeps its number in all processes of its slot, so that the next process meets the locks that the last
        // one left.
        let first = 100 * slot;
        let seed = Dice::new(self.seed, 2_000_000 + number as u64).roll();
        let dir = self.dir.display();
        let history = histories[number].display();
        let ids = process
            .ask(&format!("traffic {} {dir} {history} {first} {seed} {} {}", self.server, self.kinds, self.red[slot]));
        Slot { process, number, ids: ids.split_whitespace().map(str::to_owned).collect() }
    }

    pub fn histories(&self) -> Vec<PathBuf> {
        self.histories.lock().expect("nothing panics while it is held").clone()
    }

    /// Lets the lanes run. `own`: in so many of a hundred attempts a hurried lane takes a lock of its own.
    pub fn go(&self, own: u64) {
        self.slots().for_each(|mut slot| slot.process.tell(&format!("go {own}")));
    }

    /// Lets all lanes finish. Returns the lanes that do not, in words.
    pub fn rest(&self, patience: Duration) -> Vec<String> {
        let mut slots: Vec<_> = self.slots().collect();
        slots.iter_mut().for_each(|slot| slot.process.tell(&format!("rest {}", patience.as_millis())));
        let heard = |slot: &mut std::sync::MutexGuard<Slot>| match slot.process.try_hear() {
            Ok(left) if left == "0" => None,
            Ok(left) => {
                Some(format!("{left} lanes of process {} do not come to an end within {patience:?}", slot.number))
            }
            Err(error) => Some(format!("process {} has ended ({error}); it said {}", slot.number, slot.process.log())),
        };
        slots.iter_mut().filter_map(heard).collect()
    }

    /// The sum over all proxies.
    pub fn sum(&self, which: impl Fn(Replies) -> usize) -> usize {
        self.proxies.iter().map(|proxy| which(proxy.replies())).sum()
    }

    /// The open files and the threads of all present processes.
    pub fn burden(&self) -> (usize, usize) {
        let count = |pid: u32, what: &str| std::fs::read_dir(format!("/proc/{pid}/{what}")).map_or(0, Iterator::count);
        let burden =
            |slot: std::sync::MutexGuard<Slot>| (count(slot.process.pid(), "fd"), count(slot.process.pid(), "task"));
        self.slots().map(burden).fold((0, 0), |(files, threads), (more, too)| (files + more, threads + too))
    }
}
