//! The state of a client in one process: a child after `fork` gets a new one and never touches that of its parent.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use once_cell::race::OnceBox;
use tokio::time::sleep;

use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::base::io_thread::{self, IoThread};
use crate::client::Holds;
use crate::client::group::{GroupHold, Holding};
use crate::client::lent::LentPermits;
use crate::client::served::Served;
use crate::config::Config;
use crate::request::Request;
use crate::request::error::{Error, Result, Source};

pub struct ClientState {
    pub served: Served,
    pub config: Arc<Config>,
    pub io: Arc<IoThread>,
    pub lent: LentPermits,
    groups: Arc<Mutex<Holding>>,
    closers: Arc<Closers>,
}

/// The callers that wait for the end of the client: the drop of a caller's value tells it. `None`: the client has ended.
struct Closers(Mutex<Option<Vec<Box<dyn Send>>>>);

impl ClientState {
    /// Makes the state; starts no thread.
    pub fn new(config: &Arc<Config>) -> Result<Self> {
        let io = Arc::<IoThread>::default();
        let served = Served::new(config, uuid()?, io.clone())?;
        let lent = LentPermits::default();
        Ok(ClientState { served, config: config.clone(), io, lent, groups: Arc::default(), closers: Arc::default() })
    }

    /// The holds of groups of locks whose home is this client.
    pub fn groups(&self) -> MutexGuard<'_, Holding> {
        locked(&self.groups)
    }

    /// Forgets a hold of a group so long after its loss, unless it ends otherwise: its caller may never release it.
    pub fn forget_after_loss(&self, number: u64, hold: Arc<GroupHold>, remember: Duration) {
        let groups = Arc::downgrade(&self.groups);
        drop(self.io.spawn(async move {
            tokio::select! {
                biased;
                () = hold.left() => return,
                () = async {
                    hold.lost().await;
                    sleep(remember).await;
                } => {}
            }
            let loss = hold.look().loss();
            drop(groups.upgrade().and_then(|groups| locked(&groups).forget(number, loss.as_ref(), false)));
        }));
    }

    /// Forgets a hold of a group as soon as it has ended: no caller can ask for it any more.
    pub fn forget_after_end(&self, number: u64, hold: Arc<GroupHold>) {
        let groups = Arc::downgrade(&self.groups);
        drop(self.io.spawn(async move {
            let _ = hold.end().await;
            drop(groups.upgrade().and_then(|groups| locked(&groups).forget(number, None, true)));
        }));
    }

    /// Starts the I/O thread, with the first call of the client.
    ///
    /// # Errors
    /// `Unavailable` if the system gives no thread or no descriptors; a later call tries again.
    pub fn start(&self) -> Result<()> {
        if self.io.is_started() {
            return Ok(());
        }
        let ended = self.served.downgrade();
        let groups = Arc::downgrade(&self.groups);
        let closers = self.closers.clone();
        let end = move || {
            // The thread may have died: then no task of a close tells its caller any more.
            let _telling = Telling(closers);
            ended.upgrade().inspect(|served| served.engine().end());
            groups.upgrade().inspect(|groups| forget_all(groups));
        };
        self.io.start(|| self.served.engine().run(), end).map_err(|error| not_started(self.config.server(), error))
    }

    /// Waits until the calls under way have their answers, but no longer than the option `flush`, of which `until` is
    /// the end. Runs when the program's last handle is gone, so these calls are releases of dropped guards, and acquires
    /// of dropped futures.
    pub fn flush(&self, until: &OnceBox<Instant>) {
        let presence = self.io.presence.clone();
        let gates = self.served.engine().gates();
        let limit = self.config.flush;
        // The program may have dropped the future of the close: its releases go on.
        let is_closing = presence.is_closing();
        let is_idle = !is_closing && presence.is_empty() && gates.is_idle();
        if is_idle || limit.is_zero() || io_thread::is_here() || !self.io.is_started() {
            return;
        }
        let (told, flushed) = sync_channel::<()>(0);
        presence.awaits();
        // It must not keep the client alive. If the client ends first, the drop of the task tells this thread as well.
        drop(self.io.spawn(async move {
            if is_closing {
                std::future::pending::<()>().await;
            }
            while !(presence.is_empty() && gates.is_idle()) {
                gates.idle().await;
                presence.empty().await;
            }
            drop(told);
        }));
        let until = until.get_or_init(|| Box::new(Instant::now() + limit));
        let _ = flushed.recv_timeout(until.saturating_duration_since(Instant::now()));
    }

    /// As [`crate::Client::close`]; drops `told` when the client has ended, whichever call ends it. Permits go back by
    /// `give_up`.
    pub fn close(&self, holds: Holds, give_up: impl Fn(Request), told: impl Send + 'static) {
        self.closers.add(Box::new(told));
        if !self.io.presence.close() {
            return;
        }
        if holds == Holds::Release {
            self.lent.take_all().into_iter().for_each(give_up);
        }
        self.served.engine().end_waits();
        self.groups().close();
        let groups = self.groups().all();
        groups.iter().for_each(|(_, hold)| hold.close());
        let held = self.served.engine().tell_closed();
        let is_empty = self.io.presence.shut_if_empty();
        // A caller that is inside may be about to start the I/O thread. If the system refuses the thread, that caller
        // gets an error and holds nothing.
        let end = End { served: self.served.clone(), io: self.io.clone(), _telling: Telling(self.closers.clone()) };
        if self.io.is_started() || (!is_empty && self.start().is_ok()) {
            let held = if holds == Holds::Release { held } else { Vec::new() };
            drop(self.io.spawn(async move {
                end.served.engine().wind_up(held).await;
                drop(end);
            }));
        }
    }
}

/// The end of a client: its drop is the last step, even if the I/O thread has ended before.
struct End {
    served: Served,
    io: Arc<IoThread>,
    _telling: Telling,
}

impl Drop for End {
    fn drop(&mut self) {
        self.io.stop();
        self.served.engine().cut();
    }
}

/// Tells all closers when it is dropped, by a panic too.
struct Telling(Arc<Closers>);

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.tell();
    }
}

impl Default for Closers {
    fn default() -> Self {
        Closers(Mutex::new(Some(Vec::new())))
    }
}

impl Closers {
    fn add(&self, told: Box<dyn Send>) {
        let late = match &mut *self.0.lock().expect("nothing panics while it is held") {
            Some(closers) => {
                closers.push(told);
                None
            }
            None => Some(told),
        };
        drop(late);
    }

    fn tell(&self) {
        let told = self.0.lock().expect("nothing panics while it is held").take();
        drop(told);
    }
}

fn locked(groups: &Mutex<Holding>) -> MutexGuard<'_, Holding> {
    groups.lock().expect("nothing panics while it is held")
}

/// Drops the holds of groups: the end of the client leaves no caller that could release them, and each keeps the
/// clients of its members, this client too. The drop gives back the parts that other clients still hold.
fn forget_all(groups: &Mutex<Holding>) {
    let all = locked(groups).all();
    for (number, hold) in all {
        hold.close();
        let loss = hold.look().loss();
        let forgotten = locked(groups).forget(number, loss.as_ref(), false);
        drop(forgotten);
    }
}

/// The error of a process that has no descriptor or no thread left.
fn not_started(server: String, error: std::io::Error) -> Error {
    let cause = exhausted::cause(&error)
        .unwrap_or_else(|| format!("cannot be asked: the system gives no thread for it ({error})"));
    Error::unavailable(server, cause, false).because_of(Some(Source::new(error)))
}

/// A random UUID, version 4.
fn uuid() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Unsupported(format!("the system gives no random numbers: {error}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_hold_of_a_group_that_its_caller_never_releases_is_forgotten() {
        let state = ClientState::new(&Arc::new(Config::from_url("redis://127.0.0.1:1").expect("a good URL")))
            .expect("random numbers");
        state.start().expect("the system gives a thread");
        // It has no part, so it is over.
        let hold = Arc::new(GroupHold::new(vec![None], 0));
        let kept = Arc::downgrade(&hold);
        let of = ("the group".into(), 1);
        let number = state.groups().add(of.clone(), hold.clone());
        state.forget_after_loss(number, hold, Duration::from_millis(10));
        let begun = Instant::now();
        while kept.strong_count() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is remembered for ever");
            std::thread::yield_now();
        }
        assert_eq!(state.groups().latest(&of), None);
        assert!(state.groups().all().is_empty());
        state.close(Holds::Keep, drop, ());
    }

    #[test]
    fn a_client_whose_thread_has_died_is_closed_at_once() {
        let state = ClientState::new(&Arc::new(Config::from_url("redis://127.0.0.1:1").expect("a good URL")))
            .expect("random numbers");
        state.start().expect("the system gives a thread");
        // As a panic does, this ends the thread without a close.
        state.io.stop();
        while !state.io.presence.is_closing() {
            std::thread::yield_now();
        }
        let (told, closed) = sync_channel::<()>(0);
        state.close(Holds::Release, drop, told);
        let end = closed.recv_timeout(Duration::from_secs(20));
        assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected), "it waits for ever");
    }
}
