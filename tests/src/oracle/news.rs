//! Receives the beliefs of the clients of this process, and passes their log lines on. In a process that a rig has
//! started, the rig receives the beliefs.
//!
//! The core reports a belief's end in µs from now. The time of the event is noted when the event is requested, just
//! before its fields are filled in. So a belief never ends later in this book than in the core.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use super::{abroad, book};
use crate::clock;

const TARGET: &str = "redlatch::belief";

thread_local! {
    /// The time of the latest event, on both clocks: the process's and the machine's.
    static ASKED: Cell<Option<(Instant, u64)>> = const { Cell::new(None) };
}

type Hearer = Box<dyn Fn(Level, &str, &str) + Send>;
static HEARERS: Mutex<Vec<Hearer>> = Mutex::new(Vec::new());
static HEARD: AtomicBool = AtomicBool::new(false);

/// Receives the reports of this process's clients from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::subscriber::set_global_default(News(AtomicU64::new(1)))
            .expect("the rig's is the only subscriber: see oracle::hear");
    });
}

/// Passes the level, the target and the text of each log event of the core to `hearer`.
pub fn hear(hearer: impl Fn(Level, &str, &str) + Send + 'static) {
    listen();
    HEARERS.lock().expect("no hearer panics").push(Box::new(hearer));
    HEARD.store(true, SeqCst);
}

struct News(AtomicU64);

impl Subscriber for News {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Not `always`: `enabled` must be called before each event.
        if metadata.target().starts_with("redlatch::") { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == TARGET {
            ASKED.set(Some((Instant::now(), clock::now())));
            return true;
        }
        metadata.target().starts_with("redlatch::") && HEARD.load(SeqCst)
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        if metadata.target() == TARGET {
            let mut told = Told::default();
            event.record(&mut told);
            let (at, by_machine) = ASKED.take().unwrap_or_else(|| (Instant::now(), clock::now()));
            if !abroad::pass_on(&told, by_machine) {
                book::note(told.change(at));
            }
            return;
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        HEARERS
            .lock()
            .expect("no hearer panics")
            .iter()
            .for_each(|hearer| hearer(*metadata.level(), metadata.target(), &message.0));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.0.fetch_add(1, SeqCst))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// The fields of one event.
#[derive(Default)]
pub(super) struct Told {
    pub change: String,
    pub client: String,
    pub kind: String,
    pub name: String,
    pub servers: String,
    pub owner: i64,
    pub hold: u64,
    pub token: i64,
    pub database: i64,
    /// In µs; the greatest number: no call was sent.
    pub left: u64,
    pub asked: u64,
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "change" => self.change = value.to_owned(),
            "client" => self.client = value.to_owned(),
            "kind" => self.kind = value.to_owned(),
            "name" => self.name = value.to_owned(),
            _ => {}
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match field.name() {
            "owner" => self.owner = value,
            "token" => self.token = value,
            "database" => self.database = value,
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "hold" => self.hold = value,
            "left" => self.left = value,
            "asked" => self.asked = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "servers" {
            self.servers = format!("{value:?}");
        }
    }
}

impl Told {
    pub fn change(self, at: Instant) -> book::Change {
        let asked = (self.asked != u64::MAX).then(|| at.checked_sub(Duration::from_micros(self.asked)).unwrap_or(at));
        let until = at + Duration::from_micros(self.left);
        let key = book::Key { kind: self.kind, name: self.name, owner: self.owner };
        let kind = match self.change.as_str() {
            "begun" => book::What::Begun { servers: self.servers, database: self.database },
            "over" => book::What::Over,
            "taken" => book::What::Taken,
            "until" => book::What::Until,
            "token" => book::What::Token(self.token),
            "leaving" => book::What::Leaving,
            "kept" => book::What::Kept,
            "ended" | "lost" => book::What::Ended { lost: self.change == "lost" },
            other => panic!("the core tells of a change that the rig does not know: {other}"),
        };
        book::Change { at, client: self.client, key, hold: self.hold, until, asked, what: kind }
    }
}
