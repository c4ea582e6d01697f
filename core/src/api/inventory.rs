//! The locks that are held, by their names.

use std::collections::HashSet;
use std::fmt::{Debug, Formatter};
use std::vec::IntoIter;

use crate::api::operation::{Object, Operation, changed};
use crate::base::blocking;
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::inventory::{HeldLock, Page, evictee};
use crate::request::{Answer, Op, Request};

impl Client {
    /// Lists the locks that are held and whose names match a pattern, in which `*`, `?` and `[…]` are wild cards as in
    /// Redis's `SCAN`. A name without a wild card is looked at alone.
    ///
    /// It finds locks of every client, Redisson's among them, and changes nothing. Locks that clients wait for come first. Then
    /// it reads all keys of each server, and rests nine times as long as it reads: a million keys take about half a
    /// minute, and other callers wait no longer than a millisecond. Of a
    /// cluster, behind sentinels and of `redis+replicated://` it reads the keys of a replica in place of its server's; the
    /// server itself then says what is locked. Locks that came or went meanwhile may be missing. Token locks, semaphores
    /// and latches are texts and numbers; it finds those that clients listen to, and those that are named.
    ///
    /// Only Redis has it yet: `Error::Unsupported` on MySQL, MariaDB and ZooKeeper.
    pub fn locks(&self, pattern: &str) -> Locks {
        Locks {
            client: self.clone(),
            pattern: pattern.to_owned(),
            next: Some(Vec::new()),
            page: Vec::new().into_iter(),
            seen: HashSet::new(),
        }
    }

    /// Takes a lock away from the holder that a listing has found, and from no other one. A later hold of the same owner looks
    /// the same. `true`: the holder had it still, and has lost it; where an answer was lost on its way, that it has the lock
    /// no more. Readers lose it together, if the first one of [`HeldLock::holders`] still reads. The client of the holder is
    /// told (`deleted`), and waiters are woken.
    ///
    /// ```no_run
    /// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
    /// if let Some(lock) = client.locks("orders:42").next().await? {
    ///     let is_evicted = client.evict(&lock).await?;
    ///     println!("{}: {}", lock.name, if is_evicted { "free" } else { "another holder has it by now" });
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for the kinds `multi`, `permits`, `token`, `semaphore` and `latch`, and by a client of another system than
    /// Redis.
    ///
    /// # Cancellation
    /// The call goes on to its end without its future.
    pub fn evict(&self, lock: &HeldLock) -> Operation<bool> {
        let object = Object { client: self.clone(), kind: lock.kind, name: lock.name.as_str().into() };
        let operation = Operation::new(&object, Op::ForceRelease, &[], changed);
        let holders = lock.holders.iter().map(|holder| (holder.client.as_str(), holder.owner.as_str(), holder.writes));
        match evictee(lock.kind, &lock.name, holders) {
            Ok(holder) => operation.with(|request| request.texts.push(holder.into_bytes())),
            Err(error) => operation.refused(error),
        }
    }
}

/// The locks that [`Client::locks`] finds, one after the other.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let mut locks = client.locks("orders:*");
/// while let Some(lock) = locks.next().await? {
///     println!("{} has {} holders, and {:?} processes wait", lock.name, lock.holder_count, lock.waiting);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "the client asks nothing before `next`"]
pub struct Locks {
    client: Client,
    pattern: String,
    /// Asks for the next page; `None`: there is none.
    next: Option<Vec<u8>>,
    page: IntoIter<HeldLock>,
    /// A lock may move while the server is read, and come twice.
    seen: HashSet<String>,
}

impl Locks {
    /// The next lock; `None`: there are no more.
    ///
    /// # Errors
    /// `Unavailable` if a server has failed for [`crate::Config::retry_for`]; the next call asks for the same page again.
    ///
    /// # Cancellation
    /// Dropping the future loses no lock: the next call asks for the same page again.
    pub async fn next(&mut self) -> Result<Option<HeldLock>> {
        loop {
            if let Some(lock) = self.unseen() {
                return Ok(Some(lock));
            }
            let Some(question) = self.question() else { return Ok(None) };
            let answer = self.client.run(question).await?;
            self.turn_page(answer)?;
        }
    }

    /// As [`Locks::next`], without a runtime.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`].
    #[track_caller]
    pub fn next_blocking(&mut self) -> Result<Option<HeldLock>> {
        blocking::check(|| format!("`{}`", self.pattern));
        loop {
            if let Some(lock) = self.unseen() {
                return Ok(Some(lock));
            }
            let Some(question) = self.question() else { return Ok(None) };
            let answer = self.client.run_blocking(question)?;
            self.turn_page(answer)?;
        }
    }

    fn unseen(&mut self) -> Option<HeldLock> {
        let seen = &mut self.seen;
        self.page.find(|lock| seen.insert(lock.name.clone()))
    }

    fn question(&self) -> Option<Request> {
        let next = self.next.clone()?;
        let request = Request::new(Op::Inventory, "plain", self.pattern.as_str(), 0);
        Some(Request { texts: vec![next], ..request })
    }

    fn turn_page(&mut self, answer: Answer) -> Result<()> {
        let strange =
            || Error::config("the list of locks has a form that is unknown to this library; use one release of it");
        let page = Page::read(answer).ok_or_else(strange)?;
        self.next = Some(page.next).filter(|next| !next.is_empty());
        self.page = page.locks.into_iter();
        Ok(())
    }
}

impl Debug for Locks {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Locks").field("pattern", &self.pattern).field("client", &self.client).finish_non_exhaustive()
    }
}
