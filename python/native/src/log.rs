//! Passes the core's log messages to Python's `logging`. The I/O thread never waits for the GIL: it puts messages into
//! a queue, and a Python thread empties the queue (`redlatch/logs.py`). That thread starts with the first message, so
//! most programs never have it.

use std::collections::VecDeque;
use std::fmt::{Debug, Write as _};
use std::io::{Write as _, stderr};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use redlatch::ffi::PerProcess;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as Values};
use tracing::{Event, Level, Metadata, Subscriber};

/// The levels of Python's `logging`.
const DEBUG: u8 = 10;
const INFO: u8 = 20;
const WARNING: u8 = 30;

/// How many messages below a warning may wait for the Python thread. If a handler is too slow, later ones are dropped.
const MOST: usize = 10_000;

/// The lowest level that a logger wants. Warnings always count, because they are few.
static WANTED: AtomicU8 = AtomicU8::new(WARNING);

/// The queue of this process. A forked child has its own, because its parent logs the parent's messages.
static QUEUE: PerProcess<Queue> = PerProcess::new();

/// The longest time that the end of the program waits for the thread that starts the Python thread.
const PATIENCE: Duration = Duration::from_secs(3);

/// One message. Python gets it as the tuple `(logger, level, message, (lock, owner, reason), (file, line), time)`.
pub struct Record {
    logger: String,
    level: u8,
    fields: Fields,
    file: &'static str,
    line: u32,
    /// In seconds since 1970.
    time: f64,
}

impl<'py> IntoPyObject<'py> for Record {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let about = (self.fields.lock, self.fields.owner, self.fields.reason);
        let place = (self.file, self.line);
        (self.logger, self.level, self.fields.message, about, place, self.time).into_pyobject(py)
    }
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    records: VecDeque<Record>,
    /// How many messages did not fit into the queue since the last report of this number.
    dropped: u64,
    thread: Phase,
    /// The native thread that starts the Python thread is in the interpreter.
    starter_inside: bool,
    /// The Python thread has taken records and has not come back yet.
    delivering: bool,
}

/// The phase of the Python thread.
#[derive(Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    None,
    Starting,
    Running,
    /// No Python thread can start, and messages go to stderr.
    Writing,
    /// The program ends.
    Stopped,
}

/// Receives the core's messages from now on, unless another library of this process receives `tracing` events already.
pub fn begin() {
    drop(tracing::subscriber::set_global_default(Log));
}

/// Sets the lowest level, one of `logging`, of the messages that are passed on.
#[pyfunction]
pub fn log_level(level: u8) {
    let level = level.min(WARNING);
    if WANTED.swap(level, Relaxed) != level {
        tracing::callsite::rebuild_interest_cache();
    }
}

/// Blocks until there are messages, and takes at most so many. An empty list means that the program ends and no message
/// is left.
#[pyfunction]
pub fn log_drain(py: Python<'_>, at_most: usize) -> Vec<Record> {
    py.detach(|| queue().drain(at_most))
}

/// Blocks until all messages are delivered, for at most so many seconds.
#[pyfunction]
pub fn log_flush(py: Python<'_>, at_most: f64) {
    py.detach(|| queue().flush(Duration::try_from_secs_f64(at_most).unwrap_or_default()));
}

/// Stops the log at the end of an interpreter; `logs` is its module `redlatch.logs`. One interpreter logs for all. If
/// it is this one, its Python thread ends when the queue is empty, and no thread starts any more. Else this returns
/// False.
#[pyfunction]
pub fn log_stop(py: Python<'_>, logs: &Bound<'_, PyAny>) -> bool {
    let this = logs.as_ptr() as usize;
    py.detach(|| {
        // A new thread sees the same interpreter as the thread that starts the Python thread: the main one.
        let finds = move || Python::try_attach(|py| !found(py).is_ok_and(|found| found.as_ptr() as usize == this));
        let is_other =
            std::thread::Builder::new().spawn(finds).is_ok_and(|thread| matches!(thread.join(), Ok(Some(true))));
        if !is_other {
            queue().stop();
        }
        !is_other
    })
}

/// The module `redlatch.logs` of the interpreter that logs for all: the main one.
fn found(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("sys")?.getattr("modules")?.get_item("redlatch.logs")
}

fn queue() -> &'static Queue {
    QUEUE.get(Queue::default)
}

impl Queue {
    fn push(&self, record: Record) {
        let mut state = self.state();
        if record.level < WARNING && state.records.len() >= MOST {
            state.dropped += 1;
            return;
        }
        state.records.push_back(record);
        let starts = state.thread == Phase::None;
        if starts {
            state.thread = Phase::Starting;
        }
        drop(state);
        self.changed.notify_all();
        // A new thread waits for the GIL. If the system cannot start one, the next message or the end of the program
        // tries again.
        if starts && std::thread::Builder::new().name("redlatch-logs".into()).spawn(|| queue().start()).is_err() {
            self.phase(Phase::None);
        }
    }

    /// Starts the Python thread.
    fn start(&self) {
        self.starter(true);
        let started = Python::try_attach(|py| found(py)?.call_method0("begin").map(drop));
        self.starter(false);
        if let Some(Ok(())) = started {
            return self.phase(Phase::Running);
        }
        // No interpreter can log the messages, mostly because the one that uses redlatch is not the main one. So they
        // go to stderr, as the messages of a program without handlers do.
        self.phase(Phase::Writing);
        while let Some(record) = self.written() {
            // The queue is not locked meanwhile: a full stderr holds up no other thread. A failed write is ignored.
            let _ = writeln!(stderr(), "{}", record.fields.message);
        }
    }

    /// Takes the next message to write. `None` if there is none; the next message starts a new thread then.
    fn written(&self) -> Option<Record> {
        let mut state = self.state();
        let record = state.records.pop_front();
        if record.is_none() && state.thread == Phase::Writing {
            state.thread = Phase::None;
            self.changed.notify_all();
        }
        record
    }

    fn starter(&self, is_inside: bool) {
        self.state().starter_inside = is_inside;
        self.changed.notify_all();
    }

    fn phase(&self, phase: Phase) {
        let mut state = self.state();
        if state.thread != Phase::Stopped {
            state.thread = phase;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn drain(&self, at_most: usize) -> Vec<Record> {
        let mut state = self.state();
        state.delivering = false;
        // With gevent the "thread" is a greenlet, and it runs before its start returns.
        if state.thread == Phase::Starting {
            state.thread = Phase::Running;
        }
        self.changed.notify_all();
        while state.records.is_empty() && state.thread != Phase::Stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.records.len().min(at_most);
        let mut records: Vec<Record> = state.records.drain(..count).collect();
        if state.dropped > 0 {
            let count = std::mem::take(&mut state.dropped);
            let message = format!(
                "{count} messages below a warning were dropped; the handlers of `logging` are slower than they came"
            );
            records.push(Record {
                logger: "redlatch".into(),
                level: WARNING,
                fields: Fields { message, ..Fields::default() },
                file: file!(),
                line: line!(),
                time: now(),
            });
        }
        state.delivering = !records.is_empty();
        records
    }

    fn flush(&self, at_most: Duration) {
        let is_busy =
            |state: &mut State| state.thread != Phase::Stopped && (!state.records.is_empty() || state.delivering);
        drop(self.changed.wait_timeout_while(self.state(), at_most, is_busy));
    }

    fn stop(&self) {
        let state = self.state();
        // A thread that is starting looks for the interpreter. So this waits until it has started.
        let starts = |state: &mut State| state.thread == Phase::Starting;
        let mut state = self.changed.wait_while(state, starts).unwrap_or_else(PoisonError::into_inner);
        state.thread = Phase::Stopped;
        self.changed.notify_all();
        // The Python thread may have begun before its start has returned. The end of the interpreter ends a native thread
        // inside by force, and with it the program. With gevent that thread calls the handlers, of which one may hang.
        drop(self.changed.wait_timeout_while(state, PATIENCE, |state| state.starter_inside));
    }

    /// Locks the queue. A panic in another thread is ignored: an error of the log must not end a lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("redlatch") && level(metadata).is_some_and(|level| level >= WANTED.load(Relaxed))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match WANTED.load(Relaxed) {
            WARNING.. => LevelFilter::WARN,
            INFO.. => LevelFilter::INFO,
            _ => LevelFilter::DEBUG,
        })
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        queue().push(Record {
            logger: metadata.target().replace("::", "."),
            level: level(metadata).unwrap_or(WARNING),
            fields,
            file: metadata.file().unwrap_or("redlatch"),
            line: metadata.line().unwrap_or_default(),
            time: now(),
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Values<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The level in `logging`. `None` for the events of the core's test rig, which are not logged.
fn level(metadata: &Metadata<'_>) -> Option<u8> {
    match *metadata.level() {
        Level::ERROR | Level::WARN => Some(WARNING),
        Level::INFO => Some(INFO),
        Level::DEBUG => Some(DEBUG),
        Level::TRACE => None,
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The fields of one event.
#[derive(Default)]
struct Fields {
    message: String,
    lock: Option<String>,
    owner: Option<String>,
    reason: Option<String>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "lock" => self.lock = Some(value.to_owned()),
            "owner" => self.owner = Some(value.to_owned()),
            "reason" => self.reason = Some(value.to_owned()),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.message, "{value:?}").expect("memory takes everything");
        }
    }
}
