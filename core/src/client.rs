//! The client: connect, ask, close. Owns what belongs to a process, and notices a fork.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use once_cell::race::OnceBox;
use tokio::sync::watch;

use crate::command::{Answer, Look, Op, Request};
use crate::config::Config;
use crate::contend;
use crate::error::{Error, Result};
use crate::gate::Turn;
use crate::holds::Leaving;
use crate::link::{Limits, Outcome};
use crate::live::Live;
use crate::script::Call;
use crate::target::{Target, Tried, WINDOW};
use crate::waiter::Patience;

/// A client of one server. Cheap to clone; all clones are one client with one identity.
#[derive(Clone)]
pub struct Client {
    config: Arc<Config>,
    first: Arc<OnceBox<Generation>>,
    tickets: Arc<AtomicU64>,
}

/// The state of one process; a forked child appends its own and leaves its parent's untouched.
struct Generation {
    process: u32,
    live: Result<Arc<Live>>,
    next: OnceBox<Generation>,
}

/// A try that the caller's thread has made, for the I/O thread to go on from.
enum Begun {
    Nothing,
    Acquire(Turn, Call, Outcome, Instant),
    Release(Turn, Call, Leaving, Outcome, Instant),
}

type Done = Box<dyn FnOnce(Result<Answer>) + Send>;

impl Client {
    /// A client for a URL, see [`Config::from_url`]. Starts nothing: the first call connects.
    pub fn connect(url: &str) -> Result<Client> {
        Ok(Client::with_config(Config::from_url(url)?))
    }

    /// A client for a configuration. Starts nothing: the first call connects.
    pub fn with_config(config: Config) -> Client {
        Client { config: Arc::new(config), first: Arc::default(), tickets: Arc::new(AtomicU64::new(1)) }
    }

    /// The client's identity in Redis, a UUID. A forked child has one of its own.
    pub fn id(&self) -> String {
        self.live().map_or_else(|_| String::new(), |live| live.uuid.clone())
    }

    /// The server's address, without credentials.
    pub fn server(&self) -> String {
        self.config.server()
    }

    /// The lease of holds that are renewed.
    pub fn watchdog(&self) -> Duration {
        self.config.watchdog
    }

    /// A fresh number for a request, for [`Client::cancel`].
    pub fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, SeqCst)
    }

    /// Carries out a request in one round trip on the caller's thread if that is possible. `None`: it waits, or the way was busy; then
    /// `done` is called once, on the I/O thread: it may only hand over, never block or run a user's code.
    pub fn start(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) -> Option<Result<Answer>> {
        let live = match self.ready(&request) {
            Ok(live) => live,
            Err(error) => return Some(Err(error)),
        };
        match direct(live, &request) {
            Ok(Ok(answer)) => Some(Ok(answer)),
            Ok(Err(begun)) => {
                hand_over(live, ticket, request, begun, Box::new(done));
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Carries out a request on the I/O thread; `done` as in [`Client::start`].
    pub fn submit(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) {
        match self.ready(&request) {
            Ok(live) => hand_over(live, ticket, request, Begun::Nothing, Box::new(done)),
            Err(error) => done(Err(error)),
        }
    }

    /// Asks a request to end. Its `done` still comes: `Cancelled` with nothing held, or an answer that was already on its way.
    pub fn cancel(&self, ticket: u64) {
        if let Ok(live) = self.live()
            && let Some(cancel) = live.cancels.lock().expect("nothing panics while it is held").get(&ticket)
        {
            cancel.send_replace(true);
        }
    }

    /// Carries out a request and blocks until it is done.
    pub fn run_blocking(&self, request: Request) -> Result<Answer> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let closed = || Error::Closed { server: self.server() };
        let done = move |result| drop(sender.send(result));
        self.start(self.ticket(), request, done).unwrap_or_else(|| receiver.recv().unwrap_or_else(|_| Err(closed())))
    }

    /// Carries out a request.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request; a lock that was taken meanwhile is given back.
    pub async fn run(&self, request: Request) -> Result<Answer> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (ticket, back) = (self.ticket(), (self.clone(), request.clone()));
        let guard = CancelOnDrop(Some((self, ticket)));
        self.submit(ticket, request, move |result| {
            if let Err(Ok(Answer { done: true, number, .. })) = sender.send(result)
                && back.1.op == Op::Acquire
            {
                let release = Request { op: Op::Release, hold: number as u64, ..back.1 };
                back.0.submit(back.0.ticket(), release, drop);
            }
        });
        let result = receiver.await.unwrap_or_else(|_| Err(Error::Closed { server: self.server() }));
        std::mem::forget(guard);
        result
    }

    /// What is known of a hold, without asking the server.
    pub fn look(&self, hold: u64) -> Look {
        self.live().map_or(Look::Gone, |live| live.holds().look(hold, &live.uuid, Instant::now()))
    }

    pub fn is_closed(&self) -> bool {
        self.live().is_ok_and(|live| live.closed.load(SeqCst))
    }

    /// Ends the client: waiting calls end with `Closed`, nothing is renewed any more. With `release`, everything held is given back
    /// first, as far as the server answers in time; without, it stays until its lease ends.
    pub fn close(&self, release: bool) {
        let Ok(live) = self.live() else { return };
        if live.closed.swap(true, SeqCst) {
            return;
        }
        live.cancels.lock().expect("nothing panics while it is held").values().for_each(|cancel| {
            cancel.send_replace(true);
        });
        let held = if release { live.holds().held() } else { Vec::new() };
        let (sender, receiver) = std::sync::mpsc::channel();
        for (slot, number) in held {
            let request =
                Request { hold: number, ..Request::new(Op::Release, slot.kind, &slot.name[live.config.prefix.len()..], slot.owner) };
            let sender = sender.clone();
            hand_over(live, self.ticket(), request, Begun::Nothing, Box::new(move |result| drop(sender.send(result))));
        }
        drop(sender);
        while receiver.recv().is_ok() {}
        live.stop.notify_one();
        live.link.close();
    }

    fn live(&self) -> Result<&Arc<Live>> {
        let process = std::process::id();
        let mut link = &*self.first;
        loop {
            let new = || Box::new(Generation { process, live: Live::new(&self.config).map(Arc::new), next: OnceBox::new() });
            let generation = link.get_or_init(new);
            if generation.process == process {
                return generation.live.as_ref().map_err(Error::clone);
            }
            link = &generation.next;
        }
    }

    fn ready(&self, request: &Request) -> Result<&Arc<Live>> {
        let live = self.live()?;
        if live.closed.load(SeqCst) {
            return Err(live.closed_error());
        }
        request.check()?;
        Ok(live)
    }
}

struct CancelOnDrop<'a>(Option<(&'a Client, u64)>);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some((client, ticket)) = self.0.take() {
            client.cancel(ticket);
        }
    }
}

/// One round trip on the caller's thread; the inner `Err` is what the I/O thread goes on from.
fn direct(live: &Arc<Live>, request: &Request) -> Result<std::result::Result<Answer, Begun>> {
    let response = match request.wait {
        Some(wait) if request.op == Op::Acquire && !wait.is_zero() => live.config.response_timeout.min(wait),
        _ => live.config.response_timeout,
    };
    let limits = Limits { response, window: WINDOW };
    let target = Target::new(live, request)?;
    match request.op {
        Op::Acquire => {
            let waits = request.wait != Some(Duration::ZERO);
            if waits && live.is_waited_for(&target.slot) && live.holds().count(&target.slot, Instant::now()) == 0 {
                return Ok(Err(Begun::Nothing));
            }
            let Some(turn) = live.gates.try_enter(&target.slot) else { return Ok(Err(Begun::Nothing)) };
            let (call, _) = target.acquire_call()?;
            let sent = Instant::now();
            let Some(outcome) = live.link.run_direct(&call, limits) else { return Ok(Err(Begun::Nothing)) };
            match &outcome {
                Outcome::Reply(reply) if reply.code == 1 || (reply.code == 0 && !waits) => {
                    Ok(Ok(match target.acquired(reply, request.lease.is_none(), sent) {
                        Some(Tried::Taken(number)) => Answer::done(number as i64),
                        _ => Answer::not_now(),
                    }))
                }
                _ => Ok(Err(Begun::Acquire(turn, call, outcome, sent))),
            }
        }
        Op::Release => {
            let Some(turn) = live.gates.try_enter(&target.slot) else { return Ok(Err(Begun::Nothing)) };
            let leaving = target.leaving(request.hold)?;
            let call = target.release_call(&leaving)?;
            let sent = Instant::now();
            match live.link.run_direct(&call, limits) {
                None => Ok(Err(Begun::Nothing)),
                Some(Outcome::Reply(reply)) => target.released(&leaving, &reply, sent, false).map(Ok),
                Some(outcome) => Ok(Err(Begun::Release(turn, call, leaving, outcome, sent))),
            }
        }
        Op::Inspect => match live.link.run_direct(&target.inspect_call()?, limits) {
            Some(Outcome::Reply(reply)) => Ok(Ok(Answer { done: true, number: reply.numbers[0], items: reply.numbers[1..].to_vec() })),
            _ => Ok(Err(Begun::Nothing)),
        },
        Op::ForceRelease | Op::Ping => Ok(Err(Begun::Nothing)),
    }
}

/// Goes on with a request on the I/O thread.
fn hand_over(live: &Arc<Live>, ticket: u64, request: Request, begun: Begun, done: Done) {
    let (cancel, cancelled) = watch::channel(false);
    live.cancels.lock().expect("nothing panics while it is held").insert(ticket, cancel);
    let mut done = OnEnd { live: live.clone(), ticket, done: Some(done) };
    let live = live.clone();
    live.clone().io().spawn(async move {
        let result = operate(&live, &request, begun, cancelled).await;
        done.tell(match result {
            Err(Error::Cancelled) if live.closed.load(SeqCst) => Err(live.closed_error()),
            result => result,
        });
    });
}

async fn operate(live: &Arc<Live>, request: &Request, begun: Begun, cancelled: watch::Receiver<bool>) -> Result<Answer> {
    let target = Target::new(live, request)?;
    match (request.op, begun) {
        (Op::Acquire, begun) => {
            let patience = match request.wait {
                Some(Duration::ZERO) => Patience::Once,
                Some(wait) => Instant::now().checked_add(wait).map_or(Patience::Forever, Patience::Until),
                None => Patience::Forever,
            };
            let first = match begun {
                Begun::Acquire(turn, call, outcome, sent) => Some((turn, call, outcome, sent)),
                _ => None,
            };
            contend::acquire(target, request.lease.is_none(), patience, first, cancelled).await
        }
        (Op::Release, Begun::Release(turn, call, leaving, outcome, sent)) => {
            target.release(request.hold, Some((turn, call, leaving, outcome, sent))).await
        }
        (Op::Release, _) => target.release(request.hold, None).await,
        (Op::ForceRelease, _) => target.force_release().await,
        (Op::Inspect, _) => target.inspect().await,
        (Op::Ping, _) => Target::ping(live).await,
    }
}

/// Calls `done` exactly once, also when the task dies with its runtime.
struct OnEnd {
    live: Arc<Live>,
    ticket: u64,
    done: Option<Done>,
}

impl OnEnd {
    fn tell(&mut self, result: Result<Answer>) {
        self.live.cancels.lock().expect("nothing panics while it is held").remove(&self.ticket);
        if let Some(done) = self.done.take() {
            done(result);
        }
    }
}

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.tell(Err(self.live.closed_error()));
    }
}
