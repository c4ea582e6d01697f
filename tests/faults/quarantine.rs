//! A server that may have lost its locks grants none while a holder may still believe in one of them.

use std::thread;

use redlatch::{Error, RedLock};
use redlatch_tests::all_at_once;

use super::*;

/// The watchdog is longer than any test: a granted lock was not quarantined.
const KEPT: &str = "?quarantine=true&watchdog=60";
/// Short enough to await the quarantine's end.
const SHORT: &str = "?quarantine=true&watchdog=2";

/// Cuts a client off, so that it no longer hears of its server.
fn cut_off(proxy: &Proxy) {
    proxy.refuse();
    proxy.cut();
}

#[test]
fn a_server_without_quarantine_that_comes_back_empty_grants_a_lock_twice() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let one = connect(&server.url_at(proxy.port()));
    let two = connect(&server.url());
    let held = one.lock("n").blocking().acquire().expect("free");
    cut_off(&proxy);
    server.restart();
    let other =
        two.lock("n").blocking().try_acquire().expect("answered").expect("no owner has it, by the server's word");
    held.ensure().expect("its lease has not ended");
    other.ensure().expect("the server says so");
}

#[test]
fn a_server_in_quarantine_grants_no_lock_that_a_holder_still_believes_in() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let one = connect(&format!("{}{SHORT}", server.url_at(proxy.port())));
    let two = connect(&format!("{}{SHORT}", server.url()));
    let held = one.lock("n").wait(PATIENCE).blocking().acquire().expect("free");
    // The second client has seen the server before; the third one has not.
    two.lock("seen").wait(PATIENCE).blocking().acquire().expect("free").release().expect("held");
    let waiting = {
        let two = two.clone();
        thread::spawn(move || two.lock("n").wait(PATIENCE).blocking().acquire())
    };
    cut_off(&proxy);
    server.restart();
    let three = connect(&format!("{}{SHORT}", server.url()));
    all_at_once([("one that knew it", two), ("one that did not", three)].into_iter().map(|(title, client)| {
        let held = &held;
        let job = move || {
            let taken = client.lock(title).wait(PATIENCE).blocking().acquire().expect("it grants again");
            assert!(held.ensure().is_err(), "two believe to have a lock of the server");
            taken.release().expect("held");
        };
        (title.to_owned(), job)
    }));
    let taken = waiting.join().expect("no panic").expect("it grants again");
    assert!(held.ensure().is_err(), "two believe to have it");
    taken.release().expect("held");
}

#[test]
fn a_server_that_has_only_just_started_grants_nothing_of_any_kind() {
    let server = Server::start();
    let client = connect(&format!("{}{KEPT}", server.url()));
    let single = kinds::locks().map(|(kind, lock)| lock(&client, kind.name));
    let both = client.multi_lock([client.lock("a"), client.lock("b")]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    for lock in single.chain([both]) {
        assert!(lock.clone().blocking().try_acquire().expect("an answer").is_none());
        assert!(lock.clone().wait(ms(20)).blocking().try_acquire().expect("an answer").is_none());
        assert!(runtime.block_on(lock.try_acquire()).expect("an answer").is_none());
    }
    let semaphore = client.semaphore("semaphore");
    let with_ids = client.permit_semaphore("permits");
    assert!(
        semaphore.try_set_permits(1).blocking().expect("answered")
            && with_ids.try_set_permits(1).blocking().expect("answered")
    );
    assert!(semaphore.try_acquire(1).blocking().expect("an answer").is_none());
    assert!(with_ids.try_acquire().blocking().expect("an answer").is_none());
    assert!(with_ids.try_acquire_renewed().blocking().expect("an answer").is_none());
    // The server remembers the two requests until the client has their answers.
    eventually("only the permits", || (server.view().keys("*").len() == 2).then_some(()));
    // An open latch grants nothing, so it is not quarantined.
    assert!(client.latch("latch").wait().blocking().expect("answered"));
}

#[test]
fn a_waiter_in_vain_is_told_of_the_quarantine() {
    let server = Server::start();
    let lock = connect(&format!("{}{KEPT}", server.url())).lock("n");
    let said = lock.wait(ms(20)).blocking().acquire().map(drop).expect_err("it grants nothing").to_string();
    assert!(said.contains("may have lost locks") && said.contains("quarantine"), "{said}");
}

#[test]
fn a_quarantine_lasts_as_long_as_the_longest_lease() {
    let server = Server::start();
    let client = connect(&format!("{}?quarantine=true&watchdog=0.5", server.url()));
    assert!(client.lock("n").lease(LONG).blocking().try_acquire().expect("an answer").is_none());
    let waited = client.lock("n").wait(secs(2)).blocking().try_acquire().expect("an answer");
    assert!(waited.is_none(), "longer than its own lease, and not as long as others may have theirs");
}

#[test]
fn a_call_whose_reply_was_lost_with_the_server_leaves_nothing_held() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}{SHORT}", server.url_at(proxy.port())));
    client.lock("warm").wait(PATIENCE).blocking().acquire().expect("free").release().expect("held");
    // The answer of a script that has granted a lock.
    proxy.hold_at(Direction::ToClient, "*1\r\n:1\r\n", 1);
    let trying = thread::spawn(move || client.lock("n").blocking().try_acquire());
    eventually("the lock", || server.view().exists("n").then_some(()));
    let fields = server.view().hgetall("n");
    let (owner, count) = fields.iter().next().expect("an owner has it");
    cut_off(&proxy);
    server.restart();
    // The server now looks as if it had come back with all of its data.
    server.view().command::<()>(&["HSET", "n", owner, count]);
    proxy.flow();
    proxy.accept();
    assert!(!matches!(trying.join().expect("no panic"), Ok(Some(_))), "nothing is granted");
    eventually("that it is given back", || (!server.view().exists("n")).then_some(()));
}

#[test]
fn a_server_that_says_nothing_of_itself_is_refused_with_the_remedy() {
    let server = Server::start();
    server.view().command::<()>(&["ACL", "SETUSER", "default", "-info"]);
    let refused = connect(&format!("{}{KEPT}", server.url())).lock("n").blocking().try_acquire().map(drop);
    let said = refused.expect_err("it cannot be known").to_string();
    assert!(said.contains("INFO") && said.contains("quarantine"), "{said}");
}

#[test]
fn a_server_of_a_red_lock_does_not_count_while_it_may_have_forgotten() {
    let servers = [(); 3].map(|()| Server::start());
    let proxies = [&servers[0], &servers[1]].map(Proxy::start);
    servers[2].stop();
    let urls = [proxies[0].port(), proxies[1].port(), servers[2].port()]
        .map(|port| format!("{}{SHORT}", servers[0].url_at(port)));
    let red = RedLock::connect(urls).expect("good URLs");
    let held = red.lock("n").wait(PATIENCE).blocking().acquire().expect("two of three");
    proxies.iter().for_each(cut_off);
    servers[1].restart();
    servers[2].restart();
    let other = RedLock::connect(servers.iter().map(|server| format!("{}{SHORT}", server.url()))).expect("good URLs");
    let taken = other.lock("n").wait(PATIENCE).blocking().acquire().expect("two of three count again");
    assert!(held.ensure().is_err(), "two believe to have a majority");
    taken.release().expect("held");
}

#[test]
fn a_choice_of_quarantine_that_is_neither_yes_nor_no_is_refused() {
    let error = Client::connect("redis://127.0.0.1:1?quarantine=maybe").map(drop).expect_err("no switch");
    assert!(matches!(&error, Error::Config(said) if said.contains("`maybe`") && said.contains("true")), "{error}");
}
