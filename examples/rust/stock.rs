//! Sells from a stock that several threads share, one at a time under a lock; no async runtime. Needs a server at
//! REDLATCH_URL.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use redlatch::{Client, Config};

static STOCK: AtomicU32 = AtomicU32::new(100);

fn sell(client: &Client) -> redlatch::Result<()> {
    for _ in 0..10 {
        let guard = client.lock("example:stock").wait(Duration::from_secs(5)).blocking().acquire()?;
        let left = STOCK.load(Relaxed);
        thread::sleep(Duration::from_millis(1)); // without the lock, sales of other tills would be lost here
        guard.ensure()?;
        STOCK.store(left - 1, Relaxed);
        guard.release()?;
    }
    Ok(())
}

fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    thread::scope(|scope| {
        let tills: Vec<_> = (0..5).map(|_| scope.spawn(|| sell(&client))).collect();
        tills.into_iter().try_for_each(|till| till.join().expect("no till panics"))
    })?;
    println!("{STOCK:?} left of 100 after 50 sales");
    assert_eq!(STOCK.load(Relaxed), 50);
    Ok(())
}
