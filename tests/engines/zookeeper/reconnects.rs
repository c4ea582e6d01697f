//! Sessions that go on at another server, or at the same one with other settings.

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{Direction, PATIENCE, Proxy, Zookeeper, ms, secs};

use crate::zookeeper::client;
use crate::{acquire, eventually, wait};

/// Each server clamps the time of a session by its own settings, also when the session comes from another one.
#[test]
fn a_session_that_goes_on_at_a_server_with_a_shorter_limit_is_believed_in_for_no_longer() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?watchdog=20", server.url_at(proxy.port()))).expect("a good URL");
    let guard = ours.lock("limit").blocking().acquire().expect("free");
    server.kill();
    server.set("maxSessionTimeout=1000");
    server.restart();
    // The client finds the server again after a while.
    eventually(|| ours.run_blocking(Request::new(Op::Ping, "plain", "limit", 1)).is_ok());
    guard.ensure().expect("the session goes on, and the lock with it");
    proxy.stall(Direction::ToServer);
    let other = client(&server, "");
    let next = other.lock("limit").wait(secs(30)).blocking().acquire().expect("the session ends");
    guard.ensure().expect_err("two holders believe at once");
    next.release().expect("held");
    proxy.flow();
}

#[test]
fn a_server_that_swallows_all_keeps_no_new_client_from_the_others() {
    let server = Zookeeper::start();
    let swallows = Proxy::to(server.port());
    swallows.stall(Direction::ToServer);
    let url = format!("zookeeper://127.0.0.1:{},127.0.0.1:{}", swallows.port(), server.port());
    // Each client begins at one of them by chance.
    for _ in 0..6 {
        let ours = Client::connect(&url).expect("a good URL");
        ours.lock("swallowed").blocking().acquire().expect("the other server is there").release().expect("held");
    }
}

/// So does one that is not quite ready, for ever.
#[test]
fn a_server_that_leaves_one_greeting_without_an_answer_is_greeted_again_before_a_call_ends() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?watchdog=30&response_timeout=3", server.url_at(proxy.port())))
        .expect("a good URL");
    let guard = ours.lock("greeted").blocking().acquire().expect("free");
    // The time of the session in ms, which no other packet has.
    proxy.hold_at(Direction::ToServer, "\0\0\x75\x30", 1);
    proxy.cut();
    eventually(|| proxy.struck() == 1);
    ours.lock("another").blocking().is_locked().expect("the next greeting has an answer");
    guard.ensure().expect("the session goes on");
    guard.release().expect("held");
}

/// However many connections were refused before that.
#[test]
fn a_greeting_without_an_answer_behind_an_outage_is_sent_again_before_a_call_ends() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?watchdog=30&response_timeout=3&retry_for=0", server.url_at(proxy.port())))
        .expect("a good URL");
    let guard = ours.lock("outage").blocking().acquire().expect("free");
    proxy.hold_at(Direction::ToServer, "\0\0\x75\x30", 1);
    proxy.refuse();
    proxy.cut();
    let refused = ours.lock("another").blocking().is_locked();
    assert!(refused.is_err(), "{refused:?} of no server");
    proxy.accept();
    eventually(|| proxy.struck() == 1);
    ours.lock("another").blocking().is_locked().expect("the next greeting has an answer");
    guard.release().expect("the session goes on");
}

#[test]
fn waits_that_end_at_once_leave_no_place_in_the_queue() {
    let server = Zookeeper::start();
    let [holder, ours] = ["", ""].map(|options| client(&server, options));
    let guard = holder.lock("places").blocking().acquire().expect("free");
    let mut nodes = server.nodes();
    for round in 0..300_u64 {
        let waiting = wait(&ours, acquire("plain", "places", 1, Some(ms(1 + round % 5))));
        if round % 2 == 0 {
            std::thread::sleep(std::time::Duration::from_micros(round * 10));
            waiting.cancel();
        }
        let _ = waiting.within(PATIENCE);
    }
    eventually(|| nodes.children("/places").len() == 1);
    guard.release().expect("held");
}

/// The client hears of the deletion and of its own write's refusal at once.
#[test]
fn a_fenced_waiter_waits_on_when_the_node_is_deleted_under_its_token() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let mut nodes = server.nodes();
    for round in 0..5 {
        let first = ours.run_blocking(acquire("fenced", "fence", 1, None)).expect("free").items[0];
        let waiting = wait(&ours, acquire("fenced", "fence", 2, None));
        eventually(|| {
            let tried = ours.run_blocking(acquire("fenced", "fence", 3, Some(ms(0))));
            tried.is_ok_and(|answer| !answer.done) && waiting.is_waiting()
        });
        proxy.stall(Direction::ToClient);
        let node = nodes.in_order("/fence").first().expect("it is held").0.clone();
        assert!(nodes.delete(&format!("/fence/{node}")));
        let released = wait(&ours, Request::new(Op::Release, "fenced", "fence", 1));
        std::thread::sleep(ms(20));
        proxy.flow();
        let _ = released.within(PATIENCE);
        let next = waiting.within(PATIENCE).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(next.items[0] > first, "round {round}");
        ours.run_blocking(Request::new(Op::Release, "fenced", "fence", 2)).expect("held");
    }
}

/// A call that has waited for long has not failed for long.
#[test]
fn a_waiter_that_has_stood_for_longer_than_it_repeats_calls_stands_again_when_its_session_ends() {
    let server = Zookeeper::start();
    let [holder, ours] = ["", "retry_for=2"].map(|options| client(&server, options));
    let mut nodes = server.nodes();
    let held = holder.lock("stood").blocking().acquire().expect("free");
    let leads = holder.leader("stood-for").lead().blocking().expect("no other candidate");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.lock("stood").blocking().acquire().map(drop));
        let candidate = scope.spawn(|| ours.leader("stood-for").lead().blocking().map(drop));
        eventually(|| ["/stood", "/stood-for"].iter().all(|path| nodes.children(path).len() == 2));
        std::thread::sleep(secs(3));
        let session = nodes.in_order("/stood").remove(1).1.owner.expect("it has a session");
        crate::zookeeper::expire(&server, session);
        held.release().expect("held");
        leads.release_blocking().expect("it leads");
        waits.join().expect("no panic").expect("all servers are well");
        candidate.join().expect("no panic").expect("all servers are well");
    });
}

#[test]
fn a_waiter_that_has_stood_for_long_has_its_whole_time_when_the_server_goes_away() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let url = format!("{}?retry_for=4&response_timeout=0.5", server.url_at(proxy.port()));
    let (holder, ours) = (client(&server, ""), Client::connect(&url).expect("a good URL"));
    let mut nodes = server.nodes();
    let held = holder.lock("stood").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.lock("stood").blocking().acquire().map(drop));
        eventually(|| nodes.children("/stood").len() == 2);
        std::thread::sleep(secs(4));
        proxy.refuse();
        proxy.cut();
        std::thread::sleep(ms(1500));
        assert!(!waits.is_finished(), "{:?}", waits.join());
        proxy.accept();
        held.release().expect("held");
        waits.join().expect("no panic").expect("the server is back");
    });
}

/// The requests of a client stand in a queue while it has no connection, and all of them go out with the next one.
#[test]
fn no_request_of_a_long_queue_is_lost() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?watchdog=30", server.url_at(proxy.port()))).expect("a good URL");
    const LOCKS: usize = 600;
    let name = |at: usize| format!("queue{at}");
    let holds: Vec<_> = (0..LOCKS)
        .map(|at| wait(&ours, acquire("plain", &name(at), 1, Some(secs(20)))))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|waiting| waiting.within(PATIENCE).expect("free"))
        .collect();
    assert!(holds.iter().all(|hold| hold.done));
    proxy.refuse();
    proxy.cut();
    let releases: Vec<_> = (0..LOCKS).map(|at| wait(&ours, Request::new(Op::Release, "plain", name(at), 1))).collect();
    proxy.accept();
    for release in releases {
        release.within(PATIENCE).expect("held");
    }
    let mut nodes = server.nodes();
    let left = |nodes: &mut redlatch_tests::nodes::Nodes| {
        (0..LOCKS).filter(|at| !nodes.children(&format!("/{}", name(*at))).is_empty()).count()
    };
    eventually(|| left(&mut nodes) == 0);
    drop(nodes);
    ours.close_blocking(redlatch::Holds::Release);
    eventually(|| server.sessions().is_empty());
}

/// It refuses every client that has seen more than it knows itself.
#[test]
fn a_client_without_holds_begins_anew_at_a_server_that_has_lost_its_data() {
    let server = Zookeeper::start();
    let ours = client(&server, "watchdog=30");
    for at in 0..50 {
        ours.lock(&format!("before{at}")).blocking().acquire().expect("free").release().expect("held");
    }
    server.restart_empty();
    let begun = std::time::Instant::now();
    eventually(|| ours.lock("after").blocking().try_acquire().is_ok_and(|guard| guard.is_some()));
    assert!(begun.elapsed() < secs(20), "its session of 30 s kept it out for {:?}", begun.elapsed());
}

/// The answers do not tell to which ping they belong: that to the first of two would prove the second.
#[test]
fn no_ping_is_sent_while_one_has_no_answer() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&format!("{}?watchdog=12", server.url_at(proxy.port()))).expect("a good URL");
    ours.lock("pings").blocking().acquire().expect("free").release().expect("held");
    proxy.refuse();
    proxy.freeze(Direction::ToClient);
    // The number of that operation.
    proxy.hold_at(Direction::ToServer, "\0\0\0\x0b", 2);
    eventually(|| proxy.connections() == 0);
    assert_eq!(proxy.struck(), 0, "a second ping");
    proxy.accept();
    ours.lock("pings").blocking().acquire().expect("free").release().expect("held");
}

/// The greeting has told a server of another time; the client gets no further.
#[test]
fn a_greeting_shortens_the_belief_also_if_the_client_is_not_let_in_behind_it() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let url = server.url_at(proxy.port()).replace("://", "://user:password@");
    let ours = Client::connect(&format!("{url}?watchdog=20")).expect("a good URL");
    let guard = ours.lock("greeting").blocking().acquire().expect("free");
    server.kill();
    server.set("maxSessionTimeout=2000");
    server.restart();
    proxy.hold_at(Direction::ToServer, "user:password", 1);
    eventually(|| proxy.struck() == 1);
    proxy.refuse();
    let other = client(&server, "");
    let next = other.lock("greeting").wait(secs(30)).blocking().acquire().expect("the session ends");
    guard.ensure().expect_err("two holders believe at once");
    next.release().expect("held");
    proxy.accept();
}
