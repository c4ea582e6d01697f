//! A store of objects, as S3 and its like, that refuses a writer whose lock is over. Such a store compares no numbers,
//! but writes on the condition that the object still has the version that was read. Needs a server at REDLATCH_URL.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use redlatch::{Client, Config};

#[derive(Clone, Default)]
struct Document {
    text: String,
    /// The fencing token of its writer.
    token: i64,
}

/// Stands for the store: `put` is that of S3 with `If-Match`.
#[derive(Default)]
struct Objects(Mutex<HashMap<&'static str, (Document, u64)>>);

impl Objects {
    /// The object and its version.
    fn get(&self, key: &'static str) -> (Document, u64) {
        self.0.lock().expect("no thread panics while it has it").get(key).cloned().unwrap_or_default()
    }

    fn put(&self, key: &'static str, document: Document, if_match: u64) -> bool {
        let mut objects = self.0.lock().expect("no thread panics while it has it");
        if objects.get(key).map_or(0, |(_, version)| *version) != if_match {
            return false; // 412 Precondition Failed
        }
        objects.insert(key, (document, if_match + 1));
        true
    }
}

/// Whether the store took it. The token is in the object; the version makes comparing and writing one step.
fn write(objects: &Objects, key: &'static str, text: &str, token: i64) -> bool {
    loop {
        let (read, version) = objects.get(key);
        if read.token > token {
            return false; // a later holder has written
        }
        if objects.put(key, Document { text: text.into(), token }, version) {
            return true;
        }
    }
}

fn main() -> redlatch::Result<()> {
    let first = Client::with_config(Config::from_env()?)?;
    let second = Client::with_config(Config::from_env()?)?;
    let objects = Objects::default();
    let lock = |client: &Client| client.fenced_lock("example:document").wait(Duration::from_secs(5)).blocking();

    let paused = lock(&first).acquire()?;
    let old = paused.token().expect("a fenced lock has tokens");
    lock(&second).force_release()?; // lost while the first process stands still
    let guard = lock(&second).acquire()?;
    let new = guard.token().expect("a fenced lock has tokens");
    println!("the new writer is taken: {}", write(&objects, "report", "new", new));
    guard.release()?;

    println!("the old writer is refused: {}", !write(&objects, "report", "old", old));
    assert_eq!(objects.get("report").0.text, "new");
    Ok(())
}
