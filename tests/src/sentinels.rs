//! A master and its replica, with sentinels that watch over them.

use std::path::PathBuf;

use crate::cluster::is_synced;
use crate::guarded::Guarded;
use crate::oracle::places;
use crate::server::{Options, Server};
use crate::view::View;
use crate::{eventually, ports};

/// How many sentinels there are.
const COUNT: usize = 3;
/// The name that the sentinels give their master.
pub const MASTER: &str = "mymaster";

pub struct Sentinels {
    /// The first master, and its replica.
    pub servers: [Server; 2],
    ports: Vec<u16>,
    processes: Vec<Guarded>,
}

impl Sentinels {
    /// Starts all servers, and returns once the sentinels know each other and the replica.
    pub fn start() -> Self {
        Sentinels::start_at("127.0.0.1")
    }

    /// The same, with sentinels that know the servers by this address of the machine.
    pub fn start_at(host: &str) -> Self {
        let at_once = ["--repl-diskless-sync-delay", "0", "--bind", "127.0.0.1", "::1"];
        let with = |words: &[&str]| {
            Server::with(Options { args: words.iter().map(|word| word.to_string()).collect(), ..Options::default() })
        };
        let master = with(&at_once);
        let replica = with(&[&at_once[..], &["--replicaof", host, &master.port().to_string()]].concat());
        eventually("a replica with all of its master", || is_synced(&replica).then_some(()));
        places::share([&master, &replica].into_iter().map(Server::port));
        let mut sentinels = Sentinels { servers: [master, replica], ports: Vec::new(), processes: Vec::new() };
        for _ in 0..COUNT {
            sentinels.add(host);
        }
        let known = |view: &mut View| -> Option<()> {
            let words: Vec<String> = view.try_command(&["SENTINEL", "MASTER", MASTER]).ok()?;
            let is = |name: &str, value: &str| words.chunks(2).any(|pair| pair[0] == name && pair[1] == value);
            (is("num-slaves", "1") && is("num-other-sentinels", &(COUNT - 1).to_string())).then_some(())
        };
        for port in &sentinels.ports {
            eventually("a sentinel that knows all the others", || known(&mut look(*port)?));
        }
        sentinels
    }

    fn add(&mut self, host: &str) {
        let Stray { port, process } = Stray::watching(host, self.servers[0].port());
        places::passes(port, &self.servers.each_ref().map(Server::port));
        self.ports.push(port);
        self.processes.push(process);
    }

    pub fn url(&self) -> String {
        let hosts: Vec<String> = self.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("redis+sentinel://{}/{MASTER}", hosts.join(","))
    }

    /// Where the sentinels listen.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Freezes a sentinel: its connections stay open, and it answers nothing.
    pub fn pause(&self, place: usize) {
        self.processes[place].signal("STOP");
    }

    /// Lets a frozen sentinel go on.
    pub fn resume(&self, place: usize) {
        self.processes[place].signal("CONT");
    }

    /// Kills all sentinels. The servers go on.
    pub fn stop(&mut self) {
        self.processes.clear();
    }

    /// A view of each sentinel.
    pub fn views(&self) -> impl Iterator<Item = View> + '_ {
        self.ports.iter().map(|port| look(*port).expect("it answers"))
    }

    /// The place of the server that most sentinels call the master.
    pub fn master(&self) -> usize {
        let says = |port: &u16| -> Option<String> {
            let mut view = look(*port)?;
            let words: Vec<String> = view.try_command(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER]).ok()?;
            words.get(1).cloned()
        };
        // On a busy machine a sentinel may stay silent: its silence counts for neither server.
        eventually("sentinels of which most say the same", || {
            let said: Vec<String> = self.ports.iter().filter_map(says).collect();
            let most = |place: &usize| {
                let port = self.servers[*place].port().to_string();
                said.iter().filter(|word| **word == port).count() * 2 > self.ports.len()
            };
            [0, 1].into_iter().find(most)
        })
    }

    /// Makes the two servers change roles, once the sentinels can.
    pub fn fail_over(&self) {
        eventually("sentinels that change the master", || {
            let mut view = look(self.ports[0])?;
            view.try_command::<()>(&["SENTINEL", "FAILOVER", MASTER]).ok()
        });
    }

    /// Starts a dead server again, as a replica, and returns once the former order is back. On a busy machine the
    /// sentinels may have changed the roles once more.
    pub fn revive(&self, dead: usize) {
        self.servers[dead].restart();
        let mut follows = 2;
        eventually("a replica with all of its master", || {
            let master = self.master();
            let replica = 1 - master;
            if replica != follows {
                let port = self.servers[master].port().to_string();
                self.servers[replica].view().command::<()>(&["REPLICAOF", "127.0.0.1", &port]);
                follows = replica;
            }
            (is_synced(&self.servers[replica]) && self.all_know_the_replica()).then_some(())
        });
    }

    fn all_know_the_replica(&self) -> bool {
        self.ports.iter().all(|port| {
            let Some(mut view) = look(*port) else { return false };
            let replicas: Vec<Vec<String>> = view.try_command(&["SENTINEL", "REPLICAS", MASTER]).unwrap_or_default();
            replicas.iter().any(|replica| replica.chunks(2).any(|pair| pair[0] == "flags" && pair[1] == "slave"))
        })
    }

    /// Returns once that server is the master.
    pub fn until_master(&self, place: usize) {
        // The server is asked first: constant questions would disturb the sentinels. A server ends its connections
        // while it is promoted.
        eventually("a master that knows it", || {
            let role: Vec<redis::Value> =
                View::quick(&self.servers[place].direct_url()).ok()?.try_command(&["ROLE"]).ok()?;
            matches!(role.first(), Some(redis::Value::BulkString(word)) if word == b"master").then_some(())
        });
        eventually("another master", || (self.master() == place).then_some(()));
    }
}

/// A sentinel that has never heard of the others, like one that was cut off from them.
pub struct Stray {
    pub port: u16,
    process: Guarded,
}

impl Stray {
    /// Starts a sentinel that takes the server on that port for the master, and returns once the sentinel answers.
    pub fn watching(host: &str, master: u16) -> Self {
        let port = ports::free();
        let dir: PathBuf = std::env::temp_dir().join(format!("redlatch-sentinel-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the disk has room");
        let file = dir.join("sentinel.conf");
        let lines = [
            format!("port {port}"),
            "bind 127.0.0.1".into(),
            format!("dir {}", dir.display()),
            format!("sentinel monitor {MASTER} {host} {master} 2"),
            format!("sentinel down-after-milliseconds {MASTER} 1000"),
            format!("sentinel failover-timeout {MASTER} 3000"),
        ];
        std::fs::write(&file, lines.join("\n")).expect("the disk has room");
        let program = std::env::var("REDLATCH_TEST_SERVER").unwrap_or_else(|_| "redis-server".into());
        let process = Guarded::start(&dir, &[program, file.display().to_string(), "--sentinel".into()]);
        eventually("a sentinel that answers", || look(port));
        Stray { port, process }
    }
}

/// A connection to a sentinel, if it answers.
fn look(port: u16) -> Option<View> {
    View::quick(&format!("redis://127.0.0.1:{port}")).ok()
}
