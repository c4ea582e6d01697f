//! The rights that a user of the servers needs, as the guide lists them, and the errors of a user without them.

use redlatch::{Client, Error};
use redlatch_tests::*;

use super::{client, hand_over, use_every_kind};

mod missing;
mod queue;

const GUIDE: &str = include_str!("../../docs/deployments.md");

/// The words after a user's name in the guide's line for this purpose.
fn words(user: &str, purpose: &str) -> Vec<&'static str> {
    let lines =
        GUIDE.lines().filter_map(|line| line.strip_prefix("ACL SETUSER ")?.strip_prefix(user)?.split_once(" # "));
    let (words, _) =
        lines.into_iter().find(|(_, said)| *said == purpose).unwrap_or_else(|| panic!("the guide has no `{purpose}`"));
    words.split_whitespace().collect()
}

fn set(server: &Server, purposes: &[&str]) {
    for purpose in purposes {
        server.view().command::<()>(&[&["ACL", "SETUSER", "locks"][..], &words("locks", purpose)].concat());
    }
}

/// Checks that no user was refused a command.
fn nothing_was_refused(server: &Server) {
    let log: Vec<redis::Value> = server.view().command(&["ACL", "LOG"]);
    assert!(log.is_empty(), "{log:?}");
}

fn as_user(server: &Server, more: &str) -> Client {
    client(&format!("redis://locks:secret@{}?watchdog=0.6{more}", server.address()))
}

/// Uses everything that locks, permits and latches can do.
fn use_all(server: &Server, one: &Client, two: &Client) {
    use_every_kind(one, "n");
    let permits = one.permit_semaphore("n:permits");
    assert!(permits.try_set_permits(1).blocking().expect("answered"));
    let permit = permits.acquire_renewed().blocking().expect("free");
    let waited = two.permit_semaphore("n:permits").acquire().wait(secs(1)).blocking();
    assert!(waited.is_err(), "it is renewed");
    drop(permit);
    hand_over(one, two, "n", || {
        let listeners = || server.view().listeners("redisson_lock__channel:{n}");
        eventually("a listener", || (listeners() == 1).then_some(()));
        let waited = two.fair_lock("n").wait(secs(1)).blocking().acquire();
        assert!(matches!(waited, Err(Error::NotAcquired { .. })), "it is renewed");
    });
    let reading = one.read_write_lock("n").read().blocking().acquire().expect("free");
    let waited = two.read_write_lock("n").write().wait(secs(1)).blocking().acquire();
    assert!(matches!(waited, Err(Error::NotAcquired { .. })), "it is renewed");
    reading.release().expect("held");
    let reading = one.read_write_lock("n").read().blocking().acquire().expect("free");
    assert!(two.read_write_lock("n").read().blocking().force_release().expect("answered"));
    assert!(matches!(reading.release(), Err(Error::Lost(_) | Error::NotHeld { .. })));
    use_rare(server, one);
}

/// Uses the operations that are rare.
fn use_rare(server: &Server, client: &Client) {
    let latch = client.latch("n:twice");
    assert!(latch.try_set_count(2).blocking().expect("answered"));
    latch.count_down().blocking().expect("answered");
    let wrong = client.lock("n:twice").blocking().acquire().map(drop).expect_err("a latch");
    assert!(wrong.to_string().contains("the number 1"), "{wrong}");
    // A permit that ends by itself, and a waiter of Redisson before one of redlatch.
    let ending = client.permit_semaphore("n:permits").acquire().lease(ms(1)).blocking().expect("free");
    eventually("a permit that has ended", || {
        (client.permit_semaphore("n:permits").available().blocking().expect("answered") == 1).then_some(())
    });
    drop(ending);
    let held = client.fair_lock("n").blocking().acquire().expect("free");
    server.view().command::<()>(&["RPUSH", "redisson_lock_queue:{n}", "other:1"]);
    let soon =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later").as_millis() + 100;
    server.view().command::<()>(&["ZADD", "redisson_lock_timeout:{n}", &soon.to_string(), "other:1"]);
    assert!(client.fair_lock("n").owner(7).wait(ms(300)).blocking().acquire().is_err());
    held.release().expect("held");
}

#[test]
fn the_rights_of_the_guide_are_enough_on_one_server_and_all_of_them_are_used() {
    let server = Server::start();
    set(&server, &["always", "told of losses at once, and listed by name"]);
    let clients = ["", "&client_name=a"].map(|more| as_user(&server, more));
    use_all(&server, &clients[0], &clients[1]);
    let used = server.view().calls();
    for right in words("locks", "always").into_iter().filter_map(|word| word.strip_prefix('+')) {
        assert!(used.contains_key(right), "{right} is of no use: {used:?}");
    }
    let server = newest(&[]);
    set(
        &server,
        &["always", "told of losses at once, and listed by name", "listed with the library, from Redis 7.2 on"],
    );
    use_all(&server, &as_user(&server, ""), &as_user(&server, "&client_name=a"));
    nothing_was_refused(&server);
}

#[test]
fn a_user_with_the_rights_of_the_guide_lists_locks_and_uses_all_of_these_rights() {
    let server = Server::start();
    set(&server, &["always", "told of losses at once, and listed by name", "that lists locks"]);
    let client = as_user(&server, "");
    let held = client.lock("n").blocking().acquire().expect("free");
    let permits = client.permit_semaphore("n:permits");
    assert!(permits.try_set_permits(1).blocking().expect("answered"));
    let permit = permits.acquire().blocking().expect("available");
    server.view().command::<()>(&["SET", "n:text", "x"]);
    let mut names = Vec::new();
    for pattern in ["n*", "n:text"] {
        let mut locks = client.locks(pattern);
        while let Some(lock) = locks.next_blocking().expect("the rights are enough") {
            assert!(lock.waiting == Some(0), "{lock:?}");
            assert_eq!(lock.kind == "plain", lock.holders.first().is_some_and(|holder| holder.process.is_some()));
            names.push(lock.name);
        }
    }
    names.sort();
    assert_eq!(names, ["n", "n:permits", "n:text"]);
    let used = server.view().calls();
    for right in words("locks", "that lists locks").into_iter().filter_map(|word| word.strip_prefix('+')) {
        assert!(used.contains_key(right), "{right} is of no use: {used:?}");
    }
    permit.release_blocking().expect("it is out");
    held.release().expect("held");
    let thread = client.lock("n").owner(7).blocking().acquire().expect("free");
    let shown = |client: &Client| client.locks("n").next_blocking().expect("answered").expect("held").holders.remove(0);
    assert!(shown(&client).process.is_some());
    server.view().command::<()>(&["ACL", "SETUSER", "locks", "-client|list"]);
    let holder = shown(&as_user(&server, ""));
    assert!(holder.process.is_none() && !holder.may_be_redisson, "the server lists no connection: {holder:?}");
    thread.release().expect("held");
    let poor = Server::start();
    set(&poor, &["always"]);
    let refused = as_user(&poor, "").locks("n*").next_blocking().expect_err("the right to scan is missing");
    assert!(matches!(&refused, Error::Refused { code, message, .. } if code == "NOPERM" && message.contains("scan")));
}

#[test]
fn rights_for_one_prefix_are_enough_for_its_names() {
    let server = Server::start();
    let mut rights = words("locks", "always");
    let own = words("locks", "of names that begin with orders: alone, in place of ~* &*");
    rights.retain(|word| !["~*", "&*"].contains(word));
    server.view().command::<()>(&[&["ACL", "SETUSER", "locks"][..], &rights, &own].concat());
    let clients = ["", "&client_name=a"].map(|more| as_user(&server, &format!("{more}&prefix=orders:")));
    use_every_kind(&clients[0], "n");
    hand_over(&clients[0], &clients[1], "n", || {
        let listeners = || server.view().listeners("redisson_lock__channel:{orders:n}");
        eventually("a listener", || (listeners() == 1).then_some(()));
    });
    let refused = as_user(&server, "").lock("payments").blocking().acquire().map(drop).expect_err("another name");
    assert!(matches!(&refused, Error::Refused { code, .. } if code == "NOPERM"), "{refused}");
}

#[test]
fn everything_works_without_the_rights_that_the_guide_calls_useful() {
    let server = Server::start();
    set(&server, &["always"]);
    use_all(&server, &as_user(&server, ""), &as_user(&server, "&client_name=a"));
}

#[test]
fn the_rights_of_the_guide_are_enough_where_replicas_confirm() {
    let server = newest(&["--appendonly", "yes"]);
    let _replica = server.replica();
    set(
        &server,
        &["always", "told of losses at once, and listed by name", "listed with the library, from Redis 7.2 on"],
    );
    set(&server, &["with a sync policy", "with wait_aof"]);
    for sync in ["wait(within=0.3)", "wait_aof(replicas=0,within=0.3)", "connected(within=0.3)"] {
        let client = as_user(&server, &format!("&sync={sync}"));
        client.lock("n").blocking().acquire().expect("free").release().expect("held");
    }
    nothing_was_refused(&server);
}

#[test]
fn the_rights_of_the_guide_are_enough_in_a_cluster() {
    let cluster = Cluster::start(3, 0);
    for server in &cluster.servers {
        set(
            server,
            &[
                "always",
                "told of losses at once, and listed by name",
                "in a cluster",
                "in a cluster, from Redis 7.0 on",
            ],
        );
    }
    let url = cluster.url().replace("://", "://locks:secret@");
    let one = client(&url);
    let two = client(&url);
    use_every_kind(&one, "{slot}n");
    hand_over(&one, &two, "handed", || {
        let listeners = || {
            cluster.servers.iter().map(|server| server.view().listeners("redisson_lock__channel:{handed}")).sum::<u64>()
        };
        eventually("a listener", || (listeners() == 1).then_some(()));
        cluster.migrate("handed", (cluster.owner("handed") + 1) % 3);
    });
}

#[test]
fn the_rights_of_the_guide_are_enough_with_sentinels_that_have_users_of_their_own() {
    let sentinels = Sentinels::start();
    sentinels.servers.iter().for_each(|server| set(server, &["always", "with sentinels, or a master and replicas"]));
    for mut view in sentinels.views() {
        view.command::<()>(&[&["ACL", "SETUSER", "watcher"][..], &words("watcher", "at the sentinels")].concat());
    }
    let url = sentinels.url().replace("://", "://locks:secret@");
    use_every_kind(&client(&format!("{url}?sentinel_username=watcher&sentinel_password=secret&retry_for=20")), "n");
}
