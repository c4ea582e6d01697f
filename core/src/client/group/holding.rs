//! The groups that a client's process holds: any number of objects stand for the same group.

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
    /// Losses that a release was told of: its caller may ask for them later. Of the youngest holds, up to [`MOST_LOSSES`].
    losses: BTreeMap<u64, Loss>,
    /// What ends an acquire or a watch early, and whether it is an acquire.
    running: HashMap<u64, (oneshot::Sender<()>, bool)>,
    /// The client is: nothing is acquired any more.
    closed: bool,
    /// Whether the client's server answers, as one of several.
    pub responsiveness: Arc<Responsiveness>,
}

/// A group's identity, and an owner of it.
pub type Of = (Arc<str>, i64);

impl Holding {
    /// Gives the hold's number.
    pub fn add(&mut self, of: Of, held: Arc<GroupHold>) -> u64 {
        self.last += 1;
        self.numbers.entry(of.clone()).or_default().push(self.last);
        self.held.insert(self.last, (of, held));
        self.last
    }

    pub fn get(&self, number: u64) -> Option<Arc<GroupHold>> {
        self.held.get(&number).map(|(_, held)| held.clone())
    }

    pub fn all(&self) -> Vec<(u64, Arc<Held>)> {
        self.held.iter().map(|(number, (_, held))| (*number, held.clone())).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The owner's latest.
    pub fn latest(&self, of: &Of) -> Option<u64> {
        self.numbers.get(of)?.last().copied()
    }

    /// Forgets a hold; gives it with the count of those that its owner keeps.
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

    /// A release was told how its hold was lost.
    pub fn tell_loss(&mut self, number: u64, loss: &Loss) {
        self.losses.insert(number, loss.clone());
        if self.losses.len() > MOST_LOSSES {
            self.losses.pop_first();
        }
    }

    /// How a hold was lost, whose release was told of that.
    pub fn loss_of(&self, number: u64) -> Option<Loss> {
        self.losses.get(&number).cloned()
    }

    /// Whether a hold has or had that number.
    pub fn gave(&self, number: u64) -> bool {
        (1..=self.last).contains(&number)
    }

    /// What is told, by its sender's end, that the request is to end.
    pub fn begin(&mut self, ticket: u64, acquires: bool) -> oneshot::Receiver<()> {
        let (cancel, cancelled) = oneshot::channel();
        if !(acquires && self.closed) {
            self.running.insert(ticket, (cancel, acquires));
        }
        cancelled
    }

    /// Ends all acquires, and those that come.
    pub fn close(&mut self) {
        self.closed = true;
        self.running.retain(|_, (_, acquires)| !*acquires);
    }

    /// The request has ended, or is asked to.
    pub fn end(&mut self, ticket: u64) {
        self.running.remove(&ticket);
    }
}
