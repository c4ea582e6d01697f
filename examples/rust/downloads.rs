//! At most three downloads at once, however many processes there are: each takes a permit, which ends by itself if its
//! process dies. Needs a server at REDLATCH_URL.

use std::thread;
use std::time::Duration;

use redlatch::{Client, Config};

fn download(client: &Client, file: u32) -> redlatch::Result<()> {
    let permit = client.permit_semaphore("example:downloads").acquire().lease(Duration::from_secs(60)).blocking()?;
    println!("file {file} under permit {}", permit.id());
    thread::sleep(Duration::from_millis(20));
    permit.release_blocking() // dropping it would give it back as well
}

fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    let semaphore = client.permit_semaphore("example:downloads");
    semaphore.try_set_permits(3).blocking()?; // without this there are none, and every acquire waits
    thread::scope(|scope| {
        let downloads: Vec<_> = (1..=9)
            .map(|file| {
                scope.spawn({
                    let client = &client;
                    move || download(client, file)
                })
            })
            .collect();
        downloads.into_iter().try_for_each(|download| download.join().expect("no download panics"))
    })?;

    // A job of unknown length: this permit is renewed while the process lives.
    let permit = semaphore.acquire_renewed().blocking()?;
    permit.ensure()?; // `Lost` if another program has released it, or the server has forgotten it
    permit.release_blocking()?;
    println!("{} of {} permits are there again", semaphore.available().blocking()?, semaphore.permits().blocking()?);
    Ok(())
}
