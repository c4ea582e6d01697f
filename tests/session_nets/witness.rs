//! The witness of one server: it notes all that the clients believe, at every change, and looks at the server's own locks and
//! sessions again and again. It judges by what is seen:
//!
//! - **(a)** a lock has one believing holder at most. Of two, the server had ended the session of the first, and that one is
//!   told within [`TOLD`].
//! - **(b)** no holder believes for longer than the server keeps its session: while it believes, one of its client's sessions
//!   has the lock, and its belief ends before that session can end for idleness.
//! - **(c)** the fencing tokens of a name only grow, and none is given out twice.
//!
//! [`Witness::left`] tells what clients that are gone have left at the server (d).

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, RwLock};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use redlatch_tests::oracle::{self, Change, What};
use redlatch_tests::{Mariadb, Sql, ms, secs};

/// The watchdog of every client here: the server ends a session of theirs that is idle for so long.
pub const LEASE: Duration = secs(2);
/// The holds of these owners and of greater ones have leases of their own, which their clients keep.
pub const LEASED: i64 = 500;
/// The time between two looks at the server.
const BEAT: Duration = ms(15);
/// The time in which a holder is told that its session has ended, on a machine that runs each thread at once.
const TOLD: Duration = ms(200);
/// The server's clock counts whole ms.
const ROUNDING: Duration = ms(3);

/// Every lock of the server and each session that waits for one, with the session's number.
const LOCKS: &str = "SELECT object_name, lock_status, processlist_id FROM performance_schema.metadata_locks \
                     JOIN performance_schema.threads ON owner_thread_id = thread_id WHERE object_type = 'USER LEVEL LOCK'";
/// The end of the last statement of each session, `NULL` while there is none; and the present moment, as the beginning of this
/// statement. All in ps. The list of processes would tell it too, but its long texts make a table on the disk for each look, and
/// MariaDB 10.11 has died of that.
const LAST: &str = "SELECT processlist_id, IF(end_event_id IS NULL, NULL, timer_end), \
                    IF(processlist_id = CONNECTION_ID(), timer_start, NULL) FROM performance_schema.events_statements_current \
                    JOIN performance_schema.threads USING (thread_id)";

/// Which witness hears of a client.
static CLIENTS: LazyLock<RwLock<HashMap<String, Arc<Witness>>>> = LazyLock::new(RwLock::default);

pub struct Witness {
    port: u16,
    book: Mutex<Book>,
    view: Mutex<Option<Sql>>,
    /// The server stands still, and answers no look.
    is_still: AtomicBool,
    is_over: AtomicBool,
}

/// The owner of holds: its client, the kind of its lock, its number.
type Owner = (String, String, i64);

#[derive(Default)]
struct Book {
    locks: HashMap<String, Lock>,
    /// Every violation, with the name of its lock.
    wrong: Vec<(String, String)>,
    /// When each lost hold was noticed as lost, by the client and the number of the hold.
    lost: HashMap<(String, u64), Instant>,
    /// How much later than it should this machine lets threads run now.
    slowness: Duration,
    /// The longest such time since the beginning.
    slowest: Duration,
    /// Since when there is no server.
    down: Option<Instant>,
    /// When the table of tokens was lost last.
    emptied: Option<Instant>,
}

#[derive(Default)]
struct Lock {
    holders: HashMap<Owner, Holder>,
    overlaps: Vec<Overlap>,
    tokens: BTreeMap<i64, Given>,
}

#[derive(Clone)]
struct Holder {
    /// The first hold: no other belief has its number.
    first: u64,
    /// Each hold, and whether it is being released.
    holds: BTreeMap<u64, bool>,
    until: Instant,
    /// When the call was sent on which the belief rests.
    asked: Instant,
    /// Since when the server has nothing of it.
    gone: Option<Instant>,
}

/// A second holder came while the first still believed.
struct Overlap {
    first: Owner,
    number: u64,
    second: Owner,
    since: Instant,
}

struct Given {
    owner: Owner,
    hold: u64,
    told: Instant,
}

impl Holder {
    fn believes(&self, at: Instant) -> bool {
        self.until > at && self.holds.values().any(|leaving| !leaving)
    }
}

impl Witness {
    pub fn start(server: &Mariadb) -> Arc<Self> {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| oracle::hear_beliefs(note));
        let witness = Arc::new(Witness {
            port: server.port(),
            book: Mutex::default(),
            view: Mutex::default(),
            is_still: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let run = witness.clone();
        thread::Builder::new().name("witness".into()).spawn(move || run.run()).expect("the system gives a thread");
        witness
    }

    /// Hears from now on what this client believes.
    pub fn hears(self: &Arc<Self>, client: &str) {
        CLIENTS.write().expect("nothing panics while it is held").insert(client.to_owned(), self.clone());
    }

    pub fn end(&self) {
        self.is_over.store(true, SeqCst);
    }

    /// Notes that the server stands still or goes on.
    pub fn stands_still(&self, is_still: bool) {
        self.is_still.store(is_still, SeqCst);
    }

    /// Notes the end of the server, or its return.
    pub fn is_down(&self, is_down: bool) {
        self.book().down = is_down.then(Instant::now);
    }

    /// Notes that the tokens begin anew.
    pub fn forgets_tokens(&self) {
        let mut book = self.book();
        // Numbers of a block that was drawn before are given out for a while.
        book.emptied = Some(Instant::now() + secs(1));
        book.locks.values_mut().for_each(|lock| lock.tokens.clear());
    }

    /// Tells whether a client of ours believes that it has the lock.
    pub fn is_believed(&self, name: &str) -> bool {
        let now = Instant::now();
        self.book().locks.get(name).is_some_and(|lock| lock.holders.values().any(|holder| holder.believes(now)))
    }

    pub fn violates(&self, name: &str, text: String) {
        self.book().wrong.push((name.to_owned(), text));
    }

    /// Takes the violations about locks with this beginning of their names.
    pub fn take_wrong(&self, stem: &str) -> Vec<String> {
        let mut book = self.book();
        book.wrong.extract_if(.., |(name, _)| name.starts_with(stem)).map(|(_, text)| text).collect()
    }

    /// When the client noticed the loss of a hold.
    pub fn lost_at(&self, client: &str, hold: u64) -> Option<Instant> {
        self.book().lost.get(&(client.to_owned(), hold)).copied()
    }

    /// The time in which a caller is told on this machine.
    pub fn patience(&self) -> Duration {
        TOLD + self.book().slowest
    }

    /// The longest time by which this machine has delayed a thread.
    pub fn slowest(&self) -> Duration {
        self.book().slowest
    }

    /// The locks of these names, and those that mark sessions of these clients, which the server still has.
    pub fn left(&self, names: &[String], clients: &[String]) -> Vec<String> {
        let rows = match self.ask(LOCKS) {
            Ok(rows) => rows,
            Err(error) => return vec![format!("the server does not say: {error}")],
        };
        let is_left = |name: &str| {
            names.iter().any(|one| one == name)
                || clients.iter().any(|client| name.starts_with(&format!("redlatch:{client}:")))
        };
        rows.iter()
            .filter_map(|row| match &row[..] {
                [Some(name), Some(status), session] if is_left(name) => {
                    Some(format!("`{name}` {status} by session {}", session.as_deref().unwrap_or("?")))
                }
                _ => None,
            })
            .collect()
    }

    /// The sessions of a client.
    pub fn sessions(&self, client: &str) -> Vec<String> {
        let tag = format!("redlatch:{client}:");
        let rows = self.ask(LOCKS).unwrap_or_default();
        let session = |row: Vec<Option<String>>| match <[_; 3]>::try_from(row) {
            Ok([Some(name), _, session]) if name.starts_with(&tag) => session,
            _ => None,
        };
        rows.into_iter().filter_map(session).collect()
    }

    /// Carries out a statement.
    ///
    /// # Errors
    /// The words of the server, or of the library.
    pub fn ask(&self, statement: &str) -> Result<Vec<Vec<Option<String>>>, String> {
        let mut view = self.view.lock().expect("nothing panics while it is held");
        let open = match view.take() {
            Some(open) => open,
            None => Sql::connect(self.port, "app")?,
        };
        let rows = view.insert(open).try_rows(statement);
        if rows.is_err() {
            *view = None;
        }
        rows
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nothing panics while it is held")
    }

    fn run(&self) {
        while !self.is_over.load(SeqCst) {
            let asleep = Instant::now();
            sleep(BEAT);
            {
                let mut book = self.book();
                book.slowness = (book.slowness.mul_f64(0.95)).max(asleep.elapsed().saturating_sub(BEAT));
                book.slowest = book.slowest.max(book.slowness);
                book.look_at_beliefs(Instant::now());
            }
            if !self.is_still.load(SeqCst) {
                self.look_at_server();
            }
        }
    }

    /// Compares the beliefs with the server's own locks and sessions.
    fn look_at_server(&self) {
        let before = self.book().beliefs(Instant::now());
        if before.is_empty() {
            return;
        }
        let asked = Instant::now();
        let (Ok(locks), Ok(last)) = (self.ask(LOCKS), self.ask(LAST)) else {
            // A look that fails proves nothing.
            return self
                .book()
                .locks
                .values_mut()
                .flat_map(|lock| lock.holders.values_mut())
                .for_each(|one| one.gone = None);
        };
        let number = |text: &Option<String>| text.as_deref()?.parse::<u64>().ok();
        let moment = last.iter().find_map(|row| number(&row[2])).unwrap_or_default();
        let since = |row: &[Option<String>]| Some(Duration::from_nanos(moment.saturating_sub(number(&row[1])?) / 1000));
        let idle = last.iter().filter_map(|row| Some((row[0].as_deref()?, since(row)?))).collect();
        let granted: Vec<(&str, &str)> = locks
            .iter()
            .filter(|row| row[1].as_deref() == Some("GRANTED"))
            .filter_map(|row| Some((row[0].as_deref()?, row[2].as_deref()?)))
            .collect();
        let seen = Seen { asked, now: Instant::now(), idle, granted };
        let mut book = self.book();
        for (name, owner, holder) in before {
            book.compare(&name, &owner, &holder, &seen);
        }
    }
}

/// A look at the server.
struct Seen<'a> {
    asked: Instant,
    now: Instant,
    /// For how long each idle session has been so.
    idle: HashMap<&'a str, Duration>,
    /// Each lock with its session.
    granted: Vec<(&'a str, &'a str)>,
}

impl Seen<'_> {
    /// The session by which a client has a lock.
    fn session(&self, client: &str, lock: &str) -> Option<&str> {
        let tag = format!("redlatch:{client}:");
        let is_its_own = |id: &str| self.granted.iter().any(|(name, other)| *other == id && name.starts_with(&tag));
        self.granted.iter().find(|(name, id)| *name == lock && is_its_own(id)).map(|(_, id)| *id)
    }
}

fn note(change: &Change) {
    let witness = CLIENTS.read().expect("nothing panics while it is held").get(&change.client).cloned();
    if let Some(witness) = witness {
        witness.book().note(change);
    }
}

impl Book {
    fn grace(&self) -> Duration {
        TOLD + self.slowness
    }

    fn beliefs(&self, now: Instant) -> Vec<(String, Owner, Holder)> {
        let all = self.locks.iter().flat_map(|(name, lock)| lock.holders.iter().map(move |of| (name, of)));
        all.filter(|(_, (_, holder))| holder.believes(now))
            .map(|(name, (owner, holder))| (name.clone(), owner.clone(), holder.clone()))
            .collect()
    }

    fn note(&mut self, change: &Change) {
        let Change { at, until, hold, .. } = *change;
        let name = &change.key.name;
        let owner: Owner = (change.client.clone(), change.key.kind.clone(), change.key.owner);
        let grace = self.grace();
        if let What::Ended { lost: true } = change.what {
            self.lost.insert((change.client.clone(), hold), at);
        }
        let lock = self.locks.entry(name.clone()).or_default();
        let asked = change.asked;
        match change.what {
            What::Begun { .. } | What::Over => return,
            What::Token(token) => {
                let since = lock.holders.get(&owner).map_or(at, |holder| holder.asked);
                if self.emptied.is_none_or(|emptied| since > emptied) {
                    self.wrong.extend(lock.given(token, owner, hold, since, at).map(|text| (name.clone(), text)));
                }
                return;
            }
            What::Taken => {
                let others = lock
                    .holders
                    .iter()
                    .filter(|(other, holder)| **other != owner && holder.until > at + ROUNDING && holder.believes(at));
                let overlaps = others.map(|(other, holder)| Overlap {
                    first: other.clone(),
                    number: holder.first,
                    second: owner.clone(),
                    since: at,
                });
                let overlaps: Vec<_> = overlaps.collect();
                lock.overlaps.extend(overlaps);
                let fresh =
                    || Holder { first: hold, holds: BTreeMap::new(), until, asked: asked.unwrap_or(at), gone: None };
                lock.holders.entry(owner.clone()).or_insert_with(fresh).holds.insert(hold, false);
            }
            _ => {}
        }
        let mut wrong = Vec::new();
        if let Some(holder) = lock.holders.get_mut(&owner) {
            let is_longer = until > holder.until + ROUNDING;
            let since = lock.overlaps.iter().find(|overlap| overlap.first == owner).map(|overlap| overlap.since);
            if let (true, Some(since), Some(asked)) = (is_longer, since, asked)
                && asked > since
            {
                wrong.push(format!("{} prolongs its belief after another had the lock", shown(&owner)));
            }
            match change.what {
                What::Leaving | What::Kept => {
                    let leaves = matches!(change.what, What::Leaving);
                    holder.holds.entry(hold).and_modify(|leaving| *leaving = leaves);
                }
                What::Ended { .. } => drop(holder.holds.remove(&hold)),
                _ => {}
            }
            holder.until = until;
            holder.asked = asked.map_or(holder.asked, |asked| asked.max(holder.asked));
            if holder.holds.is_empty() {
                lock.holders.remove(&owner);
            }
        }
        wrong.extend(lock.settle(at, grace));
        self.wrong.extend(wrong.into_iter().map(|text| (name.clone(), text)));
    }

    /// Looks whether beliefs that must be over are.
    fn look_at_beliefs(&mut self, now: Instant) {
        let grace = self.grace();
        let down = self.down;
        for (name, lock) in &mut self.locks {
            self.wrong.extend(lock.settle(now, grace).into_iter().map(|text| (name.clone(), text)));
            let Some(down) = down.filter(|down| now - *down > grace) else { continue };
            for (owner, holder) in lock.holders.iter_mut().filter(|(_, holder)| holder.believes(now)) {
                let text = format!("{} believes {:?} after the end of the server", shown(owner), now - down);
                self.wrong.push((name.clone(), text));
                holder.until = now;
            }
        }
    }

    /// Compares the belief from before a look with what the look has found.
    fn compare(&mut self, name: &str, owner: &Owner, before: &Holder, seen: &Seen) {
        let grace = self.grace();
        let Some(holder) = self.locks.get_mut(name).and_then(|lock| lock.holders.get_mut(owner)) else { return };
        if holder.first != before.first || holder.holds.values().all(|leaving| *leaving) {
            return;
        }
        let Some(session) = seen.session(&owner.0, name) else {
            let since = *holder.gone.get_or_insert(seen.asked);
            if holder.until > seen.now && seen.now - since > grace {
                let has = seen.granted.iter().find(|(lock, _)| *lock == name);
                let has = has.map_or("no session".to_owned(), |(_, id)| format!("session {id}"));
                let text = format!(
                    "{} believes {:?} after the server took it away: {has} has it",
                    shown(owner),
                    seen.now - since
                );
                holder.gone = None;
                holder.until = seen.now;
                self.wrong.push((name.to_owned(), text));
            }
            return;
        };
        holder.gone = None;
        let Some(idle) = seen.idle.get(session) else { return };
        let ends = seen.now + LEASE.saturating_sub(*idle);
        if owner.2 < LEASED && before.until > ends + ROUNDING {
            let text =
                format!("{} believes for {:?} longer than session {session} lasts", shown(owner), before.until - ends);
            self.wrong.push((name.to_owned(), text));
        }
    }
}

impl Lock {
    /// Notes a token that was asked for at `asked`. Gives the violation.
    fn given(&mut self, token: i64, owner: Owner, hold: u64, asked: Instant, told: Instant) -> Option<String> {
        let who = format!("hold {hold} of {}", shown(&owner));
        let wrong = match self.tokens.get(&token) {
            Some(before) if before.owner == owner && before.hold == hold => return None,
            Some(before) => {
                Some(format!("{who} has the token {token} of hold {} of {}", before.hold, shown(&before.owner)))
            }
            None => {
                let is_before = |before: &Given| before.owner.0 == owner.0 || before.told < asked;
                let greater = self.tokens.range(token..).find(|(_, before)| is_before(before));
                greater.map(|(other, _)| format!("{who} has the token {token} after {other}"))
            }
        };
        self.tokens.insert(token, Given { owner, hold, told });
        wrong
    }

    /// Ends the overlaps whose first holder believes no longer. Gives those that have lasted for too long.
    fn settle(&mut self, now: Instant, grace: Duration) -> Vec<String> {
        let holders = &self.holders;
        let mut wrong = Vec::new();
        self.overlaps.retain(|overlap| {
            let first = holders.get(&overlap.first).filter(|holder| holder.first == overlap.number);
            let is_left = first.is_some_and(|holder| holder.holds.values().any(|leaving| !leaving));
            let end = first.filter(|_| is_left).map_or(now, |holder| holder.until.min(now));
            let lasted = end.saturating_duration_since(overlap.since);
            let is_too_long = lasted > grace;
            if is_too_long {
                let one = shown(&overlap.first);
                let two = shown(&overlap.second);
                wrong.push(format!("{one} and {two} believe to have the lock at once, for {lasted:?}"));
            }
            is_left && end == now && !is_too_long
        });
        wrong
    }
}

fn shown((client, kind, owner): &Owner) -> String {
    format!("owner {owner} ({kind}) of {}", client.get(..8).unwrap_or(client))
}
