//! A program of one thread with one session at a server, which has one lock at a time.

use std::future::Future;
use std::time::Duration;

use crate::orders::{self, Order, Pairs, list, now, paired, sleep_until};

pub trait Session {
    async fn lock(&mut self, name: &str);
    async fn unlock(&mut self, name: &str);
}

/// Answers each order with a line, until there are no more.
pub fn carry_out_all(begin: impl Future<Output = impl Session>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let mut session = runtime.block_on(begin);
    orders::carry_out_all(|what, order| runtime.block_on(carry_out(&mut session, what, order)));
}

async fn carry_out(session: &mut impl Session, what: &str, order: &Order) -> String {
    let name = order.name();
    match what {
        "first" => {
            session.lock(&name).await;
            session.unlock(&name).await;
            "pairs=1".to_owned()
        }
        "solo" => {
            sleep_until(order.number("from")).await;
            let mut pairs = Pairs::new(order.number("until"));
            while pairs.go_on() {
                session.lock(&name).await;
                session.unlock(&name).await;
            }
            paired(vec![pairs.took])
        }
        "handover" => handover(session, &name, order).await,
        _ => "cannot=1".to_owned(), // a session waits for one lock at a time
    }
}

async fn handover(session: &mut impl Session, name: &str, order: &Order) -> String {
    let mut taken = Vec::new();
    let mut released = Vec::new();
    for _ in 0..order.number("times") {
        session.lock(name).await;
        taken.push(now());
        tokio::time::sleep(Duration::from_millis(order.number("hold"))).await;
        released.push(now());
        session.unlock(name).await;
        tokio::time::sleep(Duration::from_millis(order.number("gap"))).await;
    }
    format!("taken={} released={}", list(&taken), list(&released))
}
