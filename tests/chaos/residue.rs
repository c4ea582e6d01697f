//! What is left in the server when everybody rests: in the end nothing, and nothing of the living for long.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redlatch_tests::Server;
use redlatch_tests::traffic::LONGEST_LEASE;

/// How long after a rest begins the living may still have something to give back: what a call in doubt takes to be settled.
pub const LIVING: Duration = Duration::from_millis(3000);
/// How long the dead may still hold something.
pub const DEAD: Duration = LONGEST_LEASE.saturating_add(Duration::from_secs(1));

/// Keys that count the tokens of fenced locks begin so.
const TOKENS: &str = "redisson_lock_token:";

/// Over all rests.
#[derive(Default)]
pub struct Residue {
    pub rests: u64,
    /// Holds that nobody believed in, of processes that were there to give them back.
    pub orphans: u64,
    pub longest: Duration,
    /// Holds that killed processes left.
    pub of_the_dead: u64,
    pub violations: Vec<String>,
}

impl Residue {
    /// Waits until nothing is left, or for as long as something may be. `living`: first halves of the owners of those who are there.
    pub fn check(&mut self, server: &Server, living: &[String]) {
        let (mut view, began) = (server.view(), Instant::now());
        let (mut orphans, mut dead) = (BTreeSet::new(), BTreeSet::new());
        self.rests += 1;
        loop {
            let (waited, mut late) = (began.elapsed(), false);
            // Tokens outlive their lock.
            let keys: Vec<String> = view.keys("*").into_iter().filter(|key| !key.starts_with(TOKENS)).collect();
            for key in &keys {
                for owner in view.hgetall(key).into_keys() {
                    let lives = living.iter().any(|id| owner.starts_with(id.as_str()));
                    if lives {
                        self.longest = self.longest.max(waited);
                    }
                    if waited > if lives { LIVING } else { DEAD } {
                        late = true;
                        let whose = if lives { "a living" } else { "a dead" };
                        self.violations.push(format!("{key} is held by {owner} of {whose} process {waited:.1?} after all came to rest"));
                    }
                    if lives { &mut orphans } else { &mut dead }.insert((key.clone(), owner));
                }
            }
            let channels = view.channels("*");
            if !channels.is_empty() && waited > LIVING {
                self.violations.push(format!("somebody listens on {channels:?} {waited:.1?} after all came to rest"));
                late = true;
            }
            if late || (keys.is_empty() && channels.is_empty()) {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        self.orphans += orphans.len() as u64;
        self.of_the_dead += dead.len() as u64;
    }
}
