//! A deployment that serves no client is not reported as a lock that another owner holds.

use redlatch::Error;
use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{Cluster, Sentinels, all_at_once, eventually, kinds, ms, secs};

use super::client;

/// Tries every kind once, and waits for it.
fn is_told_by_every_kind(url: &str) {
    let cells = ALL.iter().flat_map(|KindRow { traits, .. }| [secs(0), ms(300), secs(1)].map(|wait| (traits, wait)));
    all_at_once(cells.map(|(traits, wait)| {
        let client = client(&format!("{url}?connect_timeout=1&response_timeout=2&retry_for=2"));
        let job = move || {
            let name = kinds::name(traits.name, "{n}");
            let numbers = if traits.held && traits.name != "permit" { Vec::new() } else { vec![1] };
            let end = client.run_blocking(Request {
                wait: Some(wait),
                numbers,
                ..Request::new(Op::Acquire, traits.name, name, 1)
            });
            let is_down = matches!(&end, Err(Error::Refused { code, .. }) if code == "CLUSTERDOWN");
            assert!(is_down || matches!(end, Err(Error::Unavailable { .. })), "{end:?}");
        };
        (format!("{} {wait:?}", traits.name), job)
    }));
}

#[test]
fn a_cluster_without_a_majority_is_never_told_as_a_lock_that_is_taken() {
    let cluster = Cluster::start(3, 0);
    let left = cluster.owner("n");
    cluster.servers.iter().enumerate().filter(|(place, _)| *place != left).for_each(|(_, server)| server.stop());
    let mut view = cluster.servers[left].view();
    eventually("a cluster that is down", || {
        view.try_command::<String>(&["GET", "n"]).err().filter(|e| e.code() == Some("CLUSTERDOWN"))
    });
    is_told_by_every_kind(&cluster.url());
}

#[test]
fn a_part_of_a_cluster_that_is_gone_is_never_told_as_a_lock_that_is_taken() {
    let cluster = Cluster::start(3, 0);
    cluster.servers[cluster.owner("n")].stop();
    is_told_by_every_kind(&cluster.url());
}

#[test]
fn sentinels_without_a_master_are_never_told_as_a_lock_that_is_taken() {
    let sentinels = Sentinels::start();
    sentinels.servers.iter().for_each(|server| server.stop());
    is_told_by_every_kind(&sentinels.url());
}
