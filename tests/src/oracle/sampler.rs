//! The thread beside each server that compares the clients' beliefs with the server's keys.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::{ConnectionLike, Value};

use super::abroad;
use super::book::{self, Belief, Client, Key};
use super::places::Place;
use super::probe::{self, Found};
use super::watch::{self, Watch};
use super::{BEAT, GIVEN_BACK, ROUNDING, SETTLED, SWEEP, Statement, Violation, endless};
use crate::view::View;

/// How many beliefs are compared in one beat.
const AT_ONCE: usize = 64;
/// How many keys are read in one sweep.
const KEYS_AT_ONCE: &str = "500";

/// The results of earlier looks at one owner's holds.
#[derive(Default)]
struct Seen {
    /// Since when the server has nothing of the owner.
    gone: Option<Instant>,
    /// Since when the belief is longer than the key's life, and when the belief ends.
    short: Option<(Instant, Instant)>,
}

pub(super) struct Sampler<'a> {
    watch: &'a Watch,
    view: Option<View>,
    clients: Vec<Arc<Client>>,
    known: usize,
    listed: Instant,
    /// The belief at which the last look at a client ended.
    after: HashMap<String, Arc<Key>>,
    seen: HashMap<(String, Arc<Key>, u64), Seen>,
    /// The server's count of holds of readers with very many.
    readers: HashMap<(String, Arc<Key>), usize>,
    cursor: String,
    swept: Instant,
    endless: BTreeMap<String, Instant>,
    counters: BTreeMap<String, i64>,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(watch: &'a Watch, view: Option<View>) -> Self {
        let now = Instant::now();
        Sampler {
            watch,
            view,
            clients: Vec::new(),
            known: 0,
            listed: now,
            after: HashMap::new(),
            seen: HashMap::new(),
            readers: HashMap::new(),
            cursor: "0".into(),
            swept: now,
            endless: BTreeMap::new(),
            counters: BTreeMap::new(),
        }
    }

    pub(super) fn run(mut self) {
        while !self.watch.stop.load(SeqCst) {
            sleep(BEAT);
            if self.view.is_none() {
                self.view = self.watch.connect();
            }
            if self.watch.emptied.swap(false, SeqCst) {
                self.counters.clear();
            }
            if self.view.is_some() && (self.look().is_none() || self.sweep().is_none()) {
                // A failed look proves nothing, so that the next one opens a new connection.
                self.view = None;
                self.watch.disconnected();
                self.seen.clear();
                self.readers.clear();
                self.endless.clear();
            }
        }
    }

    /// Sends commands and returns their replies, errors included; `None`: the server does not answer.
    fn ask(&mut self, commands: &[redis::Cmd]) -> Option<Vec<Value>> {
        let view = self.view.as_mut()?;
        let packed: Vec<u8> = commands.iter().flat_map(redis::Cmd::get_packed_command).collect();
        let mut sent = self.watch.sent.lock().expect("nothing panics while it is held");
        for command in commands {
            let word = command.args_iter().next();
            if let Some(redis::Arg::Simple(word)) = word {
                *sent.entry(String::from_utf8_lossy(word).to_lowercase()).or_default() += 1;
            }
        }
        view.connection.req_packed_commands(&packed, 0, commands.len()).ok()
    }

    /// Compares the beliefs with the server.
    fn look(&mut self) -> Option<()> {
        let noted = abroad::are_all_noted();
        if book::begun() != self.known || self.listed.elapsed() > Duration::from_millis(500) {
            self.known = book::begun();
            self.listed = Instant::now();
            self.clients = book::clients_of(self.watch.place);
        }
        let mut beliefs = Vec::new();
        for client in &self.clients {
            let some =
                book::beliefs(client, self.after.get(&client.uuid), AT_ONCE.saturating_sub(beliefs.len()).max(1));
            if let Some(last) = some.last() {
                self.after.insert(client.uuid.clone(), last.key.clone());
            }
            beliefs.extend(some.into_iter().filter(|belief| belief.holds > 0));
        }
        if beliefs.is_empty() {
            self.seen.clear();
            self.readers.clear();
            return Some(());
        }
        let mut commands = vec![redis::cmd("ROLE")];
        let mut parts = Vec::new();
        let mut database = 0;
        for belief in &beliefs {
            if belief.client.database != database {
                database = belief.client.database;
                commands.push(redis::cmd("SELECT").arg(database).clone());
            }
            let reader = (belief.client.uuid.clone(), belief.key.clone());
            let reads = probe::reads(belief, self.readers.get(&reader).copied().unwrap_or_default());
            parts.push(commands.len()..commands.len() + reads.len());
            commands.extend(reads);
        }
        if database != 0 {
            commands.push(redis::cmd("SELECT").arg(0).clone());
        }
        let replies = self.ask(&commands)?;
        let now = Instant::now();
        let is_master =
            matches!(&replies[0], Value::Array(words) if words.first() == Some(&Value::BulkString(b"master".to_vec())));
        self.watch.role.store(if is_master { watch::MASTER } else { watch::REPLICA }, SeqCst);
        for (belief, part) in beliefs.iter().zip(parts) {
            let found = match probe::found(belief, &replies[part]) {
                _ if !self.decides(belief) => Found::Unknown,
                Found::More(count) => {
                    self.readers.insert((belief.client.uuid.clone(), belief.key.clone()), count);
                    Found::Unknown
                }
                found => found,
            };
            self.judge(belief, found, now, noted);
        }
        Some(())
    }

    /// Whether this server alone decides about the belief. In a cluster a server answers only for its own slots.
    fn decides(&self, belief: &Belief) -> bool {
        let places = belief.client.places();
        let is_replica =
            |place: &Place| watch::find(*place).is_some_and(|watch| watch.role.load(SeqCst) == watch::REPLICA);
        self.watch.role.load(SeqCst) == watch::MASTER
            && (belief.client.is_cluster() || places.iter().filter(|place| **place != self.watch.place).all(is_replica))
    }

    /// `noted`: before this look, all reports of other processes were noted.
    fn judge(&mut self, before: &Belief, found: Found, now: Instant, noted: bool) {
        let mark = (before.client.uuid.clone(), before.key.clone(), before.first);
        let is_same = |after: &Belief| after.first == before.first && after.grip == before.grip;
        let after = book::look(&before.client, &before.key).filter(|after| is_same(after) && after.holds > 0);
        let (Some(after), false) = (after, found == Found::Unknown) else {
            self.seen.remove(&mark);
            return;
        };
        let until = before.until.min(after.until);
        let seen = self.seen.entry(mark).or_default();
        let wrong = match found {
            Found::Unknown | Found::More(_) => None,
            _ if before.is_changing || after.is_changing || until <= now => {
                *seen = Seen::default();
                None
            }
            Found::Gone => {
                let since = *seen.gone.get_or_insert(now);
                let ended = seen
                    .short
                    .filter(|(_, ends)| *ends <= now)
                    .map(|(_, ends)| format!("the server let it end {:.0} ms ago", -book::signed(ends, now)));
                let prolonged = (after.asked > since).then(|| {
                    format!(
                        "the server has nothing of it for {:.0} ms, and a call of since then has prolonged the belief",
                        -book::signed(since, now)
                    )
                });
                ended.or(prolonged)
            }
            Found::Lives(left) => {
                seen.gone = None;
                let ends = now.checked_add(Duration::from_millis(left.clamp(0, 1 << 40) as u64) + ROUNDING);
                let ends = ends.filter(|ends| until > *ends);
                seen.short = ends.map(|ends| (seen.short.map_or(now, |(since, _)| since), ends));
                let is_settled = noted && seen.short.is_some_and(|(since, _)| now - since >= SETTLED);
                is_settled.then(|| format!("the server keeps it for {left} ms"))
            }
        };
        if let Some(wrong) = wrong {
            let client = &before.client;
            let key = &before.key;
            let text = format!(
                "`{}` of kind {}: {}:{} believes to hold it for {:.0} ms more, {wrong} ({})",
                key.name.escape_debug(),
                key.kind,
                client.uuid,
                key.owner,
                book::signed(until, now),
                book::told(client, key, now)
            );
            self.watch.report(Violation { statement: Statement::Belief, name: key.name.clone(), text });
        }
    }

    /// Looks at some of the keys.
    fn sweep(&mut self) -> Option<()> {
        if self.swept.elapsed() < SWEEP {
            return Some(());
        }
        self.swept = Instant::now();
        let scan = redis::cmd("SCAN").arg(&self.cursor).arg("COUNT").arg(KEYS_AT_ONCE).clone();
        let mut reply = self.ask(&[scan])?;
        let Ok((cursor, keys)) = redis::from_redis_value::<(String, Vec<Vec<u8>>)>(reply.remove(0)) else {
            return Some(());
        };
        self.cursor = cursor;
        let keys: Vec<String> = keys.into_iter().filter_map(|key| String::from_utf8(key).ok()).collect();
        let mut commands: Vec<redis::Cmd> = keys.iter().map(|key| redis::cmd("PTTL").arg(key).clone()).collect();
        let counters: Vec<&String> = keys.iter().filter(|key| key.starts_with("redisson_lock_token:")).collect();
        commands.extend(counters.iter().map(|key| redis::cmd("GET").arg(key).clone()));
        if commands.is_empty() {
            self.endless.clear();
            return Some(());
        }
        let replies = self.ask(&commands)?;
        for (key, reply) in counters.iter().zip(&replies[keys.len()..]) {
            let Ok(count) = redis::from_redis_value::<i64>(reply.clone()) else { continue };
            let before = self.counters.insert((*key).clone(), count);
            if let Some(before) = before.filter(|before| *before > count && !self.watch.is_emptied()) {
                let text = format!("the counter of tokens `{key}` fell from {before} to {count}");
                self.watch.report(Violation { statement: Statement::Tokens, name: (*key).clone(), text });
            }
        }
        let now = Instant::now();
        for (key, reply) in keys.iter().zip(&replies) {
            if *reply != Value::Int(-1) {
                self.endless.remove(key);
                continue;
            }
            let view = self.view.as_mut()?;
            let wants = self
                .watch
                .apart(|sent| endless::wants_an_end(view, key, |word| *sent.entry(word.to_owned()).or_default() += 1));
            let Some(what) = wants else { continue };
            let since = *self.endless.entry(key.clone()).or_insert(now);
            if now - since >= GIVEN_BACK {
                self.watch.report(endless::violation(key, what));
            }
        }
        Some(())
    }
}
