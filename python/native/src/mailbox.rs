//! Brings the ends of requests to an event loop: a queue, and a file descriptor that is readable while the queue has
//! entries.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use redlatch::Error;
use redlatch::ffi::{self, Border, Op, Request, at_the_end, together};
use slab::Slab;

use crate::named::Named;
use crate::outcome;
use crate::park::LONG;
use crate::pending::{Ended, Meaning, Pending};
use crate::taken::Taken;

thread_local! {
    /// The mailbox whose tasks this thread resumes now, by its address.
    static EMPTIED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// How often at most the loop looks for further entries before it goes on with other work.
const AT_ONCE: usize = 64;

/// The queue of one loop, and the loop's calls that are under way. The mailbox is dropped when its loop was closed. It
/// cancels those calls then, and a lock that arrives later is released.
#[pyclass(frozen, weakref, module = "redlatch._redlatch")]
pub struct Mailbox {
    event_loop: Py<PyAny>,
    shared: Arc<Shared>,
    waiting: Mutex<Slab<Waiting>>,
    /// The ends that were taken out of the queue, and that no task has received yet.
    came: Mutex<VecDeque<(usize, Ended)>>,
    /// A timer of the loop will look for long waits, see [`Mailbox::look_for_long_waits`].
    looks: AtomicBool,
    process: u32,
}

/// A call that is under way.
enum Waiting {
    /// A task awaits this object.
    Task(Py<Pending>),
    /// A release that has no such object yet, because it may be over before it needs one.
    Nobody,
    /// Its end, which came before the object.
    Over(Ended),
}

struct Shared {
    state: Mutex<State>,
    /// Both ends of one socket pair. As they live together, no thread ever writes to a closed one.
    rings: UnixStream,
    hears: UnixStream,
}

/// Opens the socket pair that a loop watches.
fn pair() -> std::io::Result<(UnixStream, UnixStream)> {
    let (rings, hears) = UnixStream::pair()?;
    rings.set_nonblocking(true)?;
    hears.set_nonblocking(true)?;
    Ok((rings, hears))
}

fn not_opened(error: &std::io::Error) -> Error {
    let cause = format!(
        "cannot be heard: {error}; close files that this process does not need, or raise its limit (`ulimit -n`)"
    );
    ffi::unavailable("the I/O thread", cause)
}

#[derive(Default)]
struct State {
    ended: Vec<(usize, Ended)>,
    /// The descriptor is readable, and the loop has not looked yet.
    rung: bool,
    dropped: bool,
}

#[pymethods]
impl Mailbox {
    #[new]
    fn new(py: Python<'_>, event_loop: Py<PyAny>) -> PyResult<Self> {
        let (rings, hears) = pair().map_err(|error| outcome::exception(py, &not_opened(&error), ""))?;
        Ok(Mailbox {
            event_loop,
            shared: Arc::new(Shared { state: Mutex::default(), rings, hears }),
            waiting: Mutex::default(),
            came: Mutex::default(),
            looks: AtomicBool::new(false),
            process: std::process::id(),
        })
    }

    /// The loop.
    #[getter]
    fn event_loop(&self, py: Python<'_>) -> Py<PyAny> {
        self.event_loop.clone_ref(py)
    }

    /// The descriptor that is readable while the queue has entries.
    fn fileno(&self) -> i32 {
        self.shared.hears.as_raw_fd()
    }

    /// Empties the queue, and resumes the tasks that wait for its entries.
    fn empty(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        this.hear()?;
        // A resumed task may call this again, in a loop within its loop. If a task raises, the others must still be
        // resumed: the descriptor is made readable again for that.
        let told = || {
            // A resumed task may release a lock, and the client may hand that on to another task: it is resumed as well.
            for looks in (0..AT_ONCE).rev() {
                while let Some((key, ended)) = next(&this.came) {
                    this.deliver(slf.py(), key, ended)?;
                }
                if looks == 0 || !this.take_in() {
                    break;
                }
            }
            Ok(())
        };
        let before = EMPTIED.replace(Some(Arc::as_ptr(&this.shared).addr()));
        // The next requests of all these tasks go to the I/O thread together.
        let result = together(told).inspect_err(|_| this.shared.ring());
        EMPTIED.set(before);
        result
    }

    /// Tells each lock whose waiter has waited long, and sets the timer again while any wait goes on. Each loop has one
    /// timer. One for each wait would cost more than most acquires.
    fn look_for_long_waits(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let waiting: Vec<_> = locked(&slf.get().waiting)
            .iter()
            .filter_map(|(_, waiting)| waiting.pending().map(|pending| pending.clone_ref(py)))
            .collect();
        let mut next = None;
        let mut result = Ok(());
        for pending in &waiting {
            match pending.get().left_until(LONG) {
                Some(Duration::ZERO) => result = result.and(pending.get().tell_waits_long(py)),
                Some(left) => next = Some(next.unwrap_or(left).min(left)),
                None => {}
            }
        }
        match next {
            Some(left) => Mailbox::look_in(slf, left)?,
            None => slf.get().looks.store(false, Relaxed),
        }
        result
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        let Ok(waiting) = self.waiting.try_lock() else { return Ok(()) };
        waiting.iter().filter_map(|(_, waiting)| waiting.pending()).try_for_each(|pending| visit.call(pending))
    }

    fn __clear__(&self) {
        self.give_up();
    }
}

impl Mailbox {
    /// Starts a request. A task of this loop awaits its end.
    pub fn submit(
        slf: &Bound<'_, Self>,
        named: &Arc<Named>,
        request: redlatch::Result<Request>,
        meaning: Meaning,
    ) -> PyResult<Py<Pending>> {
        let may_wait_long = request
            .as_ref()
            .is_ok_and(|request| request.op == Op::Acquire && request.wait.is_none_or(|wait| wait > LONG));
        if may_wait_long && !slf.get().looks.swap(true, Relaxed) {
            Mailbox::look_in(slf, LONG)?;
        }
        let ticket = named.client.ticket();
        let (pending, key) = Mailbox::open_at(slf, meaning, Some((named.clone(), ticket)))?;
        slf.get().send(named, ticket, request, key);
        Ok(pending)
    }

    /// Starts a release. `None`: it is over already, so the task need not wait. (That of an acquire must, so that it can be
    /// cancelled: a program that has cancelled it takes no hold.)
    pub fn release(
        slf: &Bound<'_, Self>,
        named: &Arc<Named>,
        request: redlatch::Result<Request>,
        meaning: Meaning,
    ) -> PyResult<Option<Py<Pending>>> {
        let py = slf.py();
        let this = slf.get();
        this.refuse_in_a_fork(py)?;
        let ticket = named.client.ticket();
        let key = locked(&this.waiting).insert(Waiting::Nobody);
        this.send(named, ticket, request, key);
        if let Some(ended) = this.shared.take_last(key) {
            drop(locked(&this.waiting).try_remove(key));
            return meaning.of(py, ended).map(|_| None);
        }
        let pending = Py::new(py, Pending::new(this.event_loop.clone_ref(py), meaning, Some((named.clone(), ticket))))?;
        // To make an object may run the garbage collector, and with it Python code that empties the queue.
        let over = {
            let mut waiting = locked(&this.waiting);
            let before = waiting.get_mut(key).map(|at| std::mem::replace(at, Waiting::Task(pending.clone_ref(py))));
            match before {
                Some(Waiting::Over(ended)) => {
                    drop(waiting.try_remove(key));
                    Some(ended)
                }
                _ => None,
            }
        };
        over.map_or(Ok(()), |ended| Pending::end(pending.bind(py), ended))?;
        Ok(Some(pending))
    }

    /// An object that a task of this loop awaits, and the function that ends it. Any thread may call that function.
    pub fn open(
        slf: &Bound<'_, Self>,
        meaning: Meaning,
    ) -> PyResult<(Py<Pending>, impl FnOnce(Ended) + Send + 'static)> {
        let (pending, key) = Mailbox::open_at(slf, meaning, None)?;
        let shared = slf.get().shared.clone();
        Ok((pending, move |ended| put(&shared, key, ended)))
    }

    /// An object that a task of this loop awaits, and its key.
    fn open_at(
        slf: &Bound<'_, Self>,
        meaning: Meaning,
        ticket: Option<(Arc<Named>, u64)>,
    ) -> PyResult<(Py<Pending>, usize)> {
        let py = slf.py();
        let this = slf.get();
        this.refuse_in_a_fork(py)?;
        let pending = Py::new(py, Pending::new(this.event_loop.clone_ref(py), meaning, ticket))?;
        let key = locked(&this.waiting).insert(Waiting::Task(pending.clone_ref(py)));
        Ok((pending, key))
    }

    fn refuse_in_a_fork(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let why =
            "this event loop belongs to the process that forked this one; run a new one here, as `asyncio.run` does";
        Err(outcome::exception(py, &Error::Unsupported(why.into()), ""))
    }

    /// Hands a request to its client, from the process of this mailbox. Its end comes into the queue.
    fn send(&self, named: &Arc<Named>, ticket: u64, request: redlatch::Result<Request>, key: usize) {
        let process = self.process;
        let shared = self.shared.clone();
        match request {
            Ok(request) => {
                let orphan =
                    (request.op == Op::Acquire).then(|| (named.clone(), request.owner, request.numbers.clone()));
                named.client.submit_in(process, ticket, request, move |result| {
                    let ended = match (orphan, result) {
                        // It tells of a leader, and takes nothing.
                        (_, result) if result.as_ref().is_ok_and(|answer| !answer.texts.is_empty()) => {
                            let (outcome, texts) = outcome::with_texts(result);
                            Ended::Texts(outcome, texts)
                        }
                        (Some((named, owner, numbers)), Ok(answer)) if answer.done => {
                            Ended::Taken(Box::new(Taken { named, owner, numbers, answer: Some(answer), process }))
                        }
                        (_, result) => Ended::Outcome(outcome::from_result(result)),
                    };
                    put(&shared, key, ended);
                });
            }
            Err(error) => put(&shared, key, Ended::Outcome(outcome::from_error(&error))),
        }
    }

    /// Resumes the task that waits for this end.
    fn deliver(&self, py: Python<'_>, key: usize, ended: Ended) -> PyResult<()> {
        let pending = {
            let mut waiting = locked(&self.waiting);
            match waiting.get_mut(key) {
                Some(nobody @ Waiting::Nobody) => {
                    *nobody = Waiting::Over(ended);
                    return Ok(());
                }
                Some(Waiting::Task(_)) => waiting.remove(key),
                Some(Waiting::Over(_)) | None => return Ok(()),
            }
        };
        pending.pending().map_or(Ok(()), |pending| Pending::end(pending.bind(py), ended))
    }

    /// Sets the timer of the loop that looks for long waits.
    fn look_in(slf: &Bound<'_, Self>, left: Duration) -> PyResult<()> {
        let loops = slf.py().import("redlatch.aio.loops")?;
        loops.call_method1("look_later", (slf, left.as_secs_f64())).map(drop)
    }

    /// Begins to empty the queue.
    fn hear(&self) -> PyResult<()> {
        // The descriptor is read before the queue, so that an entry that comes meanwhile makes it readable again.
        match (&self.shared.hears).read(&mut [0; 8]) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Err(error.into());
            }
            _ => {}
        }
        self.shared.state().rung = false;
        self.take_in();
        Ok(())
    }

    /// Moves the entries of the queue to `came`. False: there were none.
    fn take_in(&self) -> bool {
        let mut state = self.shared.state();
        let is_any = !state.ended.is_empty();
        locked(&self.came).extend(state.ended.drain(..));
        is_any
    }

    /// Cancels the calls of this loop, which was closed, and gives back the locks that have arrived.
    fn give_up(&self) {
        // A forked child has a copy of its parent's mailbox, which might be locked for ever.
        if self.process != std::process::id() {
            return;
        }
        let mut state = self.shared.state();
        state.dropped = true;
        let ended = std::mem::take(&mut state.ended);
        drop(state);
        let came = std::mem::take(&mut *locked(&self.came));
        let waiting = std::mem::take(&mut *locked(&self.waiting));
        // A program may keep a task of a closed loop. The task never goes on, so its wait is ended here.
        waiting.iter().filter_map(|(_, waiting)| waiting.pending()).for_each(|pending| pending.get().give_up(None));
        drop(ended);
        drop(came);
        drop(waiting);
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Waiting {
    fn pending(&self) -> Option<&Py<Pending>> {
        match self {
            Waiting::Task(pending) => Some(pending),
            Waiting::Nobody | Waiting::Over(_) => None,
        }
    }
}

fn next(came: &Mutex<VecDeque<(usize, Ended)>>) -> Option<(usize, Ended)> {
    locked(came).pop_front()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it is held")
}

fn put(shared: &Arc<Shared>, key: usize, ended: Ended) {
    let mut state = shared.state();
    if state.dropped {
        drop(state);
        return drop(ended);
    }
    state.ended.push((key, ended));
    let silent = !std::mem::replace(&mut state.rung, true);
    drop(state);
    if silent {
        // A release in a task of another loop may make a task of this one the holder. That task must not wait for the end
        // of the other loop's batch, in which tasks run.
        let is_anothers = EMPTIED.get().is_some_and(|emptied| emptied != Arc::as_ptr(shared).addr());
        let shared = shared.clone();
        if is_anothers {
            return shared.ring();
        }
        at_the_end(move || shared.ring_for_rest());
    }
}

impl Shared {
    /// Makes the descriptor readable. At most two bytes are under way, so there is always room for one.
    fn ring(&self) {
        let _ = (&self.rings).write(&[1]);
    }

    /// The same, unless the loop has taken all entries meanwhile.
    fn ring_for_rest(&self) {
        let mut state = self.state();
        state.rung = !state.ended.is_empty();
        if state.rung {
            drop(state);
            self.ring();
        }
    }

    /// Takes out the last entry if it is that of this key.
    fn take_last(&self, key: usize) -> Option<Ended> {
        let mut state = self.state();
        state.ended.pop_if(|(last, _)| *last == key).map(|(_, ended)| ended)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}
