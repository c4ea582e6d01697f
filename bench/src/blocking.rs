//! This library from threads that block: alone, many at one lock, two processes in turn, and very many held locks.

use std::thread::sleep;

use redlatch::{BlockingGuard, Client};

use crate::order::{Order, list, now, sleep_until};

pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let client = Client::connect(url).expect("the URL is good");
    let mut held = Vec::new();
    Box::new(move |order| match order.what.as_str() {
        "solo" => solo(&client, order),
        "crowd" => crowd(&client, order),
        "handover" => handover(&client, order),
        "hold" => {
            held.extend((0..order.number("locks")).map(|n| lock(&client, &format!("{}:{n}", order.text("name")))));
            format!("held={}", held.len())
        }
        "held" => format!("held={}", held.iter().filter(|guard| guard.ensure().is_ok()).count()),
        other => panic!("there is no order `{other}`"),
    })
}

fn lock(client: &Client, name: &str) -> BlockingGuard {
    client.lock(name).blocking().acquire().expect("it is acquired in the end")
}

fn unlock(guard: BlockingGuard) {
    guard.release().expect("it is held");
}

fn solo(client: &Client, order: &Order) -> String {
    let name = order.text("name");
    let mut pairs = order.pairs();
    while pairs.go_on() {
        unlock(lock(client, name));
    }
    pairs.report()
}

fn crowd(client: &Client, order: &Order) -> String {
    let (name, from, until) = (order.text("name"), order.number("from"), order.number("until"));
    let worker = || {
        sleep_until(from);
        let (mut taken, mut longest) = (0, 0);
        let mut asked = now();
        while asked < until {
            let guard = lock(client, name);
            longest = longest.max(now() - asked);
            unlock(guard);
            taken += 1;
            asked = now();
        }
        (taken, longest)
    };
    let (taken, longest): (Vec<u64>, Vec<u64>) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..order.number("workers")).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).unzip()
    });
    format!("taken={} longest={}", list(&taken), longest.iter().max().unwrap_or(&0))
}

fn handover(client: &Client, order: &Order) -> String {
    let (mut taken, mut released) = (Vec::new(), Vec::new());
    for _ in 0..order.number("times") {
        let guard = lock(client, order.text("name"));
        taken.push(now());
        sleep(order.duration("hold"));
        released.push(now());
        unlock(guard);
        sleep(order.duration("gap"));
    }
    format!("taken={} released={}", list(&taken), list(&released))
}
