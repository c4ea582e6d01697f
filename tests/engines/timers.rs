//! The limits of statements: each has its whole time, and they cost next to nothing.

use std::fs::{read_link, read_to_string};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::thread::{Thread, park, sleep};
use std::time::Duration;

use redlatch::Error;
use redlatch_tests::{Mariadb, secs};

use crate::{client, eventually};

/// Wakes the caller, and notes the thread that does so: the I/O thread.
struct Woken {
    by: Mutex<Option<PathBuf>>,
    caller: Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let thread = read_link("/proc/thread-self").expect("it is Linux");
        *self.by.lock().expect("no test panics while it holds this") = Some(thread);
        self.caller.unpark();
    }
}

/// The result of a future, and the thread that woke its caller; `None`: the caller was so slow that it had not to wait.
fn awaited<T>(future: impl Future<Output = T>) -> (T, Option<PathBuf>) {
    let woken = Arc::new(Woken { by: Mutex::new(None), caller: std::thread::current() });
    let waker = woken.clone().into();
    let mut future = pin!(future);
    let mut has_waited = false;
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            // The result is there a little before its thread wakes this one.
            let by = || woken.by.lock().expect("no test panics while it holds this").clone();
            if has_waited {
                eventually(|| by().is_some());
            }
            return (result, by());
        }
        has_waited = true;
        park();
    }
}

/// How often that thread has called `write` so far: so it wakes a thread of a runtime, itself included. Statements go by `sendto`.
fn writes_of(thread: &PathBuf) -> u64 {
    let io = read_to_string(PathBuf::from("/proc").join(thread).join("io")).expect("it is Linux");
    let count = io.lines().find_map(|line| line.strip_prefix("syscw: ")).expect("the system counts");
    count.parse().expect("a number")
}

#[test]
fn the_limit_of_a_statement_costs_no_call_of_the_system() {
    const PAIRS: u64 = 50;
    let server = Mariadb::shared();
    let ours = client(server, "");
    let io = loop {
        let (guard, io) = awaited(ours.lock("cost").acquire());
        awaited(guard.expect("free").release()).0.expect("held");
        if let Some(io) = io {
            break io;
        }
    };
    let before = writes_of(&io);
    for _ in 0..PAIRS {
        let guard = ours.lock("cost").blocking().acquire().expect("free");
        // The thread falls asleep, without any timer for a statement.
        sleep(Duration::from_millis(2));
        guard.release().expect("held");
        sleep(Duration::from_millis(2));
    }
    let writes = writes_of(&io) - before;
    assert!(writes < PAIRS / 2, "{writes} calls of write for {} statements", 2 * PAIRS);
}

#[test]
fn a_statement_has_its_whole_time_however_long_ago_the_one_before_was_sent() {
    let server = Mariadb::start();
    let ours = client(&server, "response_timeout=2&retry_for=3");
    let mut view = server.sql();
    let mut session = || {
        let ids =
            "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE user = 'app' AND id <> CONNECTION_ID()";
        view.ask(ids).expect("there is one")
    };
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    let first = session();

    // The time of that statement ends in the middle of the next one.
    sleep(Duration::from_millis(1500));
    server.pause();
    std::thread::scope(|scope| {
        let tries = scope.spawn(|| ours.lock("n").blocking().try_acquire());
        sleep(secs(1));
        server.resume();
        let guard = tries.join().expect("no panic").expect("an answer in time").expect("free");
        guard.release().expect("held");
    });
    // A second connection may have been tried beside it.
    assert!(session().split(',').any(|id| id == first), "the connection was given up too early");

    server.pause();
    let tried = ours.lock("n").blocking().try_acquire();
    assert!(matches!(tried, Err(Error::Unavailable { .. })), "{tried:?}");
    server.resume();
    ours.lock("n").wait(secs(10)).blocking().acquire().expect("free").release().expect("held");
    eventually(|| !session().split(',').any(|id| id == first));
}
