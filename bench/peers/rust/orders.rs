//! Orders and their answers; see bench/README.md.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::Duration;

/// The named values of an order.
pub struct Order(HashMap<String, String>);

impl Order {
    pub fn name(&self) -> String {
        self.0.get("name").cloned().unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> u64 {
        self.0[name].parse().unwrap_or_else(|e| panic!("{name}={}: {e}", self.0[name]))
    }
}

/// Answers each order with a line, until there are no more. Ends the process, even if callers still wait.
pub fn carry_out_all(mut carry_out: impl FnMut(&str, &Order) -> String) {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the input is text");
        let mut words = line.split_whitespace();
        let what = words.next().expect("a line is an order").to_owned();
        let order = words
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        println!("{}", carry_out(&what, &Order(order)));
    }
    std::process::exit(0);
}

/// The times of pairs, one after the other; of at least one pair, even if it begins too late.
pub struct Pairs {
    pub took: Vec<u64>,
    until: u64,
    last: Option<u64>,
}

impl Pairs {
    /// Counts pairs from the first question on.
    pub fn new(until: u64) -> Self {
        Pairs { took: Vec::new(), until, last: None }
    }

    /// Tells whether there is time for another pair, and ends the one before.
    pub fn go_on(&mut self) -> bool {
        let now = now();
        let before = self.last.replace(now);
        self.took.extend(before.map(|last| now - last));
        self.took.is_empty() || now < self.until
    }
}

pub fn paired(times: Vec<Vec<u64>>) -> String {
    let mut took = times.concat();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    format!("pairs={} p50={} p99={}", took.len(), at(0.5), at(0.99))
}

pub fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Nanoseconds of the clock that all processes share.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub async fn sleep_until(time: u64) {
    tokio::time::sleep(Duration::from_nanos(time.saturating_sub(now()))).await;
}
