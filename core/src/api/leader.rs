//! The leader of a group of processes: the one that holds a fenced lock, and a text that tells where it is.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;

use crate::api::guard::{BlockingGuard, Guard};
use crate::api::lock::{fresh_owner, not_acquired};
use crate::api::operation::{Object, Operation, Read, Waiting};
use crate::base::blocking;
use crate::client::Client;
use crate::request::error::Result;
use crate::request::names::{LEADER, LEADER_WATCH};
use crate::request::{Answer, Op, Request};

impl Client {
    /// The leader of this name: of all processes that ask to lead, one does.
    pub fn leader(&self, name: &str) -> Leader {
        Leader { object: Object { client: self.clone(), kind: LEADER, name: name.into() }, value: Arc::default() }
    }
}

/// The election of a leader. One process leads at a time, for a [`Term`]; every process may ask who leads.
///
/// ```no_run
/// # async fn work() {}
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let billing = client.leader("billing").value("api-3:80");
/// loop {
///     let term = billing.lead().await?; // waits until this process leads
///     match term.run(work()).await {
///         Err(redlatch::Error::Lost(loss)) => println!("another process may lead now: {loss}"),
///         done => return done, // the drop of the term resigns
///     }
/// }
/// # }
/// ```
///
/// A leader's lock is a fenced lock of its name, and excludes the other locks of that name.
#[derive(Clone)]
pub struct Leader {
    object: Object,
    value: Arc<str>,
}

impl Leader {
    /// Sets the text that the others see while this process leads, such as its address. It has no zero byte, and at most
    /// 65,536 bytes; [`Leader::lead`] fails with `Config` otherwise. Default: empty.
    pub fn value(mut self, value: &str) -> Self {
        self.value = value.into();
        self
    }

    /// Waits until this process leads: without end, or as long as [`Waiting::wait`] says; then it fails with
    /// `NotAcquired`. Each call is a candidate of its own, and each term has a token greater than all before it.
    pub fn lead(&self) -> Waiting<Term> {
        let read: Read<_> = |client, request, answer| {
            let led = || not_acquired(client, request, "another candidate leads; wait longer or try later");
            term(client, request, answer)?.ok_or_else(led)
        };
        Waiting(self.stand(read).for_ever())
    }

    /// Leads if no other process does now, or none within [`Waiting::wait`]; `None`: another one leads.
    pub fn try_lead(&self) -> Waiting<Option<Term>> {
        Waiting(self.stand(term))
    }

    /// Asks who leads; `None`: no process does.
    pub fn current(&self) -> Operation<Option<CurrentLeader>> {
        Operation::new(&self.object, Op::Inspect, &[], |_, _, answer| {
            let is_led = answer.number != -2;
            Ok(is_led.then(|| CurrentLeader::new(answer.items.get(1).copied(), answer.texts.get(1))))
        })
    }

    /// Begins to observe who leads. The client sends nothing before [`Observer::next`].
    pub fn observe(&self) -> Observer {
        let object = Object { kind: LEADER_WATCH, ..self.object.clone() };
        Observer { object, owner: fresh_owner(), seen: Vec::new() }
    }

    /// The name of the leader, without the client's prefix.
    pub fn name(&self) -> &str {
        &self.object.name
    }

    fn stand<T>(&self, read: Read<T>) -> Operation<T> {
        let value = self.value.as_bytes().to_vec();
        Operation::new(&self.object, Op::Acquire, &[], read).with(|request| request.texts.push(value))
    }
}

impl Debug for Leader {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.object.show(f, "Leader")
    }
}

/// A leader, as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurrentLeader {
    /// The token of its term. `None`: another sort of lock has the name, or the leader's token is not known yet.
    pub token: Option<i64>,
    /// The text that it has set by [`Leader::value`].
    pub value: String,
}

impl CurrentLeader {
    fn new(token: Option<i64>, value: Option<&Vec<u8>>) -> Self {
        let value = value.map(|value| String::from_utf8_lossy(value).into_owned());
        CurrentLeader { token: token.filter(|token| *token > 0), value: value.unwrap_or_default() }
    }
}

/// Tells who leads, and each change of that.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let mut billing = client.leader("billing").observe();
/// loop {
///     match billing.next().await? {
///         Some(leader) => println!("{} leads, at token {:?}", leader.value, leader.token),
///         None => println!("no process leads"),
///     }
/// }
/// # }
/// ```
pub struct Observer {
    object: Object,
    owner: i64,
    /// The text of the last term for the next question, see [`Op::Acquire`].
    seen: Vec<u8>,
}

impl Observer {
    /// The first call tells who leads now; each later one waits until another process leads than at the call before, or
    /// none. The caller always hears of the latest state: states that came and went since its last call are left out.
    ///
    /// # Errors
    /// `Unavailable` if the server has failed for [`crate::Config::retry_for`]; the next call goes on observing.
    ///
    /// # Cancellation
    /// Dropping the future ends the wait. The next call tells of what has changed since.
    pub async fn next(&mut self) -> Result<Option<CurrentLeader>> {
        let answer = self.object.client.run(self.question()).await?;
        Ok(self.hear(answer))
    }

    /// As [`Observer::next`], without a runtime.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`].
    #[track_caller]
    pub fn next_blocking(&mut self) -> Result<Option<CurrentLeader>> {
        blocking::check(|| format!("`{}`", self.object.name));
        let answer = self.object.client.run_blocking(self.question())?;
        Ok(self.hear(answer))
    }

    fn question(&self) -> Request {
        let request = Request::new(Op::Acquire, self.object.kind, self.object.name.clone(), self.owner);
        Request { wait: None, texts: vec![self.seen.clone()], ..request }
    }

    fn hear(&mut self, answer: Answer) -> Option<CurrentLeader> {
        let mut texts = answer.texts.into_iter();
        self.seen = texts.next().unwrap_or_default();
        // The text of a state without a holder begins with the space before its token.
        let is_led = !self.seen.starts_with(b" ");
        is_led.then(|| CurrentLeader::new(Some(answer.number), texts.next().as_ref()))
    }
}

impl Debug for Observer {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.object.show(f, "Observer")
    }
}

/// A term in which this process leads, until it resigns or loses the lock: a hold that reports its loss by the methods of
/// [`Guard`]. Dropping it resigns. Losing and leading again are two terms with two tokens.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let term = client.leader("billing").value("api-3:80").lead().await?;
/// term.on_lost(|loss| eprintln!("{loss}"));
/// println!("leads at token {:?}", term.token());
/// term.release().await
/// # }
/// ```
#[must_use = "the process resigns as soon as its term is dropped; give the term a name"]
pub struct Term(Guard);

impl Term {
    /// Resigns: another candidate leads next.
    ///
    /// # Errors
    /// As [`Guard::release`].
    ///
    /// # Cancellation
    /// As [`Guard::release`].
    pub async fn release(self) -> Result<()> {
        self.0.release().await
    }

    /// As [`Term::release`], without a runtime.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`]; the drop of the term resigns.
    #[track_caller]
    pub fn release_blocking(self) -> Result<()> {
        BlockingGuard(self.0).release()
    }
}

impl std::ops::Deref for Term {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.0
    }
}

impl Debug for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Term", None)
    }
}

fn term(client: &Client, request: &Request, answer: Answer) -> Result<Option<Term>> {
    // The hold has no use for the value, which may be long.
    let request = Request { texts: Vec::new(), ..request.clone() };
    Ok(answer.done.then(|| Term(Guard::new(client.clone(), request, &answer))))
}
