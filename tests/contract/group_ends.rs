//! The end of a hold of several locks: its release finds a loss, or its lease is over at once.

use std::sync::mpsc;

use redlatch::ffi::{Border, Look, Member, Op, Request, Rule};
use redlatch::{Client, Error, Holds, LostReason};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server, given_up};

use crate::{eventually, ms, secs};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn of_three(server: &Server, rule: Rule) -> Client {
    let client = Client::connect(&server.url()).expect("a good URL");
    let members = NAMES.map(|name| Member { client: client.clone(), kind: "plain", name: name.into() });
    Client::group(rule, members.into()).expect("three different ones")
}

#[test]
fn a_release_that_finds_a_loss_tells_it_to_its_caller_and_to_the_watch() {
    let server = Server::start();
    let mut view = server.view();
    for rule in [Rule::All, Rule::Majority] {
        let lock = of_three(&server, rule);
        for round in 0..20 {
            let request = Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, "plain", "n", 1) };
            let hold = lock.run_blocking(request.clone()).expect("free").number as u64;
            // A majority takes in the last member when it answers.
            eventually(|| NAMES.iter().all(|name| view.exists(name)));
            let (told, watch) = mpsc::channel();
            lock.submit(lock.ticket(), Request { op: Op::Watch, hold, ..request.clone() }, move |end| {
                drop(told.send(end))
            });
            view.command::<()>(&["DEL", NAMES[0], NAMES[1], NAMES[2]]);
            let released = lock.run_blocking(Request { op: Op::Release, hold, ..request });
            let end = watch.recv_timeout(PATIENCE).expect("the watch ends");
            for told in [released, end] {
                let Err(Error::Lost(loss)) = &told else { panic!("{rule:?}, round {round}: {told:?}") };
                assert_eq!(loss.reason, LostReason::Deleted);
            }
            assert!(lock.loss_of(hold).is_some(), "{rule:?}, round {round}");
        }
    }
}

#[test]
fn the_end_of_the_first_client_loses_the_hold_and_gives_back_what_the_others_have() {
    for rule in [Rule::All, Rule::Majority] {
        let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
        let clients: Vec<_> =
            servers.iter().map(|server| Client::connect(&server.url()).expect("a good URL")).collect();
        let members = clients.iter().map(|client| Member { client: client.clone(), kind: "plain", name: "n".into() });
        let lock = Client::group(rule, members.collect()).expect("three different ones");
        let request = Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, "plain", "n", 1) };
        let hold = lock.run_blocking(request.clone()).expect("free").number as u64;
        eventually(|| servers.iter().all(|server| server.view().exists("n")));
        let (told, watch) = mpsc::channel();
        lock.submit(lock.ticket(), Request { op: Op::Watch, hold, ..request.clone() }, move |end| drop(told.send(end)));
        let first = (0..3).min_by_key(|i| clients[*i].server()).expect("three");
        clients[first].close_blocking(Holds::Keep);
        let end = watch.recv_timeout(PATIENCE).expect("the watch ends");
        assert!(matches!(&end, Err(Error::Lost(loss)) if loss.reason == LostReason::Closed), "{rule:?}: {end:?}");
        let released = lock.run_blocking(Request { op: Op::Release, hold, ..request });
        assert!(matches!(released, Err(Error::Closed { .. })), "{rule:?}: {released:?}");
        for other in (0..3).filter(|i| *i != first) {
            eventually(|| !servers[other].view().exists("n"));
        }
        assert!(lock.loss_of(hold).is_some_and(|loss| loss.reason == LostReason::Closed), "{rule:?}");
    }
}

#[test]
fn a_lease_shorter_than_a_round_trip_is_taken_and_over() {
    let server = Server::start();
    let lock = of_three(&server, Rule::All);
    let (told, taken) = mpsc::channel();
    let request = Request { wait: None, lease: Some(ms(1)), ..Request::new(Op::Acquire, "plain", "n", 1) };
    lock.submit(lock.ticket(), request.clone(), move |answer| drop(told.send(answer)));
    let answer = taken.recv_timeout(PATIENCE).expect("it does not try for ever").expect("free");
    let released = lock.run_blocking(Request { op: Op::Release, hold: answer.number as u64, ..request });
    assert!(answer.done && matches!(released, Err(Error::Lost(_))), "{released:?}");
    let mut view = server.view();
    eventually(|| NAMES.iter().all(|name| !view.exists(name)));
}

#[test]
fn a_hold_that_the_servers_answers_have_outlasted_is_not_handed_out() {
    // Longer than the leases of which a caller gets even those that are over.
    let lease = ms(200);
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let slow = Client::connect(&format!("{}?response_timeout=10", server.url_at(proxy.port()))).expect("a good URL");
    let quick = Client::connect(&server.url()).expect("a good URL");
    let members = [("a", &quick), ("b", &slow)].map(|(name, client)| Member {
        client: client.clone(),
        kind: "plain",
        name: name.into(),
    });
    let lock = Client::group(Rule::All, members.into()).expect("two different ones");
    let request = Request { wait: Some(secs(5)), lease: Some(lease), ..Request::new(Op::Acquire, "plain", "n", 1) };
    // The acquire of a member is answered in time, and the answer that gives it the whole lease comes when the lease is
    // over.
    proxy.retard_replies_to("EVALSHA", 2, 3 * lease);
    for round in 0..6 {
        let answer = lock.run_blocking(request.clone()).expect("the servers answer");
        if answer.done {
            let hold = answer.number as u64;
            assert!(matches!(lock.look(hold), Look::Held { .. }), "round {round}: {:?}", lock.look(hold));
            let _ = lock.run_blocking(Request { op: Op::Release, hold, ..request.clone() });
        }
    }
    proxy.disarm();
}

#[test]
fn the_end_of_the_first_client_loses_a_majority_in_which_that_client_has_no_part() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let clients: Vec<_> = servers.iter().map(|server| Client::connect(&server.url()).expect("a good URL")).collect();
    let first = (0..3).min_by_key(|i| clients[*i].server()).expect("three");
    let taken =
        Client::connect(&servers[first].url()).expect("a good URL").lock("n").blocking().acquire().expect("free");
    let members = clients.iter().map(|client| Member { client: client.clone(), kind: "plain", name: "n".into() });
    let lock = Client::group(Rule::Majority, members.collect()).expect("three different ones");
    let request = Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, "plain", "n", 1) };
    let hold = lock.run_blocking(request.clone()).expect("two are free").number as u64;
    clients[first].close_blocking(Holds::Keep);
    eventually(|| lock.loss_of(hold).is_some_and(|loss| loss.reason == LostReason::Closed));
    for other in (0..3).filter(|i| *i != first) {
        eventually(|| !servers[other].view().exists("n"));
    }
    taken.release().expect("held");
}

#[test]
fn a_release_under_way_ends_although_its_group_is_dropped_and_every_client_closes() {
    for rule in [Rule::All, Rule::Majority] {
        let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
        let proxies: Vec<_> = servers.iter().map(Proxy::start).collect();
        let url = |i: usize| format!("{}?response_timeout=20", servers[i].url_at(proxies[i].port()));
        let clients: Vec<_> = (0..3).map(|i| Client::connect(&url(i)).expect("a good URL")).collect();
        let members = clients.iter().map(|client| Member { client: client.clone(), kind: "plain", name: "n".into() });
        let lock = Client::group(rule, members.collect()).expect("three different ones");
        let request = Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, "plain", "n", 1) };
        let mut hold = 0;
        // The servers get to know the scripts in the first round.
        for is_last in [false, true] {
            hold = lock.run_blocking(request.clone()).expect("free").number as u64;
            eventually(|| servers.iter().all(|server| server.view().exists("n")));
            if !is_last {
                lock.run_blocking(Request { op: Op::Release, hold, ..request.clone() }).expect("held");
            }
        }
        proxies.iter().for_each(|proxy| proxy.stall(Direction::ToClient));
        let (told, released) = mpsc::channel();
        lock.submit(lock.ticket(), Request { op: Op::Release, hold, ..request }, move |end| drop(told.send(end)));
        eventually(|| servers.iter().all(|server| !server.view().exists("n")));
        drop(lock);
        let closing: Vec<_> = clients
            .into_iter()
            .map(|client| std::thread::spawn(move || client.close_blocking(Holds::Release)))
            .collect();
        proxies.iter().for_each(Proxy::flow);
        let released = released.recv_timeout(PATIENCE).expect("it ends");
        assert!(released.is_ok(), "{rule:?}: {released:?}");
        closing.into_iter().for_each(|closing| closing.join().expect("no panic"));
    }
}

#[test]
fn a_release_beside_an_acquire_that_is_given_up_frees_the_group() {
    let server = Server::start();
    let mut view = server.view();
    for rule in [Rule::All, Rule::Majority] {
        let lock = of_three(&server, rule);
        let request = |op| Request { wait: Some(secs(20)), ..Request::new(op, "plain", "n", 1) };
        for round in 0..100 {
            lock.run_blocking(request(Op::Acquire)).expect("free");
            let release = || drop(lock.run_blocking(request(Op::Release)).expect("held"));
            given_up(&lock, request(Op::Acquire), ms(1) * (round / 2) / 10, round % 2 == 0, release);
            eventually(|| NAMES.iter().all(|name| !view.exists(name)));
        }
    }
}

#[test]
fn an_acquire_of_a_group_that_is_given_up_ends_no_hold_that_its_owner_has() {
    let server = Server::start();
    let mut view = server.view();
    for rule in [Rule::All, Rule::Majority] {
        let lock = of_three(&server, rule);
        let request = |op| Request { wait: Some(secs(20)), ..Request::new(op, "plain", "n", 1) };
        let outer = lock.run_blocking(request(Op::Acquire)).expect("free").number as u64;
        for round in 0..100 {
            lock.run_blocking(request(Op::Acquire)).expect("held by its owner");
            let release = || drop(lock.run_blocking(request(Op::Release)).expect("held"));
            given_up(&lock, request(Op::Acquire), ms(1) * (round / 2) / 10, round % 2 == 0, release);
            eventually(|| lock.run_blocking(request(Op::Inspect)).expect("answered").items == [1]);
            assert!(matches!(lock.look(outer), Look::Held { .. }), "{rule:?}, round {round}");
        }
        lock.run_blocking(Request { hold: outer, ..request(Op::Release) }).expect("held");
        eventually(|| NAMES.iter().all(|name| !view.exists(name)));
    }
}

#[test]
fn the_longest_lease_of_a_lock_is_the_longest_of_several_locks_too() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let lease = secs(100 * 365 * 24 * 3600);
    for wait in [0, 1] {
        let all = client.multi_lock([client.lock("a"), client.lock("b")]).lease(lease).wait(secs(wait));
        all.blocking().acquire().expect("free").release().expect("held");
    }
}

#[test]
fn an_answer_without_a_count_is_no_count() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let all = client.multi_lock([client.lock("a"), client.lock("b")]);
    all.clone().blocking().is_locked().expect("answered");
    proxy.answer_to("\r\na\r\n", b"*1\r\n:1\r\n");
    let said = all.blocking().is_locked();
    assert!(said.is_ok() && proxy.struck() > 0, "{said:?}");
}
