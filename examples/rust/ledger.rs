//! A table that refuses a writer whose lock is over: a write compares the fencing token. A struct stands for the row; in
//! SQL it is `update … where last_token <= $1`. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{Client, Config};

#[derive(Default)]
struct Row {
    balance: i64,
    last_token: i64,
}

impl Row {
    /// Whether the row took it: never from a holder that is older than the last writer.
    fn write(&mut self, balance: i64, token: i64) -> bool {
        let is_newest = self.last_token <= token;
        if is_newest {
            *self = Row { balance, last_token: token };
        }
        is_newest
    }
}

fn main() -> redlatch::Result<()> {
    let one = Client::with_config(Config::from_env()?)?;
    let two = Client::with_config(Config::from_env()?)?;
    let lock = |client: &Client| client.fenced_lock("example:ledger:7").wait(Duration::from_secs(5));
    let mut row = Row { balance: 100, last_token: 0 };

    let paused = lock(&one).blocking().acquire()?;
    let old = paused.token().expect("a fenced lock has tokens");

    // While the first process stands still its lock is lost; here an operator takes it.
    lock(&two).blocking().force_release()?;
    let guard = lock(&two).blocking().acquire()?;
    assert!(row.write(row.balance - 10, guard.token().expect("a fenced lock has tokens")));
    guard.release()?;

    // The first process goes on with what it read before.
    println!("the old writer is refused: {}", !row.write(50, old));
    println!("the balance is {}", row.balance);
    assert_eq!(row.balance, 90);
    Ok(())
}
