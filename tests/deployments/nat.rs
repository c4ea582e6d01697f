//! Servers whose own addresses are not those by which clients reach them.

use redlatch_tests::relay::Relay;
use redlatch_tests::*;

use super::{client, use_every_kind};

#[test]
fn a_cluster_behind_a_translation_is_reached_by_the_programs_addresses() {
    let cluster = Cluster::start(3, 0);
    let relays: Vec<Relay> = cluster.servers.iter().map(|server| Relay::start("127.0.0.1", 0, server.port())).collect();
    let pairs = cluster
        .servers
        .iter()
        .zip(&relays)
        .map(|(server, relay)| format!("{}=127.0.0.1:{}", server.address(), relay.port()));
    let one =
        client(&format!("redis+cluster://127.0.0.1:{}?nat={}", relays[0].port(), pairs.collect::<Vec<_>>().join(",")));
    for place in 0..3 {
        let name =
            (0..).map(|n| format!("n{n}")).find(|name| cluster.owner(name) == place).expect("there are enough names");
        use_every_kind(&one, &name);
    }
    one.lock("moved").blocking().acquire().expect("free").release().expect("held");
    cluster.migrate("moved", (cluster.owner("moved") + 1) % 3);
    one.lock("moved").blocking().acquire().expect("a redirection is translated as well").release().expect("held");
    for relay in &relays {
        assert!(!relay.first().is_empty(), "each is reached by that way");
    }
}

#[test]
fn a_master_that_sentinels_know_by_another_address_is_reached() {
    let sentinels = Sentinels::start();
    let relay = Relay::start("127.0.0.1", 0, sentinels.servers[0].port());
    let nat = format!("127.0.0.1:{}=127.0.0.1:{}", sentinels.servers[0].port(), relay.port());
    use_every_kind(&client(&format!("{}?nat={nat}&retry_for=10", sentinels.url())), "n");
    assert!(!relay.first().is_empty(), "by that way");
}

/// A waiting call also asks the sentinels by itself.
#[test]
fn sentinels_are_asked_at_a_pace_while_the_master_that_they_name_is_out_of_reach() {
    let sentinels = Sentinels::start();
    let nat = format!("127.0.0.1:{}=127.0.0.1:{}", sentinels.servers[1].port(), ports::free());
    let client = client(&format!("{}?nat={nat}", sentinels.url()));
    client.lock("n").blocking().acquire().expect("the first master is within reach").release().expect("held");
    sentinels.fail_over();
    sentinels.until_master(1);
    let asked = || -> usize {
        let of_one = |mut view: View| {
            let stats: String = view.command(&["INFO", "stats"]);
            let counted =
                stats.lines().find_map(|line| line.strip_prefix("total_commands_processed:")).expect("it counts");
            counted.trim_end().parse::<usize>().expect("a number")
        };
        sentinels.views().map(of_one).sum()
    };
    let before = asked();
    client.lock("n").wait(secs(5)).blocking().acquire().map(drop).expect_err("the second master is out of reach");
    let during = asked() - before;
    println!("asked {during} times");
    assert!(during < 200, "three sentinels were asked {during} times in 5 s");
}
