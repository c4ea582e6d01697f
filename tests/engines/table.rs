//! Every promise of a lock, for every kind that each system has.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error, Holds, Stats};
use redlatch_tests::{Mariadb, Zookeeper, all_at_once, given_up, kinds, ms, secs};

use crate::{Waiting, acquire, client, eventually, wait};

/// A system, with its shared server.
struct System {
    name: &'static str,
    kinds: &'static [&'static str],
    /// A client with these options.
    client: fn(&str) -> Client,
    /// Tells whether no client has a lock of that name at the server, or waits for it.
    is_clean: fn(&str) -> bool,
}

const SYSTEMS: [System; 2] = [
    System {
        name: "mariadb",
        kinds: &["plain", "non_reentrant", "fenced"],
        client: |options| client(Mariadb::shared(), options),
        is_clean: |name| Mariadb::shared().sql().holder(name).is_none(),
    },
    System {
        name: "zookeeper",
        kinds: &["plain", "non_reentrant", "fenced", "fair", "non_reentrant_fair", "read", "write"],
        client: |options| crate::zookeeper::client(Zookeeper::shared(), options),
        is_clean: |name| Zookeeper::shared().nodes().children(&format!("/{name}")).is_empty(),
    },
];

/// One kind, with two clients.
struct Row {
    kind: &'static str,
    name: String,
    system: &'static System,
    a: Client,
    b: Client,
}

/// Checks a promise for these kinds of each system, each under a name of its own.
fn keep(promise: &str, of: fn(&str) -> bool, check: impl Fn(&Row) + Sync) {
    for system in &SYSTEMS {
        let kinds: Vec<_> = system.kinds.iter().copied().filter(|kind| of(kind)).collect();
        assert!(!kinds.is_empty(), "no kind of {} has to keep that", system.name);
        all_at_once(kinds.into_iter().map(|kind| {
            let check = &check;
            let name = format!("{promise}:{kind}");
            let clients = move || ["", ""].map(|options| (system.client)(options));
            let title = format!("{} {kind}", system.name);
            (title, move || {
                let [a, b] = clients();
                check(&Row { kind, name, system, a, b });
            })
        }));
    }
}

fn is_exclusive(kind: &str) -> bool {
    kinds::traits(kind).exclusive
}

fn is_reentrant(kind: &str) -> bool {
    kinds::traits(kind).reentrant
}

impl Row {
    fn request(&self, op: Op, owner: i64) -> Request {
        Request::new(op, self.kind, self.name.as_str(), owner)
    }

    fn take(&self, client: &Client, owner: i64) -> Answer {
        self.try_for(client, owner, ms(0)).unwrap_or_else(|| panic!("{}: it is not free", self.kind))
    }

    fn try_for(&self, client: &Client, owner: i64, wait: Duration) -> Option<Answer> {
        let answer = client.run_blocking(acquire(self.kind, &self.name, owner, Some(wait))).expect("answered");
        answer.done.then_some(answer)
    }

    fn lease(&self, client: &Client, owner: i64, lease: Duration) -> Answer {
        let answer = client.run_blocking(Request { lease: Some(lease), ..self.request(Op::Acquire, owner) });
        answer.expect("answered")
    }

    fn give(&self, client: &Client, owner: i64) {
        self.try_give(client, owner).unwrap_or_else(|e| panic!("{}: {e}", self.kind));
    }

    fn try_give(&self, client: &Client, owner: i64) -> Result<Answer, Error> {
        client.run_blocking(self.request(Op::Release, owner))
    }

    fn inspect(&self, client: &Client, owner: i64) -> Answer {
        client.run_blocking(self.request(Op::Inspect, owner)).expect("answered")
    }

    fn is_taken(&self, client: &Client) -> bool {
        self.inspect(client, 0).number != -2
    }

    fn count(&self, client: &Client, owner: i64) -> i64 {
        self.inspect(client, owner).items[0]
    }

    /// Begins to wait, and returns once the waiter is in the server's queue if it is the first of its client.
    fn wait(&self, client: &Client, owner: i64, time: Option<Duration>) -> Waiting {
        wait(client, acquire(self.kind, &self.name, owner, time))
    }

    /// The lock has no holder at the server.
    fn is_clean(&self) -> bool {
        (self.system.is_clean)(&self.name)
    }
}

#[test]
fn no_other_owner_gets_the_lock_while_it_is_held() {
    keep("no_other", is_exclusive, |row| {
        row.take(&row.a, 1);
        assert!(row.is_taken(&row.b) && row.count(&row.b, 1) == 0);
        for (client, owner) in [(&row.b, 1), (&row.b, 2), (&row.a, 2)] {
            assert!(row.try_for(client, owner, ms(0)).is_none());
            assert!(matches!(row.try_give(client, owner), Err(Error::NotHeld { .. })));
        }
        assert_eq!(row.count(&row.a, 1), 1);
        row.give(&row.a, 1);
        assert!(!row.is_taken(&row.b) && row.is_clean());
        row.take(&row.b, 2);
        row.give(&row.b, 2);
    });
}

#[test]
fn each_acquire_each_release_and_each_loss_counts_once() {
    keep("counts", is_exclusive, |row| {
        row.take(&row.a, 1);
        assert!(row.try_for(&row.b, 2, ms(0)).is_none());
        let waits = row.wait(&row.b, 2, None);
        eventually(|| row.b.stats().waiting == 1);
        waits.cancel();
        assert!(matches!(waits.within(secs(20)), Err(Error::Cancelled)));
        let waits = row.wait(&row.b, 3, None);
        eventually(|| row.b.stats().waiting == 1);
        row.give(&row.a, 1);
        assert!(waits.within(secs(20)).expect("answered").done);
        let Stats { held, waiting, acquired, released, held_for, .. } = row.a.stats();
        assert_eq!((held, waiting, acquired, released), (0, 0, 1, 1));
        assert!(held_for > ms(0));
        let Stats { held, waiting, acquired, not_acquired, cancelled, released, .. } = row.b.stats();
        assert_eq!((held, waiting, acquired, not_acquired, cancelled, released), (1, 0, 1, 1, 1, 0));
        row.a.run_blocking(row.request(Op::ForceRelease, 0)).expect("it is held");
        eventually(|| row.b.stats().held == 0);
        row.try_give(&row.b, 3).expect_err("it is lost");
        let Stats { released, lost, .. } = row.b.stats();
        assert_eq!((released, lost.iter().map(|(_, count)| count).sum::<u64>()), (0, 1), "{lost:?}");
    });
}

#[test]
fn an_owner_holds_it_as_often_as_it_took_it() {
    keep(
        "as_often",
        |kind| is_reentrant(kind) && is_exclusive(kind),
        |row| {
            for count in 1..=3 {
                row.take(&row.a, 1);
                assert_eq!((row.count(&row.a, 1), row.count(&row.b, 1)), (count, 0));
            }
            for left in [2, 1] {
                row.give(&row.a, 1);
                assert_eq!(row.count(&row.a, 1), left);
                assert!(row.try_for(&row.b, 1, ms(0)).is_none());
            }
            row.give(&row.a, 1);
            assert!(row.is_clean());
        },
    );
}

#[test]
fn an_owner_that_takes_it_twice_is_told_and_keeps_it() {
    keep(
        "twice",
        |kind| !is_reentrant(kind),
        |row| {
            row.take(&row.a, 1);
            for wait in [Some(ms(0)), Some(ms(5_000)), None] {
                let again = row.a.run_blocking(acquire(row.kind, &row.name, 1, wait));
                let Err(Error::AlreadyHeld { lock, owner, .. }) = again else { panic!("{again:?}") };
                assert_eq!((lock, owner), (row.name.clone(), format!("{}:1", row.a.id())));
            }
            assert_eq!(row.count(&row.a, 1), 1);
            row.give(&row.a, 1);
            assert!(row.is_clean());
        },
    );
}

#[test]
fn a_hold_is_released_once() {
    keep(
        "once",
        |_| true,
        |row| {
            let held = row.take(&row.a, 1).number as u64;
            row.give(&row.a, 1);
            let again = row.a.run_blocking(Request { hold: held, ..row.request(Op::Release, 1) });
            assert!(matches!(again, Err(Error::Released { .. })), "{again:?}");
            assert!(matches!(row.try_give(&row.a, 1), Err(Error::NotHeld { .. })));
            assert!(matches!(row.a.look(held), Look::Gone));
        },
    );
}

#[test]
fn a_forced_release_frees_it_and_its_holder_is_told() {
    keep(
        "forced",
        |_| true,
        |row| {
            for forcing in [&row.b, &row.a] {
                let held = row.take(&row.a, 1);
                let watch = wait(&row.a, Request { hold: held.number as u64, ..row.request(Op::Watch, 1) });
                let force = || forcing.run_blocking(row.request(Op::ForceRelease, 9)).expect("answered").number;
                assert_eq!((force(), force()), (1, 0));
                assert!(matches!(watch.within(secs(5)), Err(Error::Lost(_))));
                row.take(&row.b, 2);
                assert!(matches!(row.try_give(&row.a, 1), Err(Error::Lost(_))));
                assert_eq!(row.count(&row.b, 2), 1);
                row.give(&row.b, 2);
            }
        },
    );
}

#[test]
fn a_forced_release_of_an_own_lock_leaves_the_other_locks_of_the_session() {
    keep(
        "own_force",
        |_| true,
        |row| {
            let other = row.a.lock(&format!("{}:other", row.name)).blocking().acquire().expect("free");
            row.take(&row.a, 1);
            assert_eq!(row.a.run_blocking(row.request(Op::ForceRelease, 9)).expect("answered").number, 1);
            other.ensure().expect("it has nothing to do with that");
            other.release().expect("held");
            assert!(row.is_clean());
        },
    );
}

#[test]
fn each_hold_has_a_number_greater_than_all_before() {
    keep(
        "tokens",
        |kind| kinds::traits(kind).fenced,
        |row| {
            let mut last = 0;
            let mut grows = |answer: Answer| {
                let token = answer.items[0];
                assert!(token > last, "{token} after {last}");
                last = token;
            };
            for client in [&row.a, &row.b, &row.a] {
                grows(row.take(client, 1));
                grows(row.take(client, 1));
                row.give(client, 1);
                row.give(client, 1);
            }
            row.take(&row.a, 1);
            let heirs: Vec<_> = (2..20).map(|owner| (owner, row.wait(&row.a, owner, None))).collect();
            row.give(&row.a, 1);
            for (owner, heir) in heirs {
                grows(heir.within(secs(10)).expect("handed on"));
                row.give(&row.a, owner);
            }
            // Tokens are drawn in blocks: the newest that was drawn may not have been given to an owner.
            let drawn = row.inspect(&row.a, 0).items[1];
            grows(row.take(&row.b, 1));
            assert!(last > drawn, "{last} after {drawn}");
            row.give(&row.b, 1);
        },
    );
}

#[test]
fn an_expired_lease_lets_the_next_owner_in_and_its_holder_is_told() {
    keep("expired", is_exclusive, |row| {
        let begun = Instant::now();
        let held = row.lease(&row.a, 1, ms(400));
        assert!(row.try_for(&row.b, 2, secs(10)).is_some());
        let took = begun.elapsed();
        assert!(took >= ms(380) && took < secs(3), "the client itself lets go at the end of the lease: {took:?}");
        assert!(matches!(row.a.look(held.number as u64), Look::Lost(_)));
        assert!(matches!(row.try_give(&row.a, 1), Err(Error::Lost(_))));
        assert_eq!(row.count(&row.b, 2), 1, "the late release took nothing away");
        row.give(&row.b, 2);
    });
}

#[test]
fn a_hold_without_a_lease_lasts_as_long_as_it_is_held() {
    keep(
        "renewed",
        |_| true,
        |row| {
            let quick = (row.system.client)("watchdog=1");
            let held = row.take(&quick, 1).number as u64;
            // Three times what the server would keep an idle session for.
            let end = Instant::now() + secs(3);
            while Instant::now() < end {
                let Look::Held { remaining } = quick.look(held) else { panic!("{:?}", quick.look(held)) };
                assert!(remaining <= ms(988), "{remaining:?} of a session that lasts a second");
                std::thread::sleep(ms(20));
            }
            assert!(row.is_taken(&row.b));
            row.give(&quick, 1);
            assert!(row.is_clean());
        },
    );
}

#[test]
fn another_lease_counts_from_when_it_is_given() {
    keep("extended", is_exclusive, |row| {
        let held = row.lease(&row.a, 1, secs(10)).number as u64;
        let extend =
            |lease| row.a.run_blocking(Request { hold: held, lease: Some(lease), ..row.request(Op::Extend, 1) });
        for lease in [secs(20), secs(5), secs(15)] {
            extend(lease).expect("it is held");
            let Look::Held { remaining } = row.a.look(held) else { panic!("it is held") };
            assert!(remaining < lease && remaining > lease - secs(3), "{remaining:?} of {lease:?}");
        }
        extend(ms(200)).expect("it is held");
        assert!(row.try_for(&row.b, 2, secs(5)).is_some());
        row.give(&row.b, 2);
        assert!(extend(secs(1)).is_err());
    });
}

#[test]
fn a_release_wakes_waiters_of_this_client_and_of_others_long_before_a_session_ends() {
    keep("wakes", is_exclusive, |row| {
        row.take(&row.a, 1);
        let mut waiting =
            vec![(&row.b, 2, row.wait(&row.b, 2, None)), (&row.a, 3, row.wait(&row.a, 3, Some(secs(20))))];
        std::thread::sleep(ms(50));
        assert!(waiting.iter().all(|(.., waiting)| waiting.is_waiting()));
        row.give(&row.a, 1);
        for _ in 0..2 {
            let mut found = None;
            eventually(|| {
                found = waiting.iter().position(|(client, owner, _)| row.count(client, *owner) == 1);
                found.is_some()
            });
            let (client, owner, taken) = waiting.remove(found.expect("it was found"));
            assert!(taken.within(secs(5)).expect("woken").done);
            row.give(client, owner);
        }
        eventually(|| row.is_clean());
    });
}

#[test]
fn a_wait_that_runs_out_is_an_answer_and_leaves_nothing() {
    keep("in_vain", is_exclusive, |row| {
        row.take(&row.a, 1);
        for (client, owner) in [(&row.a, 2), (&row.b, 2)] {
            assert!(row.try_for(client, owner, ms(0)).is_none());
            let begun = Instant::now();
            assert!(row.try_for(client, owner, ms(300)).is_none());
            assert!(begun.elapsed() >= ms(300) && begun.elapsed() < secs(3), "{:?}", begun.elapsed());
        }
        row.give(&row.a, 1);
        // The wait in the server's queue has ended as well.
        row.take(&row.a, 3);
        row.give(&row.a, 3);
        eventually(|| row.is_clean());
    });
}

#[test]
fn an_acquire_that_is_cancelled_leaves_nothing() {
    keep("cancelled", is_exclusive, |row| {
        row.take(&row.a, 1);
        let waiting = [row.wait(&row.b, 2, None), row.wait(&row.b, 3, Some(secs(20))), row.wait(&row.a, 4, None)];
        waiting.iter().for_each(Waiting::cancel);
        for waiting in waiting {
            assert!(matches!(waiting.within(secs(5)), Err(Error::Cancelled)));
        }
        row.give(&row.a, 1);
        eventually(|| row.is_clean());
        assert!(row.try_for(&row.b, 5, secs(5)).is_some());
        row.give(&row.b, 5);
    });
}

#[test]
fn many_owners_of_two_clients_hold_the_lock_one_at_a_time_and_all_have_their_turn() {
    keep("many", is_exclusive, |row| {
        let inside = AtomicUsize::new(0);
        let turns = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for owner in 1..=8 {
                let (inside, turns) = (&inside, &turns);
                scope.spawn(move || {
                    let client = if owner % 2 == 0 { &row.a } else { &row.b };
                    for _ in 0..20 {
                        assert!(row.try_for(client, owner, secs(30)).is_some(), "its turn comes");
                        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                        turns.fetch_add(1, SeqCst);
                        row.give(client, owner);
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 160);
        eventually(|| row.is_clean());
    });
}

#[test]
fn two_waiters_of_one_owner_are_both_answered() {
    keep("twins", is_exclusive, |row| {
        for before in [&row.b, &row.a] {
            row.take(before, 1);
            let waiting = [row.wait(&row.a, 7, None), row.wait(&row.a, 7, Some(secs(20)))];
            row.give(before, 1);
            let mut answers = waiting.map(|waiting| waiting.within(secs(10)));
            answers.sort_by_key(|answer| answer.is_err());
            let [first, second] = answers;
            assert!(first.expect("one of them has it").done);
            if is_reentrant(row.kind) {
                assert!(second.expect("the owner has it").done);
                assert_eq!(row.count(&row.a, 7), 2);
                row.give(&row.a, 7);
            } else {
                assert!(matches!(second, Err(Error::AlreadyHeld { .. })), "{second:?}");
            }
            row.give(&row.a, 7);
            eventually(|| row.is_clean());
        }
    });
}

#[test]
fn a_hold_whose_acquire_was_abandoned_is_given_back() {
    keep(
        "abandoned",
        |_| true,
        |row| {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
            for _ in 0..50 {
                let client = row.a.clone();
                let request = acquire(row.kind, &row.name, 1, None);
                let task = runtime.spawn(async move { client.run(request).await.map(drop) });
                task.abort();
            }
            eventually(|| row.is_clean());
            assert!(row.try_for(&row.b, 2, secs(5)).is_some());
        },
    );
}

#[test]
fn an_acquire_that_is_given_up_ends_no_hold_that_its_owner_has() {
    keep("given_up", is_reentrant, |row| {
        let outer = row.take(&row.a, 1).number as u64;
        for round in 0..60 {
            row.take(&row.a, 1);
            let wait = [None, Some(ms(0)), Some(ms(1_000))][round as usize % 3];
            let request = acquire(row.kind, &row.name, 1, wait);
            given_up(&row.a, request, ms(1) * (round / 6) / 10, round % 2 == 0, || row.give(&row.a, 1));
            eventually(|| row.count(&row.a, 1) == 1);
            assert!(matches!(row.a.look(outer), Look::Held { .. }), "round {round}");
        }
        row.a.run_blocking(Request { hold: outer, ..row.request(Op::Release, 1) }).expect("held");
        eventually(|| row.is_clean());
    });
}

#[test]
fn a_closed_client_gives_its_locks_back_and_says_so() {
    keep("closed", is_exclusive, |row| {
        let held = row.take(&row.a, 1).number as u64;
        let waiter = row.wait(&row.a, 2, None);
        row.a.close_blocking(Holds::Release);
        assert!(row.is_clean(), "the close has returned");
        assert!(matches!(waiter.within(secs(5)), Err(Error::Closed { .. })));
        assert!(matches!(row.a.look(held), Look::Lost(_)));
        assert!(matches!(row.a.run_blocking(row.request(Op::Acquire, 3)), Err(Error::Closed { .. })));
        row.take(&row.b, 1);
    });
}

#[test]
fn the_drop_of_a_guard_gives_the_lock_back_before_the_next_try_of_its_client() {
    for system in &SYSTEMS {
        let client = (system.client)("");
        for _ in 0..200 {
            drop(client.lock("dropped").blocking().acquire().expect("free"));
            let next = client.lock("dropped").blocking().try_acquire().expect("answered");
            next.expect("the guard is gone").release().expect("held");
        }
    }
}
