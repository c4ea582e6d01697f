//! In a cluster the replica of the slot's own master confirms, and no other replica.

use redlatch_tests::{Cluster, Server, eventually, secs};

use super::{confirmed, is_not_synced};
use crate::cluster::name_at;

fn has(replica: &Server, name: &str) -> bool {
    let mut view = replica.view();
    view.command::<()>(&["READONLY"]);
    view.exists(name)
}

#[test]
fn the_replica_of_the_slots_master_confirms_wherever_the_slot_is() {
    let cluster = Cluster::start(3, 1);
    let client = confirmed(&cluster.url(), 10_000);
    let hasty = confirmed(&cluster.url(), 200);
    for place in 0..3 {
        let name = name_at(&cluster, place);
        let replica = &cluster.servers[3 + place];
        let guard = client.lock(&name).blocking().acquire().expect("confirmed");
        assert!(has(replica, &name));
        guard.release().expect("held");
    }
    let moved = name_at(&cluster, 0);
    cluster.migrate(&moved, 1);
    let stays = name_at(&cluster, 0);
    cluster.servers[3].pause();
    is_not_synced(hasty.lock(&stays).blocking().acquire());
    eventually("what was given back", || (!cluster.servers[0].view().exists(&stays)).then_some(()));
    let guard = client.lock(&moved).blocking().acquire().expect("its replica is another one now");
    assert!(has(&cluster.servers[4], &moved));
    guard.release().expect("held");
    cluster.servers[3].resume();
}

#[test]
fn a_replica_that_takes_over_has_what_it_confirmed() {
    let cluster = Cluster::start(3, 1);
    let name = name_at(&cluster, 1);
    let client = confirmed(&cluster.url(), 5_000);
    let other = crate::client(&format!("{}?retry_for=20", cluster.url()));
    let names: Vec<_> = (0..20).map(|number| format!("{{{name}}}:{number}")).collect();
    let guards: Vec<_> =
        names.iter().map(|name| client.lock(name).lease(secs(60)).blocking().acquire().expect("confirmed")).collect();
    assert_eq!(cluster.fail_over(&name), 4);
    for name in &names {
        assert!(other.lock(name).blocking().try_acquire().expect("answered").is_none());
    }
    for guard in guards {
        guard.release().expect("the new master has it");
    }
    // This master has no replica itself.
    let alone = confirmed(&format!("{}?retry_for=20", cluster.url()), 200);
    is_not_synced(alone.lock(&name).blocking().acquire());
}
