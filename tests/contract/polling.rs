//! How often waiters try by themselves, by the server's clock: seldom enough to be no burden, often enough to be of
//! use. The core tests the plan itself, without a machine's delays.

use std::time::Duration;

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{Monitor, PATIENCE, Server, ms};

use super::{eventually, secs};

/// The ms between two tries of a waiter. The last number repeats.
const SPIN: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const TOKEN: [u64; 6] = [8, 16, 32, 64, 128, 250];

/// When the owner tried, up to `count` times, by the server's clock.
fn tries(monitor: &mut Monitor, owner: &str, count: usize) -> Vec<Duration> {
    let mut tries = Vec::new();
    while tries.len() < count {
        let seen = monitor.next_seen();
        if !seen.by_script && seen.words.iter().any(|word| word == owner.as_bytes()) {
            tries.push(seen.at);
        }
    }
    tries
}

/// The gaps between the tries of a new waiter, until it has tried `count` times.
fn gaps(server: &Server, waiter: &Client, kind: &'static str, owner: i64, count: usize) -> Vec<Duration> {
    let mut monitor = server.monitor();
    let ticket = waiter.ticket();
    let (sender, ended) = std::sync::mpsc::channel();
    let request = Request { wait: Some(secs(120)), ..Request::new(Op::Acquire, kind, "n", owner) };
    waiter.submit(ticket, request, move |result| drop(sender.send(result)));
    let tries = tries(&mut monitor, &format!("{}:{owner}", waiter.id()), count);
    waiter.cancel(ticket);
    let ended = ended.recv_timeout(PATIENCE).expect("it is cancelled");
    assert!(matches!(ended, Err(redlatch::Error::Cancelled)), "{ended:?}");
    tries.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

fn follow_the_schedule(kind: &'static str, schedule: &[u64]) {
    let server = Server::start();
    let connect = || Client::connect(&server.url()).expect("a good URL");
    let holder = connect();
    let waiter = connect();
    let taken = holder.run_blocking(Request { lease: Some(secs(600)), ..Request::new(Op::Acquire, kind, "n", 1) });
    assert!(taken.expect("answered").done);
    let slowest = *schedule.last().expect("it is not empty");
    // The first try goes before the waiter listens, and the second one right after: neither follows a delay.
    let unpaced = 2;
    let count = unpaced + schedule.len() + 3;
    let mut owner = 1;
    // A busy machine makes some gaps longer, but not all of the longest ones every time.
    eventually(|| {
        owner += 1;
        let gaps = gaps(&server, &waiter, kind, owner, count);
        let gaps = &gaps[unpaced - 1..];
        for (at, gap) in gaps.iter().enumerate() {
            // Each delay is up to a quarter shorter than planned, so that several waiters do not go on in step.
            let delay = schedule.get(at).copied().unwrap_or(slowest);
            assert!(*gap >= ms(delay) * 7 / 10, "{kind}: {gap:?} before try {at} in place of {delay} ms");
        }
        gaps[schedule.len() - 1..].iter().any(|gap| *gap <= 3 * ms(slowest))
    });
}

#[test]
fn waiters_of_a_spin_lock_ask_after_1_ms_and_twice_as_long_each_time_up_to_128() {
    follow_the_schedule("spin", &SPIN);
}

#[test]
fn waiters_of_a_token_lock_ask_after_8_ms_and_ever_longer_up_to_250() {
    follow_the_schedule("token", &TOKEN);
}
