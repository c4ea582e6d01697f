//! Owners that use one name by all kinds that share its field, at random.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::Server;
use redlatch_tests::dice::Dice;

use crate::{eventually, ms, secs};

const KINDS: [&str; 6] = ["plain", "fenced", "spin", "fair", "non_reentrant", "plain"];

struct Stage {
    holder: AtomicI64,
    token: AtomicI64,
    taken: AtomicU64,
    nested: AtomicU64,
    cancelled: AtomicU64,
    /// The holds that were told as lost: none is.
    lost: Arc<AtomicU64>,
}

/// Looks at the token of a new hold, which is greater than all before, and counts its loss. Gives its kind and number.
fn begun(stage: &Stage, client: &Client, kind: &'static str, owner: i64, answer: &Answer) -> (&'static str, u64) {
    if kind == "fenced" {
        let last = stage.token.swap(answer.items[0], SeqCst);
        assert!(last < answer.items[0], "{last} before {}", answer.items[0]);
    }
    let hold = answer.number as u64;
    let lost = stage.lost.clone();
    let watch = Request { hold, ..Request::new(Op::Watch, kind, "n", owner) };
    client.submit(client.ticket(), watch, move |end| {
        lost.fetch_add(u64::from(matches!(end, Err(Error::Lost(_)))), SeqCst);
    });
    (kind, hold)
}

fn ask(client: &Client, request: Request) -> Result<Answer, Error> {
    client.run_blocking(request)
}

fn play(stage: &Stage, client: &Client, owner: i64, mark: i64, end: Instant) {
    let mut dice = Dice::new(mark as u64, 11);
    let mut held: Vec<(&'static str, u64)> = Vec::new();
    while Instant::now() < end || !held.is_empty() {
        let over = Instant::now() >= end;
        let step = *dice.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        if held.is_empty() {
            let kind = *dice.pick(&KINDS);
            let mut request = Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, kind, "n", owner) };
            if step == 0 {
                request.wait = Some(Duration::ZERO);
            } else if step == 1 {
                request.wait = Some(Duration::from_micros(700));
            } else if step == 2 {
                request.lease = Some(secs(30));
            }
            let got = if step == 3 {
                let ticket = client.ticket();
                let (sender, came) = std::sync::mpsc::channel();
                client.submit(ticket, request, move |answer| drop(sender.send(answer)));
                let until = Instant::now() + dice.between(Duration::ZERO, ms(1));
                while Instant::now() < until {
                    std::thread::yield_now();
                }
                client.cancel(ticket);
                match came.recv().expect("answered") {
                    Err(Error::Cancelled) => {
                        stage.cancelled.fetch_add(1, SeqCst);
                        continue;
                    }
                    other => other,
                }
            } else {
                ask(client, request)
            };
            let answer = got.unwrap_or_else(|error| panic!("{kind} by {mark}: {error}"));
            if !answer.done {
                continue;
            }
            let before = stage.holder.swap(mark, SeqCst);
            assert_eq!(before, 0, "{mark} got it by {kind} while {before} has it");
            stage.taken.fetch_add(1, SeqCst);
            held.push(begun(stage, client, kind, owner, &answer));
            continue;
        }
        assert_eq!(stage.holder.load(SeqCst), mark);
        match step {
            0 | 1 if held.len() < 4 && !over => {
                let kind = *dice.pick(&KINDS);
                let asked =
                    ask(client, Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, kind, "n", owner) });
                match asked {
                    Err(Error::AlreadyHeld { .. }) => assert_eq!(kind, "non_reentrant"),
                    Ok(answer) => {
                        assert!(answer.done, "{kind} by {mark} with {held:?}");
                        stage.nested.fetch_add(1, SeqCst);
                        held.push(begun(stage, client, kind, owner, &answer));
                    }
                    Err(error) => panic!("{kind} by {mark} with {held:?}: {error}"),
                }
            }
            2 => {
                let count = ask(client, Request::new(Op::Inspect, "plain", "n", owner)).expect("answered").items[0];
                assert_eq!(count, held.len() as i64, "{mark} with {held:?}");
            }
            3 => {
                let (kind, hold) = *held.last().expect("held");
                let extend = Request { hold, lease: Some(secs(40)), ..Request::new(Op::Extend, kind, "n", owner) };
                ask(client, extend).unwrap_or_else(|error| panic!("extend {kind} by {mark} with {held:?}: {error}"));
            }
            4 => std::thread::yield_now(),
            5 => std::thread::sleep(Duration::from_micros(200)),
            _ => {
                if held.len() == 1 {
                    stage.holder.store(0, SeqCst);
                }
                // By its number, by its own kind, or by any kind.
                let how = *dice.pick(&[0, 1, 2]);
                let request = match how {
                    0 => {
                        let at = *dice.pick(&[0, held.len() - 1]);
                        let (kind, hold) = held.remove(at);
                        Request { hold, ..Request::new(Op::Release, kind, "n", owner) }
                    }
                    _ => {
                        let kind = *dice.pick(&KINDS);
                        let at = held.iter().rposition(|(other, _)| *other == kind).unwrap_or(held.len() - 1);
                        held.remove(at);
                        Request::new(Op::Release, kind, "n", owner)
                    }
                };
                let kind = request.kind;
                ask(client, request)
                    .unwrap_or_else(|error| panic!("release {how} by {kind} of {mark} with {held:?} left: {error}"));
            }
        }
    }
}

#[test]
fn owners_of_all_kinds_with_one_field_exclude_each_other() {
    for turn in ["turn=60", "turn=0.002", "turn=0"] {
        let server = Server::start();
        let stage = Stage {
            holder: AtomicI64::new(0),
            token: AtomicI64::new(0),
            taken: AtomicU64::new(0),
            nested: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            lost: Arc::default(),
        };
        let clients =
            [(); 2].map(|()| Client::connect(&format!("{}?watchdog=6&{turn}", server.url())).expect("a good URL"));
        let end = Instant::now() + secs(3);
        std::thread::scope(|scope| {
            for (at, client) in clients.iter().enumerate() {
                for owner in 1..=if at == 0 { 6 } else { 2 } {
                    let stage = &stage;
                    scope.spawn(move || play(stage, client, owner, owner + 100 * at as i64, end));
                }
            }
        });
        let [taken, nested, cancelled] =
            [&stage.taken, &stage.nested, &stage.cancelled].map(|count| count.load(SeqCst));
        assert!(
            taken > 0 && nested > 0 && cancelled > 0,
            "{turn}: {taken} taken, {nested} nested, {cancelled} cancelled"
        );
        assert_eq!(stage.lost.load(SeqCst), 0, "{turn}: holds were told as lost");
        let mut view = server.view();
        eventually(|| !view.exists("n"));
        clients.iter().for_each(|client| client.close_blocking(Holds::Release));
    }
}
