//! Forced releases whose answer is lost: they are repeated, and spare the next owner.

use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Client, Error, LostReason};
use redlatch_tests::{Direction, Mariadb, PATIENCE, Proxy, Server, Zookeeper, ms};

use crate::{acquire, eventually, wait};

/// `forcing` takes the lock from the first of `others` by a request with `text` in it, while the second one waits.
fn is_repeated_without_the_next_owner(proxy: &Proxy, text: &str, forcing: &Client, others: [&Client; 2]) {
    let [one, next] = others;
    for round in 0..5 {
        let taken = one.run_blocking(acquire("plain", "n", 1, None)).expect("free").number as u64;
        let waiting = wait(next, acquire("plain", "n", 2, None));
        eventually(|| next.run_blocking(acquire("plain", "n", 3, Some(ms(0)))).is_ok_and(|answer| !answer.done));
        proxy.lose_reply_to(text);
        let forced = forcing.run_blocking(Request::new(Op::ForceRelease, "plain", "n", 9)).expect("repeated");
        assert_eq!(forced.number, 1, "round {round}");
        let hold = waiting.within(PATIENCE).expect("it is free").number as u64;
        // A forced release that takes the next hold as well has done so by now, and its holder hears of it at once.
        std::thread::sleep(ms(100));
        assert!(matches!(next.look(hold), Look::Held { .. }), "round {round}: {:?}", next.look(hold));
        next.run_blocking(Request::new(Op::Release, "plain", "n", 2)).expect("held");
        eventually(|| matches!(one.look(taken), Look::Lost(_)));
        let Look::Lost(loss) = one.look(taken) else { panic!("it was lost a moment ago") };
        assert!([LostReason::Deleted, LostReason::SessionEnded].contains(&loss.reason), "{loss}");
        let _ = one.run_blocking(Request::new(Op::Release, "plain", "n", 1));
    }
}

/// A proxy, the text of the request that takes a lock away, a client behind the proxy, and two others.
type Check = fn(&Proxy, &str, &Client, [&Client; 2]);

fn at_mariadb(check: Check) {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let forcing = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let [one, next] = [(); 2].map(|()| crate::client(&server, ""));
    check(&proxy, "KILL ", &forcing, [&one, &next]);
}

fn at_zookeeper(check: Check) {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let forcing = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let [one, next] = [(); 2].map(|()| crate::zookeeper::client(&server, ""));
    check(&proxy, "/n/_c_", &forcing, [&one, &next]);
}

#[test]
fn a_forced_release_at_mariadb_that_is_repeated_spares_the_next_owner() {
    at_mariadb(is_repeated_without_the_next_owner);
}

#[test]
fn a_forced_release_at_zookeeper_that_is_repeated_spares_the_next_owner() {
    at_zookeeper(is_repeated_without_the_next_owner);
}

/// The client ends a wait in the server's queue by the end of the statement. One that comes late hits the next statement.
#[test]
fn the_end_of_a_statement_that_comes_late_is_no_answer_to_the_next_call() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?retry_for=0", server.url_at(proxy.port()))).expect("a good URL");
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    let hits = |text: &str| proxy.answer_to(text, b"\x0c\0\0\x01\xff\x25\x05#70100hit");
    hits("GET_LOCK");
    let guard = ours.lock("n").blocking().try_acquire().expect("answered").expect("it is free");
    hits("IS_USED_LOCK");
    assert!(!ours.lock("m").blocking().is_locked().expect("answered"));
    hits("IS_USED_LOCK");
    assert!(!ours.lock("m").blocking().force_release().expect("answered"));
    guard.release().expect("held");
}

/// These systems take a lock from any holder, and a later one than that of the listing would lose it.
#[test]
fn a_lock_of_a_listing_is_evicted_by_clients_of_redis_alone() {
    let redis = Server::start();
    let lists = Client::connect(&redis.url()).expect("a good URL");
    let guard = lists.lock("evicted").blocking().acquire().expect("free");
    let lock = lists.locks("evicted").next_blocking().expect("answered").expect("it is held");
    let (mariadb, zookeeper) = (Mariadb::shared(), Zookeeper::shared());
    for url in [mariadb.url(), zookeeper.url()] {
        let ours = Client::connect(&url).expect("a good URL");
        let held = ours.lock("evicted").blocking().acquire().expect("free");
        let refused = ours.evict(&lock).blocking();
        assert!(matches!(&refused, Err(Error::Unsupported(why)) if why.contains("`evicted`")), "{url}: {refused:?}");
        held.release().expect("held");
    }
    guard.release().expect("held");
}

/// The holder gives the lock back behind the question for the holder; its session has another lock.
#[test]
fn a_forced_release_ends_no_session_that_has_given_the_lock_back() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let forcing = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let holder = crate::client(&server, "");
    let [given, kept] = ["given", "kept"].map(|name| holder.lock(name).blocking().acquire().expect("free"));
    let mut sql = server.sql();
    assert_eq!(sql.holder("given"), sql.holder("kept"), "one session has both");
    proxy.hold_at(Direction::ToServer, "KILL ", 1);
    let forced = wait(&forcing, Request::new(Op::ForceRelease, "plain", "given", 9));
    eventually(|| proxy.struck() == 1);
    given.release().expect("held");
    proxy.flow();
    assert_eq!(forced.within(PATIENCE).expect("answered").number, 0);
    kept.ensure().expect("its session goes on");
    kept.release().expect("held");
}

/// The first holder gives it back while `forcing` takes it away by a request with `text` in it.
fn takes_it_from_the_next_owner(proxy: &Proxy, text: &str, forcing: &Client, others: [&Client; 2]) {
    let [one, next] = others;
    one.run_blocking(acquire("plain", "n", 1, None)).expect("free");
    let waiting = wait(next, acquire("plain", "n", 2, None));
    eventually(|| next.run_blocking(acquire("plain", "n", 3, Some(ms(0)))).is_ok_and(|answer| !answer.done));
    proxy.hold_at(Direction::ToServer, text, 1);
    let forced = wait(forcing, Request::new(Op::ForceRelease, "plain", "n", 9));
    eventually(|| proxy.struck() == 1);
    one.run_blocking(Request::new(Op::Release, "plain", "n", 1)).expect("held");
    let hold = waiting.within(PATIENCE).expect("it is free").number as u64;
    proxy.flow();
    assert_eq!(forced.within(PATIENCE).expect("answered").number, 1, "an owner had it all the time");
    eventually(|| matches!(next.look(hold), Look::Lost(_)));
}

#[test]
fn a_forced_release_at_mariadb_goes_on_with_the_next_owner() {
    at_mariadb(takes_it_from_the_next_owner);
}

#[test]
fn a_forced_release_at_zookeeper_goes_on_with_the_next_owner() {
    at_zookeeper(takes_it_from_the_next_owner);
}
