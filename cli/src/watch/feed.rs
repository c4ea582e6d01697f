//! Feeds a [`Watch`] with what the server says.

use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::join_all;
use redlatch::ffi::Border;
use redlatch::{Client, Error, HeldLock};
use tokio::time::{sleep, timeout};

use super::known::{Next, Watch};
use crate::clock;
use crate::ending::{Failure, UNREACHABLE};
use crate::list::literal;

/// The server rests so many times as long as a look took, as it does from the library's listing.
const REST: u32 = 9;
/// The longest rest after a look and the longest pause after a listing. A look that takes longer has waited for a server or a process that stood
/// still, and changes of those locks go unseen meanwhile.
const LONGEST_REST: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// So many looks are under way at once.
const AT_ONCE: usize = 8;
/// The longest time of a listing that is to find what is waited for.
const SHORT: Duration = Duration::from_millis(300);
/// A listing has gone beyond what is waited for after so many other locks.
const OTHERS: usize = 20;
/// The shortest time between two listings.
const LEAST: Duration = Duration::from_millis(100);
/// The time between two tries at a server that does not answer.
const AGAIN: Duration = Duration::from_secs(1);
/// A lock that a listing has found meanwhile may have to be looked at.
const NAP: Duration = Duration::from_millis(100);

pub struct Feed<'a, F> {
    pub client: &'a Client,
    pub pattern: &'a str,
    pub interval: Duration,
    pub watch: &'a Mutex<Watch>,
    /// Called after each change of the watch.
    pub told: F,
}

/// Asks the server once, so that one that cannot tell is known before anything is shown.
pub fn reach(client: &Client, pattern: &str) -> Result<(), Failure> {
    client.locks(&literal(pattern)).next_blocking()?;
    Ok(())
}

impl<F: Fn()> Feed<'_, F> {
    /// Goes on until the server refuses. One that does not answer is asked again.
    pub async fn run(&self) -> Failure {
        let began = Cell::new(clock::now());
        tokio::select! {
            refused = self.list(&began) => refused,
            refused = self.find_waited_for(&began) => refused,
            refused = self.look() => refused,
        }
    }

    /// Finds locks, again and again. Between two listings the server has as long a rest as the first one took.
    async fn list(&self, last: &Cell<Duration>) -> Failure {
        loop {
            let began = clock::now();
            last.set(began);
            let mut locks = self.client.locks(self.pattern);
            loop {
                match locks.next().await {
                    Ok(Some(lock)) => self.listed(lock),
                    Ok(None) => break,
                    Err(error) => {
                        if let Some(refused) = self.trouble(error) {
                            return refused;
                        }
                        sleep(AGAIN).await;
                    }
                }
            }
            self.feed(|watch, now| watch.listing_done(began, now));
            let took = clock::now().saturating_sub(began);
            sleep(took.min(LONGEST_PAUSE).max(self.interval).max(LEAST)).await;
        }
    }

    /// Finds what clients wait for, while the last listing is long on its way: a listing begins with that.
    async fn find_waited_for(&self, last: &Cell<Duration>) -> Failure {
        loop {
            sleep(self.interval.max(SHORT)).await;
            if clock::now().saturating_sub(last.get()) < self.interval {
                continue;
            }
            let mut locks = self.client.locks(self.pattern);
            let find = async {
                let mut others = 0;
                while let Some(lock) = locks.next().await? {
                    // A waiter may have gone meanwhile. Many locks without one are those of the scan.
                    if lock.waiting.unwrap_or(0) == 0 {
                        others += 1;
                        if others > OTHERS {
                            break;
                        }
                        continue;
                    }
                    self.listed(lock);
                }
                Ok::<(), Error>(())
            };
            if let Ok(Err(error)) = timeout(SHORT, find).await
                && let Some(refused) = self.trouble(error)
            {
                return refused;
            }
        }
    }

    /// Looks at the locks that are known, few at a time. A server answers in the order of the looks, so that is the order in which things
    /// happened.
    async fn look(&self) -> Failure {
        loop {
            let now = clock::now();
            let next = self.watch.lock().expect("nothing panics while it is held").next(now, AT_ONCE);
            let names = match next {
                Next::Look(names) => names,
                Next::At(time) => {
                    sleep(time.saturating_sub(now).min(NAP)).await;
                    continue;
                }
            };
            let looks = names.iter().map(|name| async move {
                let found = self.client.locks(&literal(name)).next().await;
                (name, found, clock::now(), self.client.restarts())
            });
            // A look that also asks for the connections of clients gives the server a rest of its own.
            let mut took = Duration::MAX;
            let mut refused = None;
            for (name, found, at, restarts) in join_all(looks).await {
                match found {
                    Ok(found) => {
                        took = took.min(at.saturating_sub(now));
                        self.feed(|watch, _| {
                            watch.restarted(restarts);
                            watch.looked(name, found.map(Into::into), now, at);
                        });
                    }
                    Err(error) => {
                        self.watch.lock().expect("nothing panics while it is held").look_failed(name, clock::now());
                        refused = self.trouble(error).or(refused);
                    }
                }
            }
            if let Some(refused) = refused {
                return refused;
            }
            if took == Duration::MAX {
                sleep(AGAIN).await;
                continue;
            }
            self.watch.lock().expect("nothing panics while it is held").answered(took);
            sleep((took * REST).min(LONGEST_REST)).await;
        }
    }

    fn listed(&self, lock: HeldLock) {
        let restarts = self.client.restarts();
        self.feed(|watch, now| {
            watch.restarted(restarts);
            watch.listed(lock.into(), now);
        });
    }

    fn feed(&self, feed: impl FnOnce(&mut Watch, Duration)) {
        let mut watch = self.watch.lock().expect("nothing panics while it is held");
        let now = clock::now();
        watch.reachable(now);
        feed(&mut watch, now);
        drop(watch);
        (self.told)();
    }

    /// The refusal, if asking again is of no use.
    fn trouble(&self, error: Error) -> Option<Failure> {
        let failure = Failure::from(error);
        if failure.code != UNREACHABLE {
            return Some(failure);
        }
        self.watch.lock().expect("nothing panics while it is held").unreachable(&failure.text, clock::now());
        (self.told)();
        None
    }
}
