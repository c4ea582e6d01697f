//! Many lanes on a few locks at once: tasks and threads, each sort over a client of its own.

use std::sync::Arc;
use std::time::Duration;

use redlatch_tests::dice::Dice;

use crate::clients::Clients;
use crate::plan::Temper;
use crate::stage::{Phase, Stage};
use crate::{asynchronous, blocking};

/// The tempers of the tasks of each process.
const TASKS: [Temper; 8] = tempers();
const THREADS: [Temper; 4] = tempers();

/// One slow lane and many fast ones.
const fn tempers<const LANES: usize>() -> [Temper; LANES] {
    let mut tempers = [Temper::Fast; LANES];
    tempers[LANES - 1] = Temper::Slow;
    tempers
}

pub struct Traffic {
    stage: Arc<Stage>,
    clients: [Clients; 2],
    /// Dropping the runtime ends the tasks.
    _runtime: tokio::runtime::Runtime,
}

impl Traffic {
    /// Starts the lanes at rest. `first` is the number of the first lane; `red` has the URLs of the servers of red
    /// locks.
    pub fn start(url: &str, red: &[&str], stage: Stage, first: u32, seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .expect("threads are to be had");
        let clients = [Clients::connect(url, red), Clients::connect(url, red)];
        let stage = Arc::new(stage);
        let mut number = first;
        let mut next = || {
            number += 1;
            stage.join();
            (stage.clone(), number - 1, Dice::new(seed, u64::from(number)))
        };
        for temper in TASKS {
            let (stage, number, dice) = next();
            let client = clients[0].clone();
            runtime.spawn(async move { asynchronous::lane(&stage, &client, number, temper, dice).await });
        }
        for temper in THREADS {
            let (stage, number, dice) = next();
            let client = clients[1].clone();
            let handle = runtime.handle().clone();
            std::thread::spawn(move || blocking::lane(&stage, &client, &handle, number, temper, dice));
        }
        Traffic { stage, clients, _runtime: runtime }
    }

    pub fn go(&self, own: u64) {
        self.stage.set(Phase::Go { own });
    }

    /// Lets every lane finish its attempt. Returns when all have, or after `patience` with the number of lanes that
    /// have not.
    pub fn rest(&self, patience: Duration) -> usize {
        self.stage.set(Phase::Rest);
        let since = std::time::Instant::now();
        while self.stage.working() > 0 && since.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.stage.working()
    }

    /// The ids of this process's clients: the first halves of its owners' names.
    pub fn ids(&self) -> [String; 2] {
        [self.clients[0].id(), self.clients[1].id()]
    }

    /// Releases all holds, and ends.
    pub fn close(&self) {
        self.clients.iter().for_each(Clients::close);
    }
}
