//! The losses of holds that the client has otherwise forgotten: a caller that still has such a hold may ask for its loss, however late.

use std::collections::BTreeMap;

use super::owned::Lost;
use crate::engine::claim::Claim;

/// The most losses to remember, those of the youngest holds. A program that lets leases end and never releases loses a hold each time.
const MOST: usize = 100_000;

/// The losses by the number of the hold.
#[derive(Default)]
pub struct Past(BTreeMap<u64, Gone>);

/// A hold that was lost.
pub struct Gone {
    pub claim: Claim,
    pub lost: Lost,
    /// The server may keep the key for longer than the client believed.
    pub outlasts: bool,
    /// A release has reported the loss.
    pub told: bool,
}

impl Past {
    pub fn add(&mut self, number: u64, gone: Gone) {
        self.0.insert(number, gone);
        while self.0.len() > MOST {
            self.0.pop_first();
        }
    }

    pub fn get(&self, number: u64) -> Option<&Gone> {
        self.0.get(&number)
    }

    /// A loss that no release has reported.
    pub fn untold(&self, number: u64) -> Option<&Gone> {
        self.get(number).filter(|gone| !gone.told)
    }

    /// Gives a loss to a release of that owner, if it is the first.
    pub fn tell(&mut self, number: u64, claim: &Claim) -> Option<&Gone> {
        let gone = self.0.get_mut(&number).filter(|gone| !gone.told && gone.claim == *claim)?;
        gone.told = true;
        Some(gone)
    }

    /// Forgets a loss for which no caller can ask any more.
    pub fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }
}
