//! A hold of several locks that is lost: before it is handed out, while a vote is on its way, and while it is released.

use std::sync::mpsc::{self, Receiver};

use redlatch::ffi::{Answer, Border, Look, Member, Op, Request, Rule};
use redlatch::{Client, Error, Holds, Loss, LostReason, Result};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server, all_at_once};

use crate::{eventually, ms, secs};

fn connect(url: &str) -> Client {
    Client::connect(url).expect("a good URL")
}

fn group(rule: Rule, clients: &[Client]) -> Client {
    let members = clients.iter().map(|client| Member { client: client.clone(), kind: "plain", name: "n".into() });
    Client::group(rule, members.collect()).expect("different ones")
}

fn names(rule: Rule, client: &Client, names: [&str; 2]) -> Client {
    let members = names.map(|name| Member { client: client.clone(), kind: "plain", name: name.into() });
    Client::group(rule, members.into()).expect("different ones")
}

fn acquire() -> Request {
    Request { wait: Some(secs(20)), ..Request::new(Op::Acquire, "plain", "n", 1) }
}

fn of_hold(op: Op, hold: u64) -> Request {
    Request { op, hold, ..acquire() }
}

fn submitted(lock: &Client, request: Request) -> Receiver<Result<Answer>> {
    let (told, answer) = mpsc::channel();
    lock.submit(lock.ticket(), request, move |answer| drop(told.send(answer)));
    answer
}

fn loss(lock: &Client, hold: u64) -> Option<Loss> {
    match lock.look(hold) {
        Look::Lost(loss) => Some(loss),
        _ => None,
    }
}

fn is_held(lock: &Client, hold: u64) -> bool {
    matches!(lock.look(hold), Look::Held { .. })
}

/// Three servers and a client of each, in the order in which a group sorts them.
fn three() -> (Vec<Server>, Vec<Client>) {
    let mut servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    servers.sort_by_key(|server| connect(&server.url()).server());
    let clients = servers.iter().map(|server| connect(&server.url())).collect();
    (servers, clients)
}

#[test]
fn a_lost_majority_stays_lost_when_a_vote_comes_late() {
    let (servers, mut clients) = three();
    let proxy = Proxy::start(&servers[2]);
    clients[2] = connect(&servers[2].url_at(proxy.port()));
    let lock = group(Rule::Majority, &clients);
    // A group does not ask a member again at once that has once been slow.
    let request = Request { response_timeout: Some(secs(60)), ..acquire() };
    // The client opens its connections before the last server falls silent.
    let hold = lock.run_blocking(request.clone()).expect("free").number as u64;
    eventually(|| servers.iter().all(|server| server.view().exists("n")));
    lock.run_blocking(of_hold(Op::Release, hold)).expect("held");
    proxy.stall(Direction::ToClient);
    let hold = lock.run_blocking(request).expect("two vote").number as u64;
    let (mut first, mut late) = (servers[0].view(), servers[2].view());
    eventually(|| late.exists("n") && first.tells());
    first.command::<()>(&["DEL", "n"]);
    eventually(|| loss(&lock, hold).is_some());
    proxy.flow();
    // The vote is counted, or given back.
    eventually(|| is_held(&lock, hold) || !late.exists("n"));
    assert!(loss(&lock, hold).is_some_and(|loss| loss.reason == LostReason::Deleted), "{:?}", lock.look(hold));
    let released = lock.run_blocking(of_hold(Op::Release, hold));
    assert!(matches!(released, Err(Error::Lost(_))), "{released:?}");
    servers.iter().for_each(|server| eventually(|| !server.view().exists("n")));
}

#[test]
fn the_loss_of_a_majority_that_lacks_a_vote_stays_what_it_is() {
    let (servers, clients) = three();
    let other = connect(&servers[2].url()).lock("n").blocking().acquire().expect("free");
    let lock = group(Rule::Majority, &clients);
    let hold = lock.run_blocking(acquire()).expect("two vote").number as u64;
    let mut first = servers[0].view();
    eventually(|| first.tells());
    first.command::<()>(&["DEL", "n"]);
    eventually(|| loss(&lock, hold).is_some());
    clients[1].close_blocking(Holds::Keep);
    assert_eq!(loss(&lock, hold).map(|loss| loss.reason), Some(LostReason::Deleted));
    other.release().expect("held");
}

#[test]
fn a_hold_of_which_a_part_was_lost_while_another_answered_is_not_handed_out() {
    let (quick, slow) = (Server::start(), Server::start());
    let proxy = Proxy::start(&slow);
    let url = format!("{}?response_timeout=20", slow.url_at(proxy.port()));
    let lock = group(Rule::All, &[connect(&quick.url()), connect(&url)]);
    let request = Request { lease: Some(secs(60)), ..acquire() };
    // The servers get to know the scripts.
    let hold = lock.run_blocking(request.clone()).expect("free").number as u64;
    lock.run_blocking(of_hold(Op::Release, hold)).expect("held");
    // The acquire of the slow member is answered in time, and the call that gives it the whole lease late.
    proxy.retard_replies_to("EVALSHA", 2, secs(2));
    let answer = submitted(&lock, request);
    let (mut lost, mut late) = (quick.view(), slow.view());
    eventually(|| late.exists("n") && late.pttl("n") <= 60_000 && lost.tells());
    lost.command::<()>(&["DEL", "n"]);
    let answer = answer.recv_timeout(PATIENCE).expect("it ends").expect("the servers answer");
    assert!(!answer.done || is_held(&lock, answer.number as u64), "{:?}", lock.look(answer.number as u64));
    proxy.disarm();
}

#[test]
fn a_release_of_a_majority_that_too_few_servers_answer_is_an_error() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = |server: &Server| connect(&format!("{}?response_timeout=0.3&retry_for=0.3", server.url()));
    let lock = group(Rule::Majority, &servers.iter().map(client).collect::<Vec<_>>());
    for gone in 1..=3 {
        let hold = lock.run_blocking(acquire()).expect("free").number as u64;
        servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
        servers.iter().take(gone).for_each(Server::pause);
        let released = lock.run_blocking(of_hold(Op::Release, hold));
        servers.iter().take(gone).for_each(Server::resume);
        assert_eq!(matches!(released, Err(Error::Unavailable { .. })), gone > 1, "{gone} are silent: {released:?}");
        servers.iter().for_each(|server| eventually(|| !server.view().exists("n")));
    }
}

#[test]
fn a_release_of_a_majority_has_the_time_that_its_caller_gives_it() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(Proxy::start).collect();
    let url = |i: usize| format!("{}?response_timeout=20", servers[i].url_at(proxies[i].port()));
    let lock = group(Rule::Majority, &(0..3).map(|i| connect(&url(i))).collect::<Vec<_>>());
    // The servers get to know the scripts in the first round.
    for is_slow in [false, true] {
        let hold = lock.run_blocking(acquire()).expect("free").number as u64;
        servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
        if is_slow {
            // That is longer than a member has for its answer to an acquire.
            proxies.iter().for_each(|proxy| proxy.retard_replies_to("EVALSHA", 1, secs(1)));
        }
        lock.run_blocking(of_hold(Op::Release, hold)).expect("held");
        servers.iter().for_each(|server| eventually(|| !server.view().exists("n")));
    }
}

#[test]
fn a_release_with_the_number_of_another_groups_hold_releases_nothing() {
    let server = Server::start();
    let client = connect(&server.url());
    let (one, other) = (names(Rule::All, &client, ["a", "b"]), names(Rule::All, &client, ["c", "d"]));
    let hold = one.run_blocking(acquire()).expect("free").number as u64;
    let another = Request { owner: 2, ..of_hold(Op::Release, hold) };
    for (lock, request) in [(&other, of_hold(Op::Release, hold)), (&one, another)] {
        let released = lock.run_blocking(request);
        assert!(matches!(released, Err(Error::NotHeld { .. })), "{released:?}");
        assert!(is_held(&one, hold) && server.view().exists("a"));
    }
    one.run_blocking(of_hold(Op::Release, hold)).expect("held");
    let again = one.run_blocking(of_hold(Op::Release, hold));
    assert!(matches!(again, Err(Error::Released { .. })), "{again:?}");
}

/// Deletes the keys of a hold of `a` and `b`. Its client does not hear of that before its release does. Gives the answers
/// to that release and to a watch that begins meanwhile.
fn released_and_watched(server: &Server, proxy: &Proxy, lock: &Client) -> [Result<Answer>; 2] {
    let hold = lock.run_blocking(acquire()).expect("free").number as u64;
    proxy.stall(Direction::ToClient);
    server.view().command::<()>(&["DEL", "a", "b"]);
    let told = [Op::Release, Op::Watch].map(|op| submitted(lock, of_hold(op, hold)));
    proxy.flow();
    told.map(|told| told.recv_timeout(PATIENCE).expect("it ends"))
}

#[test]
fn a_watch_that_begins_during_a_release_hears_of_the_loss_that_the_release_finds() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}?response_timeout=20", server.url_at(proxy.port())));
    for rule in [Rule::All, Rule::Majority] {
        let lock = names(rule, &client, ["a", "b"]);
        for told in released_and_watched(&server, &proxy, &lock) {
            let Err(Error::Lost(loss)) = &told else { panic!("{rule:?}: {told:?}") };
            assert_eq!(loss.reason, LostReason::Deleted, "{rule:?}");
        }
    }
}

/// On a busy machine the I/O thread may end the release before it comes to the watch.
#[test]
fn a_watch_that_is_asked_for_during_a_release_hears_of_the_loss_however_busy_the_machine_is() {
    let lanes = (0..8).map(|lane| {
        let play = || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let client = connect(&format!("{}?response_timeout=20", server.url_at(proxy.port())));
            let lock = names(Rule::All, &client, ["a", "b"]);
            for round in 0..20 {
                for told in released_and_watched(&server, &proxy, &lock) {
                    assert!(matches!(told, Err(Error::Lost(_))), "round {round}: {told:?}");
                }
            }
        };
        (format!("lane {lane}"), play)
    });
    all_at_once(lanes);
}

#[test]
fn a_hold_that_is_being_released_is_neither_extended_nor_released_again() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}?response_timeout=20", server.url_at(proxy.port())));
    let lock = names(Rule::All, &client, ["a", "b"]);
    let hold = lock.run_blocking(acquire()).expect("free").number as u64;
    proxy.stall(Direction::ToClient);
    let released = submitted(&lock, of_hold(Op::Release, hold));
    let extended = submitted(&lock, Request { lease: Some(secs(60)), ..of_hold(Op::Extend, hold) });
    let again = submitted(&lock, of_hold(Op::Release, hold));
    proxy.flow();
    let end = |answer: Receiver<Result<Answer>>| answer.recv_timeout(PATIENCE).expect("it ends");
    let (extended, again) = (end(extended), end(again));
    assert!(end(released).is_ok() && !server.view().exists("a"));
    assert!(matches!(extended, Err(Error::NotHeld { .. })), "{extended:?}");
    assert!(matches!(again, Err(Error::Released { .. })), "{again:?}");
}

#[test]
fn locks_of_one_name_that_are_different_keys_make_a_group() {
    let server = Server::start();
    for [one, other] in [["/0", "/1"], ["?prefix=a:", "?prefix=b:"]] {
        let url = |rest: &str| connect(&format!("redis://127.0.0.1:{}{rest}", server.port()));
        let members = [one, other].map(|rest| Member { client: url(rest), kind: "plain", name: "n".into() });
        let lock = Client::group(Rule::All, members.into()).expect("two keys");
        let hold = lock.run_blocking(acquire()).expect("free").number as u64;
        lock.run_blocking(of_hold(Op::Release, hold)).expect("held");
    }
}

#[test]
fn the_ages_in_a_reported_loss_are_those_of_the_moment_when_the_caller_asks() {
    let server = Server::start();
    let client = connect(&server.url());
    for lock in [client.clone(), names(Rule::All, &client, ["a", "b"])] {
        let hold = lock.run_blocking(Request { lease: Some(ms(50)), ..acquire() }).expect("free").number as u64;
        eventually(|| loss(&lock, hold).is_some());
        let released = lock.run_blocking(of_hold(Op::Release, hold));
        assert!(matches!(released, Err(Error::Lost(_))), "{released:?}");
        let noticed = || lock.loss_of(hold).expect("it is remembered").noticed;
        let before = noticed();
        eventually(|| noticed() > before);
    }
}

#[test]
fn a_client_of_which_every_lease_is_over_holds_nothing() {
    let server = Server::start();
    let client = connect(&server.url());
    for rule in [Rule::All, Rule::Majority] {
        let lock = names(rule, &client, ["a", "b"]);
        let answer = lock.run_blocking(Request { lease: Some(ms(200)), ..acquire() }).expect("answered");
        assert!(answer.done && !client.is_idle());
        eventually(|| client.is_idle());
    }
}

#[test]
fn groups_of_groups_that_begin_alike_are_different_locks() {
    let server = Server::start();
    let client = connect(&server.url());
    let member = |client: &Client, name: &str| Member { client: client.clone(), kind: "plain", name: name.into() };
    let long = |last: &str| {
        let members = ["a", "b", "c", last].map(|name| member(&client, name));
        Client::group(Rule::All, members.into()).expect("four different ones")
    };
    let of_one = |inner: &Client| Client::group(Rule::All, vec![member(inner, &inner.group_name())]).expect("one");
    let [first, second] = ["d", "e"].map(|last| of_one(&long(last)));
    for lock in [&first, &second] {
        lock.run_blocking(acquire()).expect("free");
    }
    // The owner's latest hold of the first group.
    first.run_blocking(of_hold(Op::Release, 0)).expect("held");
    let mut view = server.view();
    assert!(!view.exists("d") && view.exists("e"));
    second.run_blocking(of_hold(Op::Release, 0)).expect("held");
    assert!(view.keys("*").is_empty());
    let both = vec![member(&long("d"), "all"), member(&long("e"), "all")];
    assert!(Client::group(Rule::All, both).is_ok(), "they are two locks");
}
