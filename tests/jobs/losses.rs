//! Runs that lose their lock: in a process that stands still, and before their work has begun.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use redlatch::{Error, JobRun, LostReason};
use redlatch_tests::{Direction, Proxy, eventually, ms, secs};

use super::*;

/// The fate of the job while its first node stood still.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Runs,
    HasEnded,
    IsKept,
    IsFree,
}

/// A node is stopped in the middle of its work, for longer than `at_most`.
fn is_lost_after_a_stop(verb: &str) {
    let at_most = ms(600);
    for then in [Then::Runs, Then::HasEnded, Then::IsKept, Then::IsFree] {
        let server = Server::start();
        let mut view = server.view();
        let notes = Notes::new();
        let mut first = node(&server, at_most, Duration::ZERO, &notes);
        let at_least = if then == Then::IsKept { secs(60) } else { Duration::ZERO };
        let mut other = node(&server, secs(60), at_least, &notes);
        assert_eq!(first.ask(&format!("{verb} 1")), "begun");
        assert_eq!(other.ask("run 2"), "skipped");
        first.signal("STOP");
        match then {
            Then::Runs => eventually("another run", || (other.ask("begin 2") == "begun").then_some(())),
            Then::HasEnded | Then::IsKept => eventually("another run", || (other.ask("run 2") == "ran").then_some(())),
            Then::IsFree => eventually("the end of at_most", || (!view.exists(KEY)).then_some(())),
        }
        let key = || server.view().command::<Option<String>>(&["GET", KEY]);
        let before = key();
        assert_eq!(before.is_some(), matches!(then, Then::Runs | Then::IsKept), "{then:?}");
        first.signal("CONT");
        if verb == "begin" {
            first.tell("end");
        }
        let answer = first.hear();
        assert!(answer.starts_with("lost "), "{then:?}: {answer}");
        assert_eq!(first.ask("stats"), "0 0 1", "{then:?}");
        assert_eq!(key(), before, "{then:?}: it is the other node's");
        if then == Then::Runs {
            assert_eq!(other.ask("end"), "ran");
        }
        // It takes part in the job as before.
        view.command::<()>(&["DEL", KEY]);
        assert_eq!(first.ask("run 3"), "ran", "{then:?}");
        assert_eq!(first.ask("stats"), "1 0 1", "{then:?}");
    }
}

#[test]
fn a_run_of_a_process_that_stood_still_beyond_at_most_is_lost() {
    is_lost_after_a_stop("begin");
}

#[test]
fn a_run_of_a_task_whose_process_stood_still_beyond_at_most_is_lost() {
    is_lost_after_a_stop("wait-job");
}

/// Runs `work` as the job of a node whose server answers its acquire only after `change`. True beside the answer: the work was begun.
fn run_late(
    at_most: Duration,
    at_least: Duration,
    change: impl FnOnce(&Server),
    work: impl FnOnce(&redlatch::Guard) + Send,
) -> (Server, redlatch::Result<JobRun<()>>, [u64; 3], bool) {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let job = client.job("n", at_most).at_least(at_least);
    let is_begun = AtomicBool::new(false);
    let mut view = server.view();
    proxy.stall(Direction::ToClient);
    let ran = thread::scope(|scope| {
        let running = scope.spawn(|| {
            job.run_blocking(|hold| {
                is_begun.store(true, SeqCst);
                work(hold);
            })
        });
        eventually("the acquire", || view.exists(KEY).then_some(()));
        change(&server);
        proxy.flow();
        running.join().expect("no panic")
    });
    (server, ran, stats(&job), is_begun.into_inner())
}

const THEIRS: &str = "ADDED:of another program";

fn is_lost(ran: redlatch::Result<JobRun<()>>, reason: LostReason) {
    let Ok(JobRun::Lost(loss)) = ran else { panic!("{ran:?}") };
    assert_eq!(loss.reason, reason, "{loss}");
}

#[test]
fn a_run_whose_key_goes_before_its_work_begins_is_lost() {
    let delete = |server: &Server| server.view().command::<()>(&["DEL", KEY]);
    let take_over = |server: &Server| server.view().command::<()>(&["SET", KEY, THEIRS, "PX", "60000"]);
    for at_least in [Duration::ZERO, secs(30)] {
        // Work that is over at once hears of the loss at its end.
        let (server, ran, stats, _) = run_late(secs(60), at_least, delete, |_| ());
        is_lost(ran, LostReason::Deleted);
        assert_eq!((stats, server.view().exists(KEY)), ([0, 0, 1], false));
        let (server, ran, stats, _) = run_late(secs(60), at_least, take_over, |_| ());
        is_lost(ran, LostReason::TakenOver);
        assert_eq!((stats, server.view().command::<String>(&["GET", KEY])), ([0, 0, 1], THEIRS.to_owned()));
        // Other work hears of it long before the first renewal, which is due after 20 s.
        let told = |hold: &redlatch::Guard| eventually("the loss", || hold.ensure().is_err().then_some(()));
        let (_server, ran, stats, _) = run_late(secs(60), at_least, take_over, told);
        is_lost(ran, LostReason::TakenOver);
        assert_eq!(stats, [0, 0, 1]);
    }
}

/// The server's answer is of no use any more: the client asks again, or the run does not begin.
#[test]
fn work_does_not_begin_with_a_lock_that_was_over_before_the_client_heard_of_it() {
    for (change, is_free) in [(None, true), (Some(THEIRS), false)] {
        let over = |server: &Server| {
            let mut view = server.view();
            eventually("the end of at_most", || (!view.exists(KEY)).then_some(()));
            if let Some(theirs) = change {
                view.command::<()>(&["SET", KEY, theirs, "PX", "60000"]);
            }
        };
        let held = |hold: &redlatch::Guard| hold.ensure().expect("it was acquired anew");
        let (server, ran, stats, is_begun) = run_late(ms(300), Duration::ZERO, over, held);
        assert!(is_free || !is_begun, "{ran:?}");
        assert_eq!(stats.iter().sum::<u64>(), u64::from(ran.is_ok()), "{ran:?}");
        assert_eq!(is_begun, stats[0] == 1, "{ran:?}");
        let key: Option<String> = server.view().command(&["GET", KEY]);
        assert_eq!(key.as_deref(), change, "{ran:?}");
    }
}

/// The server hears of the acquire only when the client does not believe in it any more: no node runs the job then, and the caller must not
/// take that for the run of another node.
#[test]
fn an_acquire_that_reaches_the_server_after_at_most_keeps_no_other_node_from_the_job() {
    for is_blocking in [true, false] {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let slow = connect(&server.url_at(proxy.port()));
        let other = connect(&server.url());
        // A copy that is older than a second would be refused by its script.
        let job = slow.job("n", ms(600)).at_least(ms(500));
        let mut view = server.view();
        view.forget_calls();
        proxy.stall(Direction::ToServer);
        let ran = thread::scope(|scope| {
            let called = Instant::now();
            let running = scope.spawn(|| match is_blocking {
                true => job.run_blocking(|_| ()),
                false => soon(job.run(async {})),
            });
            eventually("the end of at_most", || (called.elapsed() > ms(620)).then_some(()));
            proxy.flow();
            running.join().expect("no panic")
        });
        let Err(error) = ran else {
            continue; // a slow machine: the acquire has gone out again
        };
        let said = error.to_string();
        assert!(matches!(error, Error::Unavailable { .. }) && said.contains("after the lease of 600ms"), "{said}");
        assert_eq!(stats(&job), [0, 0, 0], "no other node has run it");
        eventually("the give-back", || (view.calls().get("evalsha") >= Some(&2)).then_some(()));
        let job = other.job("n", secs(60));
        eventually("the other run", || job.run_blocking(|_| ()).expect("answered").ran());
    }
}
