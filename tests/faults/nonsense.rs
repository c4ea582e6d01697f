//! A server, or a box on the way to it, whose replies are nonsense: each call under way is repeated, and no hold is
//! left over.

use std::panic::panic_any;
use std::sync::mpsc::channel;

use redlatch::Error;
use redlatch::ffi::{Border, Op, Request};

use super::many_at_once::{all_are_held_once, pairs, run};
use super::*;

/// Replies that no Redis gives to a script, with their defects.
const NONSENSE: [(&str, &[u8]); 14] = [
    ("an empty line", b"\r\n"),
    ("a line end before its line", b"\r\n:1\r\n"),
    ("a count that is no number", b"*x\r\n"),
    ("a text longer than any answer", b"$9223372036854775807\r\n"),
    ("more items than any answer has", b"*9223372036854775807\r\n"),
    ("a negative length", b"$-9223372036854775808\r\n"),
    ("a text that does not end where it said", b"$1\r\nabc\r\n"),
    ("lists in lists in lists", b"*1\r\n*1\r\n*1\r\n*1\r\n"),
    ("a push, unasked", b">2\r\n$7\r\nmessage\r\n:1\r\n"),
    ("nothing", b"$-1\r\n"),
    ("a word", b"+OK\r\n"),
    ("a list of texts", b"*1\r\n$1\r\na\r\n"),
    ("a code that no script has", b"*2\r\n:77\r\n:-5\r\n"),
    ("no line at all", b"HTTP/1.1 400 Bad Request\r\n"),
];

#[test]
fn locks_that_many_tasks_took_over_a_connection_with_nonsense_are_held_once() {
    for (wrong, bytes) in NONSENSE {
        println!("{wrong}");
        all_are_held_once(
            |proxy| proxy.stall(Direction::ToClient),
            |proxy| {
                proxy.say(bytes);
                proxy.flow();
            },
        );
    }
}

/// One surplus reply would shift all later replies to the wrong calls.
#[test]
fn no_call_takes_the_answer_of_another_over_a_connection_that_brings_nonsense() {
    // A client opens a connection of its own for many calls at once only when it has seen many.
    all_at_once(
        [1, CALLS].into_iter().map(|before| (format!("{before} pairs before"), move || no_answer_is_anothers(before))),
    );
}

const CALLS: usize = 20;

fn no_answer_is_anothers(before: usize) {
    let is_taken = |i: usize| i % 2 == 1;
    for (wrong, bytes) in NONSENSE {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&server.url_at(proxy.port()));
        let other = connect(&server.url());
        let taken = (0..CALLS).filter(|i| is_taken(*i));
        let held: Vec<_> = taken.map(|i| other.lock(&format!("n{i}")).blocking().acquire().expect("free")).collect();
        run(pairs(&client, before));
        proxy.stall(Direction::ToClient);
        let (sender, answers) = channel();
        for i in 0..CALLS {
            let acquire = Request {
                lease: Some(LONG),
                wait: Some(Duration::ZERO),
                ..Request::new(Op::Acquire, "plain", format!("n{i}"), i as i64)
            };
            let sender = sender.clone();
            client.submit(client.ticket(), acquire, move |answer| {
                sender.send((i, answer.map(|answer| answer.done))).expect("the test listens")
            });
        }
        let mut view = server.view();
        eventually("all answers on their way", || (0..CALLS).all(|i| view.exists(&format!("n{i}"))).then_some(()));
        proxy.say(bytes);
        proxy.flow();
        for _ in 0..CALLS {
            let (i, answer) = answers.recv_timeout(PATIENCE).expect("each is answered");
            assert_eq!(answer.as_ref().ok(), Some(&!is_taken(i)), "{wrong}: `n{i}`: {answer:?}");
        }
        drop(held);
    }
}

#[test]
fn a_caller_whose_callback_panics_takes_no_answer_from_the_others() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    run(pairs(&client, 20));
    eventually("a second connection", || (proxy.connections() == 2).then_some(()));
    proxy.stall(Direction::ToClient);
    let (sender, answers) = channel();
    for i in 0..20i64 {
        let name = format!("n{i}");
        let acquire = Request { lease: Some(LONG), ..Request::new(Op::Acquire, "plain", name, i) };
        let sender = sender.clone();
        client.submit(client.ticket(), acquire, move |answer| {
            if i == 3 {
                panic_any("the callback of one caller");
            }
            sender.send(answer.map(|answer| answer.done)).expect("the test listens");
        });
    }
    proxy.flow();
    drop(sender);
    let told: Vec<Result<bool, Error>> =
        (0..19).map(|_| answers.recv_timeout(PATIENCE).expect("each is answered")).collect();
    assert!(told.iter().all(|answer| matches!(answer, Ok(true))), "{told:?}");
}

/// Rust and Python have no pages of names; Java asks for them so.
#[test]
fn a_page_of_names_that_does_not_name_the_next_one_is_an_error_and_no_last_page() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let page = || {
        let scan = Request { texts: vec![b"SCAN".to_vec()], ..Request::new(Op::Keys, "plain", "n", 1) };
        client.run_blocking(scan)
    };
    assert_eq!(page().expect("an empty server").texts, [b"0"]);
    proxy.answer_to("SCAN", b"*1\r\n:1\r\n");
    let said = page().map(drop).expect_err("the page ends nowhere").to_string();
    assert!(said.contains("without the next page"), "{said}");
    assert_eq!(page().expect("the server is well").texts, [b"0"]);
}
