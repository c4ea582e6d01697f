//! One cell: a kind, an operation, a trouble. It is played, and judged by what holds whatever happens.

use std::sync::{Arc, Mutex};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use redlatch::kinds::Traits;
use redlatch::{Client, Op, Request};
use redlatch_tests::oracle::endless;
use redlatch_tests::{Proxy, Server, View, ms};

use crate::clocked::{self, Clock};
use crate::grounds::Grounds;
use crate::moving::Move;
use crate::operations::Operation;
use crate::player::{Next, Player};
use crate::troubles::{Ground, Strike, Trouble};

/// The watchdog's lease of every client here.
pub const LEASE: Duration = Duration::from_secs(2);
/// How much longer than a lease something may take on a machine that has more to do.
const MARGIN: Duration = Duration::from_secs(5);
/// For how long a slot is half here and half there.
const PARTED: Duration = ms(200);
/// How far a server's clock is set back, in ms.
const BACK: i64 = -5_000;

pub struct Cell<'a> {
    pub number: usize,
    pub kind: &'static Traits,
    pub operation: &'a Operation,
    pub trouble: &'a Trouble,
}

/// A cell while it is played.
pub struct Scene<'a> {
    cell: &'a Cell<'a>,
    grounds: &'a Grounds,
    own: Option<Server>,
    clock: Option<Clock>,
    proxy: Option<Proxy>,
    user: String,
    /// The key of the lock.
    key: String,
    /// Whom the trouble meets.
    pub a: Arc<Player>,
    /// Who has none.
    pub b: Player,
    writers: Option<[Player; 2]>,
    control: Mutex<View>,
    moving: Option<Move>,
    strikes: AtomicBool,
    healed: AtomicBool,
}

impl Cell<'_> {
    pub fn title(&self) -> String {
        format!("{} × {} × {}", self.kind.name, self.operation.name, self.trouble.name)
    }

    /// What the client that the trouble meets was told, and what was wrong, if anything was.
    pub fn play(&self, grounds: &Grounds) -> (String, Vec<String>) {
        let scene = Scene::open(self, grounds);
        scene.set_permits();
        (self.operation.play)(&scene);
        scene.heal();
        let player = scene.a.clone();
        let wrong = scene.judge();
        (player.told(), wrong)
    }

    /// How long something of it may be there after its clients have gone.
    fn patience(&self) -> Duration {
        // The client that is dropped leaves its longest lease.
        let longest = if self.trouble.strike == Strike::Abandoned { self.operation.longest } else { 1 };
        LEASE * longest + MARGIN
    }
}

impl<'a> Scene<'a> {
    fn open(cell: &'a Cell<'a>, grounds: &'a Grounds) -> Self {
        let (stem, ground) = (format!("n{}.", cell.number), cell.trouble.ground);
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
        let needs_proxy = matches!(cell.trouble.strike, Strike::LostReply | Strike::LateCopy | Strike::Nonsense(_));
        let proxy = needs_proxy.then(|| Proxy::start(server));
        let user = format!("u{}", cell.number);
        let needs_user = matches!(cell.trouble.strike, Strike::Lacks(_) | Strike::OwnKey | Strike::LateCopy);
        if needs_user {
            let kill = if cell.trouble.strike == Strike::LateCopy { "-client|kill" } else { "+client|kill" };
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
        let name = if cell.kind.name == "multi" { format!("{key}\0one\0two") } else { key.clone() };
        let (a, b) = (connect(&way, &format!("&response_timeout=1&retry_for=1{}", cell.trouble.options)), connect(&url, ""));
        let player = |client: &Client, kind| Player::new(client.clone(), kind, name.clone(), cell.number % 2 == 0);
        let writers = (cell.kind.name == "read").then(|| [player(&a, "write"), player(&b, "write")]);
        let (a, b) = (Arc::new(player(&a, cell.kind.name)), player(&b, cell.kind.name));
        let control = Mutex::new(server.view());
        let moving = matches!(cell.trouble.strike, Strike::Moves { .. }).then(|| Move::prepare(grounds, &key));
        Scene { cell, grounds, own, clock, proxy, user, key, a, b, writers, control, moving, strikes: AtomicBool::new(false), healed: AtomicBool::new(false) }
    }

    fn server(&self) -> &Server {
        self.own.as_ref().unwrap_or(&self.grounds.shared[self.cell.number % self.grounds.shared.len()])
    }

    /// One that looks into each server that may have the lock.
    fn views(&self) -> Vec<View> {
        match self.cell.trouble.ground {
            Ground::Cluster => self.grounds.cluster().servers.iter().map(Server::view).collect(),
            Ground::Silent => self.grounds.speaking().iter().map(Server::view).collect(),
            _ => vec![self.server().view()],
        }
    }

    /// Who keeps others of this kind out, at the client that the trouble meets.
    pub fn blocking_a(&self) -> &Player {
        self.writers.as_ref().map_or(&*self.a, |[writer, _]| writer)
    }

    /// The same at the other client.
    pub fn blocking_b(&self) -> &Player {
        self.writers.as_ref().map_or(&self.b, |[_, writer]| writer)
    }

    /// Gives what has permits as many as there are to be, unless it has some.
    pub fn set_permits(&self) {
        let kind = match self.cell.kind.name {
            "semaphore" => "semaphore",
            "permit_semaphore" | "permit" => "permit_semaphore",
            _ => return,
        };
        let set = Request { kind, numbers: vec![self.cell.operation.permits], ..self.b.request(Op::TrySet, 0) };
        self.b.ask("set permits", set);
    }

    fn set_rights(&self, words: &[&str]) {
        self.command(&[&["ACL", "SETUSER", &self.user][..], words].concat());
    }

    /// At once, over a connection that is there already.
    fn command(&self, words: &[&str]) {
        self.control.lock().expect("no command panics").command::<()>(words);
    }

    /// Does `act`, and from its beginning on it goes wrong, until [`Scene::heal`]. A slot has moved soon after its first keys.
    pub fn struck<T: Send>(&self, act: impl FnOnce() -> T) -> T {
        self.strike();
        if !matches!(self.cell.trouble.strike, Strike::Moves { .. }) {
            return act();
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                sleep(PARTED);
                self.heal();
            });
            act()
        })
    }

    fn strike(&self) {
        if self.strikes.swap(true, SeqCst) {
            return;
        }
        let proxy = || self.proxy.as_ref().expect("it was started for that");
        match &self.cell.trouble.strike {
            Strike::Nothing | Strike::Impossible(_) => {}
            Strike::LostReply => proxy().lose_reply_to("EVALSHA"),
            Strike::LateCopy => proxy().keep_request("EVALSHA"),
            Strike::Nonsense(said) => proxy().answer_to("EVALSHA", said),
            Strike::Full => self.command(&["CONFIG", "SET", "maxmemory", "1"]),
            Strike::Lacks(command) => self.set_rights(&[&format!("-{command}")]),
            Strike::OwnKey => self.set_rights(&["resetkeys", &format!("~{}", self.key)]),
            Strike::Moves { lock } => self.moving.as_ref().expect("it is of a cluster").begin(&self.key, *lock, self.grounds),
            Strike::ClockBack => self.clock.as_ref().expect("it has one").set(BACK),
            Strike::Closed(after) => {
                let (player, after) = (self.a.clone(), ms(*after));
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

    /// All is well again.
    pub fn heal(&self) {
        if !self.strikes.load(SeqCst) || self.healed.swap(true, SeqCst) {
            return;
        }
        match &self.cell.trouble.strike {
            Strike::Full => self.command(&["CONFIG", "SET", "maxmemory", "0"]),
            Strike::Lacks(_) => self.set_rights(&["+@all"]),
            Strike::OwnKey => self.set_rights(&["allkeys"]),
            Strike::Moves { .. } => {
                self.moving.as_ref().expect("it is of a cluster").end(&self.key, self.grounds);
            }
            _ => self.proxy.iter().for_each(Proxy::disarm),
        }
    }

    /// What was wrong.
    fn judge(self) -> Vec<String> {
        let mut wrong = Vec::new();
        if matches!(self.cell.trouble.strike, Strike::LateCopy)
            && let Some(proxy) = self.proxy.as_ref().filter(|proxy| proxy.struck() > 0)
        {
            proxy.deliver_kept();
        }
        self.a.close();
        wrong.extend(self.next_gets_it());
        self.b.close();
        wrong.extend(self.nothing_is_left());
        let players = [Some(&*self.a), Some(&self.b), self.writers.as_ref().map(|[a, _]| a), self.writers.as_ref().map(|[_, b]| b)];
        for player in players.into_iter().flatten() {
            wrong.append(&mut player.faults.lock().expect("no call panics"));
        }
        if self.cell.trouble.spares {
            let errors = self.a.errors.lock().expect("no call panics").clone();
            // A lease of its own may end, and a busy machine may have paused it.
            let is_due = |error: &String| error.contains(": expired") || error.contains("paused");
            wrong.extend(errors.into_iter().filter(|error| error.contains(" is lost to ") && !is_due(error)));
        }
        if self.cell.trouble.name == "none" {
            let errors = self.a.errors.lock().expect("no call panics").clone();
            wrong.extend(errors.into_iter().filter(|error| self.cell.kind.reentrant || !error.contains("already held")));
        }
        let mine = format!("n{}.", self.cell.number);
        let servers: Vec<&Server> = self.own.iter().chain(self.grounds.servers()).collect();
        let seen = servers.iter().flat_map(|server| server.watch().violations()).filter(|violation| violation.name.contains(&mine));
        wrong.extend(seen.map(|violation| violation.to_string()));
        if let Some(own) = &self.own {
            own.watch().take_violations();
        }
        wrong
    }

    /// Another client can take it within a lease.
    fn next_gets_it(&self) -> Option<String> {
        let (kind, begun) = (self.cell.kind.name, Instant::now());
        let wait = Some(self.cell.patience());
        let client = self.b.client().expect("no trouble meets it");
        let next = Player::new(client, if kind == "read" { "write" } else { kind }, self.b.name.clone(), true);
        let taken = match kind {
            "semaphore" => return self.count_is_right(),
            "latch" => {
                next.force();
                next.take(99, Some(Duration::ZERO), None)
            }
            _ => {
                self.set_permits();
                next.take(99, wait, Some(LEASE))
            }
        };
        next.give(99, taken.as_ref());
        let faults = next.faults.lock().expect("no call panics").join("; ");
        match taken {
            Some(_) if faults.is_empty() => None,
            _ => Some(format!("the next client does not get it within {:.1?}: {} {faults}", begun.elapsed(), next.told())),
        }
    }

    /// The permits of a semaphore have no end: what a caller has lost is lost, but there are never more than were set.
    fn count_is_right(&self) -> Option<String> {
        let inspected = self.b.ask("inspect", self.b.request(Op::Inspect, 0))?;
        let permits = self.cell.operation.permits;
        // A release that was not answered in time may be carried out or not: its caller asks again.
        let is_settled = self.a.errors.lock().expect("no call panics").is_empty() && matches!(self.cell.trouble.strike, Strike::LostReply | Strike::LateCopy | Strike::Cancelled(_) | Strike::Nothing);
        let is_right = (0..=permits).contains(&inspected.number) && (!is_settled || inspected.number == permits || self.cell.operation.name == "force");
        (!is_right).then(|| format!("there are {} of {permits} permits", inspected.number))
    }

    /// (d): after the last client is gone and a lease has passed there is nothing of ours but what may be without an end.
    fn nothing_is_left(&self) -> Option<String> {
        let (begun, mut views) = (Instant::now(), self.views());
        let pattern = format!("*{}*", self.key);
        loop {
            let mut left = None;
            for view in &mut views {
                for key in view.keys(&pattern) {
                    // The queue of a fair lock, of which this is a part, is without an end.
                    if key.starts_with("redlatch_lock_seen:") {
                        continue;
                    }
                    let ttl = view.pttl(&key);
                    let wants = ttl == -1 && endless::wants_an_end(view, &key, |_| {}).is_some();
                    if wants || ttl > 0 {
                        left = Some(format!("`{key}` is left, for {ttl} ms, {:.1?} after the last client had gone", begun.elapsed()));
                    }
                }
            }
            let left = left?;
            if begun.elapsed() > self.cell.patience() {
                return Some(left);
            }
            sleep(ms(20));
        }
    }
}
