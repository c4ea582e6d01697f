//! The beliefs of each client in this process and in the processes that it has started, as the core reports them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::Instant;

use super::places::{self, Place};
use super::tokens;

/// How much of the news of an owner's holds is kept for the text of a violation.
const KEPT: usize = 12;

/// One owner's holds of one lock, in one client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: String,
    pub name: String,
    pub owner: i64,
}

/// One event of the core.
pub struct Change {
    pub at: Instant,
    pub client: String,
    pub key: Key,
    /// The owner under whose field the server keeps the holds.
    pub grip: i64,
    /// 0: all holds of the owner.
    pub hold: u64,
    pub until: Instant,
    /// When the call was sent that the belief rests on.
    pub asked: Option<Instant>,
    pub what: What,
}

pub enum What {
    Begun {
        servers: String,
        database: i64,
    },
    Over,
    Taken,
    Until,
    Token(i64),
    /// The holder has let go; the result of the release is not known yet.
    Leaving,
    /// The release was refused, and the hold goes on.
    Kept,
    Ended {
        lost: bool,
    },
}

/// The present belief in one owner's holds.
#[derive(Clone, Debug)]
pub struct Belief {
    pub client: Arc<Client>,
    pub key: Arc<Key>,
    /// The owner under whose field the server keeps the holds.
    pub grip: i64,
    /// The number of the hold with which the belief began. No other belief ever has it.
    pub first: u64,
    /// How many holds there are, without those that are being released.
    pub holds: usize,
    pub is_changing: bool,
    pub until: Instant,
    /// When the latest call was sent that the server granted.
    pub asked: Instant,
}

/// One client.
#[derive(Debug)]
pub struct Client {
    pub uuid: String,
    pub database: i64,
    servers: String,
    places: OnceLock<BTreeSet<Place>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    owned: BTreeMap<Arc<Key>, Owned>,
}

#[derive(Debug)]
struct Owned {
    grip: i64,
    first: u64,
    /// Each hold, and whether it is being released.
    holds: BTreeMap<u64, bool>,
    until: Instant,
    asked: Instant,
    told: VecDeque<(Instant, &'static str, u64, Instant)>,
}

static CLIENTS: LazyLock<RwLock<HashMap<String, Arc<Client>>>> = LazyLock::new(RwLock::default);
static BEGUN: AtomicUsize = AtomicUsize::new(0);

pub fn note(change: Change) {
    if let What::Begun { servers, database } = change.what {
        let client = Client::new(change.client.clone(), servers, database);
        CLIENTS.write().expect("nothing panics while it is held").insert(change.client, Arc::new(client));
        BEGUN.fetch_add(1, SeqCst);
        return;
    }
    let Some(client) = find(&change.client) else { return };
    if let What::Token(token) = change.what {
        let asked = client.state().owned.get(&change.key).map_or(change.at, |owned| owned.asked);
        tokens::given(&client, &change.key, change.hold, token, asked, change.at);
    }
    client.note(change);
}

impl Client {
    /// A client that reports nothing, of which only the id is known.
    pub fn unknown(uuid: &str) -> Client {
        Client::new(uuid.to_owned(), String::new(), 0)
    }

    fn new(uuid: String, servers: String, database: i64) -> Client {
        Client { uuid, database, servers, places: OnceLock::new(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }

    /// The servers that the client may call.
    pub fn places(&self) -> BTreeSet<Place> {
        if let Some(places) = self.places.get() {
            return places.clone();
        }
        let places = places::of(&self.servers);
        if !places.is_empty() {
            let _ = self.places.set(places.clone());
        }
        places
    }

    /// Ends all beliefs of a client whose process is gone.
    pub fn died(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.owned.clear();
    }

    pub fn is_cluster(&self) -> bool {
        self.servers.contains("+cluster://")
    }

    fn note(&self, change: Change) {
        let Change { at, key, grip, hold, until, asked, what, .. } = change;
        let mut state = self.state();
        let word = match what {
            What::Begun { .. } => return,
            What::Over => {
                state.is_over = true;
                return;
            }
            What::Taken => "taken",
            What::Until => "until",
            What::Token(_) => return,
            What::Leaving => "leaving",
            What::Kept => "kept",
            What::Ended { lost: false } => "released",
            What::Ended { lost: true } => "lost",
        };
        if matches!(what, What::Taken) && !state.owned.contains_key(&key) {
            let fresh = Owned {
                grip,
                first: hold,
                holds: BTreeMap::new(),
                until,
                asked: asked.unwrap_or(at),
                told: VecDeque::new(),
            };
            state.owned.insert(Arc::new(key.clone()), fresh);
        }
        let Some(owned) = state.owned.get_mut(&key) else { return };
        match what {
            What::Taken => drop(owned.holds.insert(hold, false)),
            What::Leaving | What::Kept => {
                let leaves = matches!(what, What::Leaving);
                owned.holds.get_mut(&hold).into_iter().for_each(|leaving| *leaving = leaves);
            }
            What::Ended { .. } => drop(owned.holds.remove(&hold)),
            _ => {}
        }
        owned.grip = grip;
        owned.until = until;
        owned.asked = asked.map_or(owned.asked, |asked| asked.max(owned.asked));
        owned.told.push_back((at, word, hold, until));
        if owned.told.len() > KEPT {
            owned.told.pop_front();
        }
        if owned.holds.is_empty() {
            state.owned.remove(&key);
        }
    }
}

pub fn find(uuid: &str) -> Option<Arc<Client>> {
    CLIENTS.read().expect("nothing panics while it is held").get(uuid).cloned()
}

/// Clients that may call a server.
pub fn clients_of(place: Place) -> Vec<Arc<Client>> {
    let clients = CLIENTS.read().expect("nothing panics while it is held");
    clients.values().filter(|client| client.places().contains(&place)).cloned().collect()
}

/// How many clients were begun so far.
pub fn begun() -> usize {
    BEGUN.load(SeqCst)
}

/// Whether none of the clients can renew a hold any more.
pub fn are_over(clients: &[Arc<Client>]) -> bool {
    clients.iter().all(|client| client.state().is_over)
}

/// Forgets clients whose servers are all gone.
pub fn forget(clients: &[Arc<Client>]) {
    let mut all = CLIENTS.write().expect("nothing panics while it is held");
    clients
        .iter()
        .filter(|client| places::are_gone(&client.places()))
        .for_each(|client| drop(all.remove(&client.uuid)));
}

/// Up to `most` beliefs of a client, starting behind `after`.
pub fn beliefs(client: &Arc<Client>, after: Option<&Arc<Key>>, most: usize) -> Vec<Belief> {
    let state = client.state();
    let behind = match after {
        Some(after) => state.owned.range::<Arc<Key>, _>((Bound::Excluded(after), Bound::Unbounded)),
        None => state.owned.range::<Arc<Key>, _>(..),
    };
    let rest = state.owned.iter().take_while(|(key, _)| after.is_some_and(|after| *key <= after));
    behind.chain(rest).take(most).map(|(key, owned)| owned.belief(client, key)).collect()
}

/// The present belief; `None`: it is over.
pub fn look(client: &Arc<Client>, key: &Key) -> Option<Belief> {
    let state = client.state();
    let (key, owned) = state.owned.get_key_value(key)?;
    Some(owned.belief(client, key))
}

/// Until when a client believes that an owner has a lock; `None`: it does not believe so.
pub fn believed_until(uuid: &str, key: &Key) -> Option<Instant> {
    look(&find(uuid)?, key).map(|belief| belief.until)
}

/// The latest news of an owner's holds, in words.
pub fn told(client: &Arc<Client>, key: &Key, now: Instant) -> String {
    let state = client.state();
    let Some(owned) = state.owned.get(key) else { return "nothing more".into() };
    let one = |(at, word, hold, until): &(Instant, &str, u64, Instant)| {
        let ago = now.saturating_duration_since(*at).as_secs_f64() * 1e3;
        format!("{ago:.0} ms ago hold {hold} {word} until {:+.0} ms", signed(*until, now))
    };
    owned.told.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The ms from `now` to `at`; negative if `at` is past.
pub fn signed(at: Instant, now: Instant) -> f64 {
    match at.checked_duration_since(now) {
        Some(ahead) => ahead.as_secs_f64() * 1e3,
        None => -(now - at).as_secs_f64() * 1e3,
    }
}

impl Owned {
    fn belief(&self, client: &Arc<Client>, key: &Arc<Key>) -> Belief {
        let leaving = self.holds.values().filter(|leaving| **leaving).count();
        Belief {
            client: client.clone(),
            key: key.clone(),
            grip: self.grip,
            first: self.first,
            holds: self.holds.len() - leaving,
            is_changing: leaving > 0,
            until: self.until,
            asked: self.asked,
        }
    }
}
