//! The channels that wake the waiters of a cluster.

use redlatch::{Client, Config, Error};
use redlatch_tests::*;

use super::{client, hand_over};

const CHANNEL: &str = "redisson_lock__channel:{n}";

/// How many clients listen to the lock's channel at all servers, by that command of `PUBSUB`.
fn listeners(cluster: &Cluster, command: &str) -> u64 {
    let count = |server: &Server| server.view().command::<(String, u64)>(&["PUBSUB", command, CHANNEL]).1;
    cluster.servers.iter().map(count).sum()
}

fn choosing(cluster: &Cluster, sharded: &str) -> Client {
    client(&format!("{}?sharded={sharded}", cluster.url()))
}

#[test]
fn waiters_listen_and_are_woken_on_the_channels_that_the_program_chooses() {
    let cluster = Cluster::start(3, 0);
    // The subscriptions of one waiting client: to ordinary channels, and to sharded ones.
    for (sharded, plain, of_slots) in [("auto", 0, 1), ("on", 0, 1), ("off", 1, 0), ("both", 1, 1)] {
        hand_over(&choosing(&cluster, sharded), &choosing(&cluster, sharded), "n", || {
            eventually("the subscriptions", || {
                let found = (listeners(&cluster, "NUMSUB"), listeners(&cluster, "SHARDNUMSUB"));
                (found == (plain, of_slots)).then_some(())
            });
        });
        eventually("no subscription", || {
            (listeners(&cluster, "NUMSUB") + listeners(&cluster, "SHARDNUMSUB") == 0).then_some(())
        });
    }
}

#[test]
fn a_client_that_chooses_both_channels_wakes_and_is_woken_by_every_client() {
    let cluster = Cluster::start(3, 0);
    let tolerant = choosing(&cluster, "both");
    for sharded in ["on", "off"] {
        let other = choosing(&cluster, sharded);
        for (from, to, ears) in [(&other, &tolerant, 2), (&tolerant, &other, 1)] {
            hand_over(from, to, "n", || {
                eventually("a listener", || {
                    (listeners(&cluster, "NUMSUB") + listeners(&cluster, "SHARDNUMSUB") == ears).then_some(())
                });
            });
            eventually("no subscription", || {
                (listeners(&cluster, "NUMSUB") + listeners(&cluster, "SHARDNUMSUB") == 0).then_some(())
            });
        }
    }
    super::use_every_kind(&tolerant, "every");
}

#[test]
fn a_slot_that_moves_takes_both_subscriptions_with_it() {
    let cluster = Cluster::start(3, 0);
    let one = choosing(&cluster, "off");
    let two = choosing(&cluster, "both");
    hand_over(&one, &two, "n", || {
        eventually("two ears", || {
            (listeners(&cluster, "NUMSUB") + listeners(&cluster, "SHARDNUMSUB") == 2).then_some(())
        });
        let to = (cluster.owner("n") + 1) % 3;
        cluster.migrate("n", to);
        eventually("two ears at the new owner", || {
            let count = |command| cluster.servers[to].view().command::<(String, u64)>(&["PUBSUB", command, CHANNEL]).1;
            (count("NUMSUB") == 1 && count("SHARDNUMSUB") == 1).then_some(())
        });
    });
}

#[test]
fn a_server_without_channels_of_slots_is_detected() {
    let cluster = Cluster::start(3, 0);
    for server in &cluster.servers {
        // As on servers before 7.0, the client's question for sharded channels is an error.
        server.view().command::<()>(&["ACL", "SETUSER", "default", "-pubsub", "-ssubscribe", "-spublish"]);
    }
    for sharded in ["auto", "both", "off"] {
        choosing(&cluster, sharded).lock("n").blocking().acquire().expect("free").release().expect("held");
    }
    let refused = choosing(&cluster, "on").lock("n").blocking().acquire().map(drop).expect_err("it has none");
    assert!(
        matches!(&refused, Error::Unsupported(said) if said.contains("SSUBSCRIBE") && said.contains("sharded=on")),
        "{refused}"
    );
}

#[test]
fn an_unknown_choice_of_channels_is_refused() {
    for (url, words) in [
        ("redis+cluster://h?sharded=maybe", ["`maybe`", "both"]),
        ("redis://h?sharded=on", ["redis://h:6379", "no cluster"]),
    ] {
        let said = Config::from_url(url).map(drop).expect_err("it is none").to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} in: {said}");
    }
}
