//! One line of the protocol: an order with named values, and its answer.

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
        let values = words
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Order { what, values }
    }

    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).unwrap_or_else(|| panic!("`{}` needs `{name}=`", self.what))
    }

    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The name of one of many locks.
    pub fn nth_name(&self, n: u64) -> String {
        format!("{}:{n}", self.name())
    }

    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_else(|e| panic!("{name}={}: {e}", self.text(name)))
    }

    pub fn duration(&self, name: &str) -> Duration {
        Duration::from_millis(self.number(name))
    }

    /// Counts pairs of lock and unlock from now to the order's `until`.
    pub fn pairs(&self) -> Pairs {
        Pairs { last: 0, until: self.number("until"), took: Vec::new() }
    }

    /// Counts the acquisitions of one of several workers from now to the order's `until`.
    pub fn share(&self) -> Share {
        Share { until: self.number("until"), asked: 0, waits: Vec::new() }
    }

    /// Waits for the common start.
    pub fn begin(&self) {
        std::thread::sleep(self.until_begin());
    }

    pub fn until_begin(&self) -> Duration {
        Duration::from_nanos(self.number("from").saturating_sub(now()))
    }
}

/// How long each pair took.
pub struct Pairs {
    last: u64,
    until: u64,
    took: Vec<u64>,
}

impl Pairs {
    /// Whether there is time for another one, or there was none yet; ends the one before.
    pub fn go_on(&mut self) -> bool {
        let now = now();
        let first = self.last == 0;
        if !first {
            self.took.push(now - self.last);
        }
        self.last = now;
        first || now < self.until
    }
}

impl Pairs {
    /// Each of these stands for `count` pairs that were under way together.
    pub fn times(mut self, count: u64) -> Self {
        self.took = self.took.into_iter().flat_map(|time| std::iter::repeat_n(time, count as usize)).collect();
        self
    }
}

/// The times of pairs, of one caller or of many.
pub fn report(all: impl IntoIterator<Item = Pairs>) -> String {
    let mut took: Vec<u64> = all.into_iter().flat_map(|pairs| pairs.took).collect();
    took.sort_unstable();
    format!("pairs={} p50={} p99={}", took.len(), at(&took, 0.5), at(&took, 0.99))
}

/// The time that this share of the sorted times does not exceed.
fn at(times: &[u64], share: f64) -> u64 {
    times.get((times.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(0)
}

/// The waits of one of several workers, one for each acquisition.
pub struct Share {
    until: u64,
    asked: u64,
    waits: Vec<u64>,
}

impl Share {
    /// How often it had its turn.
    pub fn taken(&self) -> u64 {
        self.waits.len() as u64
    }

    /// Whether there is time to ask once more.
    pub fn ask(&mut self) -> bool {
        self.asked = now();
        self.asked < self.until
    }

    pub fn got(&mut self) {
        self.waits.push(now() - self.asked);
    }
}

pub fn shares(all: Vec<Share>) -> String {
    let taken: Vec<u64> = all.iter().map(Share::taken).collect();
    let mut waits: Vec<u64> = all.into_iter().flat_map(|share| share.waits).collect();
    waits.sort_unstable();
    let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|share| at(&waits, share));
    format!("taken={} p50={p50} p99={p99} longest={longest}", list(&taken))
}

/// Nanoseconds of the clock that all processes share.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `1,2,3`
pub fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
