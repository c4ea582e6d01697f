//! The groups that a client holds in this process. Any number of objects may stand for the same group.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::hold::GroupHold;
use super::responsiveness::Responsiveness;
use crate::base::clock::Instant;
use crate::engine::holds::Meant;
use crate::engine::holds::past::Past;
use crate::engine::holds::stand_ins::StandIns;
use crate::request::Look;
use crate::request::error::Loss;

#[derive(Default)]
pub struct Holding {
    last: u64,
    /// The holds, also those on their way back: a caller may watch them until then.
    held: HashMap<u64, (Of, Arc<GroupHold>)>,
    /// The holds of each owner that no release has asked for, the latest last.
    numbers: HashMap<Of, Vec<u64>>,
    /// The holds that a release took as the latest, of owners that have others.
    stand_ins: HashMap<Of, StandIns>,
    past: Past<Gone>,
    /// The sender that ends an acquire or a watch early, and what an acquire is for.
    running: HashMap<u64, (oneshot::Sender<()>, Option<Of>)>,
    /// The client is closed: it acquires nothing any more.
    closed: bool,
    /// Tells whether the client's server answers, as one of several.
    pub responsiveness: Arc<Responsiveness>,
}

/// A group's identity, and one of its owners.
pub type Of = (Arc<str>, i64);

/// A hold that was lost, and that the client has otherwise forgotten.
struct Gone {
    of: Of,
    loss: Loss,
    /// The time to which the ages in `loss` belong.
    at: Instant,
}

impl Gone {
    fn loss(&self) -> Loss {
        self.loss.aged(self.at.elapsed())
    }
}

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

    /// The owner's latest hold.
    pub fn latest(&self, of: &Of) -> Option<u64> {
        self.numbers.get(of)?.last().copied()
    }

    /// The number of the hold that a release is for. What [`Meant::Untaken`] means, see
    /// [`crate::engine::holds::Holds::instead_of`].
    pub fn meant(&mut self, of: &Of, meant: Meant) -> Option<u64> {
        let numbers = self.numbers.get(of).map_or(&[][..], Vec::as_slice);
        let stand_ins = self.stand_ins.get_mut(of);
        let ends = match meant {
            Meant::Given(number) => return Some(number),
            Meant::Latest => numbers.last(),
            Meant::Untaken(number) if numbers.contains(&number) => return Some(number),
            Meant::Untaken(number) if stand_ins.is_some_and(|stand_ins| stand_ins.take(number)) => {
                numbers.iter().rev().find(|other| **other < number)
            }
            Meant::Untaken(_) => None,
        };
        let ends = ends.copied();
        if numbers.len() > 1 {
            let stand_ins = ends.map(|number| (number, self.stand_ins.entry(of.clone()).or_default()));
            stand_ins.into_iter().for_each(|(number, stand_ins)| stand_ins.note(number));
        }
        ends
    }

    /// Gives a hold of that owner to the first release that asks for it, and the number of holds that the owner keeps.
    pub fn leave(&mut self, of: &Of, number: u64) -> Option<(Arc<GroupHold>, usize)> {
        let held = self.get(number)?;
        let numbers = self.numbers.get_mut(of)?;
        let at = numbers.iter().position(|other| *other == number)?;
        numbers.remove(at);
        let left = numbers.len();
        if left == 0 {
            self.numbers.remove(of);
            self.stand_ins.remove(of);
        }
        Some((held, left))
    }

    /// Forgets a hold and gives it. A caller may still ask for its loss; `told`: a release has reported it.
    pub fn forget(&mut self, number: u64, loss: Option<&Loss>, told: bool) -> Option<Arc<GroupHold>> {
        let of = self.held.get(&number)?.0.clone();
        self.leave(&of, number);
        let (of, held) = self.held.remove(&number)?;
        if let Some(loss) = loss {
            self.past.add(number, Gone { of, loss: loss.clone(), at: Instant::now() }, told);
        }
        Some(held)
    }

    /// The loss of a forgotten hold.
    pub fn loss_of(&self, number: u64) -> Option<Loss> {
        self.past.get(number).map(Gone::loss)
    }

    /// What a caller may still know of a forgotten hold.
    pub fn look_back(&self, number: u64) -> Look {
        self.past.untold(number).map_or(Look::Gone, |gone| Look::Lost(gone.loss()))
    }

    /// Gives the loss of a forgotten hold to the first release of its owner.
    pub fn tell_loss(&mut self, of: &Of, number: u64) -> Option<Loss> {
        self.past.tell(number, |gone| gone.of == *of).map(Gone::loss)
    }

    /// Forgets a loss for which no caller can ask any more.
    pub fn forget_loss(&mut self, number: u64) {
        self.past.remove(number);
    }

    /// Tells whether an owner of that group gave the hold of that number back, or the client has forgotten it.
    pub fn has_left(&self, of: &Of, number: u64) -> bool {
        let is_anothers = || self.held.get(&number).is_some_and(|(other, _)| other != of);
        (1..=self.last).contains(&number) && !is_anothers()
    }

    /// Notes a running request; `acquires`: what it acquires. Gives a receiver that completes when the request has to
    /// end: at once, if it acquires and the client is closed.
    pub fn begin(&mut self, ticket: u64, acquires: Option<Of>) -> oneshot::Receiver<()> {
        let (cancel, cancelled) = oneshot::channel();
        if acquires.is_none() || !self.closed {
            self.running.insert(ticket, (cancel, acquires));
        }
        cancelled
    }

    /// Tells whether an acquire is under way, which may have some of the group's locks already.
    pub fn is_acquiring(&self, of: &Of) -> bool {
        self.running.values().any(|(_, acquires)| acquires.as_ref() == Some(of))
    }

    /// Ends all acquires, and every acquire that comes later.
    pub fn close(&mut self) {
        self.closed = true;
        self.running.retain(|_, (_, acquires)| acquires.is_none());
    }

    /// Forgets a request that has ended, or tells a running one to end.
    pub fn end(&mut self, ticket: u64) {
        self.running.remove(&ticket);
    }
}
