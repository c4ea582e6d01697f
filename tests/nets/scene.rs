//! A cell in play: its servers and clients, and the trouble between [`Scene::struck`] and [`Scene::heal`].

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::{Op, Request};
use redlatch_tests::{Clocks, Direction, Proxy, Remote, Server, View, kinds, ms};

use crate::cell::{Cell, LEASE};
use crate::clocked::{self, Clock};
use crate::grounds::Grounds;
use crate::hand::Hand;
use crate::moving::Move;
use crate::player::{Next, Player};
use crate::troubles::{Ground, Strike};

const WORKER: &str = env!("CARGO_BIN_EXE_redlatch-worker");
/// For how long a slot's keys are split between two nodes.
const PARTED: Duration = ms(200);
/// How long a machine sleeps: longer than a lease.
const ASLEEP: Duration = LEASE.saturating_add(ms(400));
/// How far a server's clock is set back, in ms.
const BACK: i64 = -5_000;

pub struct Scene<'a> {
    pub cell: &'a Cell<'a>,
    pub grounds: &'a Grounds,
    pub own: Option<Server>,
    clock: Option<Clock>,
    pub proxy: Option<Proxy>,
    user: String,
    /// The key of the lock.
    pub key: String,
    /// The client in trouble.
    pub a: Arc<Player>,
    /// The other client, which the trouble spares.
    pub b: Player,
    pub writers: Option<[Player; 2]>,
    /// The client in trouble, if it has a process of its own.
    pub remote: Option<Arc<Remote>>,
    /// The result of that client's forked child.
    pub child: Mutex<Option<Receiver<serde_json::Value>>>,
    /// Violations that were seen during the trouble.
    pub seen: Mutex<Vec<String>>,
    control: Mutex<View>,
    moving: Option<Move>,
    strikes: AtomicBool,
    healed: AtomicBool,
    pub begun: Instant,
}

impl<'a> Scene<'a> {
    pub fn open(cell: &'a Cell<'a>, grounds: &'a Grounds) -> Self {
        let stem = format!("n{}.", cell.number);
        let ground = cell.trouble.ground;
        let key = match ground {
            Ground::Cluster => grounds.name_in_cluster(&stem),
            Ground::Silent => grounds.name_beside_silence(&stem),
            _ => stem,
        };
        let (own, clock) = match ground {
            Ground::Own => (Some(Server::start()), None),
            Ground::Clocked => {
                let (server, clock) = clocked::start();
                (Some(server), Some(clock))
            }
            _ => (None, None),
        };
        let server = own.as_ref().unwrap_or(&grounds.shared[cell.number % grounds.shared.len()]);
        let needs_proxy = matches!(
            cell.trouble.strike,
            Strike::LostReply | Strike::HeldUp { .. } | Strike::Nonsense(_) | Strike::Silent | Strike::Down
        );
        let proxy = needs_proxy.then(|| Proxy::start(server));
        let user = format!("u{}", cell.number);
        let needs_user = matches!(cell.trouble.strike, Strike::Lacks(_) | Strike::OwnKey | Strike::HeldUp { .. });
        if needs_user {
            let kill =
                if matches!(cell.trouble.strike, Strike::HeldUp { .. }) { "-client|kill" } else { "+client|kill" };
            server.view().command::<()>(&["ACL", "SETUSER", &user, "on", ">secret", "~*", "&*", "+@all", kill]);
        }
        let url = match ground {
            Ground::Cluster => grounds.cluster().url(),
            Ground::Silent => grounds.silent().url(),
            _ => server.direct_url(),
        };
        let login = if needs_user { format!("{user}:secret@") } else { String::new() };
        let way = match &proxy {
            Some(proxy) => format!("redis://{login}127.0.0.1:{}", proxy.port()),
            None => url.replace("://", &format!("://{login}")),
        };
        let connect = |url: &str, options: &str| {
            let url = format!("{url}?watchdog={}{options}", LEASE.as_secs());
            Client::connect(&url).unwrap_or_else(|e| panic!("{url}: {e}"))
        };
        let name = kinds::name(cell.kind.name, &key);
        let turn = if cell.operation.turn { "&turn=60" } else { "" };
        let options = format!("&response_timeout=1&retry_for=1{turn}{}", cell.trouble.options);
        let remote = cell.trouble.strike.needs_process().then(|| {
            let clocks = matches!(cell.trouble.strike, Strike::Suspended(_)).then(Clocks::new);
            Arc::new(Remote::start(WORKER, &format!("{way}?watchdog={}{options}", LEASE.as_secs()), clocks))
        });
        let a = remote.clone().map_or_else(|| Hand::Here(connect(&way, &options)), Hand::There);
        let b = Hand::Here(connect(&url, ""));
        let player = |hand: &Hand, kind| Player::new(hand.clone(), kind, name.clone(), cell.number.is_multiple_of(2));
        let writers = (cell.kind.name == "read").then(|| [player(&a, "write"), player(&b, "write")]);
        let a = Arc::new(player(&a, cell.kind.name));
        let b = player(&b, cell.kind.name);
        let control = Mutex::new(server.view());
        let moving = matches!(cell.trouble.strike, Strike::Moves { .. }).then(|| Move::prepare(grounds, &key));
        Scene {
            cell,
            grounds,
            own,
            clock,
            proxy,
            user,
            key,
            a,
            b,
            writers,
            remote,
            child: Mutex::default(),
            seen: Mutex::default(),
            control,
            moving,
            strikes: AtomicBool::new(false),
            healed: AtomicBool::new(false),
            begun: Instant::now(),
        }
    }

    fn server(&self) -> &Server {
        self.own.as_ref().unwrap_or(&self.grounds.shared[self.cell.number % self.grounds.shared.len()])
    }

    /// Whether holds of callers without an answer are given back, and holds of a client that closes.
    pub fn is_given_back(&self) -> bool {
        let strike = &self.cell.trouble.strike;
        strike.lets_give_back() && (self.cell.kind.held || !matches!(strike, Strike::Closed(_)))
    }

    /// A view of each server that may have the lock.
    pub fn views(&self) -> Vec<View> {
        match self.cell.trouble.ground {
            Ground::Cluster => self.grounds.cluster().servers.iter().map(Server::view).collect(),
            Ground::Silent => self.grounds.speaking().iter().map(Server::view).collect(),
            _ => vec![self.server().view()],
        }
    }

    /// The client in trouble as the holder that keeps others of this kind out.
    pub fn blocking_a(&self) -> &Player {
        self.writers.as_ref().map_or(&*self.a, |[writer, _]| writer)
    }

    /// The other client as that holder.
    pub fn blocking_b(&self) -> &Player {
        self.writers.as_ref().map_or(&self.b, |[_, writer]| writer)
    }

    /// Sets the number of permits, unless there are some already.
    pub fn set_permits(&self) {
        let Some(kind) = kinds::row(self.cell.kind.name).set_by.filter(|kind| *kind != "latch") else { return };
        let set = Request { kind, numbers: vec![self.cell.operation.permits], ..self.b.request(Op::TrySet, 0) };
        self.b.ask("set permits", set);
    }

    fn set_rights(&self, words: &[&str]) {
        self.command(&[&["ACL", "SETUSER", &self.user][..], words].concat());
    }

    /// Runs a command at once, over an open connection.
    fn command(&self, words: &[&str]) {
        self.control.lock().expect("no command panics").command::<()>(words);
    }

    /// Does `act` in trouble, which lasts until [`Scene::heal`]. A slot has moved soon after its first keys, and a
    /// sleeping machine wakes by itself.
    pub fn struck<T: Send>(&self, act: impl FnOnce() -> T) -> T {
        match self.cell.trouble.strike {
            Strike::Moves { .. } => {
                self.strike();
                thread::scope(|scope| {
                    scope.spawn(|| {
                        sleep(PARTED);
                        self.heal();
                    });
                    act()
                })
            }
            Strike::Suspended(after) => thread::scope(|scope| {
                scope.spawn(move || {
                    sleep(ms(after));
                    self.sleep_once();
                });
                act()
            }),
            _ => {
                self.strike();
                act()
            }
        }
    }

    /// Suspends and resumes the machine of the client in trouble.
    fn sleep_once(&self) {
        if self.strikes.swap(true, SeqCst) {
            return;
        }
        let remote = self.remote.as_ref().expect("it was started for that");
        remote.stop();
        let since = Instant::now();
        sleep(ASLEEP);
        remote.go_on(since.elapsed());
        self.seen.lock().expect("nothing panics while it is held").extend(remote.believes_too_long());
    }

    fn strike(&self) {
        if self.strikes.swap(true, SeqCst) {
            return;
        }
        let proxy = || self.proxy.as_ref().expect("it was started for that");
        let ways = |stall: &dyn Fn(Direction)| [Direction::ToServer, Direction::ToClient].into_iter().for_each(stall);
        self.a.is_deaf.store(self.cell.trouble.strike.is_silence(), SeqCst);
        match &self.cell.trouble.strike {
            Strike::Nothing | Strike::Suspended(_) => {}
            Strike::Forks => {
                let child = self.remote.as_ref().expect("it was started for that").fork();
                *self.child.lock().expect("nothing panics while it is held") = Some(child);
            }
            Strike::LostReply => proxy().lose_reply_to("EVALSHA"),
            Strike::HeldUp { .. } => proxy().keep_request("EVALSHA"),
            Strike::Nonsense(said) => proxy().answer_to("EVALSHA", said),
            Strike::Full => self.command(&["CONFIG", "SET", "maxmemory", "1"]),
            Strike::Lacks(command) => self.set_rights(&[&format!("-{command}")]),
            Strike::OwnKey => self.set_rights(&["resetkeys", &format!("~{}", self.key)]),
            Strike::Moves { lock } => {
                self.moving.as_ref().expect("it is of a cluster").begin(&self.key, *lock, self.grounds)
            }
            Strike::Silent => ways(&|way| proxy().stall(way)),
            Strike::Down => {
                proxy().refuse();
                proxy().cut();
            }
            Strike::ClockBack => self.clock.as_ref().expect("it has one").set(BACK),
            Strike::Closed(after) => {
                let player = self.a.clone();
                let after = ms(*after);
                thread::spawn(move || {
                    sleep(after);
                    player.close();
                });
            }
            Strike::Abandoned => {
                let writer = self.writers.as_ref().map(|[writer, _]| writer);
                [Some(&*self.a), writer].into_iter().flatten().for_each(Player::abandon);
            }
            Strike::Cancelled(after) => self.a.meets(Next::Cancelled(ms(*after))),
            Strike::Dropped(after) => self.a.meets(Next::Dropped(ms(*after))),
        }
    }

    /// Ends the trouble.
    pub fn heal(&self) {
        if !self.strikes.load(SeqCst) || self.healed.swap(true, SeqCst) {
            return;
        }
        self.a.is_deaf.store(false, SeqCst);
        match &self.cell.trouble.strike {
            Strike::Silent => self.proxy.iter().for_each(Proxy::flow),
            Strike::Down => self.proxy.iter().for_each(Proxy::accept),
            Strike::Full => self.command(&["CONFIG", "SET", "maxmemory", "0"]),
            Strike::Lacks(_) => self.set_rights(&["+@all"]),
            Strike::OwnKey => self.set_rights(&["allkeys"]),
            Strike::Moves { .. } => {
                self.moving.as_ref().expect("it is of a cluster").end(&self.key, self.grounds);
            }
            _ => self.proxy.iter().for_each(Proxy::disarm),
        }
    }
}
