//! One pipelined connection: the bytes to write, and the calls without an answer.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpStream;

use crate::base::clock::Instant;
use crate::base::together::{at_the_end, together};
use crate::redis::link::connection::encoding::{self, Stamp};
use crate::redis::link::connection::first::{BATCH, First, MOST_IN_FLIGHT, tell};
use crate::redis::link::topology::sharding::Sharding;
use crate::redis::link::{ConnectionId, Outcome, Sent};
use crate::request::error::Error;

/// The time without any answer after which the connection counts as dead. While answers come, the others may take
/// longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time without a call after which the connection is closed.
const IDLE: Duration = Duration::from_secs(10);

pub struct Pipeline {
    /// The stream; to the system it may be a Unix socket.
    pub stream: TcpStream,
    /// As in [`Sent`].
    pub id: Option<ConnectionId>,
    state: Mutex<State>,
}

struct State {
    unwritten: Vec<u8>,
    /// The number of calls in `unwritten`.
    left: usize,
    /// A thread is writing, and will write what other threads add meanwhile.
    writing: bool,
    flights: VecDeque<Flight>,
    heard: Instant,
    over: bool,
}

/// A first try that has no answer yet.
pub struct Flight {
    pub first: Box<dyn First>,
    pub sent: Instant,
    pub copy: Sent,
    pub patience: Duration,
}

impl Pipeline {
    pub fn new(stream: TcpStream, id: Option<ConnectionId>) -> Self {
        let state = State {
            unwritten: Vec::new(),
            left: 0,
            writing: false,
            flights: VecDeque::new(),
            heard: Instant::now(),
            over: false,
        };
        Pipeline { stream, id, state: Mutex::new(state) }
    }

    pub fn send(
        self: &Arc<Self>,
        flight: Flight,
        not_after: u64,
        sharding: &Sharding,
        later: bool,
    ) -> Result<(), Box<dyn First>> {
        let mut state = self.state();
        if state.over || state.flights.len() == MOST_IN_FLIGHT || state.overdue(Instant::now()).is_some() {
            return Err(flight.first);
        }
        encoding::write(&mut state.unwritten, flight.first.call(), Stamp::first(not_after, sharding));
        state.flights.push_back(flight);
        state.left += 1;
        if !later || state.left == BATCH {
            self.write(state);
        } else if state.left == 1 {
            let pipeline = self.clone();
            drop(state);
            at_the_end(move || pipeline.flush());
        }
        Ok(())
    }

    /// Writes all that the system takes now.
    pub fn flush(&self) {
        self.write(self.state());
    }

    /// Writes; other threads add calls meanwhile and need not wait.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        while !state.writing && !state.unwritten.is_empty() {
            let mut bytes = std::mem::take(&mut state.unwritten);
            (state.left, state.writing) = (0, true);
            drop(state);
            let written = self.written(&bytes);
            state = self.state();
            state.writing = false;
            bytes.drain(..written);
            let is_all = bytes.is_empty();
            bytes.append(&mut state.unwritten);
            state.unwritten = bytes;
            if !is_all {
                // The reader writes the rest, or finds that the connection has ended.
                return;
            }
        }
    }

    /// Gives the number of bytes that the system took.
    fn written(&self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while written < bytes.len() {
            match self.stream.try_write(&bytes[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        written
    }

    /// Tells whether nothing is left for the reader to write.
    pub fn is_all_written(&self) -> bool {
        let state = self.state();
        state.writing || state.unwritten.is_empty()
    }

    /// Takes out the first calls, which have their answers now.
    pub fn answered(&self, answers: usize) -> Vec<Flight> {
        let mut state = self.state();
        state.heard = Instant::now();
        let answers = answers.min(state.flights.len());
        state.flights.drain(..answers).collect()
    }

    /// The reason to end the connection now; `None`: there is none. True: the server does not answer.
    pub fn overdue(&self) -> Option<bool> {
        self.state().overdue(Instant::now())
    }

    /// Ends the connection: nothing is sent any more. Gives the calls without an answer.
    pub fn end(&self) -> Vec<Flight> {
        let mut state = self.state();
        state.over = true;
        state.flights.drain(..).collect()
    }

    /// As [`Pipeline::end`], and each caller that waits for an answer hears that the outcome is unknown, and why.
    pub fn end_with(&self, why: &Error) {
        let left = self.end();
        together(|| {
            for Flight { first, sent, copy, .. } in left {
                tell(first, Some((Outcome::Unknown { error: why.clone(), copy }, sent)));
            }
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl State {
    fn overdue(&self, now: Instant) -> Option<bool> {
        match self.flights.front() {
            Some(first) => (now > first.sent.max(self.heard) + first.patience.min(PATIENCE)).then_some(true),
            None => (self.over || now > self.heard + IDLE).then_some(false),
        }
    }
}
