//! One line of the protocol: what to do, with named values; and what is answered.

use std::collections::HashMap;
use std::time::Duration;

/// `solo name=a until=123`.
pub struct Order {
    pub what: String,
    values: HashMap<String, String>,
}

impl Order {
    pub fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let what = words.next().unwrap_or_default().to_owned();
        let values = words.filter_map(|word| word.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Order { what, values }
    }

    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).unwrap_or_else(|| panic!("`{}` needs `{name}=`", self.what))
    }

    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_else(|e| panic!("{name}={}: {e}", self.text(name)))
    }

    pub fn duration(&self, name: &str) -> Duration {
        Duration::from_millis(self.number(name))
    }

    /// Starts to count pairs of lock and unlock, from the order's `from` to its `until`.
    pub fn pairs(&self) -> Pairs {
        sleep_until(self.number("from"));
        Pairs { last: 0, until: self.number("until"), took: Vec::with_capacity(1 << 17) }
    }
}

/// How long each pair took.
pub struct Pairs {
    last: u64,
    until: u64,
    took: Vec<u64>,
}

impl Pairs {
    /// Whether there is time for another one; ends the one before.
    pub fn go_on(&mut self) -> bool {
        let now = now();
        if self.last > 0 {
            self.took.push(now - self.last);
        }
        self.last = now;
        now < self.until
    }

    pub fn report(mut self) -> String {
        self.took.sort_unstable();
        let at = |share: f64| self.took[((self.took.len() - 1) as f64 * share) as usize];
        format!("pairs={} p50={} p99={}", self.took.len(), at(0.5), at(0.99))
    }
}

/// Nanoseconds of the clock that all processes share.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub fn sleep_until(time: u64) {
    std::thread::sleep(Duration::from_nanos(time.saturating_sub(now())));
}

/// `1,2,3`
pub fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
