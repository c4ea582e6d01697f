//! The thread beside each server that compares what is believed with what the server has.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use redis::{ConnectionLike, Value};

use super::book::{self, Belief, Client, Key};
use super::places::{self, Place};
use super::probe::{self, Found};
use super::{BEAT, GIVEN_BACK, LAST_LEASE, ROUNDING, SETTLED, SWEEP, Statement, Violation, endless, tokens};
use crate::view::View;

/// So many beliefs are looked at in one beat.
const AT_ONCE: usize = 64;
/// So many keys are looked at in one sweep.
const KEYS_AT_ONCE: &str = "500";
/// So many violations are kept.
const MOST: usize = 20;

/// What a server said it is.
const MASTER: u8 = 1;
const REPLICA: u8 = 2;

/// What the rig sees of one server.
pub struct Watch {
    pub(super) place: Place,
    port: u16,
    url: String,
    stop: AtomicBool,
    /// What the server said last that it is; 0: nothing, or it did not answer.
    role: AtomicU8,
    violations: Mutex<Vec<Violation>>,
    exempt: Mutex<Vec<(Statement, String)>>,
    /// Set when the server's data was lost or taken away by the test.
    emptied: AtomicBool,
    /// How often the commands of this watch were sent since they were last forgotten; held while any is under way.
    sent: Mutex<BTreeMap<String, u64>>,
    /// The watch's own end of its connection, as the server names it.
    address: Mutex<Option<String>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

static ALL: LazyLock<Mutex<HashMap<Place, Weak<Watch>>>> = LazyLock::new(Mutex::default);

/// Not for programs that measure, or that show.
static ASIDE: AtomicBool = AtomicBool::new(false);

/// From now on servers are started without a watch: for programs that measure.
pub fn stand_aside() {
    ASIDE.store(true, SeqCst);
}

/// Tells the servers there that something was violated.
pub(super) fn report(places: &BTreeSet<Place>, violation: Violation) {
    let first = places.iter().find_map(|place| find(*place));
    first.into_iter().for_each(|watch| watch.report(violation.clone()));
}

fn find(place: Place) -> Option<Arc<Watch>> {
    ALL.lock().expect("nothing panics while it is held").get(&place).and_then(Weak::upgrade)
}

/// The watch of the server at a port.
pub(crate) fn at(port: u16) -> Option<Arc<Watch>> {
    let all = ALL.lock().expect("nothing panics while it is held");
    all.values().filter_map(Weak::upgrade).find(|watch| watch.port == port)
}

/// Whether a server names a watch by this address.
pub(crate) fn is_one(address: &str) -> bool {
    let all = ALL.lock().expect("nothing panics while it is held");
    all.values().filter_map(Weak::upgrade).any(|watch| watch.address.lock().is_ok_and(|own| own.as_deref() == Some(address)))
}

impl Watch {
    /// Begins to watch the server at `port`, which `addresses` lead to too.
    pub(crate) fn start(port: u16, addresses: &[String], url: String) -> Option<Arc<Watch>> {
        if ASIDE.load(SeqCst) {
            return None;
        }
        super::news::listen();
        let place = places::number();
        places::leads(&port.to_string(), place);
        addresses.iter().for_each(|address| places::leads(address, place));
        let watch = Arc::new(Watch {
            place,
            port,
            url,
            stop: AtomicBool::new(false),
            role: AtomicU8::new(0),
            violations: Mutex::default(),
            exempt: Mutex::default(),
            emptied: AtomicBool::new(false),
            sent: Mutex::default(),
            address: Mutex::default(),
            thread: Mutex::default(),
        });
        ALL.lock().expect("nothing panics while it is held").insert(place, Arc::downgrade(&watch));
        let connection = watch.connect();
        let run = watch.clone();
        let thread = std::thread::Builder::new().name("oracle".into()).spawn(move || Sampler::new(&run, connection).run());
        *watch.thread.lock().expect("nothing panics while it is held") = Some(thread.expect("the system gives a thread"));
        Some(watch)
    }

    /// What was violated so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.violations.lock().expect("nothing panics while it is held").clone()
    }

    /// The same, and forgets it: it is judged elsewhere.
    pub fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.violations.lock().expect("nothing panics while it is held"))
    }

    pub(crate) fn exempt(&self, statement: Statement, name: &str) {
        self.exempt.lock().expect("nothing panics while it is held").push((statement, name.to_owned()));
    }

    fn report(&self, violation: Violation) {
        let exempt = self.exempt.lock().expect("nothing panics while it is held");
        if exempt.iter().any(|(statement, name)| *statement == violation.statement && violation.name.contains(name.as_str())) {
            return;
        }
        let mut violations = self.violations.lock().expect("nothing panics while it is held");
        let is_known = violations.iter().any(|known| known.statement == violation.statement && known.name == violation.name);
        if violations.len() < MOST && !is_known {
            violations.push(violation);
        }
    }

    /// The server's data is gone, and its tokens begin anew.
    pub(crate) fn emptied(&self) {
        self.emptied.store(true, SeqCst);
        tokens::forget(self.place);
    }

    /// Does `work` while nothing of this watch is under way, with how often its commands were sent.
    pub(crate) fn apart<T>(&self, work: impl FnOnce(&mut BTreeMap<String, u64>) -> T) -> T {
        work(&mut self.sent.lock().expect("nothing panics while it is held"))
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.address.lock().expect("nothing panics while it is held").is_some()
    }

    fn connect(&self) -> Option<View> {
        let mut view = View::quick(&self.url).ok()?;
        let info: String = view.try_command(&["CLIENT", "INFO"]).ok()?;
        let address = info.split(' ').find_map(|word| word.strip_prefix("addr="))?.to_owned();
        *self.address.lock().expect("nothing panics while it is held") = Some(address);
        Some(view)
    }

    fn disconnected(&self) {
        *self.address.lock().expect("nothing panics while it is held") = None;
        self.role.store(0, SeqCst);
    }

    /// The server is about to be ended: looks once more, as far as it still answers.
    pub(crate) fn look_back(&self) {
        self.stop.store(true, SeqCst);
        if let Some(mut view) = self.connect() {
            last_look(self, &mut view);
        }
    }

    /// The server has ended.
    pub(crate) fn end(&self) {
        self.stop.store(true, SeqCst);
        let thread = self.thread.lock().expect("nothing panics while it is held").take();
        thread.into_iter().for_each(|thread| drop(thread.join()));
        let clients = book::clients_of(self.place);
        places::gone(self.place);
        tokens::forget(self.place);
        book::forget(&clients);
        ALL.lock().expect("nothing panics while it is held").remove(&self.place);
    }
}

/// What was seen of one owner's holds before.
#[derive(Default)]
struct Seen {
    /// Since when the server has nothing of it.
    gone: Option<Instant>,
    /// Since when it is believed in for longer than it lives, and when it ends.
    short: Option<(Instant, Instant)>,
}

struct Sampler<'a> {
    watch: &'a Watch,
    view: Option<View>,
    clients: Vec<Arc<Client>>,
    known: usize,
    listed: Instant,
    /// Where the last look at a client's beliefs ended.
    after: HashMap<String, Arc<Key>>,
    seen: HashMap<(String, Arc<Key>, u64), Seen>,
    cursor: String,
    swept: Instant,
    endless: BTreeMap<String, Instant>,
    counters: BTreeMap<String, i64>,
}

impl<'a> Sampler<'a> {
    fn new(watch: &'a Watch, view: Option<View>) -> Self {
        let now = Instant::now();
        Sampler {
            watch,
            view,
            clients: Vec::new(),
            known: 0,
            listed: now,
            after: HashMap::new(),
            seen: HashMap::new(),
            cursor: "0".into(),
            swept: now,
            endless: BTreeMap::new(),
            counters: BTreeMap::new(),
        }
    }

    fn run(mut self) {
        while !self.watch.stop.load(SeqCst) {
            sleep(BEAT);
            if self.view.is_none() {
                self.view = self.watch.connect();
            }
            if self.watch.emptied.swap(false, SeqCst) {
                self.counters.clear();
            }
            if self.view.is_some() && (self.look().is_none() || self.sweep().is_none()) {
                // What it did not see is no reason for anything.
                self.view = None;
                self.watch.disconnected();
                self.seen.clear();
                self.endless.clear();
            }
        }
    }

    /// Sends commands and gives their replies, errors too; `None`: the server does not answer.
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

    /// Compares what is believed.
    fn look(&mut self) -> Option<()> {
        if book::begun() != self.known || self.listed.elapsed() > Duration::from_millis(500) {
            (self.known, self.listed) = (book::begun(), Instant::now());
            self.clients = book::clients_of(self.watch.place);
        }
        let mut beliefs = Vec::new();
        for client in &self.clients {
            let some = book::beliefs(client, self.after.get(&client.uuid), AT_ONCE.saturating_sub(beliefs.len()).max(1));
            if let Some(last) = some.last() {
                self.after.insert(client.uuid.clone(), last.key.clone());
            }
            beliefs.extend(some.into_iter().filter(|belief| belief.holds > 0));
        }
        if beliefs.is_empty() {
            self.seen.clear();
            return Some(());
        }
        let (mut commands, mut parts, mut database) = (vec![redis::cmd("ROLE")], Vec::new(), 0);
        for belief in &beliefs {
            if belief.client.database != database {
                database = belief.client.database;
                commands.push(redis::cmd("SELECT").arg(database).clone());
            }
            let reads = probe::reads(belief);
            parts.push(commands.len()..commands.len() + reads.len());
            commands.extend(reads);
        }
        if database != 0 {
            commands.push(redis::cmd("SELECT").arg(0).clone());
        }
        let replies = self.ask(&commands)?;
        let now = Instant::now();
        let is_master = matches!(&replies[0], Value::Array(words) if words.first() == Some(&Value::BulkString(b"master".to_vec())));
        self.watch.role.store(if is_master { MASTER } else { REPLICA }, SeqCst);
        for (belief, part) in beliefs.iter().zip(parts) {
            let found = if self.decides(belief) { probe::found(belief, &replies[part]) } else { Found::Unknown };
            self.judge(belief, found, now);
        }
        Some(())
    }

    /// Whether what this server says of it is all that there is to say. In a cluster it answers for its own slots alone.
    fn decides(&self, belief: &Belief) -> bool {
        let places = belief.client.places();
        let is_replica = |place: &Place| find(*place).is_some_and(|watch| watch.role.load(SeqCst) == REPLICA);
        self.watch.role.load(SeqCst) == MASTER
            && (belief.client.is_cluster() || places.iter().filter(|place| **place != self.watch.place).all(is_replica))
    }

    fn judge(&mut self, before: &Belief, found: Found, now: Instant) {
        let mark = (before.client.uuid.clone(), before.key.clone(), before.first);
        let after = book::look(&before.client, &before.key).filter(|after| after.first == before.first && after.holds > 0);
        let (Some(after), false) = (after, found == Found::Unknown) else {
            self.seen.remove(&mark);
            return;
        };
        let until = before.until.min(after.until);
        let seen = self.seen.entry(mark).or_default();
        let wrong = match found {
            Found::Unknown => None,
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
                let is_settled = seen.short.is_some_and(|(since, _)| now - since >= SETTLED);
                is_settled.then(|| format!("the server keeps it for {left} ms"))
            }
        };
        if let Some(wrong) = wrong {
            let (client, key) = (&before.client, &before.key);
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
        let Ok((cursor, keys)) = redis::from_redis_value::<(String, Vec<Vec<u8>>)>(reply.remove(0)) else { return Some(()) };
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
            if let Some(before) = before.filter(|before| *before > count && !self.watch.emptied.load(SeqCst)) {
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
            let wants = self.watch.apart(|sent| {
                endless::wants_an_end(view, key, |word| *sent.entry(word.to_owned()).or_default() += 1)
            });
            let Some(what) = wants else { continue };
            let since = *self.endless.entry(key.clone()).or_insert(now);
            if now - since >= GIVEN_BACK {
                self.watch.report(without_end(key, what));
            }
        }
        Some(())
    }
}

fn without_end(key: &str, what: &str) -> Violation {
    let text = format!("the key `{}` is {what}, and has no end", key.escape_debug());
    Violation { statement: Statement::Ends, name: key.to_owned(), text }
}

/// What is in the server at its end: nothing that has no end and must have one; and of clients that are gone, nothing beyond its lease.
fn last_look(watch: &Watch, view: &mut View) {
    let begun = Instant::now();
    let clients = book::clients_of(watch.place);
    let are_over = !clients.is_empty() && book::are_over(&clients);
    let mut left: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        let Ok(keys) = view.try_command::<Vec<Vec<u8>>>(&["KEYS", "*"]) else { return };
        let mut waits = false;
        for key in keys.into_iter().filter_map(|key| String::from_utf8(key).ok()) {
            let Ok(ttl) = view.try_command::<i64>(&["PTTL", &key]) else { return };
            let now = Instant::now();
            if ttl == -1 {
                let Some(what) = endless::wants_an_end(view, &key, |_| {}) else { continue };
                waits = true;
                if begun.elapsed() >= GIVEN_BACK {
                    watch.report(without_end(&key, what));
                }
            } else if ttl > 0 && are_over && is_of(view, &key, &clients) {
                let ends = now + Duration::from_millis(ttl as u64) + ROUNDING;
                let first = *left.entry(key.clone()).or_insert(ends);
                if ends > first + SETTLED {
                    let text = format!("`{}` of clients that are gone was renewed: it lives for {ttl} ms more", key.escape_debug());
                    watch.report(Violation { statement: Statement::Nothing, name: key.clone(), text });
                }
                waits |= first.saturating_duration_since(begun) <= LAST_LEASE && now < first + SETTLED;
            }
        }
        if !waits || begun.elapsed() > GIVEN_BACK + LAST_LEASE || !watch.violations().is_empty() {
            return;
        }
        sleep(BEAT);
    }
}

/// Whether a key has a hold of one of these clients.
fn is_of(view: &mut View, key: &str, clients: &[Arc<Client>]) -> bool {
    let said: Vec<u8> = match view.try_command::<String>(&["TYPE", key]).unwrap_or_default().as_str() {
        "hash" => view.try_command::<Vec<Vec<u8>>>(&["HGETALL", key]).unwrap_or_default().concat(),
        "string" => [key.as_bytes(), &view.try_command::<Vec<u8>>(&["GET", key]).unwrap_or_default()].concat(),
        _ => Vec::new(),
    };
    let has = |client: &Arc<Client>| said.windows(36).any(|text| text == client.uuid.as_bytes());
    clients.iter().any(has)
}
