//! A lock of a majority of independent servers.

use std::time::Duration;

use redlatch::ffi::{Answer, Border, Member, Op, Request, Rule};
use redlatch::{Client, Error, RedLock};
use redlatch_tests::{Proxy, Server, all_at_once, told};

use crate::{eventually, secs};

fn three(query: &str) -> (Vec<Server>, RedLock) {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let lock = red(&servers, query);
    (servers, lock)
}

fn red(servers: &[Server], query: &str) -> RedLock {
    RedLock::connect(servers.iter().map(|server| format!("{}{query}", server.url()))).expect("good URLs")
}

fn nothing_is_left(server: &Server) {
    let mut view = server.view();
    eventually(|| view.keys("*").is_empty());
}

#[test]
fn one_owner_at_a_time_holds_a_red_lock_and_every_server_knows() {
    let (servers, lock) = three("");
    let others: Vec<_> = (0..4).map(|_| red(&servers, "")).collect();
    let guard = lock.lock("n").blocking().acquire().expect("free");
    assert!(others[0].lock("n").blocking().try_acquire().expect("answered").is_none());
    servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
    guard.release().expect("held");
    let inside = std::sync::Mutex::new(0);
    all_at_once(others.iter().enumerate().map(|(i, other)| {
        let inside = &inside;
        let work = move || {
            for _ in 0..10 {
                let guard = other.lock("n").wait(secs(20)).blocking().acquire().expect("no holder keeps it");
                let mut count = inside.try_lock().expect("no other holder is inside");
                std::thread::yield_now();
                *count += 1;
                drop(count);
                guard.release().expect("held");
            }
        };
        (i.to_string(), work)
    }));
    assert_eq!(*inside.lock().expect("no thread panicked"), 40);
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn a_minority_may_be_gone_while_it_is_taken_held_and_released() {
    let (servers, lock) = three("");
    servers[1].stop();
    let guard = lock.lock("n").wait(secs(20)).blocking().acquire().expect("two of three");
    guard.ensure().expect("held");
    assert!(red(&servers, "").lock("n").blocking().try_acquire().expect("two answer").is_none());
    guard.release().expect("held");
    [&servers[0], &servers[2]].into_iter().for_each(nothing_is_left);
}

#[test]
fn without_a_majority_nothing_is_taken_and_nothing_is_left() {
    let (servers, lock) = three("");
    servers[1].stop();
    servers[2].stop();
    for wait in [0, 300] {
        let tried = lock.lock("n").wait(Duration::from_millis(wait)).blocking().acquire().map(drop);
        assert!(matches!(tried, Err(Error::Unavailable { .. })), "{tried:?}");
    }
    nothing_is_left(&servers[0]);
}

#[test]
fn a_server_that_has_forgotten_its_vote_is_asked_for_it_again() {
    // A machine that stands still for most of a shorter time would lose the whole lock.
    let (servers, lock) = three("?watchdog=3");
    let guard = lock.lock("n").blocking().acquire().expect("free");
    servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
    servers[0].view().command::<()>(&["FLUSHALL"]);
    let mut view = servers[0].view();
    eventually(|| {
        guard.ensure().expect("two of three");
        view.exists("n")
    });
    // The client knows of its vote by the time at which it renews it.
    let mut before = view.pttl("n");
    eventually(|| {
        let now = view.pttl("n");
        now > std::mem::replace(&mut before, now)
    });
    // With that server back, another one may go.
    servers[1].view().command::<()>(&["FLUSHALL"]);
    guard.ensure().expect("two of three");
    eventually(|| servers[1].view().exists("n"));
    guard.release().expect("held");
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn a_red_lock_is_lost_with_the_majority_and_not_before() {
    let (servers, lock) = three("");
    let guard = lock.lock("n").lease(secs(60)).blocking().acquire().expect("free");
    for server in &servers {
        let mut view = server.view();
        eventually(|| view.exists("n") && view.tells());
    }
    servers[0].view().command::<()>(&["DEL", "n"]);
    servers[1].view().command::<()>(&["DEL", "n"]);
    told(&guard);
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn silent_servers_cost_a_red_lock_little_time() {
    let (servers, lock) = three("");
    servers[2].pause();
    let guard = lock.lock("n").wait(secs(20)).blocking().acquire().expect("two of three");
    guard.ensure().expect("held");
    guard.release().expect("held");
    servers[2].resume();
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn no_server_at_all_is_an_error_that_says_what_to_give() {
    let Err(Error::Config(message)) = RedLock::connect(Vec::<String>::new()).map(drop) else { panic!("it is refused") };
    assert!(message.contains("three or five"), "{message}");
}

/// Five servers: another owner has the first two, and the last one stands still. A client tries once with a limit for
/// each server.
struct Split {
    servers: Vec<Server>,
    /// The locks of the other owner.
    votes: Vec<redlatch::BlockingGuard>,
    lock: Client,
}

impl Split {
    fn begin() -> Split {
        let servers: Vec<_> = (0..5).map(|_| Server::start()).collect();
        let client = |server: &Server| Client::connect(&server.url()).expect("a good URL");
        let votes = servers[..2]
            .iter()
            .map(|server| client(server).lock("n").lease(secs(600)).blocking().acquire().expect("free"));
        let votes = votes.collect();
        let members =
            servers.iter().map(|server| Member { client: client(server), kind: "plain", name: "n".into() }).collect();
        let lock = Client::group(Rule::Majority, members).expect("five different ones");
        // The client opens its connections before the server stands still.
        assert!(Split::ask(&lock, secs(60)).expect("answered").done);
        let split = Split { servers, votes, lock };
        split.servers[4].pause();
        let tried = split.again(secs(1)).expect("four answer");
        assert!(!tried.done, "two of four");
        split
    }

    fn again(&self, limit: Duration) -> redlatch::Result<Answer> {
        Split::ask(&self.lock, limit)
    }

    /// Tries once, and releases a granted lock at once.
    fn ask(lock: &Client, limit: Duration) -> redlatch::Result<Answer> {
        let request = Request {
            lease: Some(secs(60)),
            response_timeout: Some(limit),
            ..Request::new(Op::Acquire, "plain", "n", 1)
        };
        let answer = lock.run_blocking(request.clone())?;
        if answer.done {
            lock.run_blocking(Request { op: Op::Release, hold: answer.number as u64, ..request })?;
        }
        Ok(answer)
    }
}

#[test]
fn a_server_that_did_not_answer_is_not_waited_for_while_enough_others_do() {
    let split = Split::begin();
    let lock = split.lock.clone();
    let (told, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(Split::ask(&lock, secs(60))));
    // The server that stands still would be given a minute.
    let tried = answered.recv_timeout(redlatch_tests::PATIENCE).expect("the four have answered").expect("an answer");
    assert!(!tried.done, "two of four");
    split.servers[4].resume();
    eventually(|| split.again(secs(60)).expect("answered").done);
}

#[test]
fn a_server_that_did_not_answer_is_asked_again_when_the_others_are_too_few() {
    let mut split = Split::begin();
    split.votes.drain(..).for_each(|vote| vote.release().expect("held"));
    split.servers[4].resume();
    split.servers[..2].iter().for_each(Server::stop);
    // The server may first carry out the earlier request, whose hold is then released.
    eventually(|| split.again(secs(3)).expect("three of five answer").done);
}

/// The first of three servers has voted, the third one belongs to another owner, and the second one cannot be reached
/// until the first vote has ended.
#[test]
fn votes_of_which_one_has_ended_before_the_last_came_are_no_majority_and_are_given_back() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = |url: String| Client::connect(&url).expect("a good URL");
    let other = client(servers[2].url()).lock("n").lease(secs(600)).blocking().acquire().expect("free");
    let proxy = Proxy::start(&servers[1]);
    let urls = [servers[0].url(), servers[1].url_at(proxy.port()), servers[2].url()];
    let members = urls.map(|url| Member { client: client(url), kind: "plain", name: "n".into() });
    // A server that a client has never reached is not tried again, so each is reached first.
    members[1].client.run_blocking(Request::new(Op::Ping, "plain", "n", 1)).expect("it answers");
    let lock = Client::group(Rule::Majority, members.into()).expect("three different ones");
    proxy.refuse();
    proxy.cut();
    let request = Request {
        lease: Some(secs(2)),
        response_timeout: Some(secs(60)),
        ..Request::new(Op::Acquire, "plain", "n", 1)
    };
    let (sender, answer) = std::sync::mpsc::channel();
    let asking = lock.clone();
    std::thread::spawn(move || sender.send(asking.run_blocking(request)));
    let mut first = servers[0].view();
    eventually(|| first.exists("n"));
    eventually(|| !first.exists("n"));
    proxy.accept();
    let answer = answer.recv_timeout(redlatch_tests::PATIENCE).expect("all have answered").expect("two voted");
    assert!(!answer.done, "one of three has it: {:?}", lock.look(answer.number as u64));
    servers[..2].iter().for_each(nothing_is_left);
    other.release().expect("held");
}

#[test]
fn a_red_lock_is_looked_at_and_forced_open_as_long_as_a_majority_answers() {
    let (servers, lock) = three("");
    let observer = red(&servers, "?response_timeout=0.3&retry_for=0.3");
    for gone in 1..=3 {
        let guard = lock.lock("n").blocking().acquire().expect("free");
        servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
        assert!(observer.lock("n").blocking().is_locked().expect("all answer"));
        servers.iter().take(gone).for_each(Server::pause);
        let locked = observer.lock("n").blocking().is_locked();
        let forced = observer.lock("n").blocking().force_release();
        servers.iter().take(gone).for_each(Server::resume);
        match gone {
            1 => assert!(matches!((&locked, &forced), (Ok(true), Ok(true))), "{locked:?}, {forced:?}"),
            _ => {
                assert!(matches!(locked, Err(Error::Unavailable { .. })), "{gone} are silent: {locked:?}");
                assert!(matches!(forced, Err(Error::Unavailable { .. })), "{gone} are silent: {forced:?}");
            }
        }
        drop(guard);
        servers.iter().for_each(nothing_is_left);
    }
}

/// Three servers behind proxies, and a red lock of theirs that is held for a minute.
struct Extended {
    servers: Vec<Server>,
    proxies: Vec<Proxy>,
    lock: Client,
    hold: Request,
}

/// The lease to come, as its requests name it.
const LATER: &str = "77777";

impl Extended {
    fn begin() -> Extended {
        let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
        let proxies: Vec<_> = servers.iter().map(Proxy::start).collect();
        let url = |i: usize| servers[i].url_at(proxies[i].port());
        let members = (0..3).map(|i| Member {
            client: Client::connect(&url(i)).expect("a good URL"),
            kind: "plain",
            name: "n".into(),
        });
        let lock = Client::group(Rule::Majority, members.collect()).expect("three different ones");
        let acquire = Request {
            lease: Some(secs(60)),
            wait: Some(redlatch_tests::PATIENCE),
            ..Request::new(Op::Acquire, "plain", "n", 1)
        };
        let hold = lock.run_blocking(acquire.clone()).expect("free").number as u64;
        servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
        Extended { servers, proxies, lock, hold: Request { hold, ..acquire } }
    }

    fn extend(&self, limit: Duration) -> redlatch::Result<Answer> {
        let lease = Some(Duration::from_millis(LATER.parse().expect("a number")));
        let limit = Some(limit);
        let request = Request { op: Op::Extend, lease, response_timeout: limit, retry_for: limit, ..self.hold.clone() };
        let lock = self.lock.clone();
        let (told, answered) = std::sync::mpsc::channel();
        lock.submit(lock.ticket(), request, move |answer| drop(told.send(answer)));
        answered.recv_timeout(redlatch_tests::PATIENCE).expect("it ends")
    }
}

#[test]
fn a_red_lock_is_extended_in_the_time_of_its_caller() {
    let held = Extended::begin();
    // Each member has half a second to answer an attempt to take the lock. After a second of silence the client would
    // replace its connection.
    held.proxies.iter().for_each(|proxy| proxy.retard_replies_to(LATER, 1, Duration::from_millis(700)));
    held.extend(secs(60)).expect("the servers answer in time");
    held.lock.run_blocking(Request { op: Op::Release, ..held.hold.clone() }).expect("held");
    held.servers.iter().for_each(nothing_is_left);
}

#[test]
fn a_silent_minority_does_not_hold_up_the_extension_of_a_red_lock() {
    let held = Extended::begin();
    held.servers[1].pause();
    // The silent server would be given a minute.
    held.extend(secs(60)).expect("two of three answer");
    held.servers[1].resume();
    eventually(|| held.servers.iter().all(|server| server.view().pttl("n") > 60_000));
    held.lock.run_blocking(Request { op: Op::Release, ..held.hold.clone() }).expect("held");
    held.servers.iter().for_each(nothing_is_left);
}

/// An endless wait for servers that are gone is an error, as that for one server.
#[test]
fn an_endless_wait_ends_without_a_majority() {
    for gone in [2, 3] {
        let (mut servers, lock) = three("?retry_for=0.5&response_timeout=0.5");
        servers.iter_mut().take(gone).for_each(|server| server.stop());
        let (tell, told) = std::sync::mpsc::channel();
        let waiting = lock.clone();
        std::thread::spawn(move || drop(tell.send(waiting.lock("n").blocking().acquire().map(drop))));
        let end = told.recv_timeout(secs(20));
        assert!(matches!(end, Ok(Err(Error::Unavailable { .. }))), "{gone}: {end:?}");
    }
}

/// The first of three servers is gone for a while, and the key of another one belongs to other data. Its answer comes
/// last.
#[test]
fn a_wait_goes_on_as_long_as_the_servers_that_are_gone_may_come_back() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let proxy = Proxy::start(&servers[1]);
    servers[1].view().command::<()>(&["RPUSH", "n", "x"]);
    let urls = [servers[0].url(), servers[1].url_at(proxy.port()), servers[2].url()];
    let client = |url: String| Client::connect(&url).expect("a good URL");
    let members = urls.map(|url| Member { client: client(url), kind: "plain", name: "n".into() });
    let lock = Client::group(Rule::Majority, members.into()).expect("three different ones");
    // A server that a client has never reached is not tried again: its error comes at once.
    servers[0].stop();
    proxy.retard_replies_to("77777", 1, Duration::from_millis(300));
    let request = Request {
        lease: Some(Duration::from_millis(77777)),
        wait: Some(redlatch_tests::PATIENCE),
        response_timeout: Some(secs(5)),
        ..Request::new(Op::Acquire, "plain", "n", 1)
    };
    let (sender, answer) = std::sync::mpsc::channel();
    lock.submit(lock.ticket(), request.clone(), move |answer| drop(sender.send(answer)));
    eventually(|| proxy.replies().late > 0);
    proxy.disarm();
    servers[0].restart();
    let answer = answer.recv_timeout(redlatch_tests::PATIENCE).expect("it ends").expect("two of three");
    assert!(answer.done, "it is free");
    let release = Request { op: Op::Release, hold: answer.number as u64, ..request };
    lock.run_blocking(release).expect("held");
    [&servers[0], &servers[2]].into_iter().for_each(nothing_is_left);
}
