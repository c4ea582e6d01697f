//! A cluster that starts anew: at first its servers own no slots, and they answer for their own only after a while.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::Error;
use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch_tests::{Options, Server, kinds, ms, secs};

use super::client;

/// How late a wait may end: a quarter of a second for each of the last two calls, and the delay of a busy machine.
const LATEST: Duration = secs(2);

#[test]
fn every_wait_ends_in_time_while_a_cluster_starts_anew() {
    let server = Server::with(Options { clustered: true, ..Options::default() });
    server.view().take_every_slot();
    let url = format!("redis+cluster://{}?response_timeout=4&retry_for=4", server.address());
    let done = AtomicBool::new(false);
    let waits = [ms(20), ms(400), ms(1400)];
    let failures = thread::scope(|scope| {
        let mut waiters = Vec::new();
        for KindRow { traits, .. } in ALL {
            let client = client(&url);
            for owner in 1..=3_i64 {
                let client = client.clone();
                let done = &done;
                let wait = move |round: usize| {
                    let wait = waits[round % waits.len()];
                    let name = kinds::name(traits.name, &format!("{{{}}}", traits.name));
                    let numbers = if traits.held && traits.name != "permit" { Vec::new() } else { vec![1] };
                    let wait_at_most = Some(wait);
                    let lease = Some(ms(500));
                    let request = Request {
                        wait: wait_at_most,
                        lease,
                        numbers,
                        ..Request::new(Op::Acquire, traits.name, &*name, owner)
                    };
                    let begun = Instant::now();
                    let end = client.run_blocking(request);
                    let late = begun.elapsed().saturating_sub(wait);
                    if let Ok(Answer { done: true, number, .. }) = end.as_ref() {
                        let release = Request::new(Op::Release, traits.name, &*name, owner);
                        let _ = client.run_blocking(Request { hold: *number as u64, ..release });
                    }
                    let is_down = matches!(&end, Err(Error::Refused { code, .. }) if code == "CLUSTERDOWN");
                    // An earlier release may have failed.
                    let is_held = matches!(end, Err(Error::AlreadyHeld { .. }));
                    let is_told = end.is_ok() || is_down || is_held || matches!(end, Err(Error::Unavailable { .. }));
                    (late > LATEST || !is_told)
                        .then(|| format!("{} waited {wait:?}, and {late:?} more: {end:?}", traits.name))
                };
                waiters.push(
                    scope.spawn(move || {
                        (0..).take_while(|_| !done.load(SeqCst)).filter_map(wait).collect::<Vec<String>>()
                    }),
                );
            }
        }
        for without_slots in [ms(200), secs(2)] {
            thread::sleep(ms(500));
            server.stop();
            thread::sleep(secs(1));
            server.restart();
            thread::sleep(without_slots);
            // For two seconds from its start the cluster answers CLUSTERDOWN.
            server.view().take_every_slot();
        }
        thread::sleep(secs(1));
        done.store(true, SeqCst);
        waiters.into_iter().flat_map(|waiter| waiter.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "{} calls:\n{}", failures.len(), failures.join("\n"));
}
