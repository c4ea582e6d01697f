//! A program that ends while it holds locks: `redlatch-ending URL FLAVOUR ENDING HOLDS`. It says `held`, waits for a line,
//! and ends.
//!
//! | word | values |
//! |---|---|
//! | FLAVOUR | `threads`, without a runtime; `current_thread` and `multi_thread`, as `#[tokio::main]` makes them |
//! | ENDING | `return`; `error`, an early `?`; `panic`; `keep`, a return beside a client that is never dropped; `closing`, a return after the future of `close` was dropped |
//! | HOLDS | `lock`; `many`, fifty of them; `fair`; `multi`, two locks as one; `red`, a majority of three databases; `permit`; `renewed`; `counted`, permits without ids; `cancelled`, an acquire that is dropped before its answer |

use std::any::Any;
use std::io::{BufRead, Write};
use std::pin::pin;
use std::task::{Context, Waker};

use redlatch::{Client, Error, Holds, RedLock, Result};

/// Guards and permits, and the clients beside the main one. They are dropped in this order.
type Held = Vec<Box<dyn Any + Send>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, flavour, ending, holds] = &args[..] else { panic!("the arguments are URL FLAVOUR ENDING HOLDS") };
    match &**flavour {
        "threads" => threads(url, ending, holds),
        "current_thread" => current_thread(url, ending, holds),
        "multi_thread" => multi_thread(url, ending, holds),
        _ => panic!("there is no flavour `{flavour}`"),
    }
}

fn threads(url: &str, ending: &str, holds: &str) -> Result<()> {
    let client = Client::connect(url)?;
    let _held = take(&client, url, holds)?;
    end(&client, ending)
}

#[tokio::main(flavor = "current_thread")]
async fn current_thread(url: &str, ending: &str, holds: &str) -> Result<()> {
    task(url, ending, holds).await
}

#[tokio::main]
async fn multi_thread(url: &str, ending: &str, holds: &str) -> Result<()> {
    task(url, ending, holds).await
}

async fn task(url: &str, ending: &str, holds: &str) -> Result<()> {
    let client = Client::connect(url)?;
    let _held = take_async(&client, url, holds).await?;
    end(&client, ending)
}

/// Waits for the test's line, and begins the end of the program.
fn end(client: &Client, ending: &str) -> Result<()> {
    println!("held");
    std::io::stdout().flush().expect("the test listens");
    std::io::stdin().lock().read_line(&mut String::new()).expect("the test writes");
    match ending {
        "return" => Ok(()),
        "error" => Err(Error::Cancelled),
        "keep" => {
            std::mem::forget(client.clone());
            Ok(())
        }
        "closing" => {
            let _ = pin!(client.close(Holds::Release)).poll(&mut Context::from_waker(Waker::noop()));
            Ok(())
        }
        "panic" => panic!("as the test wants it"),
        _ => panic!("there is no ending `{ending}`"),
    }
}

/// The URLs of three databases of one server.
fn databases(url: &str) -> [String; 3] {
    let and = if url.contains('?') { '&' } else { '?' };
    [0, 1, 2].map(|number| format!("{url}{and}database={number}"))
}

fn take(client: &Client, url: &str, holds: &str) -> Result<Held> {
    let permits = client.permit_semaphore("n");
    Ok(match holds {
        "lock" => vec![Box::new(client.lock("n").blocking().acquire()?)],
        "many" => {
            let one = |i| Ok(Box::new(client.lock(&format!("n:{i}")).blocking().acquire()?) as Box<dyn Any + Send>);
            (0..50).map(one).collect::<Result<_>>()?
        }
        "fair" => vec![Box::new(client.fair_lock("n").blocking().acquire()?)],
        "multi" => {
            let locks = [client.lock("n"), client.lock("m")];
            vec![Box::new(client.multi_lock(locks).blocking().acquire()?)]
        }
        "red" => {
            let red = RedLock::connect(databases(url))?;
            vec![Box::new(red.lock("n").blocking().acquire()?), Box::new(red)]
        }
        "permit" => vec![Box::new(permits.acquire().blocking()?)],
        "renewed" => vec![Box::new(permits.acquire_renewed().blocking()?)],
        "counted" => vec![Box::new(client.semaphore("n").acquire(2).blocking()?)],
        "cancelled" => {
            let acquire = async { client.lock("n").acquire().await };
            // On a busy machine its answer may be there already: then its guard is dropped.
            let _ = pin!(acquire).poll(&mut Context::from_waker(Waker::noop()));
            Vec::new()
        }
        _ => panic!("there are no holds `{holds}`"),
    })
}

async fn take_async(client: &Client, url: &str, holds: &str) -> Result<Held> {
    let permits = client.permit_semaphore("n");
    Ok(match holds {
        "lock" => vec![Box::new(client.lock("n").acquire().await?)],
        "many" => {
            let mut held: Held = Vec::new();
            for i in 0..50 {
                held.push(Box::new(client.lock(&format!("n:{i}")).acquire().await?));
            }
            held
        }
        "fair" => vec![Box::new(client.fair_lock("n").acquire().await?)],
        "multi" => vec![Box::new(client.multi_lock([client.lock("n"), client.lock("m")]).acquire().await?)],
        "red" => {
            let red = RedLock::connect(databases(url))?;
            vec![Box::new(red.lock("n").acquire().await?), Box::new(red)]
        }
        "permit" => vec![Box::new(permits.acquire().await?)],
        "renewed" => vec![Box::new(permits.acquire_renewed().await?)],
        "counted" => vec![Box::new(client.semaphore("n").acquire(2).await?)],
        _ => take(client, url, holds)?,
    })
}
