//! One such connection: what is to be written, and what is not answered yet.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpStream;

use super::resp;
use crate::base::clock::Instant;
use crate::base::together::{at_the_end, together};
use crate::redis::link::connection::first::{First, TOGETHER, UNDER_WAY, tell};
use crate::redis::link::topology::sharding::Sharding;
use crate::redis::link::{Outcome, Sent};
use crate::request::error::Error;

/// After so long without any answer the connection is taken for one that leads nowhere; while some come, the others may take longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// After so long without a call it is closed.
const IDLE: Duration = Duration::from_secs(10);

pub struct Pipeline {
    /// To the system it may be a Unix socket as well.
    pub stream: TcpStream,
    /// As in [`Sent`].
    pub connection: Option<(u64, i64)>,
    state: Mutex<State>,
}

struct State {
    unwritten: Vec<u8>,
    /// How many calls are in there.
    left: usize,
    /// Somebody is writing, and goes on with what is added meanwhile.
    writing: bool,
    flights: VecDeque<Flight>,
    heard: Instant,
    over: bool,
}

/// A first try that is not answered yet.
pub struct Flight {
    pub first: Box<dyn First>,
    pub sent: Instant,
    pub copy: Sent,
    pub patience: Duration,
}

impl Pipeline {
    pub fn new(stream: TcpStream, connection: Option<(u64, i64)>) -> Self {
        let state = State { unwritten: Vec::new(), left: 0, writing: false, flights: VecDeque::new(), heard: Instant::now(), over: false };
        Pipeline { stream, connection, state: Mutex::new(state) }
    }

    pub fn send(self: &Arc<Self>, flight: Flight, not_after: u64, sharding: &Sharding, later: bool) -> Result<(), Box<dyn First>> {
        let mut state = self.state();
        if state.over || state.flights.len() == UNDER_WAY || state.overdue(Instant::now()).is_some() {
            return Err(flight.first);
        }
        resp::pack(&mut state.unwritten, flight.first.call(), not_after, sharding);
        state.flights.push_back(flight);
        state.left += 1;
        if !later || state.left == TOGETHER {
            self.write(state);
        } else if state.left == 1 {
            let pipeline = self.clone();
            drop(state);
            at_the_end(move || pipeline.flush());
        }
        Ok(())
    }

    /// Writes as much as there is and goes.
    pub fn flush(&self) {
        self.write(self.state());
    }

    /// Others add to it meanwhile and need not wait.
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
                // The reader goes on with it, or sees that it is over.
                return;
            }
        }
    }

    /// How much the system took.
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

    /// Whether nothing is left for whoever reads.
    pub fn is_all_written(&self) -> bool {
        let state = self.state();
        state.writing || state.unwritten.is_empty()
    }

    /// The first of them is answered.
    pub fn answered(&self, answers: usize) -> Vec<Flight> {
        let mut state = self.state();
        state.heard = Instant::now();
        let answers = answers.min(state.flights.len());
        state.flights.drain(..answers).collect()
    }

    /// Why it is to end now; `None`: it is not. True: it does not answer.
    pub fn overdue(&self) -> Option<bool> {
        self.state().overdue(Instant::now())
    }

    /// Nothing is sent any more. Gives what is not answered.
    pub fn end(&self) -> Vec<Flight> {
        let mut state = self.state();
        state.over = true;
        state.flights.drain(..).collect()
    }

    /// As [`Pipeline::end`], and who waits for an answer is told that the outcome is unknown, and why.
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
