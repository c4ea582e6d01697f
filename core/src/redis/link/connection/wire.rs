//! One multiplexed connection: its questions, the time of its last answer, and whether it has ended.

use std::future::{Future, pending};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tokio::sync::watch;

use super::multiplexed::Apart;
use crate::base::clock::Instant;
use crate::base::tasks::Bound;
use crate::redis::link::ConnectionId;

/// The time for which a replaced server may still refuse its questions.
const FAREWELL: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub struct Wire {
    pub con: MultiplexedConnection,
    /// Ends with the last clone, even if the server still owes answers.
    _driver: Option<Arc<Bound>>,
    /// `None`: the server does not tell.
    pub id: Option<ConnectionId>,
    /// The server reports changed keys on this connection.
    pub tells: bool,
    /// The connection that brings messages, if it is not this one.
    pub apart: Option<Arc<Apart>>,
    state: Arc<State>,
}

pub struct State {
    over: watch::Sender<bool>,
    /// Another server has taken the place of this one: only its refusals still count.
    retired: AtomicBool,
    /// An answer made no sense: each later one may belong to another question than it seems.
    shifted: AtomicBool,
    /// Questions without an answer yet.
    open: AtomicUsize,
    /// A caller gave a question up, and no answer has come since.
    owing: AtomicBool,
    heard: Mutex<Instant>,
}

/// The extra command that goes with a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Plain,
    /// The server reports changes of the keys that the call reads last.
    Told,
    /// The server is only about to get the slot.
    Asking,
}

/// The reason why a question has no answer.
pub enum NoAnswer {
    TimedOut,
    /// The connection ended, or was given up, after the question was sent.
    Over,
}

impl State {
    pub fn new() -> Arc<Self> {
        Arc::new(State {
            over: watch::Sender::new(false),
            retired: AtomicBool::new(false),
            shifted: AtomicBool::new(false),
            open: AtomicUsize::new(0),
            owing: AtomicBool::new(false),
            heard: Mutex::new(Instant::now()),
        })
    }

    pub fn end(&self) {
        self.over.send_replace(true);
    }

    /// Returns at the end of the connection.
    pub async fn ended(&self) {
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    fn retire(&self) {
        self.retired.store(true, SeqCst);
        self.end();
    }

    /// The work of a replaced server is unknown; its refusals count.
    async fn counted<T, E>(&self, answer: Result<T, E>) -> Result<T, E> {
        if answer.is_ok() && self.retired.load(SeqCst) { pending().await } else { answer }
    }

    async fn answer<T>(&self, question: impl Future<Output = T> + Unpin, limit: Duration) -> Result<T, NoAnswer> {
        let mut over = self.over.subscribe();
        let open = Question::new(self);
        tokio::select! {
            biased;
            answer = question => {
                open.answered();
                if self.shifted.load(SeqCst) { Err(NoAnswer::Over) } else { Ok(answer) }
            }
            () = async {
                let _ = over.wait_for(|over| *over).await;
                if self.retired.load(SeqCst) {
                    tokio::time::sleep(FAREWELL).await;
                }
            } => Err(NoAnswer::Over),
            () = async {
                tokio::time::sleep(limit).await;
                // After a standstill of this process the answer may be here, but not read yet.
                tokio::time::sleep(Duration::from_millis(1)).await;
            } => Err(NoAnswer::TimedOut),
        }
    }

    fn answered(&self) {
        self.owing.store(false, SeqCst);
        *self.heard.lock().expect("nothing panics while it is held") = Instant::now();
    }
}

impl Wire {
    pub fn new(
        con: MultiplexedConnection,
        driver: Option<Bound>,
        id: Option<ConnectionId>,
        tells: bool,
        apart: Option<Apart>,
        state: Arc<State>,
    ) -> Self {
        Wire { con, _driver: driver.map(Arc::new), id, tells, apart: apart.map(Arc::new), state }
    }

    pub async fn send(&self, cmd: redis::Cmd, how: How) -> redis::RedisResult<redis::Value> {
        self.state.counted(self.answer_to(cmd, how).await).await
    }

    async fn answer_to(&self, cmd: redis::Cmd, how: How) -> redis::RedisResult<redis::Value> {
        let mut con = self.con.clone();
        let mut pipe = redis::pipe();
        match how {
            How::Told if self.tells => pipe.cmd("CLIENT").arg("CACHING").arg("YES"),
            How::Asking => pipe.cmd("ASKING"),
            _ => return con.send_packed_command(&cmd).await?.extract_error(),
        };
        pipe.add_command(cmd);
        con.send_packed_commands(&pipe, 1, 1).await?.into_iter().next().unwrap_or(redis::Value::Nil).extract_error()
    }

    /// Sends many commands at once; each has its answer, or its error.
    pub async fn send_all(&self, pipe: &redis::Pipeline) -> redis::RedisResult<Vec<redis::Value>> {
        self.con.clone().send_packed_commands(pipe, 0, pipe.len()).await
    }

    /// True as soon as the connection has ended, before any other task can run: a task that finds it true has sent
    /// nothing.
    pub fn is_over(&self) -> bool {
        *self.state.over.borrow()
    }

    /// Gives the connection up: calls that wait for an answer on it hear of that.
    pub fn end(&self) {
        self.state.end();
    }

    /// Notes that an answer made no sense: no later one counts.
    pub fn distrust(&self) {
        self.state.shifted.store(true, SeqCst);
    }

    /// Tells whether an answer on it made no sense.
    pub fn is_shifted(&self) -> bool {
        self.state.shifted.load(SeqCst)
    }

    pub fn state(&self) -> Arc<State> {
        self.state.clone()
    }

    /// As [`Wire::end`], but waiting calls still hear the refusals that come within [`FAREWELL`]: those calls can go
    /// elsewhere at once.
    pub fn retire(&self) {
        self.state.retire();
    }

    /// Waits for the answer to the question that `question` sends over [`Wire::con`].
    pub fn ask<'a, T: 'a>(
        &'a self,
        question: impl Future<Output = T> + Send + 'a,
        limit: Duration,
    ) -> impl Future<Output = Result<T, NoAnswer>> + Send + 'a {
        // A future keeps its input beside its own state, and so does each future around it: without the box a call
        // would take tens of KB.
        self.state.answer(Box::pin(question), limit)
    }

    pub fn answered(&self) {
        self.state.answered();
    }

    /// The time of the last answer; at first, that of the opening. If messages come over another connection, the time
    /// of the one that has been silent for longer.
    pub fn heard(&self) -> Instant {
        let heard = *self.state.heard.lock().expect("nothing panics while it is held");
        self.apart.as_ref().and_then(|apart| apart.heard()).map_or(heard, |apart| apart.min(heard))
    }

    pub fn is_asked(&self) -> bool {
        self.state.open.load(SeqCst) > 0 || self.state.owing.load(SeqCst)
    }
}

/// A question without an answer. A drop ends the question, but the server still owes the answer, even if the caller is
/// gone.
struct Question<'a> {
    state: &'a State,
    is_answered: bool,
}

impl<'a> Question<'a> {
    fn new(state: &'a State) -> Self {
        state.open.fetch_add(1, SeqCst);
        Question { state, is_answered: false }
    }

    fn answered(mut self) {
        self.is_answered = true;
        self.state.answered();
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.state.owing.store(true, SeqCst);
        }
        self.state.open.fetch_sub(1, SeqCst);
    }
}

/// The time that a call has left; never zero, which a socket would take for no limit.
pub fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::*;

    /// The result of a question whose server was replaced before it answered.
    fn answered_after_the_end(answer: Result<i64, &'static str>) -> Option<Result<i64, &'static str>> {
        let state = State::new();
        let (sender, receiver) = oneshot::channel();
        let question = Box::pin(async { state.counted(receiver.await.expect("it is sent")).await });
        let server = async {
            state.retire();
            yield_now().await;
            sender.send(answer).expect("the caller still waits for it");
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async { tokio::join!(biased; state.answer(question, Duration::from_secs(60)), server).0 }).ok()
    }

    #[test]
    fn a_replaced_servers_refusal_counts_and_its_other_answers_do_not() {
        assert_eq!(answered_after_the_end(Err("MOVED")), Some(Err("MOVED")));
        assert_eq!(answered_after_the_end(Ok(1)), None);
    }
}
