//! The holds that a release took because they were their owner's latest. If the caller of one never had it, that
//! release meant an earlier hold.

use std::collections::VecDeque;

/// The most numbers to remember of one owner. A caller that never had a hold gives it back soon.
const MOST: usize = 1_000;

#[derive(Default)]
pub struct StandIns(VecDeque<u64>);

impl StandIns {
    pub fn note(&mut self, number: u64) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(number);
    }

    pub fn has(&self, number: u64) -> bool {
        self.0.contains(&number)
    }

    /// Forgets the number; tells whether it was noted.
    pub fn take(&mut self, number: u64) -> bool {
        // The latest is the likeliest.
        let at = self.0.iter().rposition(|other| *other == number);
        at.and_then(|at| self.0.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::Instant;
    use crate::engine::claim::Claim;
    use crate::engine::holds::{Holds, Meant};

    #[test]
    fn each_number_counts_once_and_only_the_youngest_are_remembered() {
        let mut stand_ins = StandIns::default();
        let most = MOST as u64;
        (1..=most + 1).for_each(|number| stand_ins.note(number));
        assert!(!stand_ins.take(1) && stand_ins.take(2) && stand_ins.take(most + 1));
        assert!(!stand_ins.take(2) && !stand_ins.take(most + 2));
    }

    /// Holds of one owner, and releases of them.
    struct Stage(Holds, Claim, Instant);

    impl Stage {
        fn new() -> Stage {
            Stage(Holds::new("u".into(), Duration::from_secs(30)), Claim::new("plain", "n".into(), 1), Instant::now())
        }

        fn take(&mut self) -> u64 {
            self.0.taken(&self.1, || None, None, 0, self.2, self.2)
        }

        /// Ends the hold that is meant, by this kind or another one. Gives its number, 0: none.
        fn end(&mut self, meant: Meant) -> u64 {
            let (claim, _) = self.0.meant(&self.1, meant);
            let Ok(Some(leaving)) = self.0.leaving(&claim, meant, self.2) else { return 0 };
            self.0.released(&claim, leaving.number, leaving.leave == 0, self.2);
            leaving.number
        }

        fn release(&mut self) -> u64 {
            self.end(Meant::Latest)
        }

        fn give_back(&mut self, number: u64) -> u64 {
            self.end(Meant::Untaken(number))
        }
    }

    #[test]
    fn a_hold_that_no_caller_had_ends_or_else_the_one_that_its_release_meant() {
        let mut stage = Stage::new();
        let [own, untaken, other, later] = [(); 4].map(|()| stage.take());
        assert_eq!([stage.release(), stage.release()], [later, other]);
        assert_eq!(stage.give_back(untaken), untaken, "it is there still");
        assert_eq!(stage.give_back(untaken), 0, "it ended by its number");
        let again = stage.take();
        assert_eq!((stage.release(), stage.give_back(again), stage.give_back(again)), (again, own, 0));
    }

    #[test]
    fn of_two_holds_that_no_caller_had_each_is_worth_one_release() {
        for first in [0, 1] {
            let mut stage = Stage::new();
            let own = stage.take();
            let untaken = [stage.take(), stage.take()];
            assert_eq!(stage.release(), untaken[1]);
            let ended = [stage.give_back(untaken[first]), stage.give_back(untaken[1 - first])];
            assert_eq!(ended, [untaken[0], own], "{first}");
        }
    }

    #[test]
    fn a_hold_that_began_after_the_release_is_not_ended_in_its_place() {
        let mut stage = Stage::new();
        let [own, untaken] = [stage.take(), stage.take()];
        assert_eq!([stage.release(), stage.release()], [untaken, own]);
        stage.take();
        assert_eq!(stage.give_back(untaken), 0);
        let untaken = stage.take();
        assert_eq!(stage.release(), untaken);
        stage.take();
        assert_eq!(stage.give_back(untaken), untaken - 1);
    }
}
