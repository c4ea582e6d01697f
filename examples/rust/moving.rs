//! Moves a lock from Redis to another system while programs run: in between they hold both. Needs a server at REDLATCH_URL,
//! and at NEW_URL a ZooKeeper (`zookeeper://host1,host2`) or a MariaDB (`mariadb://user:password@host/schema`).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use redlatch::{Client, Config, LockBuilder};

const EACH: u32 = 20;

fn deliver(lock: &LockBuilder, stock: &AtomicU32) -> redlatch::Result<()> {
    for _ in 0..EACH {
        let guard = lock.clone().blocking().acquire()?;
        let seen = stock.load(Relaxed);
        guard.ensure()?; // Error::Lost if one of its locks was lost
        stock.store(seen + 1, Relaxed); // no other program has written it meanwhile
        guard.release()?;
    }
    Ok(())
}

/// Programs of several releases, each with its own lock.
fn side_by_side(locks: [&LockBuilder; 3], stock: &AtomicU32) -> redlatch::Result<()> {
    thread::scope(|scope| {
        let programs = locks.map(|lock| scope.spawn(move || deliver(lock, stock)));
        programs.into_iter().try_for_each(|program| program.join().expect("it does not panic"))
    })
}

fn main() -> redlatch::Result<()> {
    let redis = Client::with_config(Config::from_env()?)?;
    let other = Client::connect(&std::env::var("NEW_URL").expect("NEW_URL names the other system"))?;
    let wait = Duration::from_secs(30);
    let [old, new] = [&redis, &other].map(|client| client.lock("example:stock").wait(wait));
    let both = other.multi_lock([redis.lock("example:stock"), other.lock("example:stock")]).wait(wait);

    let stock = AtomicU32::new(0);
    side_by_side([&old, &old, &both], &stock)?; // some programs know the new lock already
    side_by_side([&both, &new, &new], &stock)?; // when all of them do, the first ones leave the old lock out
    println!("{} deliveries", stock.load(Relaxed));
    assert_eq!(stock.load(Relaxed), 6 * EACH);
    Ok(())
}
