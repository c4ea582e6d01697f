//! The losses of holds that the client has otherwise forgotten: a caller that still has such a hold may ask for its
//! loss, however late.

use std::collections::BTreeMap;

/// The most losses to remember, those of the youngest holds. A program that lets leases end and never releases loses a
/// hold each time.
const MOST: usize = 100_000;

/// The losses by the number of the hold, and whether a release has reported each.
pub struct Past<T>(BTreeMap<u64, (T, bool)>);

impl<T> Default for Past<T> {
    fn default() -> Self {
        Past(BTreeMap::new())
    }
}

impl<T> Past<T> {
    /// `told`: a release has reported the loss.
    pub fn add(&mut self, number: u64, loss: T, told: bool) {
        self.0.insert(number, (loss, told));
        while self.0.len() > MOST {
            self.0.pop_first();
        }
    }

    pub fn get(&self, number: u64) -> Option<&T> {
        self.0.get(&number).map(|(loss, _)| loss)
    }

    /// A loss that no release has reported.
    pub fn untold(&self, number: u64) -> Option<&T> {
        self.0.get(&number).filter(|(_, told)| !told).map(|(loss, _)| loss)
    }

    /// Gives a loss to a release of the owner that `is_own` checks, if it is the first.
    pub fn tell(&mut self, number: u64, is_own: impl FnOnce(&T) -> bool) -> Option<&T> {
        let (loss, told) = self.0.get_mut(&number).filter(|(loss, told)| !told && is_own(loss))?;
        *told = true;
        Some(loss)
    }

    /// Forgets a loss for which no caller can ask any more.
    pub fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_youngest_losses_are_remembered() {
        let mut past = Past::default();
        let most = MOST as u64;
        (0..most + 10).for_each(|number| past.add(number, number, false));
        assert_eq!((past.get(9), past.get(10), past.get(most + 9)), (None, Some(&10), Some(&(most + 9))));
    }

    #[test]
    fn a_loss_is_told_to_one_release_of_its_owner_and_remembered_after_that() {
        let mut past = Past::default();
        past.add(1, "own", false);
        assert_eq!(past.tell(1, |loss| *loss == "of another owner"), None);
        assert_eq!(past.untold(1), Some(&"own"));
        assert_eq!(past.tell(1, |loss| *loss == "own"), Some(&"own"));
        assert_eq!(past.tell(1, |_| true), None);
        assert_eq!((past.untold(1), past.get(1)), (None, Some(&"own")));
    }
}
