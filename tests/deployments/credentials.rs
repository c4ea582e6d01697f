//! Passwords that change while a client runs.

use redlatch::{Client, Error};
use redlatch_tests::*;

use super::{client, hand_over};

/// A server with a user, and the URL with that user's login.
fn guarded() -> (Server, String) {
    let server = Server::start();
    server.view().command::<()>(&["ACL", "SETUSER", "shop", "on", ">one", "~*", "&*", "+@all"]);
    let url = format!("redis://shop:one@{}?watchdog=3&retry_for=1", server.address());
    (server, url)
}

/// Sets the only valid password. Clients that are logged in stay so, unless they are thrown out.
fn only(server: &Server, password: &str, throw_out: bool) {
    let mut view = server.view();
    view.command::<()>(&["ACL", "SETUSER", "shop", "resetpass", &format!(">{password}")]);
    if throw_out {
        view.command::<i64>(&["CLIENT", "KILL", "USER", "shop"]);
    }
}

fn is_refused(client: &Client) {
    let refused = client.lock("refused").blocking().try_acquire().map(drop).expect_err("the password is another one");
    assert!(matches!(&refused, Error::Refused { code, .. } if code == "WRONGPASS"), "{refused}");
}

#[test]
fn a_hold_and_a_wait_outlive_a_password_that_is_replaced_in_time() {
    let (server, url) = guarded();
    let holder = client(&url);
    let waiter = client(&url);
    hand_over(&holder, &waiter, "n", || {
        eventually("a listener", || (server.view().listeners("redisson_lock__channel:{n}") == 1).then_some(()));
        // The waiter is given the password before the change, the holder after it.
        waiter.set_credentials(Some("shop"), "two").expect("they are short");
        only(&server, "two", true);
        is_refused(&holder);
        holder.set_credentials(Some("shop"), "two").expect("they are short");
        // Longer than the lease: the hold is renewed under the new login.
        let waited = client(&url.replace("one", "two")).lock("n").wait(secs(4)).blocking().acquire();
        assert!(matches!(waited, Err(Error::NotAcquired { .. })), "{waited:?}");
    });
}

#[test]
fn connections_that_are_open_need_no_new_password() {
    let (server, url) = guarded();
    let client = client(&url);
    client.lock("warm").blocking().acquire().expect("free").release().expect("held");
    only(&server, "two", false);
    client.lock("n").blocking().acquire().expect("the connection is logged in").release().expect("held");
    only(&server, "two", true);
    is_refused(&client);
    client.set_credentials(Some("shop"), "wrong").expect("they are short");
    is_refused(&client);
    client.set_credentials(Some("shop"), "two").expect("they are short");
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn one_clients_credentials_are_not_anothers() {
    let (server, url) = guarded();
    let config = redlatch::Config::from_url(&url).expect("a good URL");
    let one = Client::with_config(config.clone()).expect("a good configuration");
    let other = Client::with_config(config).expect("a good configuration");
    only(&server, "two", true);
    let clone = one.clone();
    clone.set_credentials(Some("shop"), "two").expect("they are short");
    one.lock("n").blocking().acquire().expect("its clone has the new ones").release().expect("held");
    is_refused(&other);
}

#[test]
fn every_server_of_a_cluster_and_one_that_takes_over_are_told_the_new_password() {
    let cluster = Cluster::start(3, 0);
    let names: Vec<String> = (0..3)
        .map(|place| (0..).map(|n| format!("n{n}")).find(|name| cluster.owner(name) == place).expect("many"))
        .collect();
    for server in &cluster.servers {
        server.view().command::<()>(&["ACL", "SETUSER", "shop", "on", ">one", "~*", "&*", "+@all"]);
    }
    let client = client(&cluster.url().replace("://", "://shop:one@"));
    client.lock(&names[0]).blocking().acquire().expect("free").release().expect("held");
    for server in &cluster.servers {
        only(server, "two", true);
    }
    client.set_credentials(Some("shop"), "two").expect("they are short");
    for name in &names {
        client.lock(name).wait(secs(20)).blocking().acquire().expect("free").release().expect("held");
    }
}
