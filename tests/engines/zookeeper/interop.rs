//! Programs that lock by nodes of their own, as Curator, kazoo and others do: they exclude, wait for and wake each other.

use std::time::Instant;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Error, LostReason, NodeFormat};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::client;

/// The text of a node before its number, as other clients have it.
const OTHERS: [&str; 6] = [
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-lock-",
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-__WRIT__",
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-__READ__",
    "0f9a0c1e00004000800000000000000a__lock__",
    "0f9a0c1e00004000800000000000000a__rlock__",
    "lock-",
];

#[test]
fn a_lock_waits_for_the_nodes_of_every_client_and_is_woken_when_they_go() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    for format in ["curator", "kazoo"] {
        let ours = client(server, &format!("node_format={format}"));
        for (at, other) in OTHERS.into_iter().enumerate() {
            let name = format!("interop-{format}/{at}");
            nodes.prepare(&format!("/{name}"));
            let node = nodes.create(&format!("/{name}/{other}"), b"", Mode::EphemeralSequential).expect("made");
            let lock = ours.lock(&name);
            assert!(lock.clone().blocking().try_acquire().expect("answered").is_none(), "{other}");
            assert!(lock.clone().blocking().is_locked().expect("answered"), "{other}");
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| {
                    let guard = lock.clone().wait(secs(20)).blocking().acquire().expect("woken");
                    (guard, Instant::now())
                });
                eventually(|| nodes.children(&format!("/{name}")).len() == 2);
                let begun = Instant::now();
                assert!(nodes.delete(&node));
                let (guard, woken) = waits.join().expect("no panic");
                assert!(woken - begun < secs(2), "woken after {:?}", woken - begun);
                guard.release().expect("held");
            });
            assert!(nodes.children(&format!("/{name}")).is_empty());
        }
    }
}

#[test]
fn a_node_of_ours_is_named_as_the_clients_of_its_format_name_theirs_and_stands_in_the_order_of_its_number() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    for (format, kind, pattern) in [
        (NodeFormat::Curator, "plain", "-lock-"),
        (NodeFormat::Curator, "read", "-__READ__"),
        (NodeFormat::Curator, "write", "-__WRIT__"),
        (NodeFormat::Kazoo, "plain", "__lock__"),
        (NodeFormat::Kazoo, "read", "__rlock__"),
        (NodeFormat::Kazoo, "write", "__lock__"),
    ] {
        let ours = client(server, &format!("node_format={format}"));
        let name = format!("format-{format}-{kind}");
        let both = ours.read_write_lock(&name);
        let lock = match kind {
            "read" => both.read(),
            "write" => both.write(),
            _ => ours.lock(&name),
        };
        let guard = lock.blocking().acquire().expect("free");
        let (node, state) = nodes.in_order(&format!("/{name}")).pop().expect("it has a node");
        assert!(state.owner.is_some(), "it ends with its session");
        let (before, number) = node.split_at(node.len() - 10);
        assert!(number.bytes().all(|digit| digit.is_ascii_digit()), "{node}");
        let id = before.strip_suffix(pattern).unwrap_or_else(|| panic!("{node}"));
        let id = match format {
            NodeFormat::Kazoo => id.to_owned(),
            // The client of Curator cuts off a UUID of 36 characters, and what stands before it.
            _ => {
                id.strip_prefix("_c_").filter(|id| id.len() == 36).unwrap_or_else(|| panic!("{node}")).replace('-', "")
            }
        };
        assert!(id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{node}");
        assert!(String::from_utf8_lossy(&state.data).contains(&ours.id()), "an administrator sees whose it is");
        guard.release().expect("held");
    }
}

#[test]
fn a_name_is_the_path_that_other_clients_use_below_the_chroot() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    let below = redlatch::Client::connect(&format!("{}/apps/one", server.url())).expect("a good URL");
    for (name, path) in
        [("orders/42", "/apps/one/orders/42"), ("/orders/43", "/apps/one/orders/43"), ("käse:€", "/apps/one/käse:€")]
    {
        let guard = below.lock(name).blocking().acquire().expect("free");
        assert_eq!(nodes.children(path).len(), 1, "{path}");
        guard.release().expect("held");
    }
    let all = client(server, "");
    let guard = all.lock("apps/one/orders/42").blocking().acquire().expect("free");
    assert!(below.lock("orders/42").blocking().try_acquire().expect("answered").is_none(), "one node, one lock");
    guard.release().expect("held");
}

#[test]
fn names_that_are_no_paths_are_locks_too() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let long = "n".repeat(60_000);
    for name in [".", "..", "a/../b", "a//b", "/", "🔒", "a\u{7f}b", "zookeeper/quota", &long] {
        let guard = one.lock(name).blocking().acquire().unwrap_or_else(|error| panic!("{name:.20}: {error}"));
        assert!(two.lock(name).blocking().try_acquire().expect("answered").is_none(), "{name:.20}");
        assert!(two.lock(&format!("{name}.")).blocking().try_acquire().expect("answered").is_some(), "another name");
        guard.release().expect("held");
    }
}

#[test]
fn a_node_that_another_client_deletes_is_a_loss_that_is_told_at_once_and_concerns_one_lock() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    let ours = client(server, "");
    let other = ours.lock("deleted/other").blocking().acquire().expect("free");
    for round in 0..20 {
        let guard = ours.lock("deleted/n").wait(secs(5)).blocking().acquire().expect("free");
        let (told, hears) = std::sync::mpsc::channel();
        guard.on_lost(move |loss| {
            let _ = told.send((loss.reason, Instant::now()));
        });
        let node = nodes.children("/deleted/n").pop().expect("it has a node");
        let begun = Instant::now();
        assert!(nodes.delete(&format!("/deleted/n/{node}")));
        let (reason, heard) = hears.recv_timeout(secs(5)).expect("it is told");
        assert_eq!(reason, LostReason::Deleted, "round {round}");
        assert!(heard - begun < secs(2), "told after {:?}", heard - begun);
        assert!(guard.release().is_err());
    }
    other.ensure().expect("it has a node of its own");
    other.release().expect("held");
}

#[test]
fn a_waiter_whose_node_another_client_deletes_stands_at_the_end_of_the_queue_at_once() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    let [one, two] = ["", ""].map(|options| client(server, options));
    for kind in ["plain", "fair", "write", "read"] {
        let name = format!("place-{kind}");
        let path = format!("/{name}");
        let held = crate::acquire("write", &name, 1, Some(ms(0)));
        assert!(one.run_blocking(held).expect("free").done);
        let waits = crate::wait(&two, crate::acquire(kind, &name, 2, None));
        eventually(|| nodes.children(&path).len() == 2);
        let behind = nodes.create(&format!("{path}/lock-"), b"", Mode::EphemeralSequential).expect("made");
        let (place, _) = nodes.in_order(&path).swap_remove(1);
        assert!(nodes.delete(&format!("{path}/{place}")));
        // The holder does nothing meanwhile.
        eventually(|| nodes.children(&path).len() == 3);
        let last = nodes.in_order(&path).pop().expect("it stands");
        assert!(last.0 != place && !behind.ends_with(&last.0), "the other client is before it now");
        one.run_blocking(Request::new(Op::Release, "write", name.as_str(), 1)).expect("held");
        assert!(waits.is_waiting());
        assert!(nodes.delete(&behind));
        assert!(waits.within(secs(5)).expect("its turn").done);
        two.run_blocking(Request::new(Op::Release, kind, name.as_str(), 2)).expect("held");
    }
}

/// The server counts with 32 bits, and behind the greatest number it gives the same one to many.
#[test]
fn a_queue_without_numbers_is_refused_with_the_remedy_and_never_has_two_holders() {
    let server = Zookeeper::with(&["digest.enabled=false"]);
    // A container that is empty goes by itself, and its counter with it.
    server.nodes().create("/n", b"", Mode::Persistent).expect("made");
    server.count_from("/n", i32::MAX - 1);
    let mut nodes = server.nodes();
    let [one, two] = ["", ""].map(|options| client(&server, options));
    let last = one.lock("n").blocking().acquire().expect("the last number");
    for ours in [&one, &two] {
        for lock in [ours.lock("n").owner(2), ours.fair_lock("n").owner(2), ours.read_write_lock("n").read().owner(2)] {
            match lock.wait(ms(300)).blocking().acquire() {
                Err(Error::Refused { .. } | Error::NotAcquired { .. } | Error::AlreadyHeld { .. }) => {}
                other => panic!("{:?}", other.map(drop)),
            }
        }
    }
    assert_eq!(nodes.children("/n").len(), 1, "nothing is left behind");
    last.ensure().expect("held");
    last.release().expect("held");
    for _ in 0..5 {
        let error = two.lock("n").blocking().try_acquire().map(drop).expect_err("there is no number");
        let said = error.to_string();
        assert!(matches!(error, Error::Refused { .. }) && said.contains("delete the node `/n`"), "{said}");
    }
    assert!(nodes.children("/n").is_empty());
    assert!(nodes.delete("/n"), "the remedy");
    two.lock("n").blocking().acquire().expect("it counts from 0").release().expect("held");
}

#[test]
fn a_waiter_of_another_program_gets_its_turn_however_many_owners_of_ours_wait() {
    let server = Zookeeper::start();
    let ours = client(&server, "");
    let mut nodes = server.nodes();
    nodes.prepare("/n");
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for owner in 1..=8 {
            let (ours, over) = (&ours, &over);
            scope.spawn(move || {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let guard = ours.lock("n").owner(owner).wait(secs(20)).blocking().acquire().expect("its turn");
                    guard.release().expect("held");
                }
            });
        }
        let mut longest = ms(0);
        for _ in 0..20 {
            let begun = Instant::now();
            let node = nodes.create("/n/lock-", b"", Mode::EphemeralSequential).expect("made");
            let own = node.rsplit('/').next().expect("a name").to_owned();
            eventually(|| nodes.in_order("/n").first().is_some_and(|(name, _)| *name == own));
            longest = longest.max(begun.elapsed());
            assert!(nodes.delete(&node));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        println!("the longest wait of the other program was {longest:?}");
        assert!(longest < secs(5), "{longest:?}");
    });
}

/// A part of Curator asks the holder of a lock by the data of its node.
#[test]
fn a_request_to_let_go_leaves_the_hold_as_it_is_and_its_later_deletion_is_still_told() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    let ours = client(server, "");
    let guard = ours.fenced_lock("revoked").owner(7).blocking().acquire().expect("free");
    let node = format!("/revoked/{}", nodes.children("/revoked").pop().expect("it has a node"));
    let other = ours.lock("not revoked").blocking().acquire().expect("free");
    assert!(!guard.is_wanted());
    for _ in 0..3 {
        nodes.set(&node, b"__REVOKE__").expect("written");
    }
    eventually(|| guard.is_wanted());
    assert!(!other.is_wanted());
    // A second hold draws a token, over what the other program has written.
    let token = guard.token().expect("it is fenced");
    let again = ours.fenced_lock("revoked").owner(7).blocking().acquire().expect("its own");
    assert!(again.token().expect("it is fenced") > token);
    again.release().expect("held");
    guard.ensure().expect("held");
    let (told, hears) = std::sync::mpsc::channel();
    guard.on_lost(move |loss| {
        let _ = told.send(loss.reason);
    });
    assert!(nodes.delete(&node));
    assert_eq!(hears.recv_timeout(secs(5)), Ok(LostReason::Deleted));
    assert!(!guard.is_wanted());
    let next = ours.fenced_lock("revoked").owner(7).blocking().acquire().expect("free");
    assert!(!next.is_wanted());
}
