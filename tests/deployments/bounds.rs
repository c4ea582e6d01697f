//! The longest time that a call takes in any trouble of the servers: each kind of call × each deployment × each
//! trouble, blocking and asynchronous.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Holds};
use redlatch_tests::{Cluster, Direction, Proxy, Sentinels, Server, all_at_once, eventually, secs};

/// How long one copy of a call may stay unanswered, and how long the client sends others.
const RESPONSE: Duration = secs(2);
const OPTIONS: &str = "response_timeout=2&retry_for=2&watchdog=60";
/// The wait of a call that waits for the lock.
const WAIT: Duration = secs(1);
/// The delay of a loaded machine. A timeout that counts once too often adds [`RESPONSE`] or more.
const SLACK: Duration = Duration::from_millis(1900);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    /// The servers stand still before the client's first call: they accept connections and answer nothing.
    StoppedBefore,
    /// The servers stand still once the client has its connections.
    StoppedAfter,
    /// All server processes are gone.
    Refused,
    /// The network delivers nothing in either direction, on old connections and new ones.
    BlackHole,
    /// Attempts to connect get no answer, not even a refusal, as behind a firewall or at a dead host. Old connections
    /// have ended.
    Unanswered,
}

const TROUBLES: [Trouble; 5] =
    [Trouble::StoppedBefore, Trouble::StoppedAfter, Trouble::Refused, Trouble::BlackHole, Trouble::Unanswered];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Try,
    Wait,
    Release,
    Extend,
    Inspect,
    Ping,
    Close,
}

const CALLS: [Call; 7] = [Call::Try, Call::Wait, Call::Release, Call::Extend, Call::Inspect, Call::Ping, Call::Close];

impl Call {
    /// The bound in docs/deployments.md.
    fn bound(self) -> Duration {
        match self {
            Call::Wait => WAIT,
            _ => RESPONSE + RESPONSE,
        }
    }

    /// These two calls send nothing without a hold, and before its first call a client has none.
    fn can_be(self, trouble: Trouble) -> bool {
        trouble != Trouble::StoppedBefore || !matches!(self, Call::Release | Call::Extend)
    }

    fn request(self, hold: u64) -> Option<Request> {
        let request = |op| Request::new(op, "plain", "n", 1);
        Some(match self {
            Call::Try => Request { name: "other".into(), ..request(Op::Acquire) },
            Call::Wait => Request { name: "other".into(), wait: Some(WAIT), ..request(Op::Acquire) },
            Call::Release => Request { hold, ..request(Op::Release) },
            Call::Extend => Request { hold, lease: Some(secs(90)), ..request(Op::Extend) },
            Call::Inspect => request(Op::Inspect),
            Call::Ping => request(Op::Ping),
            Call::Close => return None,
        })
    }
}

/// Servers behind proxies, so that a test can cause each trouble.
struct Stage {
    url: String,
    servers: Vec<Server>,
    sentinels: Option<Sentinels>,
    proxies: Vec<Proxy>,
    deaf: Vec<Deaf>,
}

/// A port that answers no attempt to connect: its queue is full, and no process takes from it.
struct Deaf {
    _listener: TcpListener,
    _queue: Vec<TcpStream>,
}

impl Deaf {
    fn at(port: u16) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = eventually("the port", || TcpListener::bind(address).ok());
        let mut queue = Vec::new();
        // The system drops attempts that have no place in the queue.
        loop {
            match TcpStream::connect_timeout(&address, Duration::from_millis(500)) {
                Ok(stream) => queue.push(stream),
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    return Deaf { _listener: listener, _queue: queue };
                }
                Err(error) => panic!("{address} answers: {error}"),
            }
        }
    }
}

impl Stage {
    fn single() -> Self {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        Stage {
            url: format!("{}?{OPTIONS}", server.url_at(proxy.port())),
            servers: vec![server],
            sentinels: None,
            proxies: vec![proxy],
            deaf: Vec::new(),
        }
    }

    fn sentinel() -> Self {
        let sentinels = Sentinels::start();
        let doors: Vec<_> = sentinels.ports().iter().map(|port| Proxy::to(*port)).collect();
        let hosts: Vec<_> = doors.iter().map(|door| format!("127.0.0.1:{}", door.port())).collect();
        let (nat, mut proxies) = behind(sentinels.servers.iter());
        proxies.extend(doors);
        let url = format!("redis+sentinel://{}/mymaster?{OPTIONS}&nat={nat}", hosts.join(","));
        Stage { url, servers: Vec::new(), sentinels: Some(sentinels), proxies, deaf: Vec::new() }
    }

    fn cluster() -> Self {
        let cluster = Cluster::start(3, 0);
        let (nat, proxies) = behind(cluster.servers.iter());
        let hosts: Vec<_> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port())).collect();
        let url = format!("redis+cluster://{}?{OPTIONS}&nat={nat}", hosts.join(","));
        Stage { url, servers: cluster.servers, sentinels: None, proxies, deaf: Vec::new() }
    }

    fn bring_about(&mut self, trouble: Trouble) {
        let servers = || self.servers.iter().chain(self.sentinels.iter().flat_map(|sentinels| &sentinels.servers));
        match trouble {
            Trouble::StoppedBefore | Trouble::StoppedAfter => {
                // The sentinels are paused first: otherwise they would promote another server.
                self.sentinels.iter().for_each(|sentinels| (0..3).for_each(|place| sentinels.pause(place)));
                servers().for_each(Server::pause);
            }
            Trouble::Refused => {
                servers().for_each(Server::stop);
                self.sentinels.iter_mut().for_each(Sentinels::stop);
                self.proxies.iter().for_each(Proxy::refuse);
                self.proxies.iter().for_each(Proxy::cut);
            }
            Trouble::Unanswered => {
                self.proxies.iter().for_each(Proxy::refuse);
                self.deaf = self.proxies.iter().map(|proxy| Deaf::at(proxy.port())).collect();
                self.proxies.iter().for_each(Proxy::cut);
            }
            Trouble::BlackHole => {
                for proxy in &self.proxies {
                    proxy.stall(Direction::ToServer);
                    proxy.stall(Direction::ToClient);
                }
            }
        }
    }
}

/// Proxies in front of servers, and the option that leads clients to them.
fn behind<'a>(servers: impl Iterator<Item = &'a Server>) -> (String, Vec<Proxy>) {
    let mut nat = Vec::new();
    let mut proxies = Vec::new();
    for server in servers {
        let proxy = Proxy::start(server);
        nat.push(format!("127.0.0.1:{}=127.0.0.1:{}", server.port(), proxy.port()));
        proxies.push(proxy);
    }
    (nat.join(","), proxies)
}

/// One call of a client of its own, prepared before the trouble.
struct Cell {
    call: Call,
    blocking: bool,
    client: Client,
    hold: u64,
}

impl Cell {
    fn new(url: &str, call: Call, blocking: bool, trouble: Trouble) -> Self {
        let client = super::client(url);
        let hold = match trouble {
            Trouble::StoppedBefore => 0,
            _ => Cell::warm(&client, blocking, format!("{call:?} {blocking}")),
        };
        Cell { call, blocking, client, hold }
    }

    /// Opens the client's connections, and takes a hold.
    fn warm(client: &Client, blocking: bool, name: String) -> u64 {
        let request = Request { wait: Some(redlatch_tests::PATIENCE), ..Request::new(Op::Acquire, "plain", name, 1) };
        run(client, blocking, request).expect("all is well yet").number as u64
    }

    fn name(&self) -> String {
        format!("{:?}, {}", self.call, if self.blocking { "blocking" } else { "not blocking" })
    }

    fn keeps_its_bound(self) {
        let name = format!("{:?} {}", self.call, self.blocking);
        let asked = Instant::now();
        let answer = match self.call.request(self.hold) {
            Some(request) => {
                let is_of_hold = matches!(self.call, Call::Release | Call::Extend | Call::Inspect);
                Some(run(
                    &self.client,
                    self.blocking,
                    if is_of_hold { Request { name: name.into(), ..request } } else { request },
                ))
            }
            None => {
                self.client.close_blocking(Holds::Release);
                None
            }
        };
        let took = asked.elapsed();
        if matches!(self.call, Call::Try | Call::Wait) {
            assert!(!matches!(answer, Some(Ok(Answer { done: true, .. }))), "no server can have granted it");
        }
        assert!(took < self.call.bound() + SLACK, "{took:?}, and the bound is {:?}: {answer:?}", self.call.bound());
    }
}

fn run(client: &Client, blocking: bool, request: Request) -> redlatch::Result<Answer> {
    match blocking {
        true => client.run_blocking(request),
        false => {
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(client.run(request))
        }
    }
}

fn every_call_keeps_its_bound(stage: fn() -> Stage) {
    all_at_once(TROUBLES.into_iter().map(|trouble| {
        let job = move || {
            let mut stage = stage();
            let calls = CALLS.into_iter().filter(|call| call.can_be(trouble));
            let cells =
                calls.flat_map(|call| [true, false].map(|blocking| Cell::new(&stage.url, call, blocking, trouble)));
            let cells: Vec<_> = cells.collect();
            stage.bring_about(trouble);
            all_at_once(cells.into_iter().map(|cell| (cell.name(), move || cell.keeps_its_bound())));
        };
        (format!("{trouble:?}"), job)
    }));
}

#[test]
fn every_call_to_one_server_keeps_its_bound() {
    every_call_keeps_its_bound(Stage::single);
}

#[test]
fn every_call_to_a_master_of_sentinels_keeps_its_bound() {
    every_call_keeps_its_bound(Stage::sentinel);
}

#[test]
fn every_call_to_a_cluster_keeps_its_bound() {
    every_call_keeps_its_bound(Stage::cluster);
}

#[test]
fn at_most_a_tenth_of_the_cells_is_impossible() {
    let cells: Vec<_> = TROUBLES.into_iter().flat_map(|trouble| CALLS.map(|call| call.can_be(trouble))).collect();
    assert!(cells.iter().filter(|can_be| !**can_be).count() * 10 <= cells.len());
}
