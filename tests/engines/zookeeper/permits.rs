//! Permits that are held, as Curator's `InterProcessSemaphoreV2` has them.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, LostReason};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Direction, Proxy, Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::{client, expire};

fn clients(server: &Zookeeper) -> [Client; 2] {
    ["", ""].map(|options| client(server, options))
}

#[test]
fn as_many_permits_are_out_as_there_are_and_no_more() {
    let server = Zookeeper::shared();
    let [one, two] = clients(server);
    let permits = one.permit_semaphore("out");
    assert!(
        two.permit_semaphore("out").try_acquire_renewed().blocking().expect("answered").is_none(),
        "there are none"
    );
    assert!(permits.try_set_permits(3).blocking().expect("set"));
    assert!(!permits.try_set_permits(5).blocking().expect("answered"), "they are set already");
    let out: Vec<_> = [&one, &two, &one]
        .into_iter()
        .map(|client| client.permit_semaphore("out").try_acquire_renewed().blocking().expect("answered").expect("free"))
        .collect();
    let ids: std::collections::BTreeSet<_> = out.iter().map(|permit| permit.id()).collect();
    assert_eq!(ids.len(), 3);
    assert!(permits.try_acquire_renewed().blocking().expect("answered").is_none());
    assert_eq!((permits.available().blocking().expect("told"), permits.acquired().blocking().expect("told")), (0, 3));
    let mut nodes = server.nodes();
    assert_eq!(nodes.children("/out/leases").len(), 3);
    assert!(nodes.children("/out/locks").is_empty());
    assert_eq!(nodes.get("/out/permits").expect("their number").data, [0, 0, 0, 3]);
    for permit in out {
        permit.release_blocking().expect("held");
    }
    assert_eq!(permits.available().blocking().expect("told"), 3);
    assert!(nodes.children("/out/leases").is_empty());
}

#[test]
fn waiters_of_two_clients_get_permits_in_the_order_in_which_they_came() {
    let server = Zookeeper::shared();
    let both = clients(server);
    both[0].permit_semaphore("queue").set_permits(1).blocking().expect("set");
    let first = both[0].permit_semaphore("queue").acquire_renewed().blocking().expect("free");
    let mut nodes = server.nodes();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for at in 0..6 {
            let (permits, next) = (both[at % 2].permit_semaphore("queue"), &next);
            scope.spawn(move || {
                let permit = permits.acquire_renewed().wait(secs(30)).blocking().expect("its turn");
                assert_eq!(next.fetch_add(1, SeqCst), at, "it came before its turn");
                permit.release_blocking().expect("held");
            });
            eventually(|| nodes.children("/queue/locks").len() == at + 1);
        }
        first.release_blocking().expect("held");
    });
    eventually(|| nodes.children("/queue/locks").is_empty() && nodes.children("/queue/leases").is_empty());
}

#[test]
fn a_waiter_is_woken_by_a_permit_that_comes_back_and_by_one_that_is_added() {
    let server = Zookeeper::shared();
    let [one, two] = clients(server);
    let permits = one.permit_semaphore("added");
    let waits = || two.permit_semaphore("added").acquire_renewed().wait(secs(30)).blocking().expect("woken");
    let mut nodes = server.nodes();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(waits);
        eventually(|| nodes.children("/added/leases").len() == 1);
        permits.set_permits(1).blocking().expect("set");
        let first = waiting.join().expect("no panic");
        let waiting = scope.spawn(waits);
        eventually(|| nodes.children("/added/leases").len() == 2);
        permits.add_permits(1).blocking().expect("added");
        let second = waiting.join().expect("no panic");
        let waiting = scope.spawn(waits);
        eventually(|| nodes.children("/added/leases").len() == 3);
        first.release_blocking().expect("held");
        waiting.join().expect("no panic").release_blocking().expect("held");
        second.release_blocking().expect("held");
    });
    eventually(|| nodes.children("/added/leases").is_empty());
}

/// The nodes that a client of Curator makes.
#[test]
fn permits_of_other_programs_count_and_their_queue_is_respected() {
    let server = Zookeeper::shared();
    let [one, _] = clients(server);
    let permits = one.permit_semaphore("others");
    permits.set_permits(2).blocking().expect("set");
    let own = permits.acquire_renewed().blocking().expect("free");
    let mut nodes = server.nodes();
    let lease = "/others/leases/_c_0f9a0c1e-0000-4000-8000-00000000000a-lease-";
    let theirs = nodes.create(lease, b"", Mode::EphemeralSequential).expect("made");
    assert!(permits.try_acquire_renewed().blocking().expect("answered").is_none());
    // Another program is at the head of the queue.
    nodes.prepare("/others/locks");
    let queue = "/others/locks/_c_0f9a0c1e-0000-4000-8000-00000000000a-lock-";
    let head = nodes.create(queue, b"", Mode::EphemeralSequential).expect("made");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| permits.acquire_renewed().wait(secs(30)).blocking().expect("its turn"));
        eventually(|| nodes.children("/others/locks").len() == 2);
        assert!(nodes.delete(&theirs));
        std::thread::sleep(ms(100));
        assert!(!waiting.is_finished(), "it went past the head of the queue");
        assert!(nodes.delete(&head));
        let permit = waiting.join().expect("no panic");
        eventually(|| nodes.children("/others/locks").is_empty());
        permit.release_blocking().expect("held");
    });
    own.release_blocking().expect("held");
}

#[test]
fn a_permit_ends_with_its_session_and_with_its_node_and_its_holder_is_told() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let one = Client::connect(&format!("{}?retry_for=20", server.url_at(proxy.port()))).expect("a good URL");
    let two = client(&server, "retry_for=20");
    one.permit_semaphore("ends").set_permits(1).blocking().expect("set");
    let mut nodes = server.nodes();
    for by_session in [true, false] {
        let permit = one.permit_semaphore("ends").acquire_renewed().wait(secs(5)).blocking().expect("free");
        let (told, hears) = std::sync::mpsc::channel();
        permit.on_lost(move |loss| {
            let _ = told.send(loss.reason);
        });
        let (name, node) = nodes.in_order("/ends/leases").pop().expect("it has a node");
        let reason = match by_session {
            true => {
                // A client with a connection would enter the session again, and hear of the end of its node first.
                proxy.refuse();
                proxy.cut();
                expire(&server, node.owner.expect("it is a session's"));
                proxy.accept();
                LostReason::SessionEnded
            }
            false => {
                assert!(nodes.delete(&format!("/ends/leases/{name}")));
                LostReason::Deleted
            }
        };
        assert_eq!(hears.recv_timeout(secs(10)), Ok(reason));
        let next = two.permit_semaphore("ends").acquire_renewed().wait(secs(5)).blocking().expect("free");
        next.release_blocking().expect("held");
    }
}

/// R9: the transaction that sets the number leaves a mark.
#[test]
fn a_call_that_sets_permits_and_loses_its_answer_tells_what_it_did() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let other = client(&server, "");
    let mut nodes = server.nodes();
    for round in 0..10 {
        let name = format!("lost{round}");
        let [permits, theirs] = [&ours, &other].map(|client| client.permit_semaphore(&name));
        nodes.prepare(&format!("/{name}"));
        let mark = format!("/{name}/set-");
        proxy.lose_reply_to(&mark);
        assert!(permits.try_set_permits(3).blocking().expect("answered"), "it has set them");
        assert!(!theirs.try_set_permits(4).blocking().expect("answered"));
        proxy.lose_reply_to(&mark);
        permits.add_permits(2).blocking().expect("answered");
        assert_eq!(theirs.available().blocking().expect("told"), 5, "they are added once");
        proxy.lose_reply_to(&mark);
        permits.set_permits(7).blocking().expect("answered");
        assert_eq!(theirs.available().blocking().expect("told"), 7);
        // The request never came to the server.
        proxy.cut_at(Direction::ToServer, &mark, 1);
        permits.add_permits(1).blocking().expect("answered");
        assert_eq!(theirs.available().blocking().expect("told"), 8);
        proxy.disarm();
        eventually(|| nodes.children(&format!("/{name}")) == ["permits"]);
    }
}

#[test]
fn a_call_that_sets_permits_and_gives_up_leaves_no_node_behind() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let url = format!("{}?response_timeout=0.3&retry_for=0.3", server.url_at(proxy.port()));
    let ours = Client::connect(&url).expect("a good URL");
    let mut nodes = server.nodes();
    let held = ours.lock("session").blocking().acquire().expect("free");
    let permits = ours.permit_semaphore("given_up");
    proxy.hold_at(Direction::ToClient, "/given_up/set-", 1);
    let error = permits.try_set_permits(3).blocking().expect_err("no answer comes");
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
    assert_eq!(nodes.children("/given_up").len(), 2, "the server has carried it out");
    proxy.flow();
    eventually(|| nodes.children("/given_up") == ["permits"]);
    held.release().expect("in the session of before");
}

/// Only the session could tell.
#[test]
fn a_call_that_sets_permits_and_loses_its_session_with_the_answer_says_so() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let permits = ours.permit_semaphore("unknown");
    let mut nodes = server.nodes();
    let _held = ours.lock("session").blocking().acquire().expect("free");
    let session = crate::zookeeper::holder(&mut nodes, "/session").expect("held");
    std::thread::scope(|scope| {
        proxy.hold_at(Direction::ToClient, "/unknown/set-", 1);
        let sets = scope.spawn(|| permits.try_set_permits(3).blocking());
        eventually(|| nodes.exists("/unknown/permits"));
        proxy.refuse();
        proxy.cut();
        expire(&server, session);
        proxy.flow();
        proxy.accept();
        let error = sets.join().expect("no panic").expect_err("it cannot know");
        let said = error.to_string();
        assert!(matches!(error, Error::Unavailable { .. }) && said.contains("look at their number"), "{said}");
    });
}

#[test]
fn a_permit_without_an_owner_is_refused_with_the_way_that_there_is() {
    let ours = client(Zookeeper::shared(), "");
    let permits = ours.permit_semaphore("unowned");
    permits.set_permits(1).blocking().expect("set");
    let error = permits.try_acquire().blocking().map(drop).expect_err("there is none");
    assert!(matches!(error, Error::Unsupported(_)) && error.to_string().contains("acquire_renewed"), "{error}");
    let id = "0f9a0c1e0000400080000000000000aa".parse().expect("an id");
    let error = permits.try_release(id).blocking().map(drop).expect_err("there is none");
    assert!(matches!(error, Error::Unsupported(_)) && error.to_string().contains("acquire_renewed"), "{error}");
    let error = permits.delete().blocking().map(drop).expect_err("there is none");
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
}

#[test]
fn many_owners_of_two_clients_hold_no_more_permits_than_there_are() {
    let server = Zookeeper::shared();
    let both = clients(server);
    both[0].permit_semaphore("many_permits").set_permits(3).blocking().expect("set");
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let (permits, inside) = (both[at % 2].permit_semaphore("many_permits"), &inside);
            scope.spawn(move || {
                for _ in 0..15 {
                    let permit = permits.acquire_renewed().wait(secs(30)).blocking().expect("its turn");
                    assert!(inside.fetch_add(1, SeqCst) < 3, "too many are inside");
                    std::thread::yield_now();
                    inside.fetch_sub(1, SeqCst);
                    permit.release_blocking().expect("held");
                }
            });
        }
    });
    let mut nodes = server.nodes();
    eventually(|| {
        nodes.children("/many_permits/leases").is_empty() && nodes.children("/many_permits/locks").is_empty()
    });
}

/// The head of the queue has a node among those of the permits that are out.
#[test]
fn a_waiter_has_no_permit_and_fewer_permits_than_are_out_are_told_as_such() {
    let server = Zookeeper::shared();
    let [one, two] = clients(server);
    let permits = one.permit_semaphore("told");
    permits.set_permits(1).blocking().expect("set");
    // How many there are, are left and are out.
    let told = || {
        let asked = one.run_blocking(Request::new(Op::Inspect, "permit_semaphore", "told", 0)).expect("told");
        (permits.permits().blocking().expect("told"), asked.number, permits.acquired().blocking().expect("told"))
    };
    let first = permits.acquire_renewed().blocking().expect("free");
    let mut nodes = server.nodes();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| two.permit_semaphore("told").acquire_renewed().wait(secs(30)).blocking());
        eventually(|| nodes.children("/told/leases").len() == 2);
        assert_eq!(told(), (1, 0, 1));
        first.release_blocking().expect("held");
        waits.join().expect("no panic").expect("its turn").release_blocking().expect("held");
    });
    permits.set_permits(3).blocking().expect("set");
    let out: Vec<_> = (0..3).map(|_| permits.acquire_renewed().blocking().expect("free")).collect();
    permits.set_permits(1).blocking().expect("set");
    assert_eq!(told(), (1, -2, 3));
    let taken = Request { numbers: vec![-100], ..Request::new(Op::Add, "permit_semaphore", "told", 0) };
    assert_eq!(one.run_blocking(taken).expect("answered").number, -102);
    out.into_iter().for_each(|permit| permit.release_blocking().expect("held"));
    let refused = permits.set_permits(1 << 31).blocking();
    assert!(matches!(&refused, Err(Error::Config(why)) if why.contains("2147483648")), "{refused:?}");
    permits.set_permits(0).blocking().expect("set");
}

#[test]
fn a_try_ends_in_vain_only_while_the_permits_are_out() {
    let server = Zookeeper::shared();
    let proxy = Proxy::to(server.port());
    let [one, two] = clients(server);
    let tries = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    one.permit_semaphore("vain-permits").set_permits(1).blocking().expect("set");
    let held = one.permit_semaphore("vain-permits").acquire_renewed().blocking().expect("free");
    tries.lock("warm").blocking().is_locked().expect("answered");
    // The first request with such a path makes a node; the next one is to take it away.
    proxy.hold_at(Direction::ToServer, "/vain-permits/leases/", 2);
    std::thread::scope(|scope| {
        let [tried, later] = [&tries, &two].map(|client| {
            let permits = client.permit_semaphore("vain-permits");
            move || permits.try_acquire_renewed().blocking().expect("answered")
        });
        let tried = scope.spawn(tried);
        eventually(|| proxy.struck() == 1);
        held.release_blocking().expect("held");
        let later = later();
        proxy.flow();
        let tried = tried.join().expect("no panic");
        assert!(tried.is_some() || later.is_some(), "each was told that the permit is out");
        assert!(tried.is_none() || later.is_none(), "two have one permit");
        for permit in tried.into_iter().chain(later) {
            permit.release_blocking().expect("held");
        }
    });
    assert!(server.nodes().children("/vain-permits/leases").is_empty());
}

#[test]
fn the_node_of_a_try_that_fails_counts_as_no_permit() {
    let server = Zookeeper::shared();
    let proxy = Proxy::to(server.port());
    let [one, _] = clients(server);
    let asks = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    one.permit_semaphore("counted").set_permits(1).blocking().expect("set");
    let held = one.permit_semaphore("counted").acquire_renewed().blocking().expect("free");
    let mut nodes = server.nodes();
    let tries = nodes.create("/counted/leases/_c_0-lease-", b"", Mode::EphemeralSequential).expect("made");
    proxy.hold_at(Direction::ToServer, "/counted/leases", 2);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| asks.permit_semaphore("counted").acquired().blocking().expect("told"));
        eventually(|| proxy.struck() == 1);
        nodes.delete(&tries);
        proxy.flow();
        assert_eq!(asked.join().expect("no panic"), 1, "the permits that are out of one");
    });
    held.release_blocking().expect("held");
}
