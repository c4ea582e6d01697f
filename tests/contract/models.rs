//! Random histories on a real server. After every step the test compares each answer, key and message with a very plain
//! model. No step waits for time to pass.

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use redlatch::Client;
use redlatch_tests::Server;

use super::pair;

mod one_field;
mod permits;
mod read_write;
mod semaphore;
mod timed;

/// The place of a history: a server, clients of it, and a name that no other history has.
struct Stage {
    server: Server,
    clients: [Client; 2],
}

impl Stage {
    fn new() -> Self {
        let (server, a, b) = pair();
        Stage { server, clients: [a, b] }
    }

    fn client(&self, number: i64) -> &Client {
        &self.clients[number as usize % 2]
    }
}

/// Plays many histories of such steps. A failing history is shortened as far as it can be, and reported with the seed
/// that repeats it.
fn play_all<S: Strategy>(step: S, play: impl Fn(&Stage, &str, &[S::Value])) {
    play_so_many(100, step, play);
}

fn play_so_many<S: Strategy>(cases: u32, step: S, play: impl Fn(&Stage, &str, &[S::Value])) {
    let stage = Stage::new();
    let seed =
        std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| RandomState::new().hash_one(0));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&u64::to_le_bytes(seed));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let count = AtomicU32::new(0);
    let end = runner.run(&prop::collection::vec(step, 1..40), |history| {
        let name = format!("n{}", count.fetch_add(1, Relaxed));
        let end = catch_unwind(AssertUnwindSafe(|| play(&stage, &name, &history)));
        end.map_err(|panic| TestCaseError::fail(panic.downcast_ref::<String>().cloned().unwrap_or_default()))
    });
    match end {
        Ok(()) => {}
        Err(TestError::Fail(why, history)) => panic!("SEED={seed}: {why}\nafter {history:#?}"),
        Err(error) => panic!("SEED={seed}: {error}"),
    }
}
