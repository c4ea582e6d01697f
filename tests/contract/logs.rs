//! What the core says to a log: nothing above debug while all is well, and one warning for a lost hold.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, Once};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::{eventually, pair};

/// The level, the target and the message of an event.
type Line = (Level, String, String);

pub type Lines = Arc<Mutex<Vec<Line>>>;

/// Every event of the program since [`keep`], since the core speaks on threads of its own.
static LINES: LazyLock<Lines> = LazyLock::new(Lines::default);

/// Keeps events.
pub struct Log(pub Lines, pub AtomicU64);

struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("redlatch::")
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = String::new();
        event.record(&mut Message(&mut message));
        let (level, target) = (*event.metadata().level(), event.metadata().target().to_owned());
        self.0.lock().expect("nothing panics while it is held").push((level, target, message));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.1.fetch_add(1, SeqCst))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Has events kept from now on; a program has one log.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Log(LINES.clone(), AtomicU64::new(1))).expect("the only log of this program"));
}

/// The events about a lock.
fn said_of(name: &str) -> Vec<Line> {
    let lines = LINES.lock().expect("nothing panics while it is held");
    lines.iter().filter(|(.., message)| message.contains(&format!("`{name}`"))).cloned().collect()
}

/// The warnings among them.
pub fn warnings_of(name: &str) -> Vec<Line> {
    said_of(name).into_iter().filter(|(level, ..)| *level < Level::DEBUG).collect()
}

/// The events about its loss, at whatever level.
pub fn losses_of(name: &str) -> Vec<Line> {
    said_of(name).into_iter().filter(|(_, target, _)| target == "redlatch::lost").collect()
}

#[test]
fn a_lost_hold_is_one_warning_with_its_time_line_and_the_rest_is_for_debugging() {
    keep();
    let (server, a, _) = pair();
    let kept = a.lock("logged kept").blocking().acquire().expect("free");
    kept.release().expect("held");
    assert!(!said_of("logged kept").is_empty(), "an acquire is told for debugging");
    assert!(warnings_of("logged kept").is_empty());
    let guard = a.lock("logged lost").blocking().acquire().expect("free");
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "logged lost"]);
    eventually(|| guard.ensure().is_err());
    let warnings = warnings_of("logged lost");
    let [(Level::WARN, target, message)] = &warnings[..] else { panic!("one warning: {warnings:?}") };
    assert_eq!(target, "redlatch::lost");
    assert!(message.contains("deleted (acquired ") && message.contains("never renewed"), "{message}");
}
