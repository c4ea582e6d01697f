//! A hold that no caller can release any more ends with its lease, and so does the client's own record of it.

use std::sync::mpsc;

use redlatch::ffi::{Border, Member, Op, Request, Rule};
use redlatch::{Client, Error};
use redlatch_tests::{PATIENCE, Server, all_at_once, secs};

use super::eventually;

fn request(op: Op, hold: u64) -> Request {
    Request { hold, ..Request::new(op, "plain", "n", 7) }
}

fn group(clients: &[Client], names: &[&str], rule: Rule) -> Client {
    let member =
        |(client, name): (&Client, &&str)| Member { client: client.clone(), kind: "plain", name: (*name).into() };
    Client::group(rule, clients.iter().zip(names).map(member).collect()).expect("locks")
}

fn connect(server: &Server) -> Client {
    Client::connect(&format!("{}?watchdog=1&client_name=abandons", server.url())).expect("a good URL")
}

/// The client of a single lock, or of a group of two.
fn asked(client: &Client, grouped: bool) -> Client {
    if grouped { group(&[client.clone(), client.clone()], &["a", "b"], Rule::All) } else { client.clone() }
}

#[test]
fn a_watcher_of_an_abandoned_hold_is_told_of_its_end_and_not_before() {
    for grouped in [false, true] {
        let server = Server::start();
        let client = asked(&connect(&server), grouped);
        let hold = client.run_blocking(request(Op::Acquire, 0)).expect("free").number as u64;
        let (tell, told) = mpsc::channel();
        client.submit(client.ticket(), request(Op::Watch, hold), move |end| drop(tell.send(end)));
        assert!(client.abandon(hold));
        let end = told.recv_timeout(secs(20)).expect("its lease ends");
        assert!(matches!(end, Err(Error::Lost(_))), "grouped: {grouped}, {end:?} is told");
        eventually(|| server.view().keys("*").is_empty());
    }
}

#[test]
fn a_client_ends_with_its_abandoned_holds() {
    for grouped in [false, true] {
        let server = Server::start();
        let mut view = server.view();
        let mut connections = || view.command::<String>(&["CLIENT", "LIST"]).matches("name=abandons").count();
        {
            let client = asked(&connect(&server), grouped);
            let hold = client.run_blocking(request(Op::Acquire, 0)).expect("free").number as u64;
            assert!(client.abandon(hold));
            assert!(connections() > 0, "the client is there");
        }
        eventually(|| connections() == 0);
    }
}

/// The missing part may come back while the hold is abandoned.
#[test]
fn no_part_of_an_abandoned_red_lock_is_renewed() {
    let servers = [(); 3].map(|()| Server::start());
    let clients: Vec<Client> = servers.iter().map(connect).collect();
    let rounds = (0..4).map(|lane| {
        let clients = &clients;
        let abandon = move || {
            for round in 0..250_u64 {
                let name = format!("n{lane}:{round}");
                let red = group(clients, &[&name, &name, &name], Rule::Majority);
                // On a busy machine a round may take longer than its locks last: then the test plays another round.
                let acquire = Request { name: name.as_str().into(), wait: Some(PATIENCE), ..request(Op::Acquire, 0) };
                let taken = red.run_blocking(acquire).expect("answered");
                assert!(taken.done);
                // These moments lie around the answer of the third server.
                let since = std::time::Instant::now();
                while since.elapsed().as_micros() < u128::from(round % 200) {}
                red.abandon(taken.number as u64);
            }
        };
        (format!("lane {lane}"), abandon)
    });
    all_at_once(rounds);
    eventually(|| servers.iter().all(|server| server.view().keys("*").is_empty()));
}
