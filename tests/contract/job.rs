//! Jobs: of all nodes one runs each period, a run that dies keeps its lock for `at_most`, one that ends for `at_least`, and a lost one is told.

use std::future::pending;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Job, JobRun, JobStats, LostReason};
use redlatch_tests::{Direction, Proxy, Server, View};

use super::{eventually, ms, pair, secs};

const KEY: &str = "job-lock:default:n";

fn job(client: &Client, at_most: Duration) -> Job {
    client.job("n", at_most)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Drops a run as soon as its work has begun.
fn dropped(job: &Job) {
    runtime().block_on(async {
        let (began, mut begins) = tokio::sync::oneshot::channel();
        let work = async move {
            began.send(()).expect("it is awaited");
            pending::<()>().await;
        };
        tokio::select! {
            ran = job.run(work) => panic!("{ran:?}"),
            _ = &mut begins => {}
        }
    });
}

fn stats(job: &Job) -> [u64; 3] {
    let JobStats { ran, skipped, lost, .. } = job.stats();
    [ran, skipped, lost]
}

#[test]
fn one_node_runs_and_the_others_skip_until_it_ends() {
    let (server, a, b) = pair();
    let (of_a, of_b) = (job(&a, secs(60)), job(&b, secs(60)));
    let ran = of_a.run_blocking(|hold| {
        hold.ensure().expect("it runs");
        assert!(of_b.run_blocking(|_| ()).expect("answered").is_skipped());
        assert!(of_a.run_blocking(|_| ()).expect("answered").is_skipped(), "nor does it run inside itself");
        assert_eq!(b.job("n", secs(60)).env("test").run_blocking(|_| 8).expect("answered").ran(), Some(8));
        7
    });
    assert_eq!(ran.expect("answered").ran(), Some(7));
    assert!(!server.view().exists(KEY), "without `at_least` it is free at once");
    assert_eq!(of_b.run_blocking(|_| 9).expect("answered").ran(), Some(9));
    assert_eq!((stats(&of_a), stats(&of_b)), ([1, 1, 0], [1, 1, 0]));
    // No key lives for less than a millisecond.
    let brief = job(&a, secs(60)).at_least(Duration::from_nanos(1));
    assert_eq!(brief.run_blocking(|_| 3).expect("answered").ran(), Some(3));
    eventually(|| !server.view().exists(KEY));
}

#[test]
fn the_key_of_a_run_that_has_ended_stays_for_what_is_missing_of_at_least() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let of_a = job(&a, secs(100)).at_least(secs(50));
    let mut took = Duration::ZERO;
    let ran = of_a.run_blocking(|_| {
        let begun = Instant::now();
        eventually(|| begun.elapsed() >= ms(700));
        took = begun.elapsed();
    });
    assert_eq!(ran.expect("answered").ran(), Some(()));
    let left = view.pttl(KEY);
    assert!(left <= 50_000 - took.as_millis() as i64 && left > 40_000, "{left} ms after a run of {took:?}");
    assert!(job(&b, secs(100)).run_blocking(|_| ()).expect("answered").is_skipped());
    assert_eq!(a.stats().held, 0, "the client has nothing to renew");
    // Its client does not free it at its end.
    a.close_blocking(redlatch::Holds::Release);
    assert!(view.exists(KEY));
}

#[test]
fn a_run_that_takes_longer_than_at_most_is_renewed() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let of_a = job(&a, ms(600));
    let ran = of_a.run_blocking(|hold| {
        let begun = Instant::now();
        while begun.elapsed() < secs(2) {
            hold.ensure().expect("it is renewed");
            assert!(view.exists(KEY));
            assert!(job(&b, ms(600)).run_blocking(|_| ()).expect("answered").is_skipped());
        }
    });
    assert_eq!(ran.expect("answered").ran(), Some(()));
}

#[test]
fn a_run_whose_key_another_program_has_taken_is_lost_and_its_end_leaves_that_key() {
    for at_least in [secs(0), secs(30)] {
        let (server, a, _) = pair();
        let mut view = server.view();
        let of_a = job(&a, secs(60)).at_least(at_least);
        let ran = of_a.run_blocking(|_| view.command::<()>(&["SET", KEY, "ADDED:of another program"]));
        let Ok(JobRun::Lost(loss)) = ran else { panic!("{ran:?}") };
        assert!(matches!(loss.reason, LostReason::TakenOver | LostReason::Deleted | LostReason::Expired), "{loss:?}");
        assert_eq!(view.command::<String>(&["GET", KEY]), "ADDED:of another program");
        assert_eq!(stats(&of_a), [0, 0, 1]);
    }
}

#[test]
fn work_of_a_task_is_dropped_at_a_loss() {
    let (server, a, _) = pair();
    let of_a = job(&a, ms(900));
    let mut view = server.view();
    let ran = runtime().block_on(async {
        let work = async {
            view.command::<()>(&["DEL", KEY]);
            pending::<()>().await;
        };
        of_a.run(work).await
    });
    assert!(matches!(ran, Ok(JobRun::Lost(_))), "{ran:?}");
    assert_eq!(stats(&of_a), [0, 0, 1]);
}

#[test]
fn work_that_panics_or_is_dropped_keeps_the_key_for_at_least_and_no_longer() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let of_a = job(&a, secs(100));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        of_a.clone().at_least(secs(20)).run_blocking(|_| -> () { panic!("on purpose") })
    }));
    assert!(panicked.is_err());
    eventually(|| (15_000..=20_000).contains(&view.pttl(KEY)));
    view.command::<()>(&["DEL", KEY]);
    dropped(&of_a);
    eventually(|| !view.exists(KEY));
    assert_eq!(stats(&of_a), [2, 0, 0], "clones count together");
}

/// A client that reaches its server through the proxy and soon gives a call up.
fn quick() -> (Server, Proxy, Client) {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let url = format!("{}?response_timeout=0.5&retry_for=0", server.url_at(proxy.port()));
    let client = Client::connect(&url).expect("a good URL");
    (server, proxy, client)
}

#[test]
fn the_end_of_a_run_that_the_server_does_not_hear_of_is_no_error_and_comes_later() {
    for at_least in [secs(0), secs(3)] {
        let (server, proxy, a) = quick();
        let mut view = server.view();
        let of_a = job(&a, secs(600)).at_least(at_least);
        let begun = Instant::now();
        let ran = of_a.run_blocking(|_| {
            proxy.stall(Direction::ToServer);
            5
        });
        assert_eq!(ran.expect("no error").ran(), Some(5));
        assert!(view.exists(KEY));
        proxy.flow();
        eventually(|| !view.exists(KEY));
        assert!(begun.elapsed() >= at_least, "its least time was not over after {:?}", begun.elapsed());
        assert_eq!(stats(&of_a), [1, 0, 0]);
    }
}

#[test]
fn the_end_of_a_run_whose_answer_gets_lost_is_no_loss() {
    let (server, proxy, a) = quick();
    let patient =
        Client::connect(&format!("{}?response_timeout=0.5", server.url_at(proxy.port()))).expect("a good URL");
    let of_a = job(&patient, secs(60)).at_least(ms(300));
    let ran = of_a.run_blocking(|_| proxy.lose_reply_to(KEY));
    assert!(ran.as_ref().is_ok_and(|ran| matches!(ran, JobRun::Ran(()))), "{ran:?}");
    assert_eq!(proxy.struck(), 1, "set up badly");
    drop(a);
}

#[test]
fn a_run_is_lost_if_its_server_was_silent_for_too_long_even_if_it_still_is() {
    let (_server, proxy, a) = quick();
    let of_a = job(&a, ms(1500)).at_least(secs(1));
    let ran = of_a.run_blocking(|hold| {
        let begun = Instant::now();
        eventually(|| begun.elapsed() > ms(700));
        proxy.stall(Direction::ToServer);
        eventually(|| hold.ensure().is_err());
    });
    let Ok(JobRun::Lost(loss)) = ran else { panic!("{ran:?}") };
    assert_eq!(loss.reason, LostReason::Partitioned, "{loss}");
    assert!(loss.renewed.is_some(), "it was renewed before: {loss}");
    assert_eq!(stats(&of_a), [0, 0, 1]);
}

#[test]
fn a_run_outlasts_a_renewal_without_an_answer() {
    let (server, proxy, _) = quick();
    let a = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let ran = job(&a, secs(3)).run_blocking(|hold| {
        proxy.lose_reply_to(KEY);
        let begun = Instant::now();
        while begun.elapsed() < secs(4) {
            hold.ensure().expect("there is time for a second renewal");
        }
    });
    assert!(ran.is_ok_and(|ran| ran.ran().is_some()));
    assert_eq!(proxy.struck(), 1, "set up badly");
}

/// No object of the program has the hold any more, so it must not be renewed.
#[test]
fn a_run_whose_end_the_server_refuses_is_renewed_no_longer() {
    for refused in ["publish", "del"] {
        let (server, a, _) = pair();
        let mut view = server.view();
        let of_a = job(&a, ms(1500));
        let right =
            |view: &mut View, sign| view.command::<()>(&["ACL", "SETUSER", "default", &format!("{sign}{refused}")]);
        let ran = of_a.run_blocking(|_| right(&mut view, "-"));
        assert!(ran.is_ok_and(|ran| ran.ran().is_some()), "the work has run");
        eventually(|| !view.exists(KEY));
        right(&mut view, "+");
        // The same by the border, whose caller could repeat it.
        let of = |op| Request { lease: Some(ms(1500)), ..Request::new(op, "token", KEY, 1 << 40) };
        let hold = a.run_blocking(of(Op::Acquire)).expect("it is free").number as u64;
        a.run_blocking(Request { hold, ..of(Op::Renew) }).expect("it is held");
        right(&mut view, "-");
        let ended = a.run_blocking(Request { hold, lease: None, ..of(Op::LetGo) });
        assert!(ended.is_ok_and(|ended| !ended.done), "the server has refused it");
        eventually(|| !view.exists(KEY));
    }
}

#[test]
fn a_run_that_was_dropped_keeps_its_key_although_its_client_closes() {
    let (server, a, _) = pair();
    let of_a = job(&a, secs(60)).at_least(secs(30));
    dropped(&of_a);
    a.close_blocking(redlatch::Holds::Release);
    let left = server.view().pttl(KEY);
    assert!((20_000..=30_000).contains(&left), "{left} ms");
}

#[test]
fn the_end_of_a_run_that_the_server_does_not_hear_of_frees_no_other_node() {
    let (server, proxy, a) = quick();
    let b = Client::connect(&server.url()).expect("a good URL");
    let of_a = job(&a, secs(3)).at_least(secs(2));
    let ran = of_a.run_blocking(|_| {
        proxy.stall(Direction::ToServer);
        5
    });
    assert_eq!(ran.expect("no error").ran(), Some(5));
    // Its key ends with the lease, and the next node has the job when the first one is heard.
    let mut view = server.view();
    eventually(|| !view.exists(KEY));
    let ran = job(&b, secs(60)).run_blocking(|hold| {
        proxy.flow();
        let begun = Instant::now();
        while begun.elapsed() < secs(1) {
            hold.ensure().expect("it is another node's");
            assert!(view.exists(KEY));
        }
    });
    assert!(ran.is_ok_and(|ran| ran.ran().is_some()));
}

#[test]
fn a_thousand_periods_run_once_each_on_four_nodes() {
    const PERIODS: u64 = 1000;
    let server = Server::start();
    let count = AtomicU64::new(0);
    let (begin, end) = (Barrier::new(5), Barrier::new(5));
    std::thread::scope(|scope| {
        let nodes = [0; 4].map(|_| {
            let client = Client::connect(&server.url()).expect("a good URL");
            let (count, begin, end) = (&count, &begin, &end);
            scope.spawn(move || {
                // The work is over long before the other nodes look.
                let job = job(&client, secs(600)).at_least(secs(300));
                for _ in 0..PERIODS {
                    begin.wait();
                    job.run_blocking(|_| count.fetch_add(1, SeqCst)).expect("answered");
                    end.wait();
                }
                stats(&job)
            })
        });
        let mut view = server.view();
        for period in 0..PERIODS {
            begin.wait();
            end.wait();
            assert_eq!(count.load(SeqCst), period + 1, "period {period}");
            // The next period: `at_least` is over.
            view.command::<()>(&["DEL", KEY]);
        }
        let stats = nodes.map(|node| node.join().expect("no panic"));
        assert_eq!(stats.iter().map(|[ran, ..]| ran).sum::<u64>(), PERIODS, "{stats:?}");
        assert_eq!(stats.iter().map(|[_, skipped, _]| skipped).sum::<u64>(), 3 * PERIODS, "{stats:?}");
    });
}

#[test]
fn a_job_that_cannot_be_is_refused_with_a_remedy() {
    let (_server, a, _) = pair();
    let refused = |job: Job| match job.run_blocking(|_| ()) {
        Err(Error::Config(message)) => message.to_string(),
        other => panic!("{other:?}"),
    };
    let long = refused(job(&a, secs(5)).at_least(secs(6)));
    assert!(long.contains("at least 6s and at most 5s") && long.contains("no longer than"), "{long}");
    assert!(refused(a.job("", secs(5))).contains("name of the job"));
    assert!(refused(job(&a, secs(5)).env("")).contains("environment of the job"));
    assert!(refused(job(&a, ms(99))).contains("100ms or more"));
}

#[test]
fn callbacks_of_a_run_hear_of_its_loss() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let (told, hears) = mpsc::channel();
    let ran = job(&a, ms(900)).run_blocking(|hold| {
        hold.on_lost(move |loss| told.send(loss.reason).expect("it is awaited"));
        view.command::<()>(&["DEL", KEY]);
        hears.recv_timeout(secs(20)).expect("told")
    });
    assert!(matches!(ran, Ok(JobRun::Lost(_))), "{ran:?}");
}
