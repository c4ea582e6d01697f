//! The last look at a server's keys, at the end of its test.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::book::{self, Client};
use super::watch::Watch;
use super::{BEAT, GIVEN_BACK, LAST_LEASE, ROUNDING, SETTLED, Statement, Violation, endless};
use crate::view::View;

/// Reports keys that have no end and must have one, and keys of closed clients that outlive their lease.
pub(super) fn look(watch: &Watch, view: &mut View) {
    let begun = Instant::now();
    let clients = book::clients_of(watch.place);
    let are_over = !clients.is_empty() && book::are_over(&clients);
    let mut left: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        let Ok(keys) = view.try_command::<Vec<Vec<u8>>>(&["KEYS", "*"]) else { return };
        let mut waits = false;
        for key in keys.into_iter().filter_map(|key| String::from_utf8(key).ok()) {
            let Ok(ttl) = view.try_command::<i64>(&["PTTL", &key]) else { return };
            let now = Instant::now();
            if ttl == -1 {
                let Some(what) = endless::wants_an_end(view, &key, |_| {}) else { continue };
                waits = true;
                if begun.elapsed() >= GIVEN_BACK {
                    watch.report(endless::violation(&key, what));
                }
            } else if ttl > 0 && are_over && is_of(view, &key, &clients) {
                let ends = now + Duration::from_millis(ttl as u64) + ROUNDING;
                let first = *left.entry(key.clone()).or_insert(ends);
                if ends > first + SETTLED {
                    let text = format!(
                        "`{}` of clients that are gone was renewed: it lives for {ttl} ms more",
                        key.escape_debug()
                    );
                    watch.report(Violation { statement: Statement::Nothing, name: key.clone(), text });
                }
                waits |= first.saturating_duration_since(begun) <= LAST_LEASE && now < first + SETTLED;
            }
        }
        if !waits || begun.elapsed() > GIVEN_BACK + LAST_LEASE || !watch.violations().is_empty() {
            return;
        }
        sleep(BEAT);
    }
}

/// Whether a key has a hold of one of these clients.
fn is_of(view: &mut View, key: &str, clients: &[Arc<Client>]) -> bool {
    let said: Vec<u8> = match view.try_command::<String>(&["TYPE", key]).unwrap_or_default().as_str() {
        "hash" => view.try_command::<Vec<Vec<u8>>>(&["HGETALL", key]).unwrap_or_default().concat(),
        "string" => [key.as_bytes(), &view.try_command::<Vec<u8>>(&["GET", key]).unwrap_or_default()].concat(),
        _ => Vec::new(),
    };
    let has = |client: &Arc<Client>| said.windows(36).any(|text| text == client.uuid.as_bytes());
    clients.iter().any(has)
}
