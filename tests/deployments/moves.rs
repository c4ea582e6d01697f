//! A slot that moves all the time while its locks are taken, held and waited for. `REDLATCH_TEST_MOVES` says how often.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch_tests::{Cluster, eventually, secs};

use super::client;
use super::cluster::{listeners, name_at};

/// One half takes a reentrant lock, the other half a fair one.
const LANES: usize = 6;

fn moves() -> usize {
    std::env::var("REDLATCH_TEST_MOVES").map_or(30, |count| count.parse().expect("REDLATCH_TEST_MOVES is a number"))
}

/// Takes and releases a lock until told to end. Returns how often, and the longest time of an acquire.
fn take_and_release(
    client: &Client,
    lock: &redlatch::LockBuilder,
    ended: &AtomicBool,
    inside: impl Fn(),
) -> (u64, Duration) {
    let mut rounds = 0;
    let mut longest = Duration::ZERO;
    while !ended.load(SeqCst) {
        let begun = Instant::now();
        let guard =
            lock.clone().wait(secs(20)).blocking().acquire().unwrap_or_else(|error| panic!("{}: {error}", client.id()));
        longest = longest.max(begun.elapsed());
        inside();
        guard.release().expect("no move loses it");
        rounds += 1;
    }
    (rounds, longest)
}

/// One client holds a lock and another waits. The slot moves, and the holder releases the lock after the move or during
/// it. Returns the time from the release until the waiter has the lock.
fn wake_across_a_move(
    cluster: &Cluster,
    [holder, waiter]: &[Client; 2],
    name: &str,
    to: usize,
    beside: bool,
) -> Duration {
    let held = holder.lock(name).blocking().acquire().expect("free");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let guard = waiter.lock(name).wait(secs(20)).blocking().acquire().expect("woken");
            (Instant::now(), guard)
        });
        eventually("a listener", || (listeners(cluster, &format!("*{name}*")) == 1).then_some(()));
        let release = move || {
            let begun = Instant::now();
            held.release().expect("no move loses it");
            begun
        };
        let begun = if beside {
            let releasing = scope.spawn(release);
            cluster.migrate(name, to);
            releasing.join().expect("no panic")
        } else {
            cluster.migrate(name, to);
            release()
        };
        let (woken, guard) = waiting.join().expect("no panic");
        guard.release().expect("no move loses it");
        woken.saturating_duration_since(begun)
    })
}

#[test]
fn slots_that_move_all_the_time_lose_no_update_and_no_call_and_no_waiter() {
    let cluster = Cluster::start(3, 0);
    let name = name_at(&cluster, 0);
    let moves = moves();
    let count = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    let clients = [client(&cluster.url()), client(&cluster.url())];
    let (mut wakes, lanes) = thread::scope(|scope| {
        let lane = |lane: usize| {
            let client = &clients[lane % 2];
            let plain = lane < LANES / 2;
            let count = &count;
            let ended = &ended;
            let lock = if plain { client.lock(&name) } else { client.fair_lock(&format!("{{{name}}}:fair")) };
            let add_one = move || {
                if plain {
                    let seen = count.load(SeqCst);
                    thread::yield_now();
                    count.store(seen + 1, SeqCst);
                }
            };
            scope.spawn(move || (plain, take_and_release(client, &lock, ended, add_one)))
        };
        let lanes: Vec<_> = (0..LANES).map(lane).collect();
        let handed = format!("{{{name}}}:handed");
        let wake = |place| wake_across_a_move(&cluster, &clients, &handed, (place + 1) % 3, place % 2 == 1);
        let wakes: Vec<_> = (0..moves).map(wake).collect();
        ended.store(true, SeqCst);
        (wakes, lanes.into_iter().map(|lane| lane.join().expect("no lane fails")).collect::<Vec<_>>())
    });
    let plain: u64 = lanes.iter().filter(|(plain, _)| *plain).map(|(_, (rounds, _))| rounds).sum();
    assert_eq!(count.into_inner(), plain, "of what each lane has counted alone");
    let rounds: u64 = lanes.iter().map(|(_, (rounds, _))| rounds).sum();
    let longest = lanes.iter().map(|(_, (_, longest))| *longest).max().unwrap_or_default();
    wakes.sort();
    let median = wakes[moves / 2];
    let last = wakes[moves - 1];
    println!(
        "{rounds} rounds during {moves} moves, the longest acquire {longest:?}; woken after {median:?} in the median, {last:?} at most"
    );
}
