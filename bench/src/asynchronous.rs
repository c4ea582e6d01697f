//! This library from tasks, all on one thread of tokio's.

use std::sync::Arc;

use redlatch::{Client, Guard, LockBuilder};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::order::{Order, Pairs, Share, now, report, shares};
use crate::owners::Owners;

pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let client = Client::connect(url).expect("the URL is good");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let mut waiting = JoinSet::new();
    Box::new(move |order| runtime.block_on(carry_out(&client, order, &mut waiting)))
}

async fn carry_out(client: &Client, order: &Order, waiting: &mut JoinSet<u64>) -> String {
    let lock = |name: &str| client.lock(name);
    match order.what.as_str() {
        "first" => {
            unlock(taken(lock(order.name())).await).await;
            "pairs=1".into()
        }
        "solo" => {
            sleep(order.until_begin()).await;
            report([pairs(client.clone(), order.name().to_owned(), order.pairs()).await])
        }
        "own" => {
            sleep(order.until_begin()).await;
            let callers = (0..order.number("callers")).map(|n| pairs(client.clone(), order.nth_name(n), order.pairs()));
            report(callers.collect::<JoinSet<_>>().join_all().await)
        }
        "crowd" => {
            sleep(order.until_begin()).await;
            crowd(client, order).await
        }
        "wait" => {
            *waiting = (0..order.number("waiters")).map(|_| waiter(lock(order.name()))).collect();
            format!("waiting={}", waiting.len())
        }
        "woken" => {
            let times = std::mem::take(waiting).join_all().await;
            format!("woken={} last={}", times.len(), times.iter().max().unwrap_or(&0))
        }
        _ => "cannot=1".into(),
    }
}

async fn taken(lock: LockBuilder) -> Guard {
    lock.acquire().await.expect("it is acquired in the end")
}

async fn unlock(guard: Guard) {
    guard.release().await.expect("it is held");
}

async fn pairs(client: Client, name: String, mut pairs: Pairs) -> Pairs {
    while pairs.go_on() {
        unlock(taken(client.lock(&name)).await).await;
    }
    pairs
}

async fn crowd(client: &Client, order: &Order) -> String {
    let owners = Arc::new(Owners::default());
    let worker = |n| {
        let client = client.clone();
        let name = order.name().to_owned();
        let hold = order.duration("hold");
        let owners = owners.clone();
        let mut share: Share = order.share();
        async move {
            while share.ask() {
                let guard = taken(client.lock(&name)).await;
                share.got();
                owners.took(n);
                if !hold.is_zero() {
                    sleep(hold).await;
                }
                unlock(guard).await;
            }
            share
        }
    };
    let workers: JoinSet<_> = (0..order.number("workers")).map(worker).collect();
    format!("{} {}", shares(workers.join_all().await), owners.changes())
}

async fn waiter(lock: LockBuilder) -> u64 {
    unlock(taken(lock).await).await;
    now()
}
