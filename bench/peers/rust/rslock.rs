//! The measuring program for rslock: `rslock <url>` carries out orders, one a line; see bench/README.md.

mod orders;

use std::future::Future;
use std::time::Duration;

use rslock::{Lock, LockManager};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use orders::{Order, Pairs, list, now, paired, sleep_until};

fn main() {
    let url = std::env::args().nth(1).expect("usage: rslock <url>");
    let (url, lease) = url.split_once("?watchdog=").unwrap_or((&url, "30"));
    let locks =
        Locks { manager: LockManager::new(vec![url]), lease: Duration::from_secs(lease.parse().expect("seconds")) };
    let runtime = Runtime::new().expect("threads start");
    let mut program = Program { runtime, locks, waiters: Vec::new(), holds: Vec::new() };
    orders::carry_out_all(|what, order| program.carry_out(what, order));
}

#[derive(Clone)]
struct Locks {
    manager: LockManager,
    lease: Duration,
}

impl Locks {
    async fn lock(&self, name: &str) -> Lock {
        self.manager.acquire_no_guard(name.as_bytes(), self.lease).await.expect("it is acquired in the end")
    }

    /// One try.
    async fn try_lock(&self, name: &str) -> Option<Lock> {
        let mut manager = self.manager.clone();
        manager.set_retry(1, Duration::ZERO);
        manager.lock(name.as_bytes(), self.lease).await.ok()
    }

    /// Renewed until the program ends, or until a renewal fails.
    fn hold(&self, name: String, taken: mpsc::UnboundedSender<()>) -> impl Future<Output = ()> + use<> {
        let Locks { manager, lease } = self.clone();
        async move {
            let for_ever = async move || {
                taken.send(()).expect("the receiver waits for it");
                std::future::pending::<()>().await;
            };
            let ended = manager.using(name.as_bytes(), lease, for_ever).await;
            eprintln!("lost {name}: {ended:?}");
        }
    }
}

struct Program {
    runtime: Runtime,
    locks: Locks,
    waiters: Vec<JoinHandle<u64>>,
    holds: Vec<JoinHandle<()>>,
}

impl Program {
    fn carry_out(&mut self, what: &str, order: &Order) -> String {
        let name = order.name();
        match what {
            "first" => {
                self.runtime.block_on(async { self.locks.lock(&name).await.release().await });
                "pairs=1".to_owned()
            }
            "solo" => paired(self.each(1, |locks, _| pairs(locks, name.clone(), order))),
            "own" => paired(
                self.each(order.number("callers"), |locks, caller| pairs(locks, format!("{name}:{caller}"), order)),
            ),
            "crowd" => {
                let shares = self.each(order.number("workers"), |locks, _| contend(locks, name.clone(), order));
                let (taken, longest): (Vec<u64>, Vec<u64>) = shares.into_iter().unzip();
                format!("taken={} longest={}", list(&taken), longest.iter().max().expect("there is a worker"))
            }
            "handover" => self.runtime.block_on(handover(&self.locks, &name, order)),
            "wait" => self.wait(&name, order.number("waiters")),
            "woken" => {
                let last = self.waiters.drain(..).map(|waiter| self.runtime.block_on(waiter).expect("it ends"));
                let times: Vec<u64> = last.collect();
                format!("woken={} last={}", times.len(), times.iter().max().expect("one waited"))
            }
            "hold" => self.hold(&name, order.number("locks")),
            "held" => format!("held={}", self.holds.iter().filter(|hold| !hold.is_finished()).count()),
            _ => "cannot=1".to_owned(), // no locks for readers, no permits
        }
    }

    /// The results of so many tasks.
    fn each<F: Future<Output: Send> + Send + 'static>(
        &self,
        count: u64,
        work: impl Fn(Locks, u64) -> F,
    ) -> Vec<F::Output> {
        let tasks: Vec<_> = (0..count).map(|number| self.runtime.spawn(work(self.locks.clone(), number))).collect();
        tasks.into_iter().map(|task| self.runtime.block_on(task).expect("no task panics")).collect()
    }

    fn wait(&mut self, name: &str, waiters: u64) -> String {
        let (asked, mut all) = mpsc::unbounded_channel();
        for _ in 0..waiters {
            let locks = self.locks.clone();
            let name = name.to_owned();
            let asked = asked.clone();
            self.waiters.push(self.runtime.spawn(async move {
                let lock = locks.try_lock(&name).await;
                asked.send(()).expect("the receiver waits for it");
                match lock {
                    Some(lock) => lock.release().await,
                    None => locks.lock(&name).await.release().await,
                }
                now()
            }));
        }
        (0..waiters).for_each(|_| all.blocking_recv().expect("no task panics"));
        format!("waiting={waiters}")
    }

    fn hold(&mut self, name: &str, locks: u64) -> String {
        let (taken, mut all) = mpsc::unbounded_channel();
        self.holds
            .extend((1..=locks).map(|i| self.runtime.spawn(self.locks.hold(format!("{name}:{i}"), taken.clone()))));
        (0..locks).for_each(|_| all.blocking_recv().expect("it is taken"));
        format!("held={}", self.holds.len())
    }
}

fn pairs(locks: Locks, name: String, order: &Order) -> impl Future<Output = Vec<u64>> + use<> {
    let from = order.number("from");
    let until = order.number("until");
    async move {
        sleep_until(from).await;
        let mut pairs = Pairs::new(until);
        while pairs.go_on() {
            locks.lock(&name).await.release().await;
        }
        pairs.took
    }
}

fn contend(locks: Locks, name: String, order: &Order) -> impl Future<Output = (u64, u64)> + use<> {
    let from = order.number("from");
    let until = order.number("until");
    async move {
        sleep_until(from).await;
        let mut taken = 0;
        let mut longest = 0;
        let mut asked = now();
        while asked < until {
            let lock = locks.lock(&name).await;
            longest = longest.max(now() - asked);
            lock.release().await;
            taken += 1;
            asked = now();
        }
        (taken, longest)
    }
}

async fn handover(locks: &Locks, name: &str, order: &Order) -> String {
    let mut taken = Vec::new();
    let mut released = Vec::new();
    for _ in 0..order.number("times") {
        let lock = locks.lock(name).await;
        taken.push(now());
        tokio::time::sleep(Duration::from_millis(order.number("hold"))).await;
        released.push(now());
        lock.release().await;
        tokio::time::sleep(Duration::from_millis(order.number("gap"))).await;
    }
    format!("taken={} released={}", list(&taken), list(&released))
}
