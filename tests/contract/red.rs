//! A lock of a majority of independent servers.

use std::time::{Duration, Instant};

use redlatch::{Error, RedLock};
use redlatch_tests::{Server, all_at_once};

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
fn one_at_a_time_holds_it_and_every_server_knows() {
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
                let guard = other.lock("n").wait(secs(20)).blocking().acquire().expect("nobody keeps it");
                let mut count = inside.try_lock().expect("nobody else is inside");
                std::thread::yield_now();
                *count += 1;
                drop(count);
                guard.release().expect("held");
            }
        };
        (i.to_string(), work)
    }));
    assert_eq!(*inside.lock().expect("nobody panicked"), 40);
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
        assert!(matches!(tried, Err(Error::Unavailable { .. } | Error::NotAcquired { .. })), "{tried:?}");
    }
    nothing_is_left(&servers[0]);
}

#[test]
fn what_a_server_has_forgotten_it_is_told_again() {
    let (servers, lock) = three("?watchdog=0.9");
    let guard = lock.lock("n").blocking().acquire().expect("free");
    servers.iter().for_each(|server| eventually(|| server.view().exists("n")));
    servers[0].view().command::<()>(&["FLUSHALL"]);
    eventually(|| servers[0].view().exists("n"));
    // Now another one may go.
    servers[1].view().command::<()>(&["FLUSHALL"]);
    guard.ensure().expect("two of three");
    eventually(|| servers[1].view().exists("n"));
    guard.release().expect("held");
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn it_is_lost_with_the_majority_and_not_before() {
    let (servers, lock) = three("");
    let guard = lock.lock("n").lease(secs(60)).blocking().acquire().expect("free");
    for server in &servers {
        let mut view = server.view();
        eventually(|| view.exists("n") && view.tells());
    }
    servers[0].view().command::<()>(&["DEL", "n"]);
    servers[1].view().command::<()>(&["DEL", "n"]);
    let (runtime, begun) = (tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts"), Instant::now());
    runtime.block_on(guard.lost()).expect("it is lost");
    assert!(begun.elapsed() < secs(30));
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    servers.iter().for_each(nothing_is_left);
}

#[test]
fn servers_that_swallow_everything_cost_little_time() {
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
