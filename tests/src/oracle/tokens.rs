//! The fencing tokens that were given out, and by which servers: each only once, and each greater than all before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use super::book::{Client, Key};
use super::places::Place;
use super::{Statement, Violation, watch};

/// How many tokens of each name are remembered.
const KEPT: usize = 1000;

struct Given {
    owner: String,
    hold: u64,
    told: Instant,
}

/// The servers that share the data, the database, and the name of the lock.
type Name = (BTreeSet<Place>, i64, String);

static GIVEN: LazyLock<Mutex<HashMap<Name, BTreeMap<i64, Given>>>> = LazyLock::new(Mutex::default);

/// When each server lost its data last; `None`: it is losing it now, so the moment is unknown at which tokens begin
/// anew.
static EMPTIED: LazyLock<Mutex<HashMap<Place, Option<Instant>>>> = LazyLock::new(Mutex::default);

/// Notes that a hold was given a token, by a call that was sent at `asked`.
pub fn given(client: &Client, key: &Key, hold: u64, token: i64, asked: Instant, told: Instant) {
    let places = client.places();
    // The report of another process arrives a little later than its token was given.
    let is_before = |place: &Place| {
        let emptied = EMPTIED.lock().expect("nothing panics while it is held").get(place).copied();
        emptied.is_some_and(|emptied| emptied.is_none_or(|emptied| asked <= emptied))
    };
    if places.is_empty() || places.iter().any(is_before) {
        return;
    }
    let owner = format!("{}:{}", client.uuid, key.owner);
    let mut all = GIVEN.lock().expect("nothing panics while it is held");
    let tokens = all.entry((places.clone(), client.database, key.name.clone())).or_default();
    let wrong = match tokens.get(&token) {
        Some(before) if before.owner == owner && before.hold == hold => None,
        Some(before) => Some(format!("the token {token} is that of hold {} of {} too", before.hold, before.owner)),
        // A token reported before this one was requested must be smaller. Reports of two tokens under way at once may
        // come in any order.
        None => tokens.range(token..).find(|(_, before)| before.told < asked).map(|(last, before)| {
            format!(
                "the token {token} was asked for after {last} had been given to hold {} of {}",
                before.hold, before.owner
            )
        }),
    };
    tokens.insert(token, Given { owner: owner.clone(), hold, told });
    if tokens.len() > KEPT {
        tokens.pop_first();
    }
    drop(all);
    if let Some(wrong) = wrong {
        let text = format!("`{}`: hold {hold} of {owner}: {wrong}", key.name);
        watch::report(&places, Violation { statement: Statement::Tokens, name: key.name.clone(), text });
    }
}

/// Expects the loss of a server's data. Until [`forget`], tokens from before and after the loss may come in any order.
pub fn pause(place: Place) {
    EMPTIED.lock().expect("nothing panics while it is held").insert(place, None);
}

/// Notes that a server has lost its data.
pub fn forget(place: Place) {
    EMPTIED.lock().expect("nothing panics while it is held").insert(place, Some(Instant::now()));
    GIVEN.lock().expect("nothing panics while it is held").retain(|(places, ..), _| !places.contains(&place));
}
