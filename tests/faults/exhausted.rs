//! A process without free descriptors: a typed error with the remedy, nothing half done, and later calls that work.

use super::*;

#[test]
fn without_a_descriptor_left_a_call_is_an_error_with_the_remedy_and_later_ones_work() {
    let server = Server::start();
    for more in 0..12 {
        let mut worker = worker(format!("{}?retry_for=0.2&response_timeout=1", server.url()));
        let before = worker.possessions();
        worker.limit_descriptors(Some(more));
        for _ in 0..2 {
            let said = worker.ask("acquire n");
            let told = said.starts_with("unavailable redis://127.0.0.1:")
                && said.contains("no file descriptor left")
                && said.contains("`ulimit -n`");
            assert!(told || said == "ok", "with {more} more: {said}");
            if said == "ok" {
                assert!(more > 0, "there was none left");
                assert_eq!(worker.ask("release"), "ok");
            } else if more == 0 {
                assert_eq!(worker.possessions(), before, "nothing was half started");
            }
        }
        worker.limit_descriptors(None);
        assert_eq!(worker.ask("acquire n"), "ok", "with {more} more at first");
        assert_eq!(worker.ask("ensure"), "ok");
        assert_eq!(worker.ask("release"), "ok");
    }
    nothing_is_left(&mut server.view(), "n");
}

#[test]
fn without_a_thread_left_a_call_is_an_error_with_the_remedy_and_later_ones_work() {
    /// Enough bytes for a call, and too few for the stack of a thread.
    const LITTLE: u64 = 1 << 20;
    let server = Server::start();
    for ask in ["acquire n", "task m"] {
        let mut worker = worker(server.url());
        worker.limit_addresses(Some(LITTLE));
        for _ in 0..2 {
            let before = worker.possessions();
            let said = worker.ask(ask);
            assert!(
                said.starts_with("unavailable redis://127.0.0.1:") && said.contains("no more threads"),
                "{ask}: {said}"
            );
            assert!(said.contains("`ulimit -u`"), "{ask}: {said}");
            assert_eq!(worker.possessions(), before, "{ask}: nothing was half started");
        }
        worker.limit_addresses(None);
        for again in [ask, "acquire other", "release"] {
            assert_eq!(worker.ask(again), "ok", "{again} after {ask} failed");
        }
    }
}

#[test]
fn a_hold_is_kept_while_its_process_has_no_descriptor_left() {
    let server = Server::start();
    let mut worker = worker(format!("{}?watchdog=1&retry_for=0.2", server.url()));
    assert_eq!(worker.ask("acquire n"), "ok");
    // The first renewal opens the connection that all renewals use.
    eventually("a renewal", || server.view().tells().then_some(()));
    worker.limit_descriptors(Some(0));
    let since = Instant::now();
    while since.elapsed() < secs(3) {
        assert_eq!(worker.ask("ensure"), "ok");
        std::thread::sleep(ms(50));
    }
    assert_eq!(worker.ask("release"), "ok");
    worker.limit_descriptors(None);
    nothing_is_left(&mut server.view(), "n");
}
