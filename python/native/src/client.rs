//! The native half of `redlatch.Client`.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;
use redlatch::ffi::{self, Answer, Border, Member, Op, Request, Rule, kinds};
use redlatch::{Config, Holds};

use crate::mailbox::Mailbox;
use crate::named::Named;
use crate::object::Object;
use crate::outcome::{self, Outcome};
use crate::park;
use crate::pending::{Ended, Meaning, Pending};

/// The holders of a lock of a listing: of each its client, its owner and whether it writes.
type Listed = Vec<(String, String, bool)>;

#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Client {
    pub core: redlatch::Client,
}

#[derive(IntoPyObject)]
pub enum Connected {
    Client(Client),
    Error(Outcome),
}

impl From<redlatch::Result<redlatch::Client>> for Connected {
    fn from(result: redlatch::Result<redlatch::Client>) -> Self {
        match result {
            Ok(core) => Connected::Client(Client { core }),
            Err(error) => Connected::Error(outcome::from_error(&error)),
        }
    }
}

/// Makes a client of `url`, or of the servers that a `file` of Redisson names. With neither it is a client of the
/// environment's servers. `options` come by name. Threads and connections start with the first call.
#[pyfunction]
pub fn connect(url: Option<Cow<'_, str>>, file: Option<Cow<'_, str>>, options: Vec<(String, String)>) -> Connected {
    let config = match (url, file) {
        (Some(url), _) => Config::from_url(&url),
        (None, Some(file)) => Config::from_redisson_file(&*file),
        (None, None) => Config::from_env(),
    };
    config.and_then(|config| configured(config, &options)).and_then(redlatch::Client::with_config).into()
}

/// Makes a client whose one lock is made of `locks`: all of them, or with `majority` more than half.
#[pyfunction]
pub fn group(majority: bool, locks: Vec<Py<Object>>) -> Connected {
    let rule = if majority { Rule::Majority } else { Rule::All };
    let member = |lock: &Py<Object>| {
        let named = &lock.get().named;
        Member { client: named.client.clone(), kind: named.kind, name: named.name.clone() }
    };
    redlatch::Client::group(rule, locks.iter().map(member).collect()).into()
}

/// The name of the lock of several values of a group.
#[pyfunction]
pub fn multi_name(py: Python<'_>, group: &str, values: Vec<String>) -> PyResult<String> {
    kinds::multi::name(group, &values).map_err(|error| outcome::exception(py, &error, group))
}

fn configured(mut config: Config, options: &[(String, String)]) -> redlatch::Result<Config> {
    for (option, value) in options {
        config.set(option, value)?;
    }
    // The package closes its clients itself, and a drop may come with the GIL or by the garbage collector.
    Ok(config.flush(Duration::ZERO))
}

#[pymethods]
impl Client {
    #[getter]
    fn id(&self) -> String {
        self.core.id()
    }

    #[getter]
    fn server(&self) -> String {
        self.core.server()
    }

    /// The names of a group's locks. Empty if this client is no group.
    #[getter]
    fn group_name(&self) -> String {
        self.core.group_name()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Whether no owner holds a lock of this client.
    fn is_idle(&self) -> bool {
        self.core.is_idle()
    }

    /// The counts, times and losses of this client, in the order of the fields of `Stats`.
    fn _stats(&self) -> (Vec<u64>, f64, f64, Vec<(&'static str, u64)>) {
        let it = self.core.stats();
        let counts = vec![
            it.held,
            it.waiting,
            it.acquired,
            it.not_acquired,
            it.failed,
            it.cancelled,
            it.released,
            it.renewals_failed,
        ];
        let lost = it.lost.iter().map(|(reason, count)| (reason.name(), *count)).collect();
        (counts, it.waited.as_secs_f64(), it.held_for.as_secs_f64(), lost)
    }

    /// Makes connections that are opened from now on log in with these.
    fn set_credentials(&self, py: Python<'_>, password: Cow<'_, str>, username: Option<Cow<'_, str>>) -> PyResult<()> {
        self.core.set_credentials(username.as_deref(), &password).map_err(|error| outcome::exception(py, &error, ""))
    }

    /// Releases every hold and closes the client, on a new thread. A task of the mailbox's loop awaits the end.
    fn _close(&self, mailbox: &Bound<'_, Mailbox>) -> PyResult<Py<Pending>> {
        let (pending, told) = Mailbox::open(mailbox, Meaning::Outcome)?;
        let core = self.core.clone();
        let close = move || {
            core.close_blocking(Holds::Release);
            told(Ended::Outcome(outcome::from_result(Ok(Answer { done: true, ..Answer::default() }))));
        };
        std::thread::Builder::new().name("redlatch-close".into()).spawn(close)?;
        Ok(pending)
    }

    /// Starts an operation of the client itself. A task of the mailbox's loop awaits the outcome.
    fn _submit(&self, mailbox: &Bound<'_, Mailbox>, op: i32) -> PyResult<Py<Pending>> {
        let request = Op::from_number(op).map(|op| Request::new(op, "plain", "", 0));
        Mailbox::submit(mailbox, &self.named(""), request, Meaning::Outcome)
    }

    /// Asks for a page of the locks that are held; `next` is the text of the page before, empty at first. Returns the outcome
    /// and its texts.
    fn _ask_page(&self, py: Python<'_>, pattern: String, next: Vec<u8>) -> PyResult<(Outcome, Vec<Vec<u8>>)> {
        park::run(py, &self.core, page_question(&pattern, next)).map(outcome::with_texts)
    }

    /// The same. A task of the mailbox's loop awaits it.
    fn _submit_page(&self, mailbox: &Bound<'_, Mailbox>, pattern: String, next: Vec<u8>) -> PyResult<Py<Pending>> {
        let request = page_question(&pattern, next);
        Mailbox::submit(mailbox, &self.named(&pattern), Ok(request), Meaning::Texts)
    }

    /// Takes a lock away from the holder that a listing has found. `holders`: of each its client, its owner and whether it writes.
    fn _evict(&self, py: Python<'_>, kind: &str, name: &str, holders: Listed) -> PyResult<Outcome> {
        match eviction(kind, name, &holders) {
            Ok(request) => park::run(py, &self.core, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// The same. A task of the mailbox's loop awaits it.
    fn _submit_evict(
        &self,
        mailbox: &Bound<'_, Mailbox>,
        kind: String,
        name: String,
        holders: Listed,
    ) -> PyResult<Py<Pending>> {
        let request = eviction(&kind, &name, &holders);
        Mailbox::submit(mailbox, &self.named(&name), request, Meaning::Outcome)
    }

    /// Asks the server for a sign of life.
    fn ping(&self, py: Python<'_>) -> PyResult<Outcome> {
        park::run(py, &self.core, Request::new(Op::Ping, "plain", "", 0)).map(outcome::from_result)
    }
}

impl Client {
    /// Names what a call is about that belongs to no lock object.
    fn named(&self, name: &str) -> Arc<Named> {
        let client = self.core.clone();
        Arc::new(Named { client, kind: "plain", name: name.into(), numbers: Vec::new(), value: None })
    }
}

fn eviction(kind: &str, name: &str, holders: &Listed) -> redlatch::Result<Request> {
    let holders = holders.iter().map(|(client, owner, writes)| (client.as_str(), owner.as_str(), *writes));
    let holder = ffi::evictee(kind, name, holders)?;
    let request = Request::new(Op::ForceRelease, kinds::name_of(kind)?, name, 0);
    Ok(Request { texts: vec![holder.into_bytes()], ..request })
}

fn page_question(pattern: &str, next: Vec<u8>) -> Request {
    Request { texts: vec![next], ..Request::new(Op::Inventory, "plain", pattern, 0) }
}

fn receive(waiting: &mut Receiver<()>) -> Result<(), RecvTimeoutError> {
    waiting.recv_timeout(park::SLICE)
}

/// Releases every hold of the clients, all clients at the same time, and closes them. Later calls are refused. A signal
/// handler that raises (Ctrl-C) ends the wait of the caller, while the closing goes on.
#[pyfunction]
pub fn close(py: Python<'_>, clients: Vec<Py<Client>>) -> PyResult<()> {
    let (done, mut waiting) = sync_channel::<()>(0);
    for client in &clients {
        let core = client.get().core.clone();
        let done = done.clone();
        let close = move || {
            core.close_blocking(Holds::Release);
            drop(done);
        };
        if std::thread::Builder::new().name("redlatch-close".into()).spawn(close).is_err() {
            py.detach(|| client.get().core.close_blocking(Holds::Release));
        }
    }
    drop(done);
    while let Err(RecvTimeoutError::Timeout) = py.detach(|| receive(&mut waiting)) {
        py.check_signals()?;
    }
    Ok(())
}
