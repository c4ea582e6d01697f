//! A cell in play: its clients, the trouble around [`Scene::struck`], and the judgement by the promises that hold in every case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Member, Op, Request, Rule};
use redlatch::{Client, Error, LostReason};
use redlatch_tests::{Direction, Proxy, eventually, ms, secs};

use crate::book::{LEASE, Terms};
use crate::player::{Next, Player};
use crate::round::{Cell, Round};
use crate::system::Target;
use crate::troubles::Strike;
use crate::witness::Witness;

/// How much longer than a lease something may take on a busy machine.
const MARGIN: Duration = secs(5);
/// A machine that delays threads for so long is a reason to lose a hold.
const SLOW: Duration = ms(300);
/// How long a half-open connection stays so: longer than a lease.
const HALF_OPEN: Duration = LEASE.saturating_add(ms(300));

pub struct Scene<'a> {
    cell: &'a Cell,
    round: &'a Round<'a>,
    /// The witnesses of the members' servers, the one in trouble first, each with the name of the lock there.
    places: Vec<(Arc<Witness>, String)>,
    proxy: Option<Proxy>,
    /// The client in trouble.
    pub a: Player,
    /// The other client, which only the troubles of its server meet.
    pub b: Player,
}

/// `patience`: the seconds for which a call waits for a server.
fn connect(url: &str, patience: u64, options: &str) -> Client {
    let times = format!("response_timeout={patience}&retry_for={patience}&connect_timeout={patience}");
    let url = format!("{url}?watchdog={}&{times}&{options}", LEASE.as_secs());
    Client::connect(&url).expect("a good URL")
}

impl<'a> Scene<'a> {
    pub fn open(cell: &'a Cell, round: &'a Round<'a>) -> Self {
        let kind = cell.kind;
        let strike = cell.trouble.strike;
        let stem = cell.stem();
        let witnesses = round.witnesses().take(kind.members).enumerate();
        let places: Vec<_> = witnesses.map(|(at, witness)| (witness, format!("{stem}{at}"))).collect();
        let terms = Terms { room: kind.room, told: cell.told() };
        places.iter().for_each(|(witness, name)| witness.has_terms(name, terms));
        let proxy = strike.needs_proxy().then(|| Proxy::to(round.witness.server.port()));
        // Without a trouble no call may fail, however busy the machine is.
        let patience = if strike == Strike::Nothing { 4 } else { 1 };
        let player = |at: usize, request: &'static str| {
            // So the players of a cell have any two of them.
            let options = cell.system.options;
            let options = options[(cell.number >> at) % options.len()];
            let clients: Vec<_> = places
                .iter()
                .enumerate()
                .map(|(place, (witness, name))| {
                    let through = proxy.as_ref().filter(|_| place == 0).map(Proxy::port);
                    let client = connect(&witness.server.urls(through)[at], patience, options);
                    witness.server.meet(&client, &format!("{name}.met"));
                    witness.server.prepare(&client, kind, name);
                    (client, witness.clone())
                })
                .collect();
            let lock = match kind.rule {
                None => clients[0].0.clone(),
                Some(rule) => {
                    let member = |((client, _), (_, name)): (&(Client, _), &(_, String))| Member {
                        client: client.clone(),
                        kind: request,
                        name: name.as_str().into(),
                    };
                    let members = clients.iter().zip(&places).map(member).collect();
                    <Client as Border>::group(rule, members).expect("each lock is there once")
                }
            };
            let ping = Request::new(Op::Ping, request, places[0].1.clone(), 1);
            eventually("servers that answer", || lock.run_blocking(ping.clone()).ok());
            Player::new(lock, clients, request, places[0].1.clone())
        };
        let a = player(0, kind.request);
        let b = player(1, kind.beside);
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
        let (witness, name) = &self.places[0];
        let mark = witness.server.mark(name);
        match self.cell.trouble.strike {
            Strike::CutRequest => proxy().cut_at(Direction::ToServer, &mark, 1),
            Strike::LostReply => proxy().lose_reply_to(&mark),
            Strike::HalfOpen(direction) => proxy().freeze(direction),
            Strike::Cancelled(after) => self.a.meets(Next::Cancelled(ms(after))),
            Strike::Dropped(after) => self.a.meets(Next::Dropped(ms(after))),
            _ => {}
        }
    }

    /// The part that strikes while it goes on.
    fn strike(&self, is_over: &AtomicBool) {
        let (witness, name) = &self.places[0];
        match self.cell.trouble.strike {
            Strike::Cut => self.proxy.iter().for_each(Proxy::cut),
            strike => {
                let is_forced = self.cell.operation.takes_away();
                let target = Target { kind: self.cell.kind, name, client: &self.a.ids[0], witness, is_forced };
                witness.server.meddle(strike, &target, is_over);
            }
        }
    }

    /// Returns the answers to the client in trouble, and every violation.
    pub fn judge(self) -> (String, Vec<String>) {
        let mut wrong = Vec::new();
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
        // A client that lives on keeps nothing either.
        wrong.extend(self.what_is_left("beside its client", &[]));
        self.a.close();
        self.b.close();
        wrong.extend(self.what_is_left("behind", &[&self.a.ids[..], &self.b.ids].concat()));
        let witnesses: Vec<_> = self.places.iter().map(|(witness, _)| witness.clone()).collect();
        for player in [&self.a, &self.b] {
            wrong.append(&mut player.faults.lock().expect("no call panics"));
            wrong.extend(player.check_watches(&witnesses));
        }
        wrong.extend(self.errors(&witnesses));
        let stem = self.cell.stem();
        wrong.extend(witnesses.iter().flat_map(|witness| witness.take_wrong(&stem)));
        (self.a.told(), wrong)
    }

    /// Locks and waits of the cell, and sessions of these clients, that are still at the servers.
    fn what_is_left(&self, place: &str, clients: &[String]) -> Vec<String> {
        let end = Instant::now() + LEASE + MARGIN;
        loop {
            let left =
                |(witness, name): &(Arc<Witness>, String)| witness.server.left(std::slice::from_ref(name), clients);
            let left: Vec<String> =
                self.places.iter().flat_map(left).map(|what| format!("left {place}: {what}")).collect();
            if left.is_empty() || Instant::now() > end {
                return left;
            }
            sleep(ms(50));
        }
    }

    /// Errors and losses for which there is no reason.
    fn errors(&self, witnesses: &[Arc<Witness>]) -> Vec<String> {
        let is_slow = witnesses.iter().any(|witness| witness.slowest() > SLOW);
        if self.cell.operation.loses || is_slow {
            return Vec::new();
        }
        let is_majority = self.cell.kind.rule == Some(Rule::Majority);
        let mut wrong = Vec::new();
        for player in [&self.a, &self.b] {
            for error in &*player.errors.lock().expect("no call panics") {
                let is_wrong = match self.cell.trouble.strike {
                    // A majority gives each member 50 ms, which a busy server needs for itself.
                    Strike::Nothing if is_majority && matches!(error, Error::Unavailable { .. }) => false,
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
