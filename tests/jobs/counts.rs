//! The counts of runs whose futures are dropped: a run counts once at any moment, and as the run that it was.

use std::future::pending;

use redlatch::JobRun;
use redlatch_tests::{Direction, Proxy, eventually, secs};
use tokio::sync::oneshot::{self, Receiver};

use super::*;

/// Runs the job with `work` until `moment`, and then drops the run.
fn drop_run(job: &Job, work: impl Future<Output = ()>, moment: impl Future) {
    if let Some(ran) = run_until(job, work, moment) {
        panic!("it has ended: {ran:?}");
    }
}

/// Runs the job with `work` until `moment`. `None`: the run has not ended by then, and is dropped.
fn run_until(
    job: &Job,
    work: impl Future<Output = ()>,
    moment: impl Future,
) -> Option<Result<JobRun<()>, redlatch::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        tokio::select! {
            biased;
            ran = job.run(work) => Some(ran),
            _ = moment => None,
        }
    })
}

/// Work that has no end, and a receiver that hears of its beginning.
fn endless_work() -> (impl Future<Output = ()>, Receiver<()>) {
    let (begin, begun) = oneshot::channel();
    let work = async {
        begin.send(()).expect("it is awaited");
        pending().await
    };
    (work, begun)
}

#[test]
fn a_run_that_is_dropped_before_the_server_answers_counts_for_nothing() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let job = client.job("n", secs(60)).at_least(secs(30));
    let mut view = server.view();
    proxy.stall(Direction::ToClient);
    let acquired = async { eventually("the acquire", || view.exists(KEY).then_some(())) };
    drop_run(&job, async { panic!("no answer has come") }, acquired);
    assert_eq!(stats(&job), [0, 0, 0]);
    proxy.flow();
    // Its work has not begun, so nothing is to stay.
    eventually("the give-back", || (!server.view().exists(KEY)).then_some(()));
    assert_eq!(stats(&job), [0, 0, 0]);
}

#[test]
fn a_run_that_is_dropped_in_its_work_counts_as_run() {
    let server = Server::start();
    let client = connect(&server.url());
    let job = client.job("n", secs(60));
    let (work, begun) = endless_work();
    drop_run(&job, work, begun);
    assert_eq!(stats(&job), [1, 0, 0]);
    eventually("its end", || (!server.view().exists(KEY)).then_some(()));
    assert_eq!(stats(&job), [1, 0, 0]);
}

#[test]
fn a_run_that_is_dropped_at_its_end_counts_as_run_and_ends() {
    for at_least in [Duration::ZERO, secs(20)] {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = connect(&server.url_at(proxy.port()));
        let job = client.job("n", secs(600)).at_least(at_least);
        let (end, ended) = oneshot::channel();
        let work = async {
            proxy.stall(Direction::ToServer);
            end.send(()).expect("it is awaited");
        };
        drop_run(&job, work, ended);
        assert_eq!(stats(&job), [1, 0, 0]);
        proxy.flow();
        let mut view = server.view();
        let left = at_least.as_millis() as i64;
        eventually("its end", || (view.pttl(KEY) <= left).then_some(()));
        assert_eq!(view.exists(KEY), left > 0);
        assert_eq!(stats(&job), [1, 0, 0]);
    }
}

/// Its work is dropped at the loss. Then the run is dropped too, while it waits for its own end.
#[test]
fn a_run_that_was_lost_counts_as_lost_even_if_it_is_dropped_at_its_end() {
    for at_least in [Duration::ZERO, secs(20)] {
        let server = Server::start();
        let client = connect(&server.url());
        let job = client.job("n", secs(60)).at_least(at_least);
        let mut view = server.view();
        let (stop, stopped) = oneshot::channel::<()>();
        let work = async {
            let _stop = stop;
            view.command::<()>(&["DEL", KEY]);
            pending().await
        };
        // Mostly the end has to wait.
        let ran = run_until(&job, work, stopped);
        assert!(matches!(ran, None | Some(Ok(JobRun::Lost(_)))), "{ran:?}");
        assert_eq!(stats(&job), [0, 0, 1]);
    }
}

/// The loss is there, and the run has not been polled since.
#[test]
fn a_run_that_was_lost_counts_as_lost_even_if_it_is_dropped_before_it_hears_of_that() {
    let server = Server::start();
    let client = connect(&server.url());
    let job = client.job("n", secs(60));
    let (work, begun) = endless_work();
    let lost = async {
        begun.await.expect("it runs");
        server.view().command::<()>(&["SET", KEY, "ADDED:of another program"]);
        eventually("the client's notice", || (client.stats().held == 0).then_some(()));
    };
    drop_run(&job, work, lost);
    assert_eq!(stats(&job), [0, 0, 1]);
    assert_eq!(server.view().command::<String>(&["GET", KEY]), "ADDED:of another program");
}
