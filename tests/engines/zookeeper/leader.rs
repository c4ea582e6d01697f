//! Leaders by nodes, as Curator's `LeaderLatch` and kazoo's `Election` have them.

use std::time::Instant;

use redlatch::{Error, LostReason};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Zookeeper, ms, secs, soon};

use crate::zookeeper::client;
use crate::{ends_its_observers, eventually, leader};

#[test]
fn the_first_node_of_the_queue_leads_and_has_the_value_as_its_data() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    for (format, pattern) in [("curator", "-latch-"), ("kazoo", "__lock__")] {
        let [one, two] = ["", ""].map(|_| client(server, &format!("node_format={format}")));
        let name = format!("leads-{format}");
        let path = format!("/{name}");
        assert_eq!(leader(&two, &name), None);
        let first = one.leader(&name).value("api-1:80").lead().blocking().expect("no other candidate");
        let queue = nodes.in_order(&path);
        let [(node, state)] = queue.as_slice() else { panic!("{queue:?}") };
        assert!(node[..node.len() - 10].ends_with(pattern), "{node}");
        assert_eq!(state.data, b"api-1:80");
        // A LeaderLatch that waits has one watch of this node, which any write would use up.
        assert_eq!(state.version, 0, "no client has written to it");
        assert_eq!(first.token(), Some(state.made));
        assert_eq!(leader(&two, &name), Some(("api-1:80".to_owned(), first.token())));
        assert!(two.leader(&name).value("api-2:80").try_lead().blocking().expect("answered").is_none());
        let second = std::thread::scope(|scope| {
            let waits = scope.spawn(|| two.leader(&name).value("api-2:80").lead().wait(secs(20)).blocking());
            eventually(|| nodes.children(&path).len() == 2);
            assert_eq!(leader(&two, &name), Some(("api-1:80".to_owned(), first.token())), "a candidate does not lead");
            let begun = Instant::now();
            first.release_blocking().expect("it leads");
            let second = waits.join().expect("no panic").expect("the leader has resigned");
            assert!(begun.elapsed() < secs(2), "{:?}", begun.elapsed());
            second
        });
        assert_eq!(leader(&one, &name), Some(("api-2:80".to_owned(), second.token())));
        second.release_blocking().expect("it leads");
        assert_eq!(leader(&one, &name), None);
        assert!(nodes.children(&path).is_empty());
    }
}

#[test]
fn tokens_grow_from_term_to_term_in_one_client_and_in_others() {
    let server = Zookeeper::shared();
    let clients = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    let mut term = clients[0].leader("grow").value("first").lead().blocking().expect("no other candidate");
    let mut tokens = vec![term.token()];
    // The candidates come before the leader resigns: each has stood in the queue for a while.
    for at in 0..6 {
        let value = format!("{at}");
        term = std::thread::scope(|scope| {
            let candidate = clients[at / 2 % 2].leader("grow").value(&value);
            let waits = scope.spawn(move || candidate.lead().wait(secs(20)).blocking().expect("its turn"));
            eventually(|| nodes.children("/grow").len() == 2);
            drop(term);
            waits.join().expect("no panic")
        });
        assert_eq!(leader(&clients[0], "grow"), Some((value, term.token())));
        tokens.push(term.token());
    }
    assert!(tokens.windows(2).all(|two| two[0] < two[1]), "{tokens:?}");
}

#[test]
fn a_leader_of_another_program_is_seen_with_its_data_and_keeps_ours_out() {
    let server = Zookeeper::shared();
    let ours = client(server, "");
    let mut nodes = server.nodes();
    for (at, other) in ["_c_0f9a0c1e-0000-4000-8000-00000000000a-latch-", "0f9a0c1e00004000800000000000000a__lock__"]
        .iter()
        .enumerate()
    {
        let name = format!("foreign-{at}");
        nodes.prepare(&format!("/{name}"));
        let node = nodes.create(&format!("/{name}/{other}"), b"jvm-7", Mode::EphemeralSequential).expect("made");
        let made = nodes.get(&node).expect("it is there").made;
        assert_eq!(leader(&ours, &name), Some(("jvm-7".to_owned(), Some(made))));
        assert!(ours.leader(&name).try_lead().blocking().expect("answered").is_none());
        assert!(nodes.delete(&node));
        let term = ours.leader(&name).lead().wait(secs(20)).blocking().expect("free");
        assert!(term.token() > Some(made));
        term.release_blocking().expect("it leads");
    }
}

#[test]
fn an_observer_hears_of_each_change_and_a_cancelled_one_misses_nothing() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    soon(async {
        let mut observer = two.leader("observed").observe();
        assert!(observer.next().await.expect("answered").is_none());
        for value in ["a", "b"] {
            assert!(tokio::time::timeout(ms(50), observer.next()).await.is_err(), "nothing has changed");
            let term = one.leader("observed").value(value).lead().await.expect("no other candidate");
            let leader = observer.next().await.expect("answered").expect("one leads");
            assert_eq!((leader.value.as_str(), leader.token), (value, term.token()));
            term.release().await.expect("it leads");
            assert!(observer.next().await.expect("answered").is_none());
        }
    });
    ends_its_observers(&one);
}

#[test]
fn observers_ask_the_server_only_when_the_leader_may_have_changed() {
    let server = Zookeeper::start();
    let one = client(&server, "");
    let term = one.leader("quiet").value("a").lead().blocking().expect("no other candidate");
    soon(async {
        let mut observers: Vec<_> = (0..20).map(|_| one.leader("quiet").observe()).collect();
        for observer in &mut observers {
            assert!(observer.next().await.expect("answered").is_some());
        }
        let mut nexts = tokio::task::JoinSet::new();
        for mut observer in observers {
            nexts.spawn(async move { observer.next().await.expect("answered").is_some() });
        }
        // At 200 ms from look to look they would have sent hundreds of requests.
        let before = server.figure("zk_packets_received");
        tokio::time::sleep(secs(2)).await;
        let asked = server.figure("zk_packets_received") - before;
        assert!(asked < 100, "{asked} requests");
        term.release().await.expect("it leads");
        while let Some(is_led) = nexts.join_next().await {
            assert!(!is_led.expect("no panic"));
        }
    });
}

#[test]
fn an_observer_is_told_that_the_server_is_gone_and_goes_on_when_it_is_back() {
    let server = Zookeeper::start();
    let ours = client(&server, "watchdog=1.5&response_timeout=0.5&retry_for=0.5");
    let term = ours.leader("outage").value("a").lead().blocking().expect("no other candidate");
    soon(async {
        let mut observer = ours.leader("outage").observe();
        assert!(observer.next().await.expect("answered").is_some());
        server.kill();
        let error = observer.next().await.expect_err("it is gone");
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        assert!(term.lost().await.is_some());
        server.restart();
        let next = loop {
            match observer.next().await {
                Ok(next) => break next,
                Err(error) => assert!(matches!(error, Error::Unavailable { .. }), "{error}"),
            }
        };
        assert!(next.is_none(), "the session of the leader is over");
    });
}

#[test]
fn a_leader_whose_node_or_session_is_gone_is_told_and_another_one_leads() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    let term = one.leader("lost").value("a").lead().blocking().expect("no other candidate");
    let (node, _) = nodes.in_order("/lost").remove(0);
    assert!(nodes.delete(&format!("/lost/{node}")));
    let loss = soon(term.lost()).expect("it is lost");
    assert_eq!(loss.reason, LostReason::Deleted);
    let next = two.leader("lost").value("b").lead().wait(secs(20)).blocking().expect("free");
    assert!(next.token() > term.token());
    assert_eq!(leader(&one, "lost"), Some(("b".to_owned(), next.token())));
    let session = crate::zookeeper::holder(&mut nodes, "/lost").expect("it has a session");
    crate::zookeeper::expire(server, session);
    assert!(soon(next.lost()).is_some());
    let again = two.leader("lost").value("c").lead().wait(secs(20)).blocking().expect("free");
    assert!(again.token() > next.token());
    assert_eq!(leader(&one, "lost"), Some(("c".to_owned(), again.token())));
}

#[test]
fn a_cancelled_candidate_leaves_no_node() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    let term = one.leader("cancelled").lead().blocking().expect("no other candidate");
    soon(async {
        for time in [0, 1, 2, 5, 10, 20] {
            let lead = tokio::time::timeout(ms(time), two.leader("cancelled").value("x").lead()).await;
            assert!(lead.is_err(), "another one leads");
        }
    });
    eventually(|| nodes.children("/cancelled").len() == 1);
    term.release_blocking().expect("it leads");
    eventually(|| nodes.children("/cancelled").is_empty());
}

#[test]
fn a_lock_of_ours_is_a_leader_without_a_value_and_without_a_token() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    for name in ["no-leader", "no-leader-of-kazoo"] {
        let one = if name == "no-leader" { one.clone() } else { client(server, "node_format=kazoo") };
        let fenced = one.fenced_lock(name).blocking().acquire().expect("free");
        assert_eq!(leader(&two, name), Some((String::new(), None)));
        fenced.release().expect("held");
        let term = one.leader(name).value("redlatch").lead().blocking().expect("no other candidate");
        assert_eq!(leader(&two, name), Some(("redlatch".to_owned(), term.token())));
    }
}
