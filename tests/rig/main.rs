//! The promises of the rig itself. A fault that did not happen would make every test on top of it pass.

mod deadline;
mod oracle;
mod zookeeper;

use std::time::{Duration, Instant};

use redis::Connection;
use redlatch_tests::{Direction, Options, Proxy, Server, eventually};

fn connect(server: &Server, port: u16) -> Connection {
    let client = redis::Client::open(server.url_at(port)).expect("a good URL");
    let connection = client.get_connection_with_timeout(Duration::from_secs(5)).expect("a connection");
    connection.set_read_timeout(Some(Duration::from_secs(5))).expect("a good time-out");
    connection
}

fn incr(connection: &mut Connection, key: &str) -> redis::RedisResult<i64> {
    redis::cmd("INCR").arg(key).query(connection)
}

#[test]
fn a_server_comes_back_empty_on_its_port() {
    let server = Server::with(Options { password: Some("secret".into()), unix_socket: true, ..Options::default() });
    server.view().command::<()>(&["SET", "a", "1"]);
    let socket = server.unix_url().replace("unix://", "");
    assert!(std::path::Path::new(&socket).exists());
    server.stop();
    assert!(std::net::TcpStream::connect(server.address()).is_err());
    server.restart();
    assert!(!server.view().exists("a"));
    drop(server);
    assert!(!std::path::Path::new(&socket).parent().expect("a folder").exists());
}

#[test]
fn a_paused_server_answers_after_it_is_resumed() {
    let server = Server::start();
    let mut connection = connect(&server, server.port());
    server.pause();
    connection.set_read_timeout(Some(Duration::from_millis(50))).expect("a good time-out");
    assert!(incr(&mut connection, "n").expect_err("no server answers").is_timeout());
    server.resume();
    assert_eq!(eventually("the command of before", || server.view().command::<Option<i64>>(&["GET", "n"])), 1);
}

#[test]
fn a_listener_hears_all_messages_in_order() {
    let server = Server::start();
    let mut listener = server.listen("news");
    let mut view = server.view();
    assert_eq!(view.listeners("news"), 1);
    for word in ["a", "b", "c"] {
        view.command::<()>(&["PUBLISH", "news", word]);
    }
    assert_eq!(listener.hear(), "a");
    assert_eq!(listener.heard(), ["b", "c"]);
    assert_eq!(listener.heard(), [""; 0]);
}

#[test]
fn calls_are_counted_per_command() {
    let server = Server::start();
    let mut view = server.view();
    view.forget_calls();
    view.command::<i64>(&["INCR", "n"]);
    assert_eq!(view.calls()["incr"], 1);
}

#[test]
fn a_cut_ends_connections_and_lets_new_ones_in() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut first = connect(&server, proxy.port());
    assert_eq!((incr(&mut first, "n").ok(), proxy.connections()), (Some(1), 1));
    proxy.cut();
    assert_eq!(proxy.connections(), 0);
    assert!(incr(&mut first, "n").is_err());
    assert_eq!(incr(&mut connect(&server, proxy.port()), "n").ok(), Some(2));
}

#[test]
fn a_refusing_port_keeps_old_connections() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut first = connect(&server, proxy.port());
    proxy.refuse();
    assert!(std::net::TcpStream::connect(("127.0.0.1", proxy.port())).is_err());
    assert!(incr(&mut first, "n").is_ok());
    proxy.accept();
    assert!(incr(&mut connect(&server, proxy.port()), "n").is_ok());
}

#[test]
fn a_stall_holds_bytes_back_until_they_flow() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut connection = connect(&server, proxy.port());
    for (direction, executed) in [(Direction::ToServer, None), (Direction::ToClient, Some(1))] {
        server.view().command::<()>(&["DEL", "n"]);
        proxy.stall(direction);
        connection.send_packed_command(&redis::cmd("INCR").arg("n").get_packed_command()).expect("it goes out");
        if executed.is_some() {
            eventually("the command", || server.view().command::<Option<i64>>(&["GET", "n"]));
        }
        connection.set_read_timeout(Some(Duration::from_millis(50))).expect("a good time-out");
        assert!(connection.recv_response().is_err(), "{direction:?}");
        assert_eq!(server.view().command::<Option<i64>>(&["GET", "n"]), executed, "{direction:?}");
        proxy.flow();
        connection = connect(&server, proxy.port());
        eventually("the held back command", || server.view().command::<Option<i64>>(&["GET", "n"]));
    }
}

#[test]
fn another_answer_comes_in_place_of_the_servers() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut connection = connect(&server, proxy.port());
    proxy.answer_to("INCR", b":77\r\n");
    assert_eq!(incr(&mut connection, "n").expect("answered"), 77);
    assert_eq!(incr(&mut connection, "n").expect("answered"), 2);
    assert_eq!(proxy.struck(), 1);
}

#[test]
fn a_lost_reply_was_executed() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut one = connect(&server, proxy.port());
    let mut two = connect(&server, proxy.port());
    proxy.lose_reply_to("lost");
    assert!(incr(&mut two, "other").is_ok());
    assert!(incr(&mut one, "lost").is_err());
    assert_eq!(server.view().command::<i64>(&["GET", "lost"]), 1);
    assert_eq!(eventually("the count", || Some(proxy.struck()).filter(|n| *n > 0)), 1);
    assert!(incr(&mut two, "lost").is_ok());
}

#[test]
fn one_in_so_many_replies_is_lost_until_the_proxy_is_disarmed() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    proxy.lose_replies_to("lost", 3);
    let ask = |key| incr(&mut connect(&server, proxy.port()), key).ok();
    let got: Vec<_> = (0..7).flat_map(|_| [ask("lost"), ask("other")]).map(|answer| answer.is_some()).collect();
    assert_eq!(got.iter().step_by(2).copied().collect::<Vec<_>>(), [true, true, false, true, true, false, true]);
    assert!(got.iter().skip(1).step_by(2).all(|answered| *answered));
    assert_eq!(server.view().command::<i64>(&["GET", "lost"]), 7);
    proxy.disarm();
    assert_eq!((ask("lost"), ask("lost")), (Some(8), Some(9)));
    eventually("the count", || (proxy.replies().lost == 2).then_some(()));
}

#[test]
fn one_in_so_many_replies_is_late() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let late = Duration::from_millis(60);
    proxy.retard_replies_to("late", 2, late);
    let mut connection = connect(&server, proxy.port());
    let took: Vec<_> = (1..=4)
        .map(|number| {
            let start = Instant::now();
            assert_eq!(incr(&mut connection, "late").ok(), Some(number));
            start.elapsed() >= late
        })
        .collect();
    assert!(took[1] && took[3]);
    proxy.disarm();
    incr(&mut connection, "late").expect("an answer");
    assert_eq!((proxy.replies().lost, proxy.replies().late), (0, 2));
}

#[test]
fn a_kept_request_arrives_when_it_is_delivered() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    proxy.keep_request("late");
    assert!(incr(&mut connect(&server, proxy.port()), "late").is_err());
    assert!(!server.view().exists("late"));
    assert_eq!(incr(&mut connect(&server, proxy.port()), "late").ok(), Some(1));
    assert!(proxy.deliver_kept());
    assert_eq!(server.view().command::<i64>(&["GET", "late"]), 2);
}

#[test]
fn the_nth_packet_with_a_text_is_cut_and_others_pass() {
    let server = Server::start();
    for direction in [Direction::ToServer, Direction::ToClient] {
        let proxy = Proxy::start(&server);
        let mut connection = connect(&server, proxy.port());
        server.view().command::<()>(&["SET", "n", "0"]);
        let text = if direction == Direction::ToServer { "INCR" } else { ":" };
        proxy.cut_at(direction, text, 3);
        let got: Vec<_> = (0..4).map(|_| incr(&mut connection, "n").ok()).collect();
        assert_eq!(got, [Some(1), Some(2), None, None], "{direction:?}");
        let executed = if direction == Direction::ToServer { "2" } else { "3" };
        assert_eq!(server.view().command::<String>(&["GET", "n"]), executed, "{direction:?}");
        assert_eq!(eventually("the count", || Some(proxy.struck()).filter(|n| *n > 0)), 1);
    }
}

#[test]
fn a_held_packet_and_its_followers_arrive_when_they_flow() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut one = connect(&server, proxy.port());
    let mut two = connect(&server, proxy.port());
    proxy.hold_at(Direction::ToServer, "held", 1);
    for key in ["held", "next"] {
        one.send_packed_command(&redis::cmd("INCR").arg(key).get_packed_command()).expect("it goes out");
    }
    eventually("the hold", || (proxy.struck() == 1).then_some(()));
    assert_eq!(incr(&mut two, "other").ok(), Some(1));
    assert!(!server.view().exists("held") && !server.view().exists("next"));
    proxy.flow();
    eventually("what followed", || server.view().exists("next").then_some(()));
    assert!(server.view().exists("held"));
}

#[test]
fn a_frozen_connection_says_nothing_while_a_new_one_works() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut old = connect(&server, proxy.port());
    proxy.freeze(Direction::ToClient);
    old.set_read_timeout(Some(Duration::from_millis(50))).expect("a good time-out");
    assert!(incr(&mut old, "n").expect_err("no server answers").is_timeout());
    assert_eq!(server.view().command::<i64>(&["GET", "n"]), 1);
    assert_eq!(incr(&mut connect(&server, proxy.port()), "n").ok(), Some(2));
}

#[test]
fn a_half_closed_connection_still_carries_requests() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut connection = connect(&server, proxy.port());
    proxy.half_close(Direction::ToClient);
    connection.send_packed_command(&redis::cmd("INCR").arg("n").get_packed_command()).expect("it goes out");
    eventually("the command", || server.view().command::<Option<i64>>(&["GET", "n"]));
    assert!(connection.recv_response().is_err());
}

#[test]
fn a_delay_applies_both_ways() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut connection = connect(&server, proxy.port());
    proxy.delay(Duration::from_millis(20));
    let start = Instant::now();
    incr(&mut connection, "n").expect("an answer");
    assert!(start.elapsed() >= Duration::from_millis(40));
}
