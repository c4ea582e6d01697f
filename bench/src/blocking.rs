//! This library from threads that block.

use std::thread::{JoinHandle, sleep};

use redlatch::{BlockingGuard, Client, LockBuilder};

use crate::order::{Order, Share, list, now, report, shares};
use crate::owners::Owners;

pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let client = Client::connect(url).expect("the URL is good");
    let mut held = Vec::new();
    let mut waiting: Vec<JoinHandle<u64>> = Vec::new();
    Box::new(move |order| match order.what.as_str() {
        "first" => {
            unlock(lock(&client, order.name()));
            "pairs=1".into()
        }
        "solo" => {
            order.begin();
            report([pairs(&client, order, order.name())])
        }
        "own" => report(all(order, "callers", |n| pairs(&client, order, &order.nth_name(n)))),
        "crowd" => crowd(&client, order),
        "readers" => readers(&client, order),
        "permits" => permits(&client, order),
        "handover" => handover(&client, order),
        "wait" => {
            waiting = (0..order.number("waiters")).map(|_| waiter(client.lock(order.name()))).collect();
            format!("waiting={}", waiting.len())
        }
        "woken" => {
            let times: Vec<u64> = waiting.drain(..).map(|waiter| waiter.join().expect("no waiter panics")).collect();
            format!("woken={} last={}", times.len(), times.iter().max().unwrap_or(&0))
        }
        "hold" => {
            held.extend((1..=order.number("locks")).map(|n| lock(&client, &order.nth_name(n))));
            format!("held={}", held.len())
        }
        "release" => {
            held.drain(..).for_each(unlock);
            "held=0".into()
        }
        "held" => format!("held={}", held.iter().filter(|guard| guard.ensure().is_ok()).count()),
        _ => "cannot=1".into(),
    })
}

fn lock(client: &Client, name: &str) -> BlockingGuard {
    taken(client.lock(name))
}

fn taken(lock: LockBuilder) -> BlockingGuard {
    lock.blocking().acquire().expect("it is acquired in the end")
}

fn unlock(guard: BlockingGuard) {
    guard.release().expect("it is held");
}

fn pairs(client: &Client, order: &Order, name: &str) -> crate::order::Pairs {
    let mut pairs = order.pairs();
    while pairs.go_on() {
        unlock(lock(client, name));
    }
    pairs
}

/// As many threads as the order's number `count` says, which begin together.
fn all<T: Send>(order: &Order, count: &str, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let begin = |n| {
        order.begin();
        work(n)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..order.number(count)).map(|n| scope.spawn(move || begin(n))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no caller panics")).collect()
    })
}

/// `take` gets the number of the acquisition, `give` that of the worker.
fn contend<T>(order: &Order, take: impl Fn(u64) -> T + Sync, give: impl Fn(u64, T) + Sync) -> String {
    let worker = |n| {
        let mut share: Share = order.share();
        while share.ask() {
            let taken = take(share.taken());
            share.got();
            give(n, taken);
        }
        share
    };
    shares(all(order, "workers", worker))
}

fn crowd(client: &Client, order: &Order) -> String {
    let owners = Owners::default();
    let hold = order.duration("hold");
    let give = |worker, guard| {
        owners.took(worker);
        sleep(hold);
        unlock(guard);
    };
    let shares = contend(order, |_| lock(client, order.name()), give);
    format!("{shares} {}", owners.changes())
}

fn readers(client: &Client, order: &Order) -> String {
    let lock = client.read_write_lock(order.name());
    let writes = order.number("writes");
    contend(order, |n| taken(if n % writes == 0 { lock.write() } else { lock.read() }), |_, guard| unlock(guard))
}

fn permits(client: &Client, order: &Order) -> String {
    let semaphore = client.semaphore(order.name());
    semaphore.try_set_permits(order.number("permits")).blocking().expect("the name is new");
    let take = |_| semaphore.acquire(1).blocking().expect("it is acquired in the end");
    contend(order, take, |_, permit| permit.release_blocking().expect("a permit can be given back"))
}

fn handover(client: &Client, order: &Order) -> String {
    let mut taken = Vec::new();
    let mut released = Vec::new();
    for _ in 0..order.number("times") {
        let guard = lock(client, order.name());
        taken.push(now());
        sleep(order.duration("hold"));
        released.push(now());
        unlock(guard);
        sleep(order.duration("gap"));
    }
    format!("taken={} released={}", list(&taken), list(&released))
}

fn waiter(lock: LockBuilder) -> JoinHandle<u64> {
    std::thread::spawn(|| {
        unlock(taken(lock));
        now()
    })
}
