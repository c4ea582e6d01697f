//! A client hands a contended lock on to its own waiters without a call, for the time of its turn.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::kinds::{Queue, Traits};
use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::{PATIENCE, Proxy, View, soon};

use super::promises;
use super::row::{Row, scripts};
use crate::{eventually, ms, secs};

/// The turn of a client that hands its locks on for as long as a test takes.
const LONG: &str = "turn=60";
const TOKENS: &str = "redisson_lock_token:{n}";

fn is_inside(kind: &Traits) -> bool {
    kind.queue == Queue::Inside
}

/// The holder gives the lock to another owner of its client. Gives the heir's answer, and whether there was no call of the
/// client meanwhile: the task of the line makes some too.
fn pass(row: &Row, client: &Client, from: i64, to: i64) -> (Answer, bool) {
    let mut view = row.view();
    let (sender, answer) = mpsc::channel();
    let wait = |owner| Request { wait: None, ..row.request(Op::Acquire, owner) };
    client.submit(client.ticket(), wait(to), move |result| drop(sender.send(result)));
    // If the server passes the lock on, it draws a token for the one that waits behind the heir.
    let ticket = client.ticket();
    let (sender, behind) = mpsc::channel();
    if row.traits.fenced {
        client.submit(ticket, wait(99), move |result| drop(sender.send(result)));
    } else {
        drop(sender);
    }
    let before = scripts(&mut view);
    row.give(client, from);
    let heir = answer.recv_timeout(PATIENCE).expect("its turn comes").expect("answered");
    let is_inside = scripts(&mut view) == before;
    client.cancel(ticket);
    assert!(behind.iter().all(|result| matches!(result, Err(Error::Cancelled))));
    (heir, is_inside)
}

/// A client with a long turn, of which owner 2 holds the lock through the grip of owner 1. Gives the holder's answer.
pub fn through(row: &Row) -> (Client, Answer) {
    let client = row.client(LONG);
    let heir = through_grip(row, &client);
    (client, heir)
}

/// Owner 2 of a client with a long turn gets the lock through the grip of owner 1. Gives the holder's answer.
pub fn through_grip(row: &Row, client: &Client) -> Answer {
    for _ in 0..200 {
        if row.traits.fenced {
            // So the server draws a token more.
            row.take(client, 5);
            pass(row, client, 5, 1);
        } else {
            row.take(client, 1);
        }
        let grip = fields(row, client);
        let (heir, is_inside) = pass(row, client, 1, 2);
        if is_inside && grip == ["1"] {
            return heir;
        }
        row.give(client, 2);
    }
    panic!("{}: it was never handed on inside", row.traits.name);
}

fn is_held(client: &Client, taken: &Answer) -> bool {
    matches!(client.look(taken.number as u64), Look::Held { .. })
}

/// The numbers of the owners that the server knows.
pub fn fields(row: &Row, client: &Client) -> Vec<String> {
    let own = format!("{}:", client.id());
    let fields = row.view().hgetall("n").into_keys().filter_map(|field| Some(field.strip_prefix(&own)?.to_owned()));
    fields.map(|field| field.trim_end_matches(":write").to_owned()).collect()
}

/// Has the server know the script of a release: the first call of it runs at once.
pub fn know_releases(row: &Row) {
    row.take(&row.b, 9);
    row.give(&row.b, 9);
}

/// Each of these owners waits, and releases on the thread that tells it that it has the lock. Gives the order.
fn releasing_at_once(row: &Row, client: &Client, owners: impl Iterator<Item = i64>) -> mpsc::Receiver<Answer> {
    let (sender, order) = mpsc::channel();
    for owner in owners {
        let sender = sender.clone();
        let again = client.clone();
        let back = row.request(Op::Release, owner);
        client.submit(client.ticket(), Request { wait: None, ..row.request(Op::Acquire, owner) }, move |taken| {
            let taken = taken.expect("answered");
            assert!(taken.done);
            sender.send(Answer { number: owner, ..taken }).expect("the test counts");
            again.submit(again.ticket(), back, |released| drop(released.expect("held")));
        });
    }
    order
}

promises! {
    fn in_its_turn_a_client_serves_its_waiters_in_order_and_without_calls(row) of |kind| is_inside(kind); {
        let client = row.client(LONG);
        let mut view = row.view();
        row.take(&client, 1);
        // So many that one could not be told inside another one's release.
        let order = releasing_at_once(row, &client, 2..=1001);
        let before = scripts(&mut view);
        let begun = Instant::now();
        row.give(&client, 1);
        let order: Vec<i64> = order.iter().map(|answer| answer.number).collect();
        assert_eq!(order, (2..=1001).collect::<Vec<_>>());
        // The server passes it on at first if the line's task is about to try, and the watchdog has a look now and then.
        let most = 20 + begun.elapsed().as_millis() as u64 / 20;
        let calls = scripts(&mut view) - before;
        assert!(calls <= most, "{calls} script calls for 1,000 acquisitions in {:?}", begun.elapsed());
        eventually(|| row.is_clean());
        assert!(row.try_for(&row.b, 9, ms(0)).is_some());
    }

    fn without_turns_the_server_gives_the_lock_to_each_owner(row) of |kind| is_inside(kind); {
        let client = row.client("turn=0");
        let mut view = row.view();
        row.take(&client, 1);
        let order = releasing_at_once(row, &client, 2..=101);
        let before = scripts(&mut view);
        row.give(&client, 1);
        assert_eq!(order.iter().count(), 100);
        assert!(scripts(&mut view) >= before + 100);
        eventually(|| row.is_clean());
    }

    fn a_turn_ends_although_waiters_never_do(row) of |kind| is_inside(kind); {
        let client = row.client("turn=0.02");
        let stop = AtomicBool::new(false);
        let rounds = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for owner in 1..=4 {
                let (client, stop, rounds) = (&client, &stop, &rounds);
                scope.spawn(move || while !stop.load(SeqCst) {
                    assert!(row.try_for(client, owner, PATIENCE).is_some(), "its turn comes");
                    rounds.fetch_add(1, SeqCst);
                    row.give(client, owner);
                });
            }
            for _ in 0..20 {
                let before = rounds.load(SeqCst);
                eventually(|| rounds.load(SeqCst) > before + 4);
                let taken = row.try_for(&row.b, 9, PATIENCE);
                if taken.is_none() {
                    stop.store(true, SeqCst);
                    panic!("the other client has no turn");
                }
                row.give(&row.b, 9);
            }
            stop.store(true, SeqCst);
        });
        eventually(|| row.is_clean());
    }

    /// The server has the field of the owner that has handed the lock on.
    fn an_owner_that_has_handed_its_lock_on_is_not_let_in_again(row) of |kind| is_inside(kind); {
        let (client, heir) = through(row);
        assert_eq!(fields(row, &client), ["1"], "it was handed on inside");
        assert!(row.try_for(&client, 1, ms(0)).is_none(), "two believe");
        assert!(row.try_for(&client, 1, ms(50)).is_none(), "two believe");
        assert!(row.try_for(&row.b, 9, ms(0)).is_none());
        assert!(matches!(row.try_give(&client, 1), Err(Error::NotHeld { .. })));
        assert_eq!([1, 2].map(|owner| row.count(&client, owner)), [0, 1]);
        assert!(row.is_taken(&client) && is_held(&client, &heir));
        row.give(&client, 2);
        eventually(|| row.is_clean());
        assert!(row.try_for(&row.b, 9, ms(0)).is_some());
    }

    /// The heir's release may be carried out between the server's answer to a question and the look at the ledger.
    fn an_owner_that_has_released_is_never_told_that_it_holds(row) of |kind| is_inside(kind); {
        let client = row.client("turn=0.05");
        std::thread::scope(|scope| {
            for owner in 1..=8 {
                let client = &client;
                scope.spawn(move || {
                    for round in 0..400 {
                        assert!(row.try_for(client, owner, PATIENCE).is_some(), "its turn comes");
                        assert_eq!(row.count(client, owner), 1, "round {round}: it holds");
                        row.give(client, owner);
                        assert_eq!(row.count(client, owner), 0, "round {round}: it has released");
                    }
                });
            }
        });
        eventually(|| row.is_clean());
    }

    fn a_holder_through_another_owners_grip_enters_once_more(row) of |kind| is_inside(kind); {
        let (client, heir) = through(row);
        if row.traits.reentrant {
            row.take(&client, 2);
            assert_eq!(row.count(&client, 2), 2);
            assert_eq!(fields(row, &client), ["2"], "the server counts its holds under its own field");
            row.give(&client, 2);
            assert!(is_held(&client, &heir));
            assert!(row.try_for(&row.b, 9, ms(0)).is_none());
            assert!(row.try_for(&client, 1, ms(0)).is_none());
        } else {
            let again = client.run_blocking(row.request(Op::Acquire, 2));
            assert!(matches!(again, Err(Error::AlreadyHeld { .. })), "{again:?}");
        }
        row.give(&client, 2);
        eventually(|| row.is_clean());
    }

    /// The acquire has the owner's right to send when the release ends the hold.
    fn an_owner_that_acquires_while_its_hold_through_another_ends_gets_the_lock(row) of |kind| is_inside(kind); {
        let (client, _) = through(row);
        row.view().command::<()>(&["CLIENT", "PAUSE", "300", "ALL"]);
        let answers = [Op::Release, Op::Acquire].map(|op| {
            let (sender, answer) = mpsc::channel();
            let request = Request { wait: Some(PATIENCE), ..row.request(op, 2) };
            client.submit(client.ticket(), request, move |result| drop(sender.send(result)));
            answer
        });
        for answer in answers {
            assert!(answer.recv_timeout(PATIENCE).expect("it is answered").expect("the server answers").done);
        }
        row.give(&client, 2);
        eventually(|| row.is_clean());
    }

    fn a_holder_through_another_owners_grip_changes_its_end(row) of |kind| is_inside(kind) && kind.reentrant; {
        let (client, heir) = through(row);
        let extend = Request { hold: heir.number as u64, lease: Some(secs(600)), ..row.request(Op::Extend, 2) };
        assert!(client.run_blocking(extend).expect("held").done);
        let left = row.view().pttl("n");
        assert!(left > 500_000, "{left} ms");
        let Look::Held { remaining } = client.look(heir.number as u64) else { panic!("it is held") };
        assert!(remaining > secs(500) && remaining <= ms(left as u64 + 100), "{remaining:?}");
        row.give(&client, 2);
        eventually(|| row.is_clean());
    }

    /// The server has carried the extension out, and the client no longer believes in its hold.
    fn a_hold_through_another_owners_grip_does_not_outlast_its_holder(row) of |kind| is_inside(kind); {
        let hour = secs(3600);
        let proxy = Proxy::start(&row.server);
        let options = format!("{LONG}&watchdog=1&response_timeout=0.3&retry_for=0");
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        let heir = through_grip(row, &client);
        proxy.lose_reply_to(&hour.as_millis().to_string());
        let extend = Request { hold: heir.number as u64, lease: Some(hour), ..row.request(Op::Extend, 2) };
        client.run_blocking(extend).expect_err("no answer comes");
        proxy.refuse();
        proxy.cut();
        // As a late copy of the extension does: a renewal may have come after the first one.
        assert!(row.view().command::<bool>(&["PEXPIRE", "n", &hour.as_millis().to_string()]), "the key has ended");
        eventually(|| !is_held(&client, &heir));
        proxy.accept();
        let told = row.try_give(&client, 2);
        assert!(matches!(told, Err(Error::Lost(_))), "{told:?}");
        eventually(|| row.view().pttl("n") < hour.as_millis() as i64 / 2);
    }

    /// A lost hold through another owner's field is given back beside a new hold of that owner. Before the answer comes, the
    /// lock is free, and its holder takes it anew under its own field.
    fn the_end_of_what_another_owners_field_has_is_not_that_of_a_new_hold(row) of |kind| is_inside(kind) && kind.reentrant; {
        let hour = secs(3600);
        let lease = ms(2_000);
        let proxy = Proxy::start(&row.server);
        let options = format!("{LONG}&watchdog=2&response_timeout=10&retry_for=0");
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        know_releases(row);
        let heir = through_grip(row, &client);
        proxy.lose_reply_to(&hour.as_millis().to_string());
        let extend = Request { hold: heir.number as u64, lease: Some(hour), ..row.request(Op::Extend, 2) };
        client.run_blocking(extend).expect_err("no answer comes");
        proxy.refuse();
        proxy.cut();
        let mut view = row.view();
        assert!(view.command::<bool>(&["PEXPIRE", "n", &hour.as_millis().to_string()]), "the key has ended");
        eventually(|| !is_held(&client, &heir));
        proxy.accept();
        eventually(|| matches!(client.run_blocking(row.request(Op::Acquire, 1)), Ok(Answer { done: true, .. })));
        let writes = |view: &mut View| view.calls().get("hset").copied();
        let before = writes(&mut view);
        proxy.retard_replies_to(&format!("{}:1", client.id()), 1, ms(1_000));
        let told = row.try_give(&client, 2);
        assert!(matches!(told, Err(Error::Lost(_))), "{told:?}");
        eventually(|| writes(&mut view) > before);
        view.command::<()>(&["DEL", "n"]);
        let again = Request { lease: Some(lease), wait: Some(ms(0)), ..row.request(Op::Acquire, 2) };
        let again = client.run_blocking(again).expect("the server answers");
        assert!(again.done, "the lock is free");
        eventually(|| match client.look(again.number as u64) {
            Look::Held { remaining } => {
                assert!(remaining <= lease, "{remaining:?} of a lease of {lease:?}");
                false
            }
            _ => true,
        });
    }

    /// As above, while an extension of the lost hold has its answer on the way.
    fn an_extension_through_another_owners_field_is_none_of_a_new_hold(row) of |kind| is_inside(kind) && kind.reentrant; {
        let hour = secs(3600);
        let lease = ms(4_000);
        let proxy = Proxy::start(&row.server);
        let options = format!("{LONG}&watchdog=1&response_timeout=10&retry_for=0");
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        let extend = |hold: &Answer, owner, lease| Request {
            hold: hold.number as u64,
            lease: Some(lease),
            ..row.request(Op::Extend, owner)
        };
        // The server knows the script: the answer that is late is not that it does not.
        let other = row.take(&client, 7);
        client.run_blocking(extend(&other, 7, secs(1))).expect("it is held");
        row.give(&client, 7);
        let heir = through_grip(row, &client);
        // The hold ends before the answer comes.
        eventually(|| matches!(client.look(heir.number as u64), Look::Held { remaining } if remaining < ms(720)));
        proxy.retard_replies_to(&hour.as_millis().to_string(), 1, ms(900));
        let (sender, extended) = mpsc::channel();
        client.submit(client.ticket(), extend(&heir, 2, hour), move |result| drop(sender.send(result)));
        eventually(|| !is_held(&client, &heir));
        row.view().command::<()>(&["DEL", "n"]);
        let again = Request { lease: Some(lease), wait: Some(ms(0)), ..row.request(Op::Acquire, 2) };
        let again = client.run_blocking(again).expect("the server answers");
        assert!(again.done, "the lock is free");
        extended.recv_timeout(PATIENCE).expect("it is answered").expect_err("the hold is lost");
        eventually(|| match client.look(again.number as u64) {
            Look::Held { remaining } => {
                assert!(remaining <= lease, "{remaining:?} of a lease of {lease:?}");
                false
            }
            _ => true,
        });
    }

    /// The call that puts the holder's own field there is carried out, and no answer comes before the hold is over.
    fn the_own_field_of_a_holder_through_another_owners_grip_does_not_outlast_it(row) of |kind| is_inside(kind); {
        let proxy = Proxy::start(&row.server);
        // The client gives a lock back for as long as its watchdog's time, which a busy machine may need.
        let options = format!("{LONG}&watchdog=4&response_timeout=0.3&retry_for=0");
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        know_releases(row);
        let heir = through_grip(row, &client);
        let mut view = row.view();
        proxy.lose_reply_to(&format!("{}:2", client.id()));
        client.run_blocking(row.request(Op::Acquire, 2)).expect_err("no answer comes");
        proxy.refuse();
        proxy.cut();
        assert_eq!(fields(row, &client), ["2"]);
        // As a later copy does: the time of the watchdog begins anew.
        assert!(view.command::<bool>(&["PEXPIRE", "n", "3600000"]), "the key has ended");
        eventually(|| !is_held(&client, &heir));
        let told = row.try_give(&client, 2);
        assert!(matches!(told, Err(Error::Lost(_) | Error::Unavailable { .. })), "{told:?}");
        proxy.accept();
        eventually(|| !view.exists("n"));
    }

    /// As above, and the client ends before the answer.
    fn a_client_that_closes_while_a_holder_takes_a_grip_frees_the_lock(row) of |kind| is_inside(kind); {
        let proxy = Proxy::start(&row.server);
        let options = format!("{LONG}&response_timeout=2&retry_for=0");
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        know_releases(row);
        through_grip(row, &client);
        proxy.lose_reply_to(&format!("{}:2", client.id()));
        client.run_blocking(row.request(Op::Acquire, 2)).expect_err("no answer comes");
        proxy.refuse();
        proxy.cut();
        assert_eq!(fields(row, &client), ["2"]);
        std::thread::scope(|scope| {
            scope.spawn(|| client.close_blocking(Holds::Release));
            eventually(|| client.is_closed());
            proxy.accept();
        });
        assert!(!row.view().exists("n"), "it is not free");
    }

    fn handing_a_lock_on_makes_it_last_no_longer(row) of |kind| is_inside(kind); {
        let client = row.client("turn=60&watchdog=20");
        row.take(&client, 1);
        let [mut from, mut to] = [1, 2];
        let begun = Instant::now();
        // The first renewal comes later.
        let mut inside = 0;
        while begun.elapsed() < secs(2) {
            let (heir, is_inside) = pass(row, &client, from, to);
            inside += u64::from(is_inside);
            let asked = Instant::now();
            let Look::Held { remaining } = client.look(heir.number as u64) else { panic!("it is held") };
            let until = Instant::now() + ms(row.view().pttl("n") as u64 + 1);
            assert!(asked + remaining <= until, "it is believed in for {remaining:?}");
            (from, to) = (to, from);
        }
        assert!(inside > 10, "it was handed on inside {inside} times");
        row.give(&client, from);
    }

    fn a_lock_that_is_handed_on_for_long_is_renewed(row) of |kind| is_inside(kind); {
        let client = row.client("turn=60&watchdog=1");
        row.take(&client, 1);
        let [mut from, mut to] = [1, 2];
        let begun = Instant::now();
        while begun.elapsed() < secs(3) {
            let (heir, _) = pass(row, &client, from, to);
            assert!(is_held(&client, &heir), "it is lost after {:?}", begun.elapsed());
            (from, to) = (to, from);
        }
        row.give(&client, from);
        eventually(|| row.is_clean());
    }

    fn only_a_hold_without_a_lease_of_its_own_is_handed_on(row) of |kind| is_inside(kind); {
        let client = row.client(LONG);
        row.take(&client, 1);
        let waiting = Request { wait: None, lease: Some(secs(7)), ..row.request(Op::Acquire, 2) };
        let (sender, answer) = mpsc::channel();
        client.submit(client.ticket(), waiting, move |result| drop(sender.send(result)));
        row.give(&client, 1);
        assert!(answer.recv_timeout(PATIENCE).expect("its turn comes").expect("answered").done);
        assert_eq!(fields(row, &client), ["2"]);
        assert!(row.view().pttl("n") <= 7_000);
        // Nor does a client hand on what lasts for another time than the watchdog's.
        let next = row.wait(&client, 3, None);
        row.give(&client, 2);
        assert!(next.within(PATIENCE).expect("answered").done);
        assert_eq!(fields(row, &client), ["3"]);
        assert!(row.view().pttl("n") > 7_000);
        row.give(&client, 3);
    }

    fn a_message_has_the_server_decide_about_the_next_heir(row) of |kind| is_inside(kind); {
        let (client, _) = through(row);
        let next = row.wait(&client, 3, None);
        let mut view = row.view();
        let before = scripts(&mut view);
        let channel = view.channels("*").pop().expect("the line listens");
        view.command::<i64>(&["PUBLISH", &channel, "0"]);
        // The line has heard of it.
        eventually(|| scripts(&mut view) > before);
        row.give(&client, 2);
        assert!(next.within(PATIENCE).expect("answered").done);
        assert_eq!(fields(row, &client), ["3"]);
        row.give(&client, 3);
        eventually(|| row.is_clean());
    }

    /// The line that has heard of it ends before the next waiter comes.
    fn a_message_outlasts_the_line_that_heard_it(row) of |kind| is_inside(kind); {
        let (client, _) = through(row);
        let mut view = row.view();
        // From now on the watchdog has no question before the first renewal.
        eventually(|| view.tells());
        let next = row.wait(&client, 3, None);
        let before = scripts(&mut view);
        let channel = view.channels("*").pop().expect("the line listens");
        view.command::<i64>(&["PUBLISH", &channel, "0"]);
        eventually(|| scripts(&mut view) > before);
        next.cancel();
        assert!(matches!(next.within(PATIENCE), Err(Error::Cancelled)));
        eventually(|| view.channels("*").is_empty());
        let (_, is_inside) = pass(row, &client, 2, 4);
        assert!(!is_inside, "the server has not answered since");
        assert_eq!(fields(row, &client), ["4"]);
        row.give(&client, 4);
        eventually(|| row.is_clean());
    }

    fn the_loss_of_a_grip_is_the_holders_of_the_moment(row) of |kind| is_inside(kind); {
        for forces in [None, Some(true), Some(false)] {
            let row = &Row::of(row.traits.name);
            let (client, heir) = through(row);
            let next = row.wait(&client, 3, None);
            let mut view = row.view();
            match forces {
                None => {
                    eventually(|| view.tells());
                    view.command::<()>(&["DEL", "n"]);
                }
                Some(own) => {
                    let by = if own { &client } else { &row.b };
                    assert!(by.run_blocking(row.request(Op::ForceRelease, 7)).expect("answered").done);
                }
            }
            assert!(next.within(PATIENCE).expect("answered").done, "{forces:?}");
            eventually(|| !is_held(&client, &heir));
            assert!(matches!(row.try_give(&client, 2), Err(Error::Lost(_))), "{forces:?}");
            assert!(row.try_for(&row.b, 9, ms(0)).is_none(), "{forces:?}: the release of a lost hold freed another's");
            assert_eq!(fields(row, &client), ["3"], "{forces:?}");
            row.give(&client, 3);
            eventually(|| row.is_clean());
        }
    }

    fn a_waiter_that_is_cancelled_in_a_turn_keeps_nothing(row) of |kind| is_inside(kind); {
        let client = row.client(LONG);
        for round in 0..300 {
            row.take(&client, 1);
            let (sender, answers) = mpsc::channel();
            let tickets = [2, 3, 4].map(|owner| {
                let (again, back, sender) = (client.clone(), row.request(Op::Release, owner), sender.clone());
                let ticket = client.ticket();
                client.submit(ticket, Request { wait: None, ..row.request(Op::Acquire, owner) }, move |taken| {
                    if taken.is_ok() {
                        again.submit(again.ticket(), back, |released| drop(released.expect("held")));
                    }
                    drop(sender.send(taken.map(drop)));
                });
                ticket
            });
            drop(sender);
            std::thread::scope(|scope| {
                scope.spawn(|| row.give(&client, 1));
                scope.spawn(|| client.cancel(tickets[round % 3]));
            });
            for answer in answers {
                assert!(matches!(answer, Ok(()) | Err(Error::Cancelled)), "{answer:?}");
            }
            assert!(row.try_for(&row.b, 9, PATIENCE).is_some(), "round {round}: it is not free");
            row.give(&row.b, 9);
        }
    }

    fn a_future_that_is_dropped_in_a_turn_keeps_nothing(row) of |kind| is_inside(kind); {
        let client = row.client(LONG);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
        for round in 0..300 {
            // The last call for a future of the round before may be under way.
            assert!(row.try_for(&client, 1, PATIENCE).is_some(), "round {round}: it is not free");
            let tasks = [2, 3].map(|owner| {
                let client = client.clone();
                let request = Request { wait: None, ..row.request(Op::Acquire, owner) };
                runtime.spawn(async move { client.run(request).await.map(drop) })
            });
            if round % 2 == 0 {
                std::thread::yield_now();
            }
            row.give(&client, 1);
            tasks.iter().for_each(tokio::task::JoinHandle::abort);
            for (owner, task) in [2, 3].into_iter().zip(tasks) {
                if let Ok(Ok(())) = soon(task) {
                    row.give(&client, owner);
                }
            }
            assert!(row.try_for(&row.b, 9, PATIENCE).is_some(), "round {round}: it is not free");
            row.give(&row.b, 9);
        }
    }

    fn a_client_that_closes_in_its_turn_frees_the_lock(row) of |kind| is_inside(kind); {
        let (client, _) = through(row);
        let next = row.wait(&client, 3, None);
        client.close_blocking(Holds::Release);
        assert!(matches!(next.within(PATIENCE), Err(Error::Closed { .. })));
        assert!(row.try_for(&row.b, 9, ms(0)).is_some(), "it is free");
        row.give(&row.b, 9);
        eventually(|| row.is_clean());

        let (client, _) = through(row);
        client.close_blocking(Holds::Keep);
        assert_eq!(fields(row, &client), ["1"]);
    }

    fn tokens_grow_from_owner_to_owner_in_a_turn_and_beyond(row) of |kind| is_inside(kind) && kind.fenced; {
        let client = row.client(LONG);
        let mut view = row.view();
        let mut last = row.take(&client, 1).items[0];
        for round in 0..20 {
            let order = releasing_at_once(row, &client, 2..=50);
            row.give(&client, 1);
            for answer in order.iter() {
                assert_eq!(answer.items.len(), 1, "{answer:?}");
                assert!(answer.items[0] > last, "round {round}: {} after {last}", answer.items[0]);
                last = answer.items[0];
            }
            let drawn: i64 = view.command(&["GET", TOKENS]);
            assert!(last <= drawn && drawn <= last + 50, "{last} of {drawn} that were drawn");
            let other = row.try_for(&row.b, 9, PATIENCE).expect("its turn comes").items[0];
            assert!(other > drawn);
            row.give(&row.b, 9);
            last = row.take(&client, 1).items[0];
            assert_eq!(last, other + 1, "an owner without waiters behind it draws one");
        }
        assert!(view.calls()["incrby"] >= 10, "no tokens were drawn for those that wait");
    }

    /// A nested acquire draws a token of its own, and a lost grip leaves its tokens behind.
    fn no_token_of_a_block_is_given_after_a_newer_one(row) of |kind| is_inside(kind) && kind.fenced; {
        for delete in [false, true] {
            let row = &Row::of(row.traits.name);
            let client = row.client(LONG);
            row.take(&client, 1);
            let waiting: Vec<_> = (2..=9).map(|owner| row.wait(&client, owner, None)).collect();
            // The server passes it on, and draws for those behind the heir.
            let mut view = row.view();
            let mut waiting = waiting.into_iter();
            row.give(&client, 1);
            let first = waiting.next().expect("eight wait").within(PATIENCE).expect("answered").items[0];
            let newest = if delete {
                eventually(|| view.tells());
                // Before the key goes: the next owner draws its token as soon as the client hears of that.
                let newest = view.command::<i64>(&["INCRBY", TOKENS, "100"]);
                view.command::<()>(&["DEL", "n"]);
                newest
            } else {
                let inner = row.take(&client, 2).items[0];
                row.give(&client, 2);
                inner
            };
            assert!(newest > first);
            if !delete {
                row.give(&client, 2);
            }
            let next = waiting.next().expect("seven wait").within(PATIENCE).expect("answered").items[0];
            assert!(next > newest, "{next} after {newest}");
            client.close_blocking(Holds::Release);
            eventually(|| row.view().keys("n").is_empty());
        }
    }
}

/// An owner that writes through another one's grip reads beside that, and keeps reading.
#[test]
fn an_owner_that_writes_through_another_ones_grip_reads_as_well() {
    let row = Row::of("write");
    let (client, _) = through(&row);
    let read = |client: &Client, op, owner| client.run_blocking(Request { kind: "read", ..row.request(op, owner) });
    assert!(!read(&client, Op::Acquire, 1).expect("answered").done, "another owner writes");
    assert!(read(&client, Op::Acquire, 2).expect("answered").done);
    row.give(&client, 2);
    assert!(read(&row.b, Op::Acquire, 9).expect("answered").done, "others may read");
    assert!(row.try_for(&client, 1, Duration::ZERO).is_none(), "an owner reads");
    read(&client, Op::Release, 2).expect("held");
    read(&row.b, Op::Release, 9).expect("held");
    eventually(|| row.is_clean());
}
