//! Warnings of the core on their way to Java's log: rows whose ticket belongs to no request, and whose texts are the
//! subject and the message.

use std::fmt::{Debug, Write};
use std::sync::Once;

use redlatch::ffi::Answer;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::FINISHED;

/// The ticket of such a row, −1 in Java.
pub const TICKET: u64 = u64::MAX;

/// The targets of the core are `redlatch::` and a subject.
const CORE: &str = "redlatch::";

/// From now on, unless the process has another listener already.
pub fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(tracing::subscriber::set_global_default(Warnings)));
}

struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with(CORE)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let subject = event.metadata().target().trim_start_matches(CORE);
        let texts = vec![subject.into(), text.0.into_bytes()];
        FINISHED.push(TICKET, Ok(Answer { done: true, texts, ..Answer::default() }));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // The other fields are in the message as well.
        if field.name() == "message" {
            write!(self.0, "{value:?}").expect("memory takes everything");
        }
    }
}
