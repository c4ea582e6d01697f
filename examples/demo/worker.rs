//! A worker of the demo: counts one sale in a plain file for every line that it reads, under the lock.

use std::time::Duration;
use std::{env, error::Error, fs, io, thread};

use redlatch::{Client, LockBuilder, RedLock};
use rustix::time::{ClockId, clock_gettime};

fn now() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn say(event: &str, at: i64) {
    println!("{event} {at}");
}

/// Of one URL, or of a majority of several with a blank between them.
fn lock(urls: &str, name: &str, lease: &str) -> redlatch::Result<LockBuilder> {
    let with_lease = |url: &str| format!("{url}{}watchdog={lease}", if url.contains('?') { '&' } else { '?' });
    let urls: Vec<String> = urls.split(' ').map(with_lease).collect();
    Ok(match &urls[..] {
        [url] => Client::connect(url)?.lock(name),
        urls => RedLock::connect(urls)?.lock(name),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let [url, name, stock, lease] = &env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("arguments: URL, name of the lock, file, lease in seconds".into());
    };
    let lock = lock(url, name, lease)?;

    say("ready", now());
    for order in io::stdin().lines() {
        say("waits", now());
        let guard = lock.clone().blocking().acquire()?;
        say("holds", now());
        let sold: u64 = fs::read_to_string(stock)?.parse()?;
        if order? == "hang" {
            say("hangs", now());
            thread::sleep(Duration::from_secs(3600));
        }
        thread::sleep(Duration::from_millis(1));
        fs::write(stock, (sold + 1).to_string())?;
        let end = now();
        guard.release()?;
        say("frees", end);
        thread::sleep(Duration::from_micros(end as u64 / 1000 % 4000)); // the clock's last digits are random enough
    }
    Ok(())
}
