//! Carries out the schedule, and records when each fault was in effect.

use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redlatch_tests::check::{Fault, Kind};
use redlatch_tests::{Direction, Proxy, Server, clock, traffic};

use crate::fleet::{Fleet, RESPONSE, response};
use crate::quorum::Quorum;
use crate::residue::set_permits;
use crate::schedule::{self, Episode};
use crate::verb::Verb;

/// How long a fault waits for its packet.
const REACH: Duration = Duration::from_millis(300);
/// A text in every script call.
pub const SCRIPTS: &str = "EVALSHA";

pub struct Nemesis<'a> {
    pub server: &'a Server,
    pub fleet: &'a Fleet,
    pub quorum: &'a Quorum,
    pub faults: Mutex<Vec<Fault>>,
    /// How often each verb was carried out.
    pub done: Mutex<std::collections::BTreeMap<&'static str, u64>>,
}

impl Nemesis<'_> {
    /// Carries out an episode's verbs one after the other, and heals everything.
    pub fn carry_out(&self, episode: &Episode) {
        let began = Instant::now();
        for (gap, verb) in &episode.steps {
            sleep(*gap);
            self.strike(*verb);
        }
        sleep(episode.least.saturating_sub(began.elapsed()));
    }

    fn strike(&self, verb: Verb) {
        *self.done.lock().expect("nothing panics while it is held").entry(verb.name()).or_default() += 1;
        let from = clock::now();
        let network = |from| self.happened(from, Kind::Network);
        match verb {
            Verb::Kill { slot } => {
                let mut slot_now = self.fleet.slot(slot);
                let mut next = self.fleet.launch(slot);
                let from = clock::now();
                std::mem::swap(&mut *slot_now, &mut next);
                let killed = next.number;
                drop(next);
                self.happened(from, Kind::Kill { process: killed });
                slot_now.process.tell(&format!("go {}", schedule::OWN));
            }
            Verb::Stop { slot, time } => {
                let slot = self.fleet.slot(slot);
                slot.process.signal("STOP");
                sleep(time);
                slot.process.signal("CONT");
                self.happened(from, Kind::Stop { process: slot.number });
            }
            Verb::Cut { slot } => {
                self.proxy(slot).cut();
                network(from);
            }
            Verb::Stall { slot, way, time } => {
                ways(way).for_each(|way| self.proxy(slot).stall(way));
                sleep(time);
                self.proxy(slot).flow();
                network(from);
            }
            Verb::Freeze { slot, way, time } => {
                ways(way).for_each(|way| self.proxy(slot).freeze(way));
                sleep(time);
                self.proxy(slot).flow();
                network(from);
            }
            Verb::Delay { slot, each, time } => {
                self.proxy(slot).delay(each);
                sleep(time);
                self.proxy(slot).delay(Duration::ZERO);
                network(from);
            }
            Verb::Refuse { slot, time } => {
                self.proxy(slot).refuse();
                self.proxy(slot).cut();
                sleep(time);
                self.proxy(slot).accept();
                network(from);
            }
            Verb::HalfClose { slot, way } => {
                self.proxy(slot).half_close(way);
                network(from);
            }
            Verb::LoseReplies { every, time } => {
                self.everywhere(|_, proxy| proxy.lose_replies_to(SCRIPTS, every));
                sleep(time);
                self.everywhere(|_, proxy| proxy.disarm());
                network(from);
            }
            Verb::RetardReplies { every, beyond, time } => {
                self.everywhere(|slot, proxy| proxy.retard_replies_to(SCRIPTS, every, response(slot) + beyond));
                sleep(time);
                self.everywhere(|_, proxy| proxy.disarm());
                sleep(RESPONSE + beyond);
                network(from);
            }
            Verb::CutPacket { slot, way, nth } => self.trap(slot, |proxy| proxy.cut_at(way, "", nth)),
            Verb::KillClients { subscribers } => {
                let (what, kind) =
                    if subscribers { ("pubsub", Kind::KillSubscribers) } else { ("normal", Kind::Network) };
                self.server.view().command::<i64>(&["CLIENT", "KILL", "TYPE", what]);
                self.happened(from, kind);
            }
            // No process may notice, so nothing is excused.
            Verb::ForgetScripts => self.server.view().command(&["SCRIPT", "FLUSH"]),
            Verb::Pause { time } => {
                let mut view = self.server.view();
                view.command::<()>(&["CLIENT", "PAUSE", &time.as_millis().to_string(), "ALL"]);
                sleep(time);
                view.command::<()>(&["CLIENT", "UNPAUSE"]);
                self.happened(from, Kind::Server);
            }
            Verb::Sleep { time } => {
                self.server.view().command::<()>(&["DEBUG", "SLEEP", &time.as_secs_f64().to_string()]);
                self.happened(from, Kind::Server);
            }
            Verb::Delete { key } => {
                self.server.view().command::<i64>(&["DEL", &traffic::name(key)]);
                self.happened(from, Kind::Delete { key });
                set_permits(&mut self.server.view(), false);
            }
            Verb::Flush => {
                self.server.view().command::<()>(&["FLUSHALL"]);
                self.happened(from, Kind::Flush);
                set_permits(&mut self.server.view(), false);
            }
            Verb::Restart => {
                self.server.restart();
                self.happened(from, Kind::Flush);
                self.happened(from, Kind::Server);
                set_permits(&mut self.server.view(), false);
            }
            Verb::Fill { time } => {
                let mut view = self.server.view();
                view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
                sleep(time);
                view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
                self.happened(from, Kind::Server);
            }
            Verb::Minority { at, ill, time } => {
                self.quorum.suffer(at, ill, time);
                self.happened(from, Kind::Minority);
            }
        }
    }

    fn trap(&self, slot: usize, set: impl FnOnce(&Proxy)) {
        let from = clock::now();
        let proxy = self.proxy(slot);
        let began = Instant::now();
        let struck = proxy.struck();
        set(proxy);
        while proxy.struck() == struck && began.elapsed() < REACH {
            sleep(Duration::from_millis(1));
        }
        proxy.disarm();
        self.happened(from, Kind::Network);
    }

    fn everywhere(&self, change: impl Fn(usize, &Proxy)) {
        self.fleet.proxies.iter().enumerate().for_each(|(slot, proxy)| change(slot, proxy));
    }

    fn proxy(&self, slot: usize) -> &Proxy {
        &self.fleet.proxies[slot]
    }

    fn happened(&self, from: u64, kind: Kind) {
        let fault = Fault { from, until: clock::now(), kind };
        self.faults.lock().expect("nothing panics while it is held").push(fault);
    }
}

fn ways(way: Option<Direction>) -> impl Iterator<Item = Direction> {
    [Direction::ToServer, Direction::ToClient].into_iter().filter(move |one| way.is_none_or(|way| way == *one))
}
