//! A server that cannot be reached for longer than any call takes, and what the client gives back after that.

use std::sync::mpsc;
use std::thread;

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server, View};

use crate::{eventually, ms, secs};

/// No call takes long, and a lease of the watchdog is short.
const BRIEF: &str = "?response_timeout=0.5&retry_for=0.5&watchdog=1";
/// Longer than any call and a lease of the watchdog.
const OUTAGE: std::time::Duration = secs(4);
/// The kinds of permits that have no end by themselves.
const PERMITS: [&str; 2] = ["semaphore", "permit_semaphore"];

fn connect(url: &str) -> Client {
    Client::connect(url).expect("a good URL")
}

/// A semaphore with five permits behind a proxy, and an acquire of one that the server has carried out: its answer does
/// not come.
struct Stage {
    server: Server,
    proxy: Proxy,
    client: Client,
    ticket: u64,
    answer: mpsc::Receiver<redlatch::Result<Answer>>,
}

impl Stage {
    fn new(kind: &'static str) -> Stage {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&format!("{}{BRIEF}", server.url_at(proxy.port())));
        let request = |op, count| Request { numbers: vec![count], ..Request::new(op, kind, "n", 0) };
        // The server knows the scripts then.
        let near = connect(&server.url());
        near.run_blocking(request(Op::TrySet, 5)).expect("answered");
        let taken = near.run_blocking(request(Op::Acquire, 1)).expect("available").number as u64;
        near.run_blocking(Request { hold: taken, ..request(Op::Release, 1) }).expect("it is out");
        client.run_blocking(Request::new(Op::Ping, "plain", "", 0)).expect("it answers");
        proxy.stall(Direction::ToClient);
        let (told, answer) = mpsc::channel();
        let ticket = client.ticket();
        client.submit(ticket, request(Op::Acquire, 1), move |end| drop(told.send(end)));
        eventually(|| available(&mut server.view()) == "4");
        Stage { server, proxy, client, ticket, answer }
    }

    fn end(&self) -> redlatch::Result<Answer> {
        self.answer.recv_timeout(PATIENCE).expect("no call takes longer")
    }
}

fn available(view: &mut View) -> String {
    view.command::<String>(&["GET", "n"])
}

#[test]
fn permits_that_were_taken_unnoticed_come_back_after_any_outage() {
    for kind in PERMITS {
        let stage = Stage::new(kind);
        stage.proxy.stall(Direction::ToServer);
        let end = stage.end();
        assert!(matches!(end, Err(Error::Unavailable { .. })), "{kind}: {end:?}");
        thread::sleep(OUTAGE);
        stage.proxy.cut();
        stage.proxy.flow();
        eventually(|| available(&mut stage.server.view()) == "5");
    }
}

#[test]
fn permits_of_a_caller_that_is_gone_come_back_after_any_outage() {
    for kind in PERMITS {
        let stage = Stage::new(kind);
        // The call that gives the permit back does not reach the server.
        stage.proxy.hold_at(Direction::ToServer, "redisson_sc", 1);
        stage.client.cancel(stage.ticket);
        stage.proxy.flow();
        let end = stage.end();
        println!("{kind}: {end:?}");
        if let Ok(Answer { done: true, number, .. }) = end {
            let back = Request { hold: number as u64, numbers: vec![1], ..Request::new(Op::GiveBack, kind, "n", 0) };
            stage.client.run_blocking(back).expect("answered");
        }
        thread::sleep(OUTAGE);
        stage.proxy.flow();
        eventually(|| available(&mut stage.server.view()) == "5");
    }
}

/// Takes a permit; the work that it gives returns the permit.
type Taking<'a> = &'a dyn Fn(&Client) -> Box<dyn FnOnce()>;

#[test]
fn permits_whose_guard_goes_during_an_outage_come_back_after_it() {
    let is_told = |end: redlatch::Result<()>| assert!(matches!(end, Err(Error::Unavailable { .. })), "{end:?}");
    let counted = |client: &Client| client.semaphore("n").acquire(1).blocking().expect("available");
    let with_id = |client: &Client| client.permit_semaphore("n").acquire().blocking().expect("available");
    let ways: [(&str, &str, Taking); 4] = [
        ("semaphore", "dropped", &|client| {
            let permit = counted(client);
            Box::new(move || drop(permit))
        }),
        ("semaphore", "released", &|client| {
            let permit = counted(client);
            Box::new(move || is_told(permit.release_blocking()))
        }),
        ("permit_semaphore", "dropped", &|client| {
            let permit = with_id(client);
            Box::new(move || drop(permit))
        }),
        ("permit_semaphore", "released", &|client| {
            let permit = with_id(client);
            Box::new(move || is_told(permit.release_blocking()))
        }),
    ];
    for (kind, how, take) in ways {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&format!("{}{BRIEF}", server.url_at(proxy.port())));
        let set = Request { numbers: vec![5], ..Request::new(Op::TrySet, kind, "n", 0) };
        client.run_blocking(set).expect("answered");
        let give_back = take(&client);
        proxy.stall(Direction::ToServer);
        give_back();
        thread::sleep(OUTAGE);
        assert_eq!(available(&mut server.view()), "4", "{kind}, {how}: there was no outage");
        proxy.cut();
        proxy.flow();
        eventually(|| available(&mut server.view()) == "5");
    }
}

#[test]
fn a_client_that_gives_back_permits_ends_while_its_server_cannot_be_reached() {
    for kind in PERMITS {
        let stage = Stage::new(kind);
        stage.proxy.stall(Direction::ToServer);
        assert!(stage.end().is_err());
        let (told, closed) = mpsc::channel();
        let client = stage.client.clone();
        thread::spawn(move || {
            client.close_blocking(Holds::Release);
            let _ = told.send(());
        });
        closed.recv_timeout(PATIENCE).expect("the end of a client takes no longer than a call");
    }
}

#[test]
fn a_release_that_a_server_refuses_for_a_while_is_carried_out_after_that() {
    let server = Server::start();
    let mut view = server.view();
    let client = connect(&format!("{}?response_timeout=0.5&retry_for=0.5", server.url()));
    let guard = client.lock("n").blocking().acquire().expect("free");
    view.command::<()>(&["REPLICAOF", "127.0.0.1", "1"]);
    let released = guard.release();
    assert!(matches!(&released, Err(Error::Refused { code, .. }) if code == "READONLY"), "{released:?}");
    view.command::<()>(&["REPLICAOF", "NO", "ONE"]);
    eventually(|| !view.exists("n"));
}

#[test]
fn a_server_that_comes_back_grants_nothing_while_an_extended_lease_may_last() {
    let server = Server::start();
    let client = connect(&format!("{}?quarantine=true&watchdog=2", server.url()));
    let request = |op, name| Request { wait: Some(secs(5)), ..Request::new(op, "plain", name, 1) };
    let taken = client.run_blocking(Request { lease: Some(secs(1)), wait: None, ..request(Op::Acquire, "n") });
    let hold = taken.expect("granted once the first quarantine is over").number as u64;
    client.run_blocking(Request { hold, lease: Some(secs(600)), ..request(Op::Extend, "n") }).expect("held");
    server.restart();
    let granted = client.run_blocking(request(Op::Acquire, "other"));
    assert!(!granted.as_ref().is_ok_and(|answer| answer.done), "{granted:?}");
    assert!(client.is_held_back("other"));
}

#[test]
fn a_forced_release_ends_in_time_although_the_holders_change() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    proxy.delay(ms(3));
    let busy = connect(&server.url());
    let far = connect(&format!("{}?retry_for=1&response_timeout=1", server.url_at(proxy.port())));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                    if let Ok(guard) = busy.lock("n").blocking().acquire() {
                        let _ = guard.release();
                    }
                }
            });
        }
        let (told, end) = mpsc::channel();
        let forced = far.lock("n");
        thread::spawn(move || drop(told.send(forced.blocking().force_release())));
        let end = end.recv_timeout(PATIENCE);
        is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        let end = end.expect("it has the time of one call");
        assert!(matches!(end, Ok(_) | Err(Error::Unavailable { .. })), "{end:?}");
    });
}

/// The permits of one acquire have one owner, whose calls wait for each other.
#[test]
fn several_permits_of_one_owner_that_go_back_in_an_outage_all_come_back() {
    for is_dropped in [true, false] {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&format!("{}{BRIEF}", server.url_at(proxy.port())));
        client.permit_semaphore("n").try_set_permits(5).blocking().expect("answered");
        let permits = client.permit_semaphore("n").acquire_many(3).blocking().expect("available");
        proxy.stall(Direction::ToServer);
        match is_dropped {
            true => drop(permits),
            false => permits.into_iter().for_each(|permit| {
                let end = permit.release_blocking();
                assert!(matches!(end, Err(Error::Unavailable { .. })), "{end:?}");
            }),
        }
        thread::sleep(OUTAGE);
        proxy.cut();
        proxy.flow();
        eventually(|| available(&mut server.view()) == "5");
    }
}

/// As the blocks of one thread do that are inside each other.
#[test]
fn permits_that_one_owner_gives_back_one_after_the_other_in_an_outage_come_back() {
    for kind in PERMITS {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&format!("{}{BRIEF}", server.url_at(proxy.port())));
        let request = |op, count| Request { numbers: vec![count], ..Request::new(op, kind, "n", 7) };
        client.run_blocking(request(Op::TrySet, 5)).expect("answered");
        let taken = [(); 2].map(|()| client.run_blocking(request(Op::Acquire, 1)).expect("available"));
        proxy.stall(Direction::ToServer);
        for taken in taken {
            let given_back = client.run_blocking(Request { hold: taken.number as u64, ..request(Op::GiveBack, 1) });
            assert!(matches!(given_back, Err(Error::Unavailable { .. })), "{kind}: {given_back:?}");
        }
        thread::sleep(OUTAGE);
        proxy.cut();
        proxy.flow();
        eventually(|| available(&mut server.view()) == "5");
    }
}
