//! The table of open clients: Java holds a number, so that a call after close is an error and not a crash.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use redlatch::{Client, Error, Result};

#[derive(Default)]
struct Table {
    last: i64,
    open: HashMap<i64, Client>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// Takes a client in and gives its number: above 0 and never used before.
pub fn add(client: Client) -> i64 {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.last += 1;
    let number = table.last;
    table.open.insert(number, client);
    number
}

/// The client of a number, or `Error::Closed`.
pub fn get(number: i64) -> Result<Client> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.open.get(&number).cloned().ok_or_else(|| Error::Closed { server: format!("number {number}") })
}

/// Takes a client out, if it is still there.
pub fn remove(number: i64) -> Option<Client> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner).open.remove(&number)
}
