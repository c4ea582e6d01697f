//! A cache that many read side by side and one fills at a time: readers share the read lock, and the writer that finds the
//! cache stale writes alone. Needs a server at REDLATCH_URL.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use redlatch::{Client, Config};

/// The cache, and how often it was filled.
#[derive(Default)]
struct Cache {
    prices: HashMap<&'static str, usize>,
    writes: usize,
}

fn price(client: &Client, cache: &Mutex<Cache>, article: &'static str) -> redlatch::Result<usize> {
    let lock = client.read_write_lock(&format!("example:price:{article}"));
    let wait = Duration::from_secs(10);
    let reading = lock.read().wait(wait).blocking().acquire()?;
    let known = cache.lock().expect("no thread panics while it has it").prices.get(article).copied();
    // A reader does not wait for the write lock, since other readers may do so as well: it lets go first.
    reading.release()?;
    if let Some(price) = known {
        return Ok(price);
    }
    let writing = lock.write().wait(wait).blocking().acquire()?;
    let mut cache = cache.lock().expect("no thread panics while it has it");
    let price = match cache.prices.get(article) {
        Some(price) => *price, // another writer was here in between
        None => {
            writing.ensure()?;
            cache.writes += 1;
            cache.prices.insert(article, article.len() * 100);
            article.len() * 100
        }
    };
    drop(cache);
    writing.release()?;
    Ok(price)
}

fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    let cache = Mutex::new(Cache::default());
    thread::scope(|scope| {
        let articles = ["tea", "coffee"].repeat(10);
        let readers: Vec<_> =
            articles.into_iter().map(|article| scope.spawn(|| price(&client, &cache, article))).collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("no reader panics").map(drop))
    })?;
    let cache = cache.into_inner().expect("no thread panics while it has it");
    println!("20 readers, {} writes", cache.writes);
    assert_eq!(cache.writes, 2);
    Ok(())
}
