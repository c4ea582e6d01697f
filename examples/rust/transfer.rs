//! Moves money between accounts: both are locked, or none, in either direction. Needs a server at REDLATCH_URL.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use redlatch::{Client, Config, Holds};

static ALICE: AtomicI64 = AtomicI64::new(100);
static BOB: AtomicI64 = AtomicI64::new(100);

async fn transfer(client: Client, amount: i64, names: [&str; 2]) -> redlatch::Result<()> {
    for _ in 0..20 {
        // Taken in one order everywhere: transfers in opposite directions do not wait in a circle.
        let guard = client.multi_lock(names.map(|name| client.lock(name))).acquire().await?;
        let alice = ALICE.load(Relaxed);
        let bob = BOB.load(Relaxed);
        guard.ensure()?; // Error::Lost if either of them was lost
        ALICE.store(alice - amount, Relaxed);
        BOB.store(bob + amount, Relaxed);
        guard.release().await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    let alice = "example:account:alice";
    let bob = "example:account:bob";
    let there = tokio::spawn(transfer(client.clone(), 1, [alice, bob]));
    let back = tokio::spawn(transfer(client.clone(), -1, [bob, alice]));
    let more = tokio::spawn(transfer(client.clone(), 1, [alice, bob]));
    for way in [there, back, more] {
        way.await.expect("no transfer panics")?;
    }
    println!("alice {ALICE:?}, bob {BOB:?}");
    assert_eq!((ALICE.load(Relaxed), BOB.load(Relaxed)), (80, 120));
    client.close(Holds::Release).await;
    Ok(())
}
