//! Confirmation by files on disk.

use redlatch_tests::newest;

use super::*;

fn client(server: &Server, sync: &str) -> Client {
    Client::connect(&format!("{}?sync={sync}", server.url())).expect("a good URL")
}

#[test]
fn the_server_itself_confirms_what_it_has_on_disk() {
    let server = newest(&["--appendonly", "yes", "--appendfsync", "always"]);
    let client = client(&server, "wait_aof(replicas=0,within=10)");
    use_every_kind(&client, "every");
}

#[test]
fn replicas_confirm_what_they_have_on_disk() {
    let master = newest(&[]);
    let replica = master.replica();
    replica.view().command::<()>(&["CONFIG", "SET", "appendfsync", "always"]);
    replica.view().command::<()>(&["CONFIG", "SET", "appendonly", "yes"]);
    master.until_in_step();
    let client = client(&master, "wait_aof(local=0,within=15)");
    client.lock("n").blocking().acquire().expect("on the replica's disk").release().expect("held");
    replica.view().command::<()>(&["CONFIG", "SET", "appendonly", "no"]);
    let hasty = self::client(&master, "wait_aof(local=0,within=0.1)");
    let said = is_not_synced(hasty.lock("n").blocking().acquire());
    assert!(said.contains("in their files"), "{said}");
    assert!(!master.view().exists("n"));
}

#[test]
fn a_file_that_is_left_to_the_system_confirms_nothing() {
    let server = newest(&["--appendonly", "yes", "--appendfsync", "no"]);
    let client = client(&server, "wait_aof(replicas=0,within=0.1)");
    let error = client.lock("n").blocking().acquire().map(drop).expect_err("it is not on disk");
    assert!(matches!(error, Error::NotSynced { .. }) && error.to_string().contains("appendfsync"), "{error}");
    assert!(!server.view().exists("n"));
}

#[test]
fn a_server_without_a_file_says_so_before_and_after() {
    let server = newest(&[]);
    let early = client(&server, "wait_aof(replicas=0)");
    let late = client(&server, "wait_aof(replicas=0,within=10)");
    let says = |client: &Client| {
        let error = client.lock("n").blocking().acquire().map(drop).expect_err("there is no file");
        assert!(matches!(&error, Error::Unsupported(said) if said.contains("appendonly")), "{error:?}");
        assert!(!server.view().exists("n"));
    };
    says(&early);
    server.view().command::<()>(&["CONFIG", "SET", "appendfsync", "always"]);
    server.view().command::<()>(&["CONFIG", "SET", "appendonly", "yes"]);
    late.lock("n").blocking().acquire().expect("on disk").release().expect("held");
    server.view().command::<()>(&["CONFIG", "SET", "appendonly", "no"]);
    says(&late);
}

#[test]
fn a_server_that_is_too_old_for_it_says_so() {
    let server = Server::start();
    if server.view().try_command::<redis::Value>(&["WAITAOF", "0", "0", "0"]).is_ok() {
        return;
    }
    let error = client(&server, "wait_aof").lock("n").blocking().acquire().map(drop).expect_err("it is too old");
    assert!(matches!(&error, Error::Unsupported(said) if said.contains("7.2")), "{error:?}");
}
