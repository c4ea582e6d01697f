//! One cell: a kind, an operation, a trouble. The test plays it, and judges it by the promises that hold in every case.

use std::time::Duration;

use redlatch::ffi::kinds::Traits;
use redlatch_tests::cells;

use crate::grounds::Grounds;
use crate::operations::Operation;
use crate::scene::Scene;
use crate::troubles::{Strike, Trouble};

/// The watchdog's lease of every client here.
pub const LEASE: Duration = Duration::from_secs(2);
/// How much longer than a lease something may take on a busy machine.
const MARGIN: Duration = Duration::from_secs(5);

pub struct Cell<'a> {
    pub number: usize,
    pub kind: &'static Traits,
    pub operation: &'a Operation,
    pub trouble: &'a Trouble,
}

impl Cell<'_> {
    pub fn title(&self) -> String {
        cells::title(self.names())
    }

    pub fn names(&self) -> [&str; 3] {
        [self.kind.name, self.operation.name, &self.trouble.name]
    }

    /// Plays the cell. Returns the answers to the client in trouble, and every violation.
    pub fn play(&self, grounds: &Grounds) -> (String, Vec<String>) {
        let scene = Scene::open(self, grounds);
        scene.set_permits();
        (self.operation.play)(&scene);
        scene.heal();
        let player = scene.a.clone();
        let wrong = scene.judge();
        (player.told(), wrong)
    }

    /// How long keys of the cell may remain after its clients have gone.
    pub fn patience(&self) -> Duration {
        // A dropped client leaves its longest lease behind. A reader that is released while the key of its hold is at
        // the other server looks like a reader of Redisson 3.44 to 3.52, which has no such key: the lock keeps its end,
        // see read_release.lua.
        let is_unseen = self.kind.name == "read" && self.trouble.strike == Strike::Moves { lock: true };
        let longest = if self.trouble.strike == Strike::Abandoned || is_unseen { self.operation.longest } else { 1 };
        LEASE * longest + MARGIN
    }
}
