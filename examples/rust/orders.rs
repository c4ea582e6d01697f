//! Charges each order once, although a retry and a second machine try it as well: the note that it is done is written
//! under the lock. Needs a server at REDLATCH_URL.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use redlatch::{Client, Config, Error};

/// A table of the database: a lock does not remember what was done.
type Charged = Mutex<BTreeMap<u32, &'static str>>;

async fn charge(client: &Client, charged: &Charged, order: u32, machine: &'static str) -> redlatch::Result<()> {
    // Waits up to 5 s, then Error::NotAcquired.
    let guard = client.lock(&format!("example:order:{order}")).wait(Duration::from_secs(5)).acquire().await?;
    let is_charged = charged.lock().expect("no task panics while it has it").contains_key(&order);
    if !is_charged {
        let payment = async {
            tokio::time::sleep(Duration::from_millis(5)).await; // the bank answers
            charged.lock().expect("no task panics while it has it").insert(order, machine)
        };
        // Error::Lost as soon as the lock is lost, and the payment is dropped.
        assert_eq!(guard.run(payment).await?, None, "the order was charged twice");
    }
    guard.release().await // dropping the guard releases too, in the background
}

async fn charge_all(client: &Client, charged: &Charged, machine: &'static str) -> redlatch::Result<()> {
    for order in 0..10 {
        charge(client, charged, order, machine).await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?; // or Client::connect("redis://localhost:6379")
    let charged = Charged::default();
    let (one, two, retry) = tokio::join!(
        charge_all(&client, &charged, "machine 1"),
        charge_all(&client, &charged, "machine 2"),
        charge_all(&client, &charged, "the retry of machine 1"),
    );
    one.and(two).and(retry)?;
    let count = charged.into_inner().expect("no task panics while it has it").len();
    println!("{count} orders are charged, each of them once");
    assert_eq!(count, 10);

    let guard = client.lock("example:order:42").acquire().await?;
    let late = client.lock("example:order:42").wait(Duration::from_millis(50)).acquire().await;
    match late {
        Err(error @ Error::NotAcquired { .. }) => println!("no other machine may charge it now: {error}"),
        other => panic!("{:?} although it is held", other.map(drop)),
    }
    guard.release().await
}
