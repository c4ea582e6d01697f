//! A user without one of the rights: each of its calls is done, or is an error that names the right, and nothing stays
//! behind.

use std::thread;
use std::time::Duration;

use redlatch::ffi::kinds::Traits;
use redlatch::{Client, Error, LockBuilder, PermitSemaphore, Result, SemaphorePermit};
use redlatch_tests::*;

use super::{client, words};

/// Long enough for a server's answer on a loaded machine: without an answer the end of a wait is an error.
const WAIT: Duration = secs(3);

/// Every right that the guide calls always necessary.
pub fn rights() -> impl Iterator<Item = &'static str> {
    words("locks", "always").into_iter().filter_map(|word| word.strip_prefix('+'))
}

/// A client of a user that has every right but this one, and bears its name.
pub fn lacking(server: &Server, right: &str) -> Client {
    let rights: Vec<&str> =
        words("locks", "always").into_iter().filter(|word| word.strip_prefix('+') != Some(right)).collect();
    server.view().command::<()>(&[&["ACL", "SETUSER", right][..], &rights].concat());
    // This watchdog lasts for a loaded machine's use of a lock, and is short enough to await the end of a lock that
    // cannot be released.
    client(&format!("redis://{right}:secret@{}?watchdog=6&retry_for=0", server.address()))
}

/// `None`: the call was not done, and its error names the missing right and the remedy.
pub fn done<T>(right: &str, what: &str, end: Result<T>) -> Option<T> {
    match end {
        Ok(done) => Some(done),
        Err(Error::Refused { code, message, .. }) if code == "NOPERM" => {
            assert!(message.contains(right) && message.contains("ACL SETUSER"), "{what} without {right}: {message}");
            None
        }
        Err(error) => panic!("{what} without {right}: {error:?}"),
    }
}

/// Locks of all kinds of a client. A hold of the first of each pair excludes every owner from the second.
fn locks(client: &Client, name: &str) -> Vec<(LockBuilder, LockBuilder)> {
    let pair = |(kind, lock): (&Traits, kinds::Lock)| {
        let name = format!("{name}:{}", kind.name);
        let excluded = if kind.exclusive { lock(client, &name) } else { client.read_write_lock(&name).write() };
        (lock(client, &name), excluded)
    };
    kinds::locks().map(pair).collect()
}

/// Takes locks, twice where the kind allows, and waits for locks of another owner.
fn use_locks(right: &str, lacking: &Client, holder: &Client) {
    for ((own, _), (_, other)) in locks(lacking, right).into_iter().zip(locks(holder, right)) {
        let own = own.owner(7);
        if let Some(first) = done(right, "acquire", own.clone().blocking().acquire()) {
            assert!(other.clone().blocking().try_acquire().expect("answered").is_none(), "{right}: it is held");
            match own.clone().blocking().acquire() {
                Err(Error::AlreadyHeld { .. }) => {}
                again => {
                    let again = done(right, "acquire again", again);
                    again.and_then(|again| done(right, "release one", again.release()));
                }
            }
            done(right, "release", first.release());
        }
        done(right, "inspect", own.clone().blocking().is_locked());
    }
    for kind in [Client::lock, Client::fair_lock] {
        let name = waited(right);
        let held = kind(holder, &name).blocking().acquire().expect("free");
        match kind(lacking, &name).wait(WAIT).blocking().acquire() {
            Err(Error::NotAcquired { .. }) => {}
            end => assert!(done(right, "wait", end).is_none(), "{right}: it is held"),
        }
        held.release().expect("held");
    }
    let (name, forced) =
        (format!("{right}:forced"), |client: &Client, name: &str| client.lock(name).blocking().force_release());
    let held = holder.lock(&name).blocking().acquire().expect("free");
    done(right, "force release", forced(lacking, &name));
    forced(holder, &name).expect("answered");
    drop(held);
}

fn waited(right: &str) -> String {
    format!("{right}:waited")
}

/// Takes and returns permits. Each call does all that it says, or nothing.
fn use_permits(right: &str, lacking: &Client, holder: &Client) {
    let own = lacking.semaphore(&format!("{right}:permits"));
    let all = holder.semaphore(&format!("{right}:permits"));
    let set = done(right, "set permits", own.try_set_permits_for(2, secs(60)).blocking());
    assert_eq!(
        all.try_set_permits(2).blocking().expect("answered"),
        set.is_none(),
        "{right}: whether they were to be set yet"
    );
    let mut available = 2;
    let mut then = |what: &str, change: i64| {
        available += change;
        assert_eq!(all.available().blocking().expect("answered") as i64, available, "{right}: after {what}");
    };
    then("acquire", done(right, "acquire", own.acquire(1).blocking().map(SemaphorePermit::keep)).map_or(0, |()| -1));
    then("release", done(right, "release", own.release(1).blocking()).map_or(0, |()| 1));
    then("drain", done(right, "drain", own.drain().blocking()).map_or(0, |drained| -(drained as i64)));
    then("add", done(right, "add", own.add_permits(1).blocking()).map_or(0, |_| 1));

    let own = lacking.latch(&format!("{right}:latch"));
    let all = holder.latch(&format!("{right}:latch"));
    let set = done(right, "set count", own.try_set_count(2).blocking());
    assert_eq!(
        all.try_set_count(2).blocking().expect("answered"),
        set.is_none(),
        "{right}: whether it was to be set yet"
    );
    for _ in 0..2 {
        let before = all.count().blocking().expect("answered");
        let left = done(right, "count down", own.count_down().blocking()).unwrap_or(before);
        assert_eq!(all.count().blocking().expect("answered"), left, "{right}: after count down");
    }
}

/// The same with permits that have ids, one of which has ended before.
fn use_permits_with_ids(right: &str, lacking: &Client, holder: &Client) {
    let own = lacking.permit_semaphore(&format!("{right}:ids"));
    let all = holder.permit_semaphore(&format!("{right}:ids"));
    all.set_permits(2).blocking().expect("answered");
    drop(all.acquire().lease(ms(1)).blocking().expect("free"));
    eventually("a permit that has ended", || (all.available().blocking().expect("answered") == 2).then_some(()));
    let total = |what: &str, out: u64| {
        let permits = all.permits().blocking().expect("answered");
        let acquired = all.acquired().blocking().expect("answered");
        assert_eq!((permits, acquired), (2, out), "{right}: after {what}");
    };
    let taken = done(right, "acquire", own.acquire().wait(secs(5)).blocking());
    total("acquire", u64::from(taken.is_some()));
    if let Some(permit) = taken {
        let longer = done(right, "extend", own.update_lease(permit.id(), secs(60)).blocking());
        let left = all.lease_left(permit.id()).blocking().expect("answered").expect("it is out");
        assert_eq!(left < PermitSemaphore::NO_END, longer.is_some(), "{right}: it had no end");
        let released = done(right, "release", own.release(permit.id()).blocking());
        total("release", u64::from(released.is_none()));
    }
}

#[test]
fn a_call_without_any_one_right_names_it_and_leaves_nothing() {
    let server = Server::start();
    let holder = client(&server.url());
    let clients: Vec<_> = rights().map(|right| (right, lacking(&server, right))).collect();
    thread::scope(|scope| {
        for (right, lacking) in &clients {
            let holder = &holder;
            scope.spawn(move || {
                use_locks(right, lacking, holder);
                use_permits(right, lacking, holder);
                use_permits_with_ids(right, lacking, holder);
                // A lock that could not be released ends by itself. A waiter that could not leave a queue shows no sign
                // of life any more.
                let waited = [holder.lock(&waited(right)), holder.fair_lock(&waited(right))];
                for lock in locks(holder, right).into_iter().map(|(_, lock)| lock).chain(waited) {
                    let free = lock.wait(secs(20)).blocking().acquire();
                    free.unwrap_or_else(|error| panic!("without {right}: {error}")).release().expect("held");
                }
            });
        }
    });
}

#[test]
fn a_user_that_may_not_listen_is_told_so_when_it_has_to_wait() {
    let server = Server::start();
    let held = client(&server.url()).lock("n").blocking().acquire().expect("free");
    let end = lacking(&server, "subscribe").lock("n").wait(secs(2)).blocking().acquire();
    assert!(done("subscribe", "wait", end).is_none(), "it is held");
    held.release().expect("held");
}
