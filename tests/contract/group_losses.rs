//! A hold of several locks that is lost: before it is handed out, while a vote is on its way, and while it is released.

use std::sync::mpsc::{self, Receiver};

use redlatch::{Answer, Client, Error, Look, Loss, LostReason, Member, Op, Request, Result, Rule};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server};

use crate::{eventually, secs};

fn connect(url: &str) -> Client {
    Client::connect(url).expect("a good URL")
}

fn group(rule: Rule, clients: &[Client]) -> Client {
    let members = clients.iter().map(|client| Member { client: client.clone(), kind: "plain", name: "n".into() });
    Client::group(rule, members.collect()).expect("different ones")
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
    // The client opens its connections before the last server falls silent.
    let hold = lock.run_blocking(acquire()).expect("free").number as u64;
    eventually(|| servers.iter().all(|server| server.view().exists("n")));
    lock.run_blocking(of_hold(Op::Release, hold)).expect("held");
    proxy.stall(Direction::ToClient);
    let request = Request { response_timeout: Some(secs(60)), ..acquire() };
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
    clients[1].close(false);
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
