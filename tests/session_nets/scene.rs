//! A cell in play: its clients, the trouble around [`Scene::struck`], and the judgement by the promises that hold in every case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Member, Op, Request, Rule};
use redlatch::{Client, Error, LostReason};
use redlatch_tests::{Mariadb, Proxy, Sql, ms, secs};

use crate::player::{Next, Player};
use crate::round::{Cell, Round};
use crate::troubles::Strike;
use crate::witness::{LEASE, Witness};

/// How much longer than a lease something may take on a busy machine.
const MARGIN: Duration = secs(5);
/// A machine that delays threads for so long is a reason to lose a hold.
const SLOW: Duration = ms(300);
/// How long a half-open connection stays so: longer than a lease.
const HALF_OPEN: Duration = LEASE.saturating_add(ms(300));

/// A kind of lock, as a request names it, and as how many members. A group's members are plain locks.
pub struct Kind {
    pub name: &'static str,
    request: &'static str,
    rule: Option<Rule>,
    members: usize,
}

impl Kind {
    pub fn is_group(&self) -> bool {
        self.rule.is_some()
    }
}

pub const KINDS: [Kind; 5] = [
    Kind { name: "plain", request: "plain", rule: None, members: 1 },
    Kind { name: "non_reentrant", request: "non_reentrant", rule: None, members: 1 },
    Kind { name: "fenced", request: "fenced", rule: None, members: 1 },
    Kind { name: "multi", request: "plain", rule: Some(Rule::All), members: 2 },
    Kind { name: "red", request: "plain", rule: Some(Rule::Majority), members: 3 },
];

pub struct Scene<'a> {
    cell: &'a Cell,
    round: &'a Round<'a>,
    /// The servers of the members, the one in trouble first, each with its witness and the name of the lock there.
    places: Vec<(&'a Mariadb, Arc<Witness>, String)>,
    proxy: Option<Proxy>,
    /// The client in trouble.
    pub a: Player,
    /// The other client, which only the troubles of its server meet.
    pub b: Player,
}

fn connect(server: &Mariadb, port: u16) -> Client {
    let url = format!(
        "{}?watchdog={}&response_timeout=1&retry_for=1&connect_timeout=1",
        server.url_at(port),
        LEASE.as_secs()
    );
    Client::connect(&url).expect("a good URL")
}

impl<'a> Scene<'a> {
    pub fn open(cell: &'a Cell, round: &'a Round<'a>) -> Self {
        let kind = cell.kind;
        let stem = cell.stem();
        let places: Vec<_> = round
            .servers()
            .take(kind.members)
            .enumerate()
            .map(|(at, (server, witness))| (server, witness, format!("{stem}{at}")))
            .collect();
        let proxy = cell.trouble.strike.needs_proxy().then(|| Proxy::to(round.server.port()));
        let player = |first: u16| {
            let port = |at: usize, server: &Mariadb| if at == 0 { first } else { server.port() };
            let clients: Vec<_> = places
                .iter()
                .enumerate()
                .map(|(at, (server, witness, _))| (connect(server, port(at, server)), witness.clone()))
                .collect();
            let lock = match kind.rule {
                None => clients[0].0.clone(),
                Some(rule) => {
                    let member = |((client, _), (_, _, name)): (&(Client, _), &(_, _, String))| Member {
                        client: client.clone(),
                        kind: kind.request,
                        name: name.as_str().into(),
                    };
                    let members = clients.iter().zip(&places).map(member).collect();
                    <Client as Border>::group(rule, members).expect("each lock is there once")
                }
            };
            let ping = Request::new(Op::Ping, kind.request, places[0].2.clone(), 1);
            lock.run_blocking(ping).expect("the servers answer");
            Player::new(lock, clients, kind.request, places[0].2.clone())
        };
        let a = player(proxy.as_ref().map_or(round.server.port(), Proxy::port));
        let b = player(round.server.port());
        Scene { cell, round, places, proxy, a, b }
    }

    /// Does `act` in trouble, at the same time as the other cells on this server. The trouble has ended when this returns.
    pub fn struck<T>(&self, act: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        self.arm();
        self.round.enter_trouble();
        let is_over = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            scope.spawn(|| self.strike(&is_over));
            let done = act();
            is_over.store(true, SeqCst);
            done
        });
        if self.cell.trouble.strike.is_common() {
            self.round.wait_for_end();
        }
        if let Strike::HalfOpen(_) = self.cell.trouble.strike {
            sleep(HALF_OPEN.saturating_sub(begun.elapsed()));
        }
        if let Some(proxy) = &self.proxy {
            proxy.flow();
            proxy.disarm();
        }
        done
    }

    /// The part of the trouble that is there before the operation goes on.
    fn arm(&self) {
        let proxy = || self.proxy.as_ref().expect("it was started for that");
        match self.cell.trouble.strike {
            Strike::CutRequest => proxy().cut_at(redlatch_tests::Direction::ToServer, "_LOCK(", 1),
            Strike::LostReply => proxy().lose_reply_to("_LOCK("),
            Strike::HalfOpen(direction) => proxy().freeze(direction),
            Strike::Cancelled(after) => self.a.meets(Next::Cancelled(ms(after))),
            Strike::Dropped(after) => self.a.meets(Next::Dropped(ms(after))),
            _ => {}
        }
    }

    /// The part that strikes while it goes on.
    fn strike(&self, is_over: &AtomicBool) {
        let (_, witness, name) = &self.places[0];
        match self.cell.trouble.strike {
            Strike::Kill(after) => {
                sleep(ms(after));
                for session in witness.sessions(&self.a.ids[0]) {
                    // It may have ended meanwhile.
                    let _ = witness.ask(&format!("KILL {session}"));
                }
            }
            Strike::Cut => self.proxy.iter().for_each(Proxy::cut),
            Strike::Stranger => {
                let mut stranger = self.places[0].0.sql();
                for _ in 0..20 {
                    self.meddle(&mut stranger, witness, name);
                    if is_over.load(SeqCst) {
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    /// Another program releases what it does not have, and takes the lock for a moment.
    fn meddle(&self, stranger: &mut Sql, witness: &Witness, name: &str) {
        if stranger.unlock(name) {
            witness.violates(name, "a stranger has released a lock that it does not have".into());
        }
        if !stranger.lock(name, 1) {
            return;
        }
        for _ in 0..2 {
            if witness.is_believed(name) {
                witness.violates(name, "a holder believes while a stranger has the lock".into());
            }
            sleep(ms(5));
        }
        if !stranger.unlock(name) {
            witness.violates(name, "a stranger has lost its lock".into());
        }
    }

    /// Returns the answers to the client in trouble, and every violation.
    pub fn judge(self) -> (String, Vec<String>) {
        let mut wrong = Vec::new();
        self.a.close();
        let end = Instant::now() + LEASE + MARGIN;
        let next = loop {
            let taken = self.b.take(50, Some(end.saturating_duration_since(Instant::now())), None);
            if taken.is_some() || Instant::now() > end {
                break taken;
            }
        };
        if next.is_none() {
            wrong.push(format!("the next client does not get the lock: {}", self.b.told()));
        }
        self.b.give(50, next);
        self.b.close();
        wrong.extend(self.what_is_left());
        let witnesses: Vec<_> = self.places.iter().map(|(_, witness, _)| witness.clone()).collect();
        for player in [&self.a, &self.b] {
            wrong.append(&mut player.faults.lock().expect("no call panics"));
            wrong.extend(player.check_watches(&witnesses));
        }
        wrong.extend(self.errors(&witnesses));
        let stem = self.cell.stem();
        wrong.extend(witnesses.iter().flat_map(|witness| witness.take_wrong(&stem)));
        (self.a.told(), wrong)
    }

    /// Locks, waits and sessions of the cell that are still at the servers.
    fn what_is_left(&self) -> Vec<String> {
        let end = Instant::now() + LEASE + MARGIN;
        let ids = [&self.a.ids[..], &self.b.ids].concat();
        loop {
            let left = self.places.iter().flat_map(|(_, witness, name)| witness.left(std::slice::from_ref(name), &ids));
            let left: Vec<String> = left.map(|what| format!("left behind: {what}")).collect();
            if left.is_empty() || Instant::now() > end {
                return left;
            }
            sleep(ms(20));
        }
    }

    /// Errors and losses for which there is no reason.
    fn errors(&self, witnesses: &[Arc<Witness>]) -> Vec<String> {
        let is_slow = witnesses.iter().any(|witness| witness.slowest() > SLOW);
        if self.cell.operation.loses || is_slow {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        for player in [&self.a, &self.b] {
            for error in &*player.errors.lock().expect("no call panics") {
                let is_wrong = match self.cell.trouble.strike {
                    // The operation cancels a call itself.
                    Strike::Nothing => !matches!(error, Error::Cancelled),
                    _ => self.cell.trouble.spares && matches!(error, Error::Lost(_)),
                };
                // The client has seen that the machine did not run it.
                let is_wrong = is_wrong && !matches!(error, Error::Lost(loss) if loss.reason == LostReason::Paused);
                if is_wrong {
                    wrong.push(format!("without any reason: {error}"));
                }
            }
        }
        wrong
    }
}
