//! The beliefs of the clients of one server, and the judgement of them by what its witness sees:
//!
//! - **(a)** a lock has no more believing holders than it has room for: one writer, any number of readers, a holder for each
//!   permit. Where a session may be ended before its time, or a lock taken away, the one that has lost it is told within
//!   [`TOLD`].
//! - **(b)** no holder believes for longer than the server keeps its session: while it believes, one of its client's sessions
//!   has the lock, and its belief ends before that session can end for idleness.
//! - **(c)** the fencing tokens of a name only grow, and none is given out twice.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use redlatch_tests::oracle::{Change, What};
use redlatch_tests::{ms, secs};

use crate::system::Kept;

/// The watchdog of every client here: the server ends a session of theirs that is idle for so long.
pub const LEASE: Duration = secs(2);
/// The holds of these owners and of greater ones have leases of their own, which their clients keep.
pub const LEASED: i64 = 500;
/// The time in which a holder is told that its session has ended or its lock was taken away, on a machine that runs each
/// thread at once.
pub const TOLD: Duration = ms(200);
/// The time in which the client's own clock ends a belief.
pub const BRIEF: Duration = ms(20);
/// The server's clock counts whole ms.
const ROUNDING: Duration = ms(3);

/// The owner of holds: its client, the kind of its lock, its number.
pub type Owner = (String, String, i64);

#[derive(Default)]
pub struct Book {
    locks: HashMap<String, Lock>,
    /// Every violation, with the name of its lock.
    wrong: Vec<(String, String)>,
    /// When each lost hold was noticed as lost, by the client and the number of the hold.
    lost: HashMap<(String, u64), Instant>,
    /// How much later than it should this machine lets threads run now.
    pub slowness: Duration,
    /// The longest such time since the beginning.
    pub slowest: Duration,
    /// The longest time that a look at the server has taken.
    pub longest_look: Duration,
    /// Since when there is no server.
    pub down: Option<Instant>,
    /// When the table of tokens was lost last.
    emptied: Option<Instant>,
}

/// The promises of one lock.
#[derive(Clone, Copy)]
pub struct Terms {
    pub room: usize,
    /// The time in which a holder is told that it has the lock no more.
    pub told: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Terms { room: 1, told: TOLD }
    }
}

#[derive(Default)]
struct Lock {
    terms: Terms,
    holders: HashMap<Owner, Holder>,
    overlaps: Vec<Overlap>,
    /// Since when more owners believe to have a permit than there are permits.
    crowded: Option<Instant>,
    tokens: BTreeMap<i64, Given>,
}

#[derive(Clone)]
pub struct Holder {
    /// The first hold: no other belief has its number.
    first: u64,
    /// Each hold, and whether it is being released.
    holds: BTreeMap<u64, bool>,
    until: Instant,
    /// When the call was sent on which the belief rests.
    asked: Instant,
    /// A look has found it at the server. One member of several may hear of it later than its client.
    is_seen: bool,
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

/// A belief from before a look at the server.
pub struct Belief {
    pub name: String,
    pub owner: Owner,
    pub room: usize,
    holder: Holder,
}

impl Holder {
    fn believes(&self, at: Instant) -> bool {
        self.until > at && self.holds.values().any(|leaving| !leaving)
    }
}

/// Whether two owners may have a lock at once. Permits are counted instead.
fn may_share(one: &Owner, other: &Owner) -> bool {
    [one, other].iter().all(|owner| owner.1 == "read") || [one, other].iter().all(|owner| owner.1 == "permit")
}

impl Book {
    /// Notes the promises of a lock.
    pub fn has_terms(&mut self, name: &str, terms: Terms) {
        self.locks.entry(name.to_owned()).or_default().terms = terms;
    }

    /// How many owners believe to have a lock.
    pub fn believing(&self, name: &str, now: Instant) -> usize {
        self.locks.get(name).map_or(0, |lock| lock.holders.values().filter(|holder| holder.believes(now)).count())
    }

    pub fn beliefs(&self, now: Instant) -> Vec<Belief> {
        let all = self.locks.iter().flat_map(|(name, lock)| lock.holders.iter().map(move |of| (name, lock, of)));
        let belief = |(name, lock, (owner, holder)): (&String, &Lock, (&Owner, &Holder))| Belief {
            name: name.clone(),
            owner: owner.clone(),
            room: lock.terms.room,
            holder: holder.clone(),
        };
        all.filter(|(_, _, (_, holder))| holder.believes(now)).map(belief).collect()
    }

    pub fn violates(&mut self, name: &str, text: String) {
        self.wrong.push((name.to_owned(), text));
    }

    /// Takes the violations about locks with this beginning of their names.
    pub fn take_wrong(&mut self, stem: &str) -> Vec<String> {
        self.wrong.extract_if(.., |(name, _)| name.starts_with(stem)).map(|(_, text)| text).collect()
    }

    /// When the client noticed the loss of a hold.
    pub fn lost_at(&self, client: &str, hold: u64) -> Option<Instant> {
        self.lost.get(&(client.to_owned(), hold)).copied()
    }

    /// Notes that the tokens begin anew.
    pub fn forgets_tokens(&mut self) {
        // Numbers of a block that was drawn before are given out for a while.
        self.emptied = Some(Instant::now() + secs(1));
        self.locks.values_mut().for_each(|lock| lock.tokens.clear());
    }

    /// Notes that a look has failed: it proves nothing.
    pub fn sees_nothing(&mut self) {
        self.locks.values_mut().flat_map(|lock| lock.holders.values_mut()).for_each(|one| one.gone = None);
    }

    pub fn note(&mut self, change: &Change) {
        let Change { at, until, hold, .. } = *change;
        let name = &change.key.name;
        let owner: Owner = (change.client.clone(), change.key.kind.clone(), change.key.owner);
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
                let others = lock.holders.iter().filter(|(other, holder)| {
                    let is_beside = **other != owner && !may_share(other, &owner);
                    is_beside && holder.until > at + ROUNDING && holder.believes(at)
                });
                let overlaps = others.map(|(other, holder)| Overlap {
                    first: other.clone(),
                    number: holder.first,
                    second: owner.clone(),
                    since: at,
                });
                let overlaps: Vec<_> = overlaps.collect();
                lock.overlaps.extend(overlaps);
                let fresh = || Holder {
                    first: hold,
                    holds: BTreeMap::new(),
                    until,
                    asked: asked.unwrap_or(at),
                    is_seen: false,
                    gone: None,
                };
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
        wrong.extend(lock.settle(at, self.slowness));
        self.wrong.extend(wrong.into_iter().map(|text| (name.clone(), text)));
    }

    /// Looks whether beliefs that must be over are.
    pub fn look_at_beliefs(&mut self, now: Instant) {
        let (down, slowness) = (self.down, self.slowness);
        for (name, lock) in &mut self.locks {
            self.wrong.extend(lock.settle(now, slowness).into_iter().map(|text| (name.clone(), text)));
            let Some(down) = down.filter(|down| now - *down > lock.grace(slowness)) else { continue };
            for (owner, holder) in lock.holders.iter_mut().filter(|(_, holder)| holder.believes(now)) {
                let text = format!("{} believes {:?} after the end of the server", shown(owner), now - down);
                self.wrong.push((name.clone(), text));
                holder.until = now;
            }
        }
    }

    /// Compares the belief from before a look with what the look, which was asked for and answered at these moments, has found.
    pub fn compare(&mut self, belief: &Belief, kept: Kept, asked: Instant, now: Instant) {
        let Belief { name, owner, holder: before, .. } = belief;
        let slowness = self.slowness;
        let Some(lock) = self.locks.get_mut(name) else { return };
        let grace = lock.grace(slowness);
        let Some(holder) = lock.holders.get_mut(owner) else { return };
        if holder.first != before.first || holder.holds.values().all(|leaving| *leaving) {
            return;
        }
        match kept {
            Kept::Not(has) => {
                let grace = if holder.is_seen { grace } else { grace.max(TOLD + slowness) };
                let since = *holder.gone.get_or_insert(asked);
                if holder.until > now && now - since > grace {
                    let text = format!(
                        "{} believes {:?} after the server took it away: {has} has it",
                        shown(owner),
                        now - since
                    );
                    holder.gone = None;
                    holder.until = now;
                    self.wrong.push((name.clone(), text));
                }
            }
            Kept::By { session, ends } => {
                holder.is_seen = true;
                holder.gone = None;
                if let Some(ends) = ends
                    && owner.2 < LEASED
                    && before.until > ends + ROUNDING
                {
                    let longer = before.until - ends;
                    let text = format!("{} believes for {longer:?} longer than session {session} lasts", shown(owner));
                    self.wrong.push((name.clone(), text));
                }
            }
        }
    }
}

impl Lock {
    /// How long a holder may believe after it has lost the lock.
    fn grace(&self, slowness: Duration) -> Duration {
        self.terms.told + slowness
    }

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
    fn settle(&mut self, now: Instant, slowness: Duration) -> Vec<String> {
        let grace = self.grace(slowness);
        let mut wrong: Vec<_> = self.settle_permits(now, grace).into_iter().collect();
        let holders = &self.holders;
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

    /// Counts the permits that are out. Gives the violation.
    fn settle_permits(&mut self, now: Instant, grace: Duration) -> Option<String> {
        let all = self.holders.iter().filter(|(owner, holder)| owner.1 == "permit" && holder.believes(now));
        let all: Vec<String> = all.map(|(owner, _)| shown(owner)).collect();
        if all.len() <= self.terms.room {
            self.crowded = None;
            return None;
        }
        let lasted = now - *self.crowded.get_or_insert(now);
        if lasted <= grace {
            return None;
        }
        self.crowded = None;
        let room = self.terms.room;
        Some(format!("{} believe to have one of {room} permits at once, for {lasted:?}", all.join(" and ")))
    }
}

fn shown((client, kind, owner): &Owner) -> String {
    format!("owner {owner} ({kind}) of {}", client.get(..8).unwrap_or(client))
}
