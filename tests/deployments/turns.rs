//! A master dies while the owners of a client hand its lock on among themselves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::{Client, Error};
use redlatch_tests::{Cluster, View, eventually, ms, secs};

use super::client;
use super::cluster::name_at;

/// How many threads of each client want the lock.
const OWNERS: usize = 4;
/// How long a holder may go on beside another one before it is told of its loss.
const TOLD: Duration = secs(1);

/// A time in which an owner believed that it had the lock.
struct Belief {
    from: Instant,
    until: Instant,
}

/// The threads of the clients, and all that they believed.
#[derive(Default)]
struct Work {
    ended: AtomicBool,
    /// The client and the owner that have the lock, if one has.
    holder: Mutex<Option<(String, u64)>>,
    beliefs: Mutex<Vec<Belief>>,
    /// How often each thread has had the lock.
    taken: [AtomicUsize; 2 * OWNERS],
}

/// Ends the threads' work when it is dropped.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

impl Work {
    fn has_lock(&self, client: &Client, name: &str, thread: usize) {
        let lock = client.fenced_lock(name).wait(secs(30));
        while !self.ended.load(SeqCst) {
            let guard = lock.clone().blocking().acquire().unwrap_or_else(|error| panic!("thread {thread}: {error}"));
            let from = Instant::now();
            *self.holder.lock().expect("no panic") = Some((client.id().to_owned(), guard.owner()));
            thread::sleep(ms(1));
            self.holder.lock().expect("no panic").take();
            // The last time at which the owner was sure.
            let until = Instant::now();
            let believes = guard.ensure().is_ok();
            match guard.release() {
                Ok(()) | Err(Error::Lost(_)) => {}
                Err(error) => panic!("thread {thread}: {error}"),
            }
            self.taken[thread].fetch_add(1, SeqCst);
            if believes {
                self.beliefs.lock().expect("no panic").push(Belief { from, until });
            }
        }
    }

    /// Returns at a moment at which an owner has the lock under the field of another owner.
    fn until_handed_on(&self, view: &mut View, name: &str) {
        let holder = || self.holder.lock().expect("no panic").clone();
        eventually("a hold that was handed on", || {
            let (client, owner) = holder()?;
            let fields = view.hgetall(name);
            let is_still = holder() == Some((client.clone(), owner));
            let of_other = |field: &String| field.starts_with(&client) && *field != format!("{client}:{owner}");
            (is_still && fields.keys().any(of_other)).then_some(())
        });
    }

    fn until_each_has_had_it_again(&self) {
        let before = self.taken.each_ref().map(|count| count.load(SeqCst));
        eventually("each thread has had the lock", || {
            let now = self.taken.each_ref().map(|count| count.load(SeqCst));
            before.iter().zip(&now).all(|(before, now)| before < now).then_some(())
        });
    }

    /// Checks that beliefs overlapped only while a failover explains that.
    fn judge(self, died: Instant, replaced: Instant) {
        let mut beliefs = self.beliefs.into_inner().expect("no panic");
        beliefs.sort_by_key(|belief| belief.from);
        for two in beliefs.windows(2) {
            let [first, second] = two else { unreachable!() };
            let both = first.until.saturating_duration_since(second.from);
            let explained = first.from < replaced && second.from > died && both < TOLD;
            assert!(both.is_zero() || explained, "two owners had the lock for {both:?}");
        }
    }
}

#[test]
fn a_turn_ends_with_its_master_and_each_waiter_gets_the_lock_from_the_next_one() {
    let cluster = Cluster::start(3, 1);
    let url = format!("{}?turn=0.2&watchdog=3&retry_for=20", cluster.url());
    let clients = [client(&url), client(&url)];
    let name = name_at(&cluster, 0);
    let work = Work::default();
    let (died, replaced) = thread::scope(|scope| {
        let _ended = Ended(&work.ended);
        for thread in 0..2 * OWNERS {
            let client = &clients[thread % 2];
            let name = &name;
            let work = &work;
            scope.spawn(move || work.has_lock(client, name, thread));
        }
        work.until_each_has_had_it_again();
        work.until_handed_on(&mut cluster.servers[0].view(), &name);
        let died = Instant::now();
        let heir = cluster.fail_over(&name);
        let replaced = Instant::now();
        work.until_each_has_had_it_again();
        work.until_handed_on(&mut cluster.servers[heir].view(), &name);
        (died, replaced)
    });
    work.judge(died, replaced);
    let mut view = cluster.servers[cluster.owner(&name)].view();
    eventually("a lock that is free", || (!view.exists(&name)).then_some(()));
}
