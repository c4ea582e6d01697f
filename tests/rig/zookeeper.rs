//! The promises of the rig for ZooKeeper: its servers, its ensembles and its own client.

use std::time::Instant;

use redlatch_tests::nodes::{Change, Mode, Refusal};
use redlatch_tests::{Ensemble, Nodes, PATIENCE, Zookeeper, eventually, ms, secs};

#[test]
fn a_killed_server_comes_back_on_its_port_with_its_nodes_and_sessions() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    nodes.create("/kept", b"data", Mode::Persistent).expect("new");
    nodes.create("/mine", b"", Mode::Ephemeral).expect("new");
    let session = nodes.id();
    server.kill();
    assert!(matches!(nodes.ping(), Err(Refusal::Silence(_))));
    assert!(Nodes::connect(server.port()).is_err());
    server.restart();
    let mut after = server.nodes();
    assert_eq!(after.get("/kept").expect("it is kept").data, b"data");
    assert_eq!(after.get("/mine").expect("it is kept").owner, Some(session));
}

#[test]
fn a_paused_server_of_zookeeper_answers_after_it_is_resumed() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    server.pause();
    nodes.patience(ms(50));
    assert!(matches!(nodes.create("/late", b"", Mode::Persistent), Err(Refusal::Silence(_))));
    server.resume();
    eventually("the request of before", || server.nodes().exists("/late").then_some(()));
}

#[test]
fn a_test_may_change_the_configuration() {
    let asked = |server: &Zookeeper, time| Nodes::lasting(server.port(), time).expect("it answers").timeout();
    let usual = Zookeeper::shared();
    assert_eq!([ms(1), ms(450), secs(200)].map(|time| asked(usual, time)), [ms(200), ms(450), secs(200)]);
    let server = Zookeeper::with(&["minSessionTimeout=4000", "maxSessionTimeout=9000"]);
    assert_eq!([ms(1), ms(450), secs(200)].map(|time| asked(&server, time)), [secs(4), secs(4), secs(9)]);
}

#[test]
fn a_session_without_a_sign_of_life_ends_with_its_nodes() {
    let server = Zookeeper::shared();
    let mut view = server.nodes();
    let mut short = Nodes::lasting(server.port(), ms(400)).expect("it answers");
    short.create("/short", b"", Mode::Ephemeral).expect("new");
    let id = short.id();
    let begun = Instant::now();
    short.abandon();
    assert!(server.sessions().contains(&id));
    eventually("the end of the session", || (!view.exists("/short")).then_some(()));
    assert!(begun.elapsed() >= ms(300), "it ended after {:?}", begun.elapsed());
    assert!(!server.sessions().contains(&id));
}

#[test]
fn any_session_can_be_ended_by_the_owner_that_a_node_tells() {
    let server = Zookeeper::shared();
    let mut view = server.nodes();
    let mut holder = server.nodes();
    holder.create("/expires", b"", Mode::Ephemeral).expect("new");
    let node = view.try_get("/expires", true).expect("it is there");
    assert_eq!(node.owner, Some(holder.id()));
    assert!(server.expire(holder.id()));
    let news = view.news(PATIENCE).expect("the watch tells of it");
    assert_eq!((news.path.as_str(), news.what), ("/expires", Change::Deleted));
    assert!(matches!(holder.ping(), Err(Refusal::Silence(_))), "its connection goes on");
    assert_eq!(Nodes::enter(server.port(), holder.id()).err(), Some(Refusal::NoSession));
    assert!(!server.expire(holder.id()));
}

#[test]
fn a_session_goes_on_at_another_connection() {
    let server = Zookeeper::shared();
    let mut first = server.nodes();
    first.create("/goes-on", b"", Mode::Ephemeral).expect("new");
    let id = first.id();
    first.abandon();
    let mut second = Nodes::enter(server.port(), id).expect("the session goes on");
    assert_eq!(second.get("/goes-on").expect("it is there").owner, Some(second.id()));
}

#[test]
fn nodes_stand_in_the_order_of_their_numbers() {
    let mut nodes = Zookeeper::shared().nodes();
    nodes.prepare("/order/queue");
    for name in ["z", "a", "m"] {
        let path = format!("/order/queue/{name}-");
        nodes.create(&path, name.as_bytes(), Mode::EphemeralSequential).expect("new");
    }
    let order: Vec<_> = nodes.in_order("/order/queue").into_iter().map(|(_, node)| node.data).collect();
    assert_eq!(order, [b"z", b"a", b"m"]);
    assert_eq!(nodes.children("/order/queue").len(), 3);
    assert_eq!(nodes.children("/order/nothing"), [""; 0]);
}

#[test]
fn one_call_checks_many_nodes() {
    let mut nodes = Zookeeper::shared().nodes();
    for path in ["/checked-1", "/checked-2"] {
        nodes.create(path, b"", Mode::Ephemeral).expect("new");
    }
    assert_eq!(nodes.check(&["/checked-1", "/checked-2"]), Ok(()));
    assert!(nodes.delete("/checked-2"));
    assert!(!nodes.delete("/checked-2"));
    assert_eq!(nodes.check(&["/checked-1", "/checked-2"]), Err(Refusal::NoNode));
    assert_eq!(nodes.check(&["/checked-1"]), Ok(()));
}

#[test]
fn watches_and_connections_and_sessions_are_counted() {
    let server = Zookeeper::start();
    assert_eq!((server.watches(), server.connections(), server.sessions().len()), (0, 0, 0));
    let mut nodes = server.nodes();
    nodes.create("/watched", b"", Mode::Persistent).expect("new");
    let _ = nodes.try_get("/watched", true).expect("it is there");
    let _ = nodes.try_children("/watched", true).expect("it is there");
    assert_eq!((server.watches(), server.connections(), server.sessions()), (2, 1, vec![nodes.id()]));
    nodes.set("/watched", b"new").expect("it is there");
    nodes.create("/watched/child", b"", Mode::Persistent).expect("new");
    let news = [(); 2].map(|()| nodes.news(PATIENCE).expect("a watch that tells").what);
    assert_eq!(news, [Change::Data, Change::Children]);
    assert_eq!((server.watches(), nodes.news(ms(20))), (0, None));
}

#[test]
fn an_empty_container_goes_soon() {
    let mut nodes = Zookeeper::shared().nodes();
    nodes.prepare("/containers/inner");
    nodes.create("/containers/inner/node", b"", Mode::Persistent).expect("new");
    assert!(nodes.delete("/containers/inner/node"));
    eventually("the end of both containers", || (!nodes.exists("/containers")).then_some(()));
}

#[test]
fn an_ensemble_has_a_leader_and_every_member_has_every_node() {
    let ensemble = Ensemble::start(3);
    let leader = ensemble.leader();
    assert_eq!(ensemble.followers().len(), 2);
    assert!(!ensemble.followers().contains(&leader));
    let mut first = ensemble.members()[0].nodes();
    first.create("/everywhere", b"", Mode::Ephemeral).expect("new");
    for member in ensemble.members() {
        let mut nodes = member.nodes();
        nodes.sync().expect("it answers");
        assert_eq!(nodes.get("/everywhere").expect("it is there").owner, Some(first.id()));
    }
}

#[test]
fn a_member_that_is_cut_off_serves_no_clients_until_it_joins_again() {
    let ensemble = Ensemble::with(3, &["syncLimit=5"]);
    let cut_off = ensemble.followers()[0];
    let member = &ensemble.members()[cut_off];
    let mut there = member.nodes();
    let mut elsewhere = ensemble.members()[ensemble.leader()].nodes();
    ensemble.cut_off(cut_off);
    elsewhere.create("/meanwhile", b"", Mode::Persistent).expect("the others are most");
    assert!(!there.exists("/meanwhile"), "it hears of the others");
    there.patience(ms(100));
    assert!(matches!(there.check(&["/"]), Err(Refusal::Silence(_))), "it reaches its leader");
    eventually("the member's end of service", || Nodes::connect(member.port()).is_err().then_some(()));
    ensemble.join(cut_off);
    ensemble.settle();
    let mut again = member.nodes();
    again.sync().expect("it answers");
    assert!(again.exists("/meanwhile"));
}

#[test]
fn the_others_elect_a_leader_without_the_one_that_is_cut_off() {
    let ensemble = Ensemble::with(3, &["syncLimit=5"]);
    let old = ensemble.leader();
    let holder = ensemble.members()[old].nodes();
    ensemble.cut_off(old);
    let new = eventually("another leader", || {
        let others = ensemble.members().iter().enumerate().filter(|(place, _)| *place != old);
        others.into_iter().find(|(_, member)| member.word("srvr").is_some_and(|told| told.contains("Mode: leader")))
    });
    let mut nodes = new.1.nodes();
    nodes.create("/after", b"", Mode::Persistent).expect("the others are most");
    assert!(Nodes::enter(new.1.port(), holder.id()).is_ok(), "the session goes on there");
    ensemble.join(old);
    ensemble.settle();
    let mut again = ensemble.members()[old].nodes();
    again.sync().expect("it answers");
    assert!(again.exists("/after"));
}
