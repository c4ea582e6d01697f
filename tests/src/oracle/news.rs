//! Receives the beliefs of the clients of this process, and passes their log lines and spans on. In a process that a rig
//! has started, the rig receives the beliefs.
//!
//! The core reports a belief's end in µs from now. The time of the event is noted when the event is requested, just
//! before its fields are filled in. So a belief never ends later in this book than in the core.

use std::cell::Cell;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry, SpanRef};

use super::book::Change;
use super::{abroad, book};
use crate::clock;

const TARGET: &str = "redlatch::belief";
/// That of the core's spans.
const SPANS: &str = "redlatch::span";

thread_local! {
    /// The time of the latest event, on both clocks: the process's and the machine's.
    static ASKED: Cell<Option<(Instant, u64)>> = const { Cell::new(None) };
    /// Whether no hearer wants the core's spans of this thread.
    static WITHOUT_SPANS: Cell<bool> = const { Cell::new(false) };
}

/// A log event of the core, or the beginning or the end of a span.
pub struct Heard {
    pub level: Level,
    pub target: String,
    /// That of a span is `begins` or `ends`.
    pub message: String,
    /// The spans around it, the innermost last, each with its fields: `redlatch.hold{lock=n kind=plain}`. A span is in
    /// itself.
    pub spans: Vec<String>,
}

type Hearer = Box<dyn Fn(&Heard) + Send>;
static HEARERS: Mutex<Vec<Hearer>> = Mutex::new(Vec::new());
type Believer = Box<dyn Fn(&Change) + Send>;
static BELIEVERS: Mutex<Vec<Believer>> = Mutex::new(Vec::new());
static HEARD: AtomicBool = AtomicBool::new(false);

/// Receives the reports of this process's clients from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        redlatch::ffi::report_beliefs();
        tracing::subscriber::set_global_default(Registry::default().with(News))
            .expect("the rig's is the only subscriber: see oracle::hear");
    });
}

/// Passes each log event and each span of the core to `hearer`.
pub fn hear(hearer: impl Fn(&Heard) + Send + 'static) {
    listen();
    HEARERS.lock().expect("no hearer panics").push(Box::new(hearer));
    HEARD.store(true, SeqCst);
}

/// Passes each change of a belief of this process's clients to `believer`, in the order of the changes of each client. It is
/// called while the client is locked, so it must ask no client anything.
pub fn hear_beliefs(believer: impl Fn(&Change) + Send + 'static) {
    listen();
    BELIEVERS.lock().expect("no believer panics").push(Box::new(believer));
}

/// Runs `work` while no hearer wants the core's spans of this thread.
pub fn without_spans<T>(work: impl FnOnce() -> T) -> T {
    WITHOUT_SPANS.set(true);
    let done = work();
    WITHOUT_SPANS.set(false);
    done
}

struct News;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for News {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Not `always`: `enabled` must be called before each event.
        if metadata.target().starts_with("redlatch::") { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        if metadata.target() == TARGET {
            ASKED.set(Some((Instant::now(), clock::now())));
            return true;
        }
        let is_unwanted = metadata.target() == SPANS && WITHOUT_SPANS.get();
        metadata.target().starts_with("redlatch::") && !is_unwanted && HEARD.load(SeqCst)
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() == TARGET {
            let mut told = Told::default();
            event.record(&mut told);
            let (at, by_machine) = ASKED.take().unwrap_or_else(|| (Instant::now(), clock::now()));
            if !abroad::pass_on(&told, by_machine) {
                let change = told.change(at);
                BELIEVERS.lock().expect("no believer panics").iter().for_each(|believer| believer(&change));
                book::note(change);
            }
            return;
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        pass_on(metadata, message.0, context.event_span(event));
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields(String::new());
        attributes.record(&mut fields);
        let text = format!("{}{{{}}}", attributes.metadata().name(), fields.0.trim_end());
        span.extensions_mut().insert(text);
        pass_on(attributes.metadata(), "begins".into(), Some(span));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        pass_on(span.metadata(), "ends".into(), Some(span));
    }
}

fn pass_on<'a, S: LookupSpan<'a>>(metadata: &Metadata<'_>, message: String, inside: Option<SpanRef<'a, S>>) {
    let text = |span: SpanRef<'a, S>| span.extensions().get::<String>().cloned().unwrap_or_default();
    let spans = inside.into_iter().flat_map(|span| span.scope().from_root().map(text).collect::<Vec<_>>()).collect();
    let heard = Heard { level: *metadata.level(), target: metadata.target().to_owned(), message, spans };
    HEARERS.lock().expect("no hearer panics").iter().for_each(|hearer| hearer(&heard));
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// The fields of a span.
struct Fields(String);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, "{field}={value} ");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
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
    /// The owner under whose field the server keeps the hold.
    pub grip: i64,
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
            "grip" => self.grip = value,
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
        let grip = self.grip;
        book::Change { at, client: self.client, key, grip, hold: self.hold, until, asked, what: kind }
    }
}
