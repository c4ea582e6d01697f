//! The locks as metrics, in the text that Prometheus reads. Their series are bounded: kinds, words, and groups of names.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::board::Tally;
use crate::watch::Watch;

/// The type of the text.
pub const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A hold ends in one of these ways, as far as looks can tell: `gone` is released or deleted, and perhaps expired.
const ENDS: [&str; 6] = ["released", "passed_on", "expired", "gone", "forgotten", "evicted"];

type Label = [(&'static str, String); 1];
type Times = Gauge<f64, AtomicU64>;

pub fn text(watch: &Watch, tally: &mut Tally) -> String {
    let mut kinds: BTreeMap<&str, i64> = BTreeMap::new();
    let mut groups: BTreeMap<String, (Option<i64>, f64)> = BTreeMap::new();
    for (name, known) in watch.locks() {
        let Some(sight) = &known.sight else { continue };
        let is_held = sight.is_held();
        *kinds.entry(sight.kind).or_default() += i64::from(is_held);
        let (waiting, longest) = groups.entry(tally.groups.of(name)).or_default();
        if let Some(count) = sight.waiting.and_then(|count| i64::try_from(count).ok()) {
            *waiting = Some(waiting.unwrap_or(0) + count);
        }
        if is_held {
            *longest = longest.max(known.held_for().as_secs_f64());
        }
    }

    let mut registry = Registry::with_prefix("redlatch");
    let up = Gauge::<i64>::default();
    up.set(i64::from(watch.silence().is_none()));
    registry.register("up", "1 while the server of the locks answers", up);
    let locks = Family::<Label, Gauge>::default();
    for (kind, count) in kinds {
        locks.get_or_create(&[("kind", kind.to_owned())]).set(count);
    }
    registry.register("locks", "Locks that are held", locks);
    let waiting = Family::<Label, Gauge>::default();
    let longest = Family::<Label, Times>::default();
    for (group, (count, seconds)) in groups {
        // A server that does not tell of waiters has no series of them.
        if let Some(count) = count {
            waiting.get_or_create(&[("group", group.clone())]).set(count);
        }
        longest.get_or_create(&[("group", group)]).set(seconds);
    }
    registry.register("waiting", "Waiters for the locks of a group of names", waiting);
    registry.register("held_seconds_max", "The longest time for which a lock of the group has been seen held", longest);
    let ended = Family::<Label, Counter>::default();
    for how in ENDS {
        let count = tally.ended.get(how).copied().unwrap_or(0);
        ended.get_or_create(&[("how", how.to_owned())]).inc_by(count);
    }
    registry.register("ended", "Ends of holds that looks have seen", ended);
    let scan = Times::default();
    if let Some(took) = watch.listing() {
        scan.set(took.as_secs_f64());
        registry.register("scan_seconds", "The time that the last reading of all keys took", scan);
    }
    if let Some(took) = watch.answer() {
        let answer = Times::default();
        answer.set(took.as_secs_f64());
        registry.register("server_seconds", "The time of the last answer of the server", answer);
    }

    let mut text = String::new();
    // A String takes all that is written to it.
    let _ = encode(&mut text, &registry);
    text
}
