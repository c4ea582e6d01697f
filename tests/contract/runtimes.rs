//! Blocking calls beside a runtime of tokio.

use std::panic::{AssertUnwindSafe, catch_unwind};

use redlatch::{BlockingGuard, Permit, SemaphorePermit};

use super::*;

/// The sentence of a panic.
fn panicked<T>(call: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).map(drop).expect_err("it must not block");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// Tries every blocking call with a lock `n`, two semaphores `s` and `c`, and their holds.
fn all_are_refused(client: &Client, guard: BlockingGuard, permit: Permit, counted: SemaphorePermit) {
    let refused = |name: &str, said: String| {
        assert!(said.contains(name) && said.contains("await it") && said.contains("spawn_blocking"), "{said}");
    };
    let lock = || client.lock("n").blocking();
    refused("`n`", panicked(|| lock().acquire()));
    refused("`n`", panicked(|| lock().try_acquire()));
    refused("`n`", panicked(|| lock().is_locked()));
    refused("`n`", panicked(|| lock().remaining()));
    refused("`n`", panicked(|| lock().hold_count()));
    refused("`n`", panicked(|| lock().force_release()));
    refused("`n`", panicked(|| guard.extend(secs(9))));
    refused("`n`", panicked(|| guard.release()));
    refused("`s`", panicked(|| client.permit_semaphore("s").available().blocking()));
    refused("`s`", panicked(|| client.permit_semaphore("s").try_acquire().blocking()));
    refused("`s`", panicked(|| permit.release_blocking()));
    refused("`c`", panicked(|| client.semaphore("c").try_acquire(1).blocking()));
    refused("`c`", panicked(|| counted.release_blocking()));
    refused("127.0.0.1", panicked(|| client.close_blocking(Holds::Keep)));
    assert!(!client.is_closed());
}

#[test]
fn a_blocking_call_on_a_thread_that_drives_a_runtime_is_refused_and_leaves_nothing() {
    let (server, client, _) = pair();
    let permits = client.permit_semaphore("s");
    permits.try_set_permits(1).blocking().expect("answered");
    let counts = client.semaphore("c");
    counts.try_set_permits(1).blocking().expect("answered");
    let several = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
    let one = || tokio::runtime::Builder::new_current_thread().build();
    for runtime in [several().expect("threads"), one().expect("a runtime")] {
        for in_a_task in [true, false] {
            let guard = client.lock("n").blocking().acquire().expect("free");
            let permit = permits.acquire().wait(PATIENCE).blocking().expect("available");
            let counted = counts.acquire(1).wait(PATIENCE).blocking().expect("available");
            let client = client.clone();
            let calls = async move { all_are_refused(&client, guard, permit, counted) };
            match in_a_task {
                true => runtime.block_on(async { tokio::spawn(calls).await.expect("each call is refused") }),
                false => runtime.block_on(calls),
            }
            let available = || permits.available().blocking().and_then(|a| Ok([a, counts.available().blocking()?]));
            eventually(|| !server.view().exists("n") && available().expect("answered") == [1, 1]);
        }
    }
}

#[test]
fn a_thread_of_a_runtime_that_may_block_may_lock() {
    let (_server, client, _) = pair();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
    let pass = |client: Client| client.lock("n").blocking().acquire().expect("free").release().expect("held");
    let one = client.clone();
    let two = client.clone();
    let three = client.clone();
    runtime.block_on(runtime.spawn_blocking(move || pass(one))).expect("no panic");
    runtime.block_on(runtime.spawn(async move { tokio::task::block_in_place(|| pass(two)) })).expect("no panic");
    let _entered = runtime.enter();
    pass(three);
    client.close_blocking(Holds::Release);
}
