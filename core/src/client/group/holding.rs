//! The groups that a client holds in this process. Any number of objects may stand for the same group.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::oneshot;

use super::hold::GroupHold;
use super::responsiveness::Responsiveness;
use crate::request::error::Loss;

const MOST_LOSSES: usize = 10_000;

#[derive(Default)]
pub struct Holding {
    last: u64,
    held: HashMap<u64, (Of, Arc<GroupHold>)>,
    /// The holds of each owner, the latest last.
    numbers: HashMap<Of, Vec<u64>>,
    /// Losses that the client has reported to a release: the caller may ask for them later. Of the youngest holds, up to [`MOST_LOSSES`].
    losses: BTreeMap<u64, Loss>,
    /// The sender that ends an acquire or a watch early, and whether the request is an acquire.
    running: HashMap<u64, (oneshot::Sender<()>, bool)>,
    /// The client is closed: it acquires nothing any more.
    closed: bool,
    /// Tells whether the client's server answers, as one of several.
    pub responsiveness: Arc<Responsiveness>,
}

/// A group's identity, and one of its owners.
pub type Of = (Arc<str>, i64);

impl Holding {
    /// Adds a hold; gives its number.
    pub fn add(&mut self, of: Of, held: Arc<GroupHold>) -> u64 {
        self.last += 1;
        self.numbers.entry(of.clone()).or_default().push(self.last);
        self.held.insert(self.last, (of, held));
        self.last
    }

    pub fn get(&self, number: u64) -> Option<Arc<GroupHold>> {
        self.held.get(&number).map(|(_, held)| held.clone())
    }

    pub fn all(&self) -> Vec<(u64, Arc<GroupHold>)> {
        self.held.iter().map(|(number, (_, held))| (*number, held.clone())).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The owner's latest hold.
    pub fn latest(&self, of: &Of) -> Option<u64> {
        self.numbers.get(of)?.last().copied()
    }

    /// Forgets a hold. Gives it, and the number of holds that its owner keeps.
    pub fn remove(&mut self, number: u64) -> Option<(Arc<GroupHold>, usize)> {
        let (of, held) = self.held.remove(&number)?;
        let numbers = self.numbers.get_mut(&of)?;
        numbers.retain(|other| *other != number);
        let left = numbers.len();
        if left == 0 {
            self.numbers.remove(&of);
        }
        Some((held, left))
    }

    /// Notes a loss that the client reported to a release.
    pub fn tell_loss(&mut self, number: u64, loss: &Loss) {
        self.losses.insert(number, loss.clone());
        if self.losses.len() > MOST_LOSSES {
            self.losses.pop_first();
        }
    }

    /// The loss of a hold that the client reported to its release.
    pub fn loss_of(&self, number: u64) -> Option<Loss> {
        self.losses.get(&number).cloned()
    }

    /// Tells whether a hold has or had that number.
    pub fn gave(&self, number: u64) -> bool {
        (1..=self.last).contains(&number)
    }

    /// Notes a running request. Gives a receiver that completes when the request has to end: at once, if it acquires and the client is
    /// closed.
    pub fn begin(&mut self, ticket: u64, acquires: bool) -> oneshot::Receiver<()> {
        let (cancel, cancelled) = oneshot::channel();
        if !(acquires && self.closed) {
            self.running.insert(ticket, (cancel, acquires));
        }
        cancelled
    }

    /// Ends all acquires, and every acquire that comes later.
    pub fn close(&mut self) {
        self.closed = true;
        self.running.retain(|_, (_, acquires)| !*acquires);
    }

    /// Forgets a request that has ended, or tells a running one to end.
    pub fn end(&mut self, ticket: u64) {
        self.running.remove(&ticket);
    }
}
