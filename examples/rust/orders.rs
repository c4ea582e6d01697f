//! Charges an order that two tasks want to charge: one waits for the other. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{Client, Config, Error};

async fn charge(client: &Client, worker: &str) -> redlatch::Result<()> {
    // Waits up to 5 s, then Error::NotAcquired. Another process would be kept out as well.
    let guard = client.lock("example:orders:42").wait(Duration::from_secs(5)).acquire().await?;
    let work = async {
        println!("{worker} charges the order");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    guard.run(work).await?; // Error::Lost as soon as the lock is lost, and the work is dropped
    guard.release().await // dropping the guard releases too, in the background
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?; // or Client::connect("redis://localhost:6379")
    let (one, two) = tokio::join!(charge(&client, "one worker"), charge(&client, "the other worker"));
    one.and(two)?;

    let guard = client.lock("example:orders:42").acquire().await?;
    let late = client.lock("example:orders:42").wait(Duration::from_millis(50)).acquire().await;
    match late {
        Err(error @ Error::NotAcquired { .. }) => println!("no other worker may charge it now: {error}"),
        other => panic!("{:?} although it is held", other.map(drop)),
    }
    guard.release().await
}
