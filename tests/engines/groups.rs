//! Locks of several systems as one.

use redlatch::ffi::{Border, Look, Member, Op, Request, Rule};
use redlatch::{Client, Error, RedLock};
use redlatch_tests::{Mariadb, Server, ms, secs};

use crate::{acquire, client, wait};

fn member(client: &Client, name: &str) -> Member {
    Member { client: client.clone(), kind: "plain", name: name.into() }
}

/// A program that moves from one system to the other holds both meanwhile.
#[test]
fn a_multi_lock_of_redis_and_mariadb_excludes_the_clients_of_both() {
    let (mariadb, redis) = (Mariadb::shared(), Server::start());
    let (sql, cache) = (client(mariadb, ""), Client::connect(&redis.url()).expect("a good URL"));
    let both =
        <Client as Border>::group(Rule::All, vec![member(&sql, "both"), member(&cache, "both")]).expect("two locks");
    let held = both.run_blocking(acquire("plain", "group", 1, Some(ms(0)))).expect("answered");
    assert!(held.done);
    let others = [client(mariadb, ""), Client::connect(&redis.url()).expect("a good URL")];
    for other in &others {
        assert!(other.lock("both").blocking().try_acquire().expect("answered").is_none());
    }
    both.run_blocking(Request::new(Op::Release, "plain", "group", 1)).expect("held");
    for other in &others {
        other.lock("both").blocking().acquire().expect("free").release().expect("held");
    }
}

#[test]
fn a_multi_lock_is_lost_with_any_of_its_members() {
    let mariadb = Mariadb::shared();
    let (one, two) = (client(mariadb, ""), client(mariadb, ""));
    let both =
        <Client as Border>::group(Rule::All, vec![member(&one, "lose1"), member(&two, "lose2")]).expect("two locks");
    let held = both.run_blocking(acquire("plain", "group", 1, Some(ms(0)))).expect("answered").number as u64;
    let watch = wait(&both, Request { hold: held, ..Request::new(Op::Watch, "plain", "group", 1) });
    let mut admin = mariadb.sql();
    let id = admin.holder("lose2").expect("it is held");
    admin.ask(&format!("KILL {id}"));
    assert!(matches!(watch.within(secs(5)), Err(Error::Lost(_))));
    assert!(matches!(both.look(held), Look::Lost(_)));
}

/// The servers of a red lock may be of several systems.
#[test]
fn a_red_lock_of_urls_takes_servers_of_mariadb_alone_and_beside_redis() {
    let databases = [Mariadb::start(), Mariadb::start(), Mariadb::start()];
    let caches = [Server::start(), Server::start()];
    // A server that answers later than that is left out of the majority.
    let patient = |url: String| format!("{url}?response_timeout=10&retry_for=0");
    let of_databases: Vec<_> = databases.iter().map(|server| patient(server.url())).collect();
    let mixed = vec![of_databases[0].clone(), patient(caches[0].url()), patient(caches[1].url())];
    for (name, urls) in [("alone", &of_databases), ("mixed", &mixed)] {
        let [red, other] = [(); 2].map(|()| RedLock::connect(urls).expect("good URLs"));
        let guard = red.lock(name).blocking().acquire().expect("all are free");
        assert!(other.lock(name).blocking().try_acquire().expect("answered").is_none(), "{name}");
        assert!(databases[0].sql().holder(name).is_some(), "{name}");
        guard.ensure().expect("held");
        guard.release().expect("held");
        other.lock(name).wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
    }
    // A minority may fail, of whichever system it is.
    let hasty: Vec<_> = mixed.iter().map(|url| url.replace("timeout=10", "timeout=0.5")).collect();
    let red = RedLock::connect(&hasty).expect("good URLs");
    databases[0].stop();
    let guard = red.lock("minority").wait(secs(5)).blocking().acquire().expect("two of three answer");
    guard.ensure().expect("held");
    guard.release().expect("held");
}

#[test]
fn a_red_lock_is_held_by_a_majority_of_servers() {
    let servers = [Mariadb::start(), Mariadb::start(), Mariadb::start()];
    let clients: Vec<_> = servers.iter().map(|server| client(server, "response_timeout=0.5&retry_for=0")).collect();
    let members = clients.iter().map(|client| member(client, "red")).collect();
    let red = <Client as Border>::group(Rule::Majority, members).expect("three locks");
    servers[2].stop();
    let taken = red.run_blocking(acquire("plain", "group", 1, Some(secs(5)))).expect("two of three answer");
    assert!(taken.done);
    let mut views = [servers[0].sql(), servers[1].sql()];
    assert!(views.iter_mut().all(|view| view.holder("red").is_some()));
    red.run_blocking(Request::new(Op::Release, "plain", "group", 1)).expect("held");
    assert!(views.iter_mut().all(|view| view.holder("red").is_none()));
}
