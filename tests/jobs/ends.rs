//! Clients that are closed while a run of theirs is under way.

use std::sync::Barrier;
use std::thread;

use redlatch::{Error, Holds, JobRun, LostReason};
use redlatch_tests::{eventually, secs, soon};

use super::*;

#[test]
fn a_run_whose_work_closes_the_client_is_lost_and_its_key_is_free() {
    for at_least in [Duration::ZERO, secs(30)] {
        let server = Server::start();
        let of_threads = connect(&server.url());
        let of_tasks = connect(&server.url());
        let job = of_threads.job("n", secs(600)).at_least(at_least);
        let other = of_tasks.job("n", secs(600)).at_least(at_least);
        let ran = [
            job.run_blocking(|_| of_threads.close_blocking(Holds::Release)),
            soon(other.run(of_tasks.close(Holds::Release))),
        ];
        for ran in ran {
            let Ok(JobRun::Lost(loss)) = ran else { panic!("{ran:?}") };
            assert_eq!(loss.reason, LostReason::Closed);
        }
        // A run is over once its lock is lost, which the release of that need not be.
        eventually("the release by the client", || (!server.view().exists(KEY)).then_some(()));
        for job in [job, other] {
            assert_eq!(stats(&job), [0, 0, 1]);
            assert!(matches!(job.run_blocking(|_| ()), Err(Error::Closed { .. })));
        }
    }
}

#[test]
fn a_client_that_is_closed_at_any_moment_of_a_run_keeps_its_key_no_longer_than_at_least() {
    let server = Server::start();
    let mut view = server.view();
    let mut outcomes = [0; 4];
    for round in 0..400u32 {
        let at_least = if round % 2 == 0 { Duration::ZERO } else { secs(30) };
        let client = connect(&server.url());
        let job = client.job("n", secs(600)).at_least(at_least);
        let together = Barrier::new(2);
        // Some rounds meet the beginning of the run, and others its end.
        let is_at_the_end = round % 4 < 2;
        let ran = thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                // The end of the work is some µs away from the end of the run.
                (0..round % 50 * 40).for_each(|_| std::hint::spin_loop());
                client.close_blocking(Holds::Release);
            });
            if !is_at_the_end {
                together.wait();
            }
            job.run_blocking(|_| {
                if is_at_the_end {
                    together.wait();
                }
            })
        });
        let (place, counted) = match &ran {
            Ok(JobRun::Ran(())) => (0, [1, 0, 0]),
            Ok(JobRun::Lost(loss)) if loss.reason == LostReason::Closed => (1, [0, 0, 1]),
            Err(Error::Closed { .. }) if !is_at_the_end => (2, [0, 0, 0]),
            _ => panic!("round {round}: {ran:?}"),
        };
        outcomes[place] += 1;
        assert_eq!(stats(&job), counted, "round {round}: {ran:?}");
        let left = view.pttl(KEY);
        outcomes[3] += u32::from(left > 0);
        assert!(left <= at_least.as_millis() as i64, "round {round}: {ran:?} has left its key for {left} ms");
        view.command::<()>(&["DEL", KEY]);
    }
    println!("ran, lost, closed, kept: {outcomes:?}");
}
