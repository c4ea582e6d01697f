//! Fair locks in the server's own order: the waiter that came first has the lock first, as long as it waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use super::*;

const QUEUE: &str = "redisson_lock_queue:{n}";

/// The queue as the server's commands build it, and the defects that they show.
#[derive(Default)]
struct Arrivals {
    queue: VecDeque<String>,
    holder: Option<String>,
    /// The first argument of the last script. For the script that leaves the queue it is the leaving owner.
    asked: String,
    granted: u64,
    waited: u64,
    left: u64,
    inversions: Vec<String>,
}

impl Arrivals {
    fn see(&mut self, words: &[String]) {
        match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["EVALSHA" | "EVAL", _, keys, rest @ ..] => {
                let keys: usize = keys.parse().expect("a script says how many keys it has");
                self.asked = rest.get(keys).map(|first| first.to_string()).unwrap_or_default();
            }
            ["RPUSH", QUEUE, owner] => self.queue.push_back(owner.to_string()),
            ["HSET", "n", owner, "1"] => self.grant(owner),
            ["HDEL", "n", _] => self.holder = None,
            ["LREM", QUEUE, _, owner] => self.remove(owner),
            _ => {}
        }
    }

    fn grant(&mut self, owner: &str) {
        assert_eq!(self.holder, None, "{owner} has it too");
        self.holder = Some(owner.to_owned());
        self.granted += 1;
        self.waited += u64::from(!self.queue.is_empty());
        if self.queue.front().is_some_and(|first| first != owner) {
            self.inversions.push(format!("{owner} before {:?}", self.queue));
        }
    }

    fn remove(&mut self, owner: &str) {
        let Some(at) = self.queue.iter().position(|waiting| waiting == owner) else { return };
        self.queue.remove(at);
        if self.asked == owner {
            self.left += 1;
        } else if self.holder.as_deref() != Some(owner) {
            self.inversions.push(format!("{owner} lost its place"));
        }
    }
}

/// Lanes of three clients take the lock so many times. The lanes of one client often leave before their turn comes.
fn watch(acquisitions: u64) -> Arrivals {
    let server = Server::start();
    let clients = [(); 3].map(|()| Client::connect(&server.url()).expect("a good URL"));
    let mut monitor = server.monitor();
    let count = AtomicU64::new(0);
    let mut arrivals = Arrivals::default();
    thread::scope(|scope| {
        let lane = |client: &Client, leaves: bool| {
            while count.load(SeqCst) < acquisitions {
                let wait = if leaves { Duration::from_millis(1) } else { secs(60) };
                match client.fair_lock("n").wait(wait).blocking().try_acquire() {
                    Ok(Some(guard)) => {
                        count.fetch_add(1, SeqCst);
                        guard.release().expect("held");
                    }
                    // A busy machine may answer later than such a short wait allows.
                    Ok(None) | Err(Error::Unavailable { .. }) => assert!(leaves, "its turn comes"),
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let lanes: Vec<_> = (0..9)
            .map(|number| (number, &clients[number % 3]))
            .map(|(number, client)| scope.spawn(move || lane(client, number % 3 == 2)))
            .collect();
        let end = scope.spawn(|| {
            lanes.into_iter().for_each(|lane| lane.join().expect("no panic"));
            server.view().command::<String>(&["ECHO", "the end"]);
        });
        loop {
            let words = monitor.see();
            if words == ["ECHO", "the end"] {
                break;
            }
            arrivals.see(&words);
        }
        end.join().expect("no panic");
    });
    arrivals
}

fn check(acquisitions: u64) {
    let seen = watch(acquisitions);
    println!(
        "{} grants, {} of them with others waiting; {} left before their turn",
        seen.granted, seen.waited, seen.left
    );
    assert_eq!(seen.inversions, Vec::<String>::new());
    assert!(
        seen.granted >= acquisitions && seen.waited > acquisitions / 2 && seen.left > 0,
        "no lane waited, or no lane left"
    );
    assert!(seen.queue.is_empty() && seen.holder.is_none());
}

#[test]
fn an_overtaken_waiter_and_a_lost_place_are_seen() {
    let seen = |commands: &[&str]| {
        let mut arrivals = Arrivals::default();
        for command in commands {
            arrivals.see(&command.replace("QUEUE", QUEUE).split(' ').map(str::to_owned).collect::<Vec<_>>());
        }
        arrivals.inversions.len()
    };
    let two_wait = ["EVALSHA sha 1 n 30000", "HSET n h 1", "RPUSH QUEUE a", "RPUSH QUEUE b", "HDEL n h"];
    let then = |more: &[&str]| seen(&[&two_wait, more].concat());
    assert_eq!(then(&["HSET n a 1", "LREM QUEUE 0 a", "HDEL n a", "HSET n b 1", "LREM QUEUE 0 b"]), 0);
    assert_eq!(
        then(&["EVALSHA sha 1 n a", "LREM QUEUE 0 a", "EVALSHA sha 1 n 30000", "HSET n b 1", "LREM QUEUE 0 b"]),
        0
    );
    assert_eq!(then(&["HSET n b 1", "LREM QUEUE 0 b"]), 1);
    assert_eq!(then(&["HSET n c 1"]), 1);
    assert_eq!(then(&["LREM QUEUE 0 a", "HSET n b 1", "LREM QUEUE 0 b"]), 1);
}

#[test]
fn no_living_waiter_is_overtaken() {
    check(3_000);
}

/// The same for longer: `cargo test --profile ci -p redlatch-tests --test contract -- --ignored --nocapture overtaken`.
#[test]
#[ignore = "takes minutes"]
fn no_living_waiter_is_overtaken_in_a_hundred_thousand_acquisitions() {
    deadline::within(secs(3_600));
    check(100_000);
}
