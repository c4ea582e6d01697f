//! Until when the server keeps the hold of an agent, for comparison with what the agent's language says of that hold.

use std::time::{Duration, Instant};

use super::ROUNDING;
use super::book::{Belief, Client, Key};
use super::probe::{self, Found};
use crate::view::View;

/// A server's time beyond this one counts as this one.
const FOREVER: Duration = Duration::from_secs(1_000_000);

/// Until when the server certainly keeps the owner's hold; an [`Instant`] that is past if it has nothing of the owner.
/// `None`: its answer decides nothing.
pub fn kept_until(view: &mut View, uuid: &str, key: &Key) -> Option<Instant> {
    let now = Instant::now();
    let belief = Belief {
        client: Client::unknown(uuid).into(),
        key: key.clone().into(),
        grip: key.owner,
        first: 0,
        holds: 1,
        is_changing: false,
        until: now,
        asked: now,
    };
    let mut known = 0;
    loop {
        let replies: Vec<_> = probe::reads(&belief, known).iter().map(|read| view.run(read)).collect();
        let now = Instant::now();
        match probe::found(&belief, &replies) {
            Found::Gone => return Some(now),
            Found::Lives(ms) => return Some(now + FOREVER.min(Duration::from_millis(ms as u64)) + ROUNDING),
            Found::Unknown => return None,
            Found::More(count) => known = count,
        }
    }
}
