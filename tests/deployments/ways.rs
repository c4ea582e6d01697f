//! The ways to a server: sockets, IPv6 addresses, and host names whose address changes.

use redlatch::{Client, Config};
use redlatch_tests::relay::Relay;
use redlatch_tests::*;
use serde_json::json;

use super::{client, hand_over, use_every_kind};

const BOTH: [&str; 3] = ["--bind", "127.0.0.1", "::1"];

fn listening_on_both() -> Server {
    Server::with(Options { args: BOTH.map(str::to_owned).into(), ..Options::default() })
}

/// Two clients hand a lock over, woken by a message.
fn works(server: &Server, url: &str, name: &str) {
    let one = client(url);
    let two = client(url);
    use_every_kind(&one, name);
    hand_over(&one, &two, "handed", || {
        eventually("a listener", || (server.view().listeners("redisson_lock__channel:{handed}") == 1).then_some(()));
    });
}

#[test]
fn a_unix_socket_leads_to_a_server_like_any_address() {
    let server = Server::with(Options { unix_socket: true, ..Options::default() });
    works(&server, &server.unix_url(), "one");
    works(&server, &server.unix_url().replace("unix://", "redis+uds://"), "two");
    let other = client(&format!("{}?db=3", server.unix_url()));
    let guard = other.lock("n").blocking().acquire().expect("free");
    assert!(!server.view().exists("n"), "it is in another database");
    guard.release().expect("held");
}

#[test]
fn an_ipv6_address_leads_to_a_server_like_any_other() {
    let server = listening_on_both();
    let url = format!("redis://[::1]:{}", server.port());
    works(&server, &url, "n");
    assert_eq!(Config::from_url(&url).expect("a good URL").server(), url);
}

#[test]
fn a_cluster_that_announces_ipv6_addresses_is_used_there() {
    let cluster = Cluster::start_at("::1", 3, 0);
    let hosts: Vec<String> = cluster.servers.iter().map(|server| format!("[::1]:{}", server.port())).collect();
    let one = client(&format!("redis+cluster://{}", hosts.join(",")));
    for place in 0..3 {
        let name =
            (0..).map(|n| format!("n{n}")).find(|name| cluster.owner(name) == place).expect("there are enough names");
        use_every_kind(&one, &name);
    }
    // The server names the address to which a slot has moved.
    one.lock("moved").blocking().acquire().expect("free").release().expect("held");
    cluster.migrate("moved", (cluster.owner("moved") + 1) % 3);
    one.lock("moved").blocking().acquire().expect("free").release().expect("held");
    assert_eq!(
        Config::from_url("redis+cluster://[::1]:1,[::2]:3").expect("a good URL").server(),
        "redis+cluster://[::1]:1,[::2]:3"
    );
}

#[test]
fn sentinels_that_know_their_master_by_an_ipv6_address_lead_there() {
    let sentinels = Sentinels::start_at("::1");
    use_every_kind(&client(&format!("{}?retry_for=20", sentinels.url())), "n");
    sentinels.fail_over();
    sentinels.until_master(1);
    let lock = client(&format!("{}?retry_for=20", sentinels.url())).lock("n").wait(secs(20));
    drop(lock.blocking().acquire().expect("a master"));
}

#[test]
fn a_host_name_whose_address_changes_is_looked_up_again() {
    // A container or a chroot may forbid a list of hosts for a single program.
    if !std::process::Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return println!("not run: this machine gives no namespaces");
    }
    let first = Server::start();
    let second = Server::start();
    let port = Relay::start("127.0.0.2", 0, first.port()).port();
    Relay::start("127.0.0.3", port, second.port());
    let hosts = HostsFile::new("127.0.0.2 locks.test\n");
    let program = hosts.program(env!("CARGO_BIN_EXE_redlatch-agent"));
    let url = format!("redis://locks.test:{port}?retry_for=20&watchdog=60");
    let agent = Agent::start("rust", &program, &url)
        .expect("an agent in a namespace of its own, which takes root or user namespaces");
    let lock = |name: &str| {
        let locked = agent.ask("lock", json!({ "name": name })).within(PATIENCE);
        assert_eq!(locked.expect("free"), json!(true), "{name}");
    };
    lock("before");
    assert!(first.view().exists("before"));
    hosts.write("127.0.0.3 locks.test\n");
    lock("meanwhile");
    assert!(first.view().exists("meanwhile"), "connections stay where they are");
    first.stop();
    lock("after");
    assert!(second.view().exists("after"));
    agent.kill();
}

/// The file that a program takes for the machine's list of hosts.
struct HostsFile(std::path::PathBuf);

impl HostsFile {
    fn new(text: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("redlatch-hosts-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the disk has room");
        let file = HostsFile(dir);
        file.write(text);
        file
    }

    fn write(&self, text: &str) {
        std::fs::write(self.0.join("hosts"), text).expect("the disk has room");
    }

    /// `program` in a namespace with this list of hosts.
    fn program(&self, program: &str) -> String {
        let path = self.0.join("program");
        let hosts = self.0.join("hosts");
        let mounted = format!("mount --bind {} /etc/hosts && exec {program} \"$0\"", hosts.display());
        std::fs::write(&path, format!("#!/bin/sh\nexec unshare -rm sh -c '{mounted}' \"$1\"\n"))
            .expect("the disk has room");
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, runnable).expect("it is ours");
        path.display().to_string()
    }
}

impl Drop for HostsFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_server_that_shares_its_port_is_asked_for_by_name() {
    let authority = Authority::new();
    let server = Server::with(Options {
        tls: Some(Tls { shown: authority.issue("DNS:localhost"), clients: None }),
        ..Options::default()
    });
    let relay = Relay::start("127.0.0.1", 0, server.tls_port());
    let url = format!("rediss://localhost:{}?tls_ca={}", relay.port(), authority.cert());
    use_every_kind(&Client::connect(&url).expect("a good URL"), "n");
    let hello = relay.first();
    assert!(hello.windows(9).any(|bytes| bytes == b"localhost"), "the first message of TLS names the host");
}

#[test]
fn a_connection_without_a_name_of_its_own_tells_its_machine_process_and_client() {
    let server = Server::start();
    let client = client(&server.direct_url());
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
    let list: String = server.view().command(&["CLIENT", "LIST"]);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells");
    let name = format!(" name=redlatch@{}:{}:{} ", host.trim(), std::process::id(), client.id());
    assert!(list.contains(&name), "{name} is not in {list}");
}

#[test]
fn a_server_that_lists_its_clients_has_their_names_and_their_library() {
    for (server, says_library) in [(Server::start(), false), (newest(&[]), true)] {
        let named = client(&format!("{}?client_name=till-7", server.direct_url()));
        named.lock("n").blocking().acquire().expect("free").release().expect("held");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
        drop(runtime.block_on(named.lock("n").acquire()).expect("free"));
        let list: String = server.view().command(&["CLIENT", "LIST"]);
        let ours: Vec<&str> = list.lines().filter(|line| line.contains(" name=till-7 ")).collect();
        assert_eq!(ours.len(), 2, "one that its caller drives, and the common one: {list}");
        let library = format!(" lib-name=redlatch lib-ver={}", env!("CARGO_PKG_VERSION"));
        assert!(ours.iter().all(|line| line.contains(&library) == says_library), "{list}");
    }
}
