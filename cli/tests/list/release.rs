//! `redlatch release`: it shows the holder, asks, and takes the lock from that holder alone.

use std::process::Command;

use redlatch::{Client, LostReason};
use redlatch_tests::{Server, Terminal, eventually, soon};

use super::{host, redlatch};

#[test]
fn a_lock_is_taken_from_its_holder_which_is_told() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    assert_eq!(redlatch(&server.url(), &["release", "-y", "n"]), (1, "`n` is free\n".to_owned(), String::new()));
    let held = client.fenced_lock("n").owner(7).blocking().acquire().expect("free");
    let holder = format!("{}:{} (client {}, owner 7)", host(), std::process::id(), client.id());
    let (code, out, told) = redlatch(&server.url(), &["release", "--yes", "n"]);
    assert_eq!((code, out, told), (0, format!("`n` was taken from {holder}\n"), String::new()));
    assert_eq!(soon(held.lost()).expect("it is a loss, not a release").reason, LostReason::Deleted);

    let held = client.lock("n").blocking().acquire().expect("free");
    let (code, out, told) = redlatch(&server.url(), &["release", "-y", "--json", "n"]);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{out}: {why}"));
    assert_eq!((code, told.as_str()), (0, ""));
    assert_eq!((&object["name"], &object["released"]), (&"n".into(), &true.into()));
    assert_eq!(object["from"][0]["client"], client.id());
    soon(held.lost()).expect("it is a loss, not a release");
    assert_eq!(redlatch(&server.url(), &["release", "-y", "--quiet", "n"]), (1, String::new(), String::new()));
}

#[test]
fn without_a_terminal_to_ask_on_nothing_is_released() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("n").blocking().acquire().expect("free");
    let (code, out, told) = redlatch(&server.url(), &["release", "n"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(told.contains("say --yes") && told.contains(&client.id()), "{told}");
    held.release().expect("held");
}

fn asked(server: &Server, name: &str) -> Terminal {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "\"$0\" release \"$1\"; echo \"code $?\"", env!("CARGO_BIN_EXE_redlatch"), name])
        .env("REDLATCH_URL", server.url());
    Terminal::start(&shell)
}

#[test]
fn it_asks_on_the_terminal_and_no_is_the_default() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    for answer in ["", "n", "yess"] {
        let held = client.lock("n").blocking().acquire().expect("free");
        let mut terminal = asked(&server, "n");
        terminal.sees("held by");
        terminal.sees(&format!("Take `n` from {}:{}", host(), std::process::id()));
        terminal.type_line(answer);
        terminal.sees("`n` was not released");
        terminal.sees("code 75");
        held.release().expect("held");
    }
    let held = client.lock("n").blocking().acquire().expect("free");
    let mut terminal = asked(&server, "n");
    terminal.sees("[y/N]");
    terminal.type_line("y");
    terminal.sees("`n` was taken from");
    terminal.sees("code 0");
    soon(held.lost()).expect("it is a loss, not a release");
}

#[test]
fn a_holder_that_came_while_the_question_stood_keeps_the_lock() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let other = Client::connect(&server.url()).expect("a good URL");
    let first = client.lock("n").blocking().acquire().expect("free");
    let mut terminal = asked(&server, "n");
    terminal.sees("[y/N]");
    first.release().expect("held");
    let second = other.lock("n").blocking().acquire().expect("free");
    terminal.type_line("y");
    terminal.sees("has that hold no more");
    terminal.sees("code 75");
    second.ensure().expect("it is held");
    second.release().expect("held");
}

/// The server knows an owner alone, and not that it has taken the lock anew; the token of a fenced lock tells.
#[test]
fn a_later_hold_of_the_same_owner_keeps_a_fenced_lock() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let take = || client.fenced_lock("n").owner(7).blocking().acquire().expect("free");
    let first = take();
    let mut terminal = asked(&server, "n");
    terminal.sees("[y/N]");
    first.release().expect("held");
    let second = take();
    terminal.type_line("YES");
    terminal.sees("has that hold no more");
    terminal.sees("code 75");
    second.release().expect("held");
}

#[test]
fn readers_that_were_not_shown_keep_the_lock() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let read = || client.read_write_lock("n").read().blocking().acquire().expect("readers share");
    let shown = read();
    let mut terminal = asked(&server, "n");
    terminal.sees("[y/N]");
    let others = [read(), read()];
    terminal.type_line("y");
    terminal.sees("its holders have changed since");
    terminal.sees("code 75");
    let mut terminal = asked(&server, "n");
    terminal.sees("from 3 readers?");
    shown.release().expect("held");
    terminal.type_line("y");
    terminal.sees("its holders have changed since");
    terminal.sees("code 75");
    let mut terminal = asked(&server, "n");
    terminal.sees("from 2 readers?");
    terminal.type_line("y");
    terminal.sees("was taken from 2 readers");
    others.into_iter().for_each(|other| drop(soon(other.lost()).expect("it is a loss, not a release")));
}

#[test]
fn very_many_readers_are_readers_and_lose_the_lock_together() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let read = || client.read_write_lock("n").read().blocking().acquire().expect("readers share");
    let readers: Vec<_> = (0..150).map(|_| read()).collect();
    for _ in 0..5 {
        let (code, out, _) = redlatch(&server.url(), &["who", "n"]);
        assert!(code == 0 && out.contains("kind read\n") && out.contains(" holders more"), "{out}");
        let (_, out, _) = redlatch(&server.url(), &["ls"]);
        assert!(out.contains("150 readers"), "{out}");
    }
    let mut terminal = asked(&server, "n");
    terminal.sees("The server shows ");
    terminal.sees(" of its 150 holders: others");
    terminal.type_line("n");
    terminal.sees("code 75");
    let (code, out, told) = redlatch(&server.url(), &["release", "-y", "n"]);
    assert_eq!((code, out.as_str(), told.as_str()), (0, "`n` was taken from 150 readers\n", ""));
    drop(readers);
}

#[test]
fn a_key_that_is_no_lock_is_not_free() {
    let server = Server::start();
    let mut view = server.view();
    view.command::<()>(&["RPUSH", "list\u{1b}[31m", "x"]);
    view.command::<()>(&["HSET", "hash", "a", "b"]);
    for name in ["list\u{1b}[31m", "hash"] {
        for words in [&["who", name][..], &["release", "-y", name]] {
            let (code, out, told) = redlatch(&server.url(), words);
            assert_eq!((code, out.as_str()), (64, ""), "{told}");
            assert!(told.contains("is no lock that redlatch knows") && !told.contains('\u{1b}'), "{told:?}");
        }
    }
}

#[test]
fn a_permit_is_given_back_by_its_id() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let semaphore = client.permit_semaphore("n");
    assert!(semaphore.try_set_permits(2).blocking().expect("answered"));
    let permits =
        [semaphore.acquire(), semaphore.acquire()].map(|acquire| acquire.blocking().expect("there are two").keep());
    let (code, out, told) = redlatch(&server.url(), &["release", "-y", "n"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(told.contains("2 permits out") && told.contains("--permit ID"), "{told}");
    let first = permits[0].to_string();
    let words = ["release", "-y", "--permit", &first, "n"];
    assert_eq!(redlatch(&server.url(), &words), (0, format!("permit {first} of `n` was given back\n"), String::new()));
    assert_eq!(semaphore.acquired().blocking().expect("answered"), 1);
    let (code, _, told) = redlatch(&server.url(), &words);
    assert!(code == 75 && told.contains("is not out any more"), "{told}");
    let (code, _, told) = redlatch(&server.url(), &["release", "-y", "--permit", "7", "n"]);
    assert!(code == 64 && told.contains("32 hexadecimal digits"), "{told}");
    semaphore.release(permits[1]).blocking().expect("it is out");
    let (code, _, told) = redlatch(&server.url(), &words);
    assert!(code == 75 && told.contains("is not out any more"), "without any permit out: {told}");
    semaphore.delete().blocking().expect("answered");
}

#[test]
fn keys_that_may_be_another_programs_are_left_alone() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let token = client.token_lock("token").blocking().acquire().expect("free");
    let values = client.multi_lock_group("values", &["a", "b"]).blocking().acquire().expect("free");
    assert!(client.semaphore("number").try_set_permits(2).blocking().expect("answered"));
    for (name, told) in [("token", "redis-cli DEL"), ("number", "add permits"), ("values", "several values")] {
        let (code, out, said) = redlatch(&server.url(), &["release", "-y", name]);
        assert_eq!((code, out.as_str()), (64, ""), "{said}");
        assert!(said.contains(told) && said.contains(&format!("`{name}`")), "{said}");
        let (code, _, said) = redlatch(&server.url(), &["release", "-y", "--permit", &"0".repeat(32), name]);
        let expected = if name == "number" { (75, "is not out any more") } else { (64, "leave --permit out") };
        assert!(code == expected.0 && said.contains(expected.1), "{said}");
    }
    token.release().expect("held");
    values.release().expect("held");
    client.semaphore("number").delete().blocking().expect("answered");
}

#[test]
fn waiters_are_woken() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let waiter = Client::connect(&server.url()).expect("a good URL");
    let _held = client.lock("n").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| waiter.lock("n").blocking().acquire().expect("released").release());
        eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
        assert_eq!(redlatch(&server.url(), &["release", "-y", "n"]).0, 0);
        waits.join().expect("no panic").expect("held");
    });
}
