//! One side of a case: an owner in an agent, and the lock in question.

use std::collections::BTreeMap;
use std::time::Duration;

use redlatch_tests::{View, clock, kinds, oracle};
use serde_json::{Value, json};

use crate::agent::{Agent, Pending, Refusal};
use crate::languages::{Age, OVERSLEEPS};
use crate::stage::{self, Kind, STAGE};

/// The longest time of any step that needs no lease to end. It is far below every lease that must last in a case.
pub const SOON: Duration = Duration::from_secs(5);

/// All parties have the same owner number, so that only the client's id tells them apart.
const OWNER: i64 = 7;

pub struct Party<'a> {
    agent: &'a Agent,
    pub kind: Kind,
    /// The name of the kind in the agent's commands.
    asked: &'static str,
    name: String,
}

impl<'a> Party<'a> {
    /// # Panics
    /// When the agent is missing: a language without an agent fails the test.
    pub fn new(agent: &'a Result<Agent, String>, kind: Kind, name: &str) -> Self {
        let agent = agent.as_ref().unwrap_or_else(|missing| panic!("{missing}"));
        Party { agent, kind, asked: kind.traits.name, name: name.to_owned() }
    }

    /// The same owner with one lock of three, whose names end with `a`, `b` and `c`: `all` of them, or the `majority`.
    pub fn of_three(&self, rule: &'static str) -> Party<'a> {
        Party { agent: self.agent, kind: self.kind, asked: rule, name: self.name.clone() }
    }

    pub fn asked(&self) -> &'static str {
        self.asked
    }

    /// The same owner with one of those three locks.
    pub fn of_one(&self, letter: &str) -> Party<'a> {
        Party {
            agent: self.agent,
            kind: self.kind,
            asked: self.kind.traits.name,
            name: format!("{}{letter}", self.name),
        }
    }

    /// The same owner with a lock of another kind under the same name.
    pub fn of_kind(&self, name: &str) -> Party<'a> {
        let kind = stage::kinds(|kind| kind.name == name).next().expect("it is in the table");
        Party { agent: self.agent, kind, asked: kind.traits.name, name: self.name.clone() }
    }

    /// The lock's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of its client.
    pub fn client(&self) -> &str {
        &self.agent.client
    }

    /// The channel to which this owner's waiters listen; `None`: they try now and then.
    pub fn channel(&self) -> Option<String> {
        self.kind.scripts.wake(&self.name, &self.field()).channel
    }

    /// The name of this owner on the server.
    pub fn field(&self) -> String {
        let role = if self.kind.traits.name == "write" { ":write" } else { "" };
        format!("{}:{OWNER}{role}", self.agent.client)
    }

    /// The server's hash while this owner alone has so many holds.
    pub fn stored(&self, count: u64) -> BTreeMap<String, String> {
        let mode = Some(self.kind.traits.name).filter(|name| ["read", "write"].contains(name));
        let mode = mode.map(|mode| ("mode".to_owned(), mode.to_owned()));
        mode.into_iter().chain([(self.field(), count.to_string())]).collect()
    }

    /// Whether the server says that this owner has the lock.
    pub fn has(&self, view: &mut View) -> bool {
        view.hgetall(&self.name).contains_key(&self.field())
    }

    /// Takes the lock at once. `None` leaves the lease to the watchdog.
    pub fn lock(&self, lease: Option<Duration>) {
        self.begin_lock(lease).within(SOON).unwrap_or_else(|e| panic!("{e:?}"));
    }

    /// Begins to take the lock, with an unlimited wait.
    pub fn begin_lock(&self, lease: Option<Duration>) -> Pending {
        self.taking("lock", json!({ "lease": lease.map(|time| time.as_millis() as u64) }))
    }

    /// Tries once, or until `wait` is over.
    pub fn try_lock(&self, wait: Duration) -> bool {
        self.yes(self.taking("try_lock", json!({ "wait": wait.as_millis() as u64 })))
    }

    /// Asks for the lock. If the agent's language calls the new hold certain for longer than the server keeps it, the
    /// test fails.
    fn taking(&self, what: &str, fields: Value) -> Pending {
        let is_renewed = fields["lease"].is_null();
        let pending = self.ask(what, fields);
        // Java's agent has a second client for values in Kryo.
        if self.is_redisson() || self.name.starts_with("kryo") {
            return pending;
        }
        let (keys, missing) = self.keys();
        let client = self.agent.client.clone();
        let party = format!("{} of {}", self.agent.language.name, self.name);
        pending.checked(move |answer| {
            if answer["ok"] == false {
                return;
            }
            let until = answer["until"].as_u64().unwrap_or_else(|| panic!("{party}: {answer} tells of no hold"));
            assert!(!is_renewed || until > clock::now(), "{party}: its hold that is renewed is not held");
            let mut view = STAGE.server.view();
            let mut kept: Vec<_> = keys.iter().map(|key| oracle::kept_until(&mut view, &client, key)).collect();
            kept.sort_unstable();
            // Nothing is less than any time: a server that decides nothing proves nothing.
            if let Some(kept) = kept[missing] {
                let kept = clock::at(kept);
                let longer = Duration::from_nanos(until.saturating_sub(kept));
                assert!(
                    longer.is_zero(),
                    "{party}: its hold is said to be certain for {longer:?} longer than the server keeps it"
                );
            }
        })
    }

    /// The locks that this party takes at once, and how many of them may be missing.
    fn keys(&self) -> (Vec<oracle::Key>, usize) {
        let key = |name: String| oracle::Key { kind: self.kind.traits.name.to_owned(), name, owner: OWNER };
        let three = || ["a", "b", "c"].map(|letter| key(format!("{}{letter}", self.name))).into();
        match self.asked {
            "all" => (three(), 0),
            "majority" => (three(), 1),
            "multi" => (vec![key(format!("{}\0one\0zwölf", self.name))], 0),
            _ => (vec![key(self.name.clone())], 0),
        }
    }

    pub fn unlock(&self) {
        self.try_unlock().unwrap_or_else(|e| panic!("{e:?}"));
    }

    /// Releases the lock without holding it. The language must report its own error for that.
    pub fn unlock_in_vain(&self) {
        let refusal = self.try_unlock().expect_err("released what was lost");
        let language = self.agent.language;
        assert!(language.not_held.contains(&refusal.error.as_str()), "{} says {refusal:?}", language.name);
        assert!(!refusal.message.is_empty(), "{} says nothing", language.name);
    }

    pub fn force_unlock(&self) -> bool {
        self.yes(self.simple("force_unlock"))
    }

    pub fn is_locked(&self) -> bool {
        self.yes(self.simple("is_locked"))
    }

    /// Whether this owner holds the lock, by the server's answer.
    pub fn is_held(&self) -> bool {
        self.yes(self.simple("is_held"))
    }

    pub fn is_rust(&self) -> bool {
        self.agent.language.name == "rust"
    }

    pub fn is_redisson(&self) -> bool {
        self.agent.language.age != Age::Ours
    }

    /// Whether a waiter of this client sleeps until a message if it looks at the lock a moment before a lease ends.
    pub fn may_oversleep(&self) -> bool {
        self.kind.traits.fair && self.agent.language.name == OVERSLEEPS
    }

    /// Whether a waiter of this Redisson sleeps until a message.
    pub fn sleeps(&self) -> bool {
        self.value(self.simple("sleepers")).as_i64().expect("a number") > 0
    }

    /// The remaining time in ms.
    pub fn ttl(&self) -> i64 {
        self.value(self.simple("ttl")).as_i64().expect("a number")
    }

    /// Begins an operation on `n` permits or counts. Without `wait`, a wait is unlimited.
    pub fn begin(&self, what: &str, n: i64, wait: Option<Duration>) -> Pending {
        let wait = wait.map(|time| time.as_millis() as u64);
        self.ask(what, json!({ "n": n, "wait": wait }))
    }

    /// An operation whose answer is yes or no.
    pub fn does(&self, what: &str, n: i64) -> bool {
        self.yes(self.begin(what, n, Some(Duration::ZERO)))
    }

    /// An operation whose answer is a number.
    pub fn number(&self, what: &str) -> i64 {
        self.value(self.begin(what, 1, Some(Duration::ZERO))).as_i64().expect("a number")
    }

    /// Begins to take `n` permits with ids. Without `wait` the wait is unlimited; without `lease` the permits have no
    /// end.
    pub fn begin_take(&self, n: i64, wait: Option<Duration>, lease: Option<Duration>) -> Pending {
        let ms = |time: Option<Duration>| time.map(|time| time.as_millis() as u64);
        self.ask("take", json!({ "n": n, "wait": ms(wait), "lease": ms(lease) }))
    }

    /// Takes `n` permits with ids at once, and returns the ids; none: they are not available.
    pub fn take(&self, n: i64, lease: Option<Duration>) -> Vec<String> {
        // Redisson's try with too short a wait for its subscription is an error, not a refusal.
        let wait = if lease.is_some() { Duration::from_secs(1) } else { Duration::ZERO };
        ids(&self.value(self.begin_take(n, Some(wait), lease)))
    }

    /// Returns permits by their ids; true: they were out.
    pub fn give(&self, ids: &[String]) -> bool {
        self.yes(self.by_ids("give", ids, None))
    }

    /// Sets a permit's remaining time.
    pub fn extend(&self, id: &str, lease: Duration) -> bool {
        self.yes(self.by_ids("extend", &[id.to_owned()], Some(lease)))
    }

    /// How many ms a permit still lasts; −1: it has no end.
    pub fn left(&self, id: &str) -> i64 {
        self.value(self.by_ids("left", &[id.to_owned()], None)).as_i64().expect("a number")
    }

    fn by_ids(&self, what: &str, ids: &[String], lease: Option<Duration>) -> Pending {
        let lease = lease.map(|time| time.as_millis() as u64);
        self.ask(what, json!({ "ids": ids.join(","), "lease": lease }))
    }

    /// The latest fencing token.
    pub fn token(&self) -> i64 {
        self.value(self.simple("token")).as_i64().expect("a number")
    }

    /// Takes the lock once more although it is not reentrant. The language must report its own error for that.
    pub fn lock_in_vain(&self) {
        let refusal = self.begin_lock(None).within(SOON).expect_err("taken twice");
        let language = self.agent.language;
        assert!(language.already_held.contains(&refusal.error.as_str()), "{} says {refusal:?}", language.name);
        assert!(!refusal.message.is_empty(), "{} says nothing", language.name);
    }

    fn try_unlock(&self) -> Result<Value, Refusal> {
        self.simple("unlock").within(SOON)
    }

    fn simple(&self, what: &str) -> Pending {
        self.ask(what, json!({}))
    }

    fn ask(&self, what: &str, mut fields: Value) -> Pending {
        fields["kind"] = self.asked.into();
        fields["getter"] = kinds::row(self.kind.traits.name).getter.into();
        fields["name"] = self.name.clone().into();
        fields["owner"] = OWNER.into();
        self.agent.ask(what, fields)
    }

    fn yes(&self, pending: Pending) -> bool {
        self.value(pending).as_bool().expect("yes or no")
    }

    fn value(&self, pending: Pending) -> Value {
        pending.within(SOON).unwrap_or_else(|e| panic!("{} of {}: {e:?}", self.agent.language.name, self.name))
    }
}

/// The permit ids in an agent's answer.
pub fn ids(answer: &Value) -> Vec<String> {
    answer.as_str().expect("ids").split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect()
}
