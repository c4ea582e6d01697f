//! `redlatch bench`: five figures of the locks of a server, beside that of its bare answer.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Holds};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::arguments::Bench;
use crate::attend::system;
use crate::ending::{Failure, code_of_signal};
use crate::list::{answer, ended};
use crate::lock::client;
use crate::reports::{Reports, Style};
use crate::signals::Signals;

/// The tasks that share one lock, and those that have a lock each.
const RIVALS: usize = 16;
const CROWD: usize = 64;
/// The shortest time for a figure.
const SHORTEST: Duration = Duration::from_millis(10);
/// The part of the time in which nothing is measured yet: connections open, and the server learns the scripts.
const WARM: u32 = 5;
/// A signal ends the bench. It gives back its locks for so long.
const GIVE_BACK: Duration = Duration::from_secs(2);

pub fn bench(arguments: &Bench) -> ExitCode {
    let style = Style::of(arguments.json, false);
    ended(measure(arguments, style), &arguments.name, style)
}

fn measure(arguments: &Bench, style: Style) -> Result<u8, Failure> {
    let url = arguments.url.as_deref();
    if arguments.time < SHORTEST {
        let text =
            format!("--time is {:?}, and a figure takes {SHORTEST:?} or more; give it that time", arguments.time);
        return Err(Failure::usage(text));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    runtime.block_on(async {
        let mut signals = Signals::listen().map_err(system)?;
        let [first, second] = [client(url, None)?, client(url, None)?];
        let bench = Figures {
            names: format!("{}:{}", arguments.name, first.id()),
            time: arguments.time,
            clients: [first, second],
        };
        let told = tokio::select! {
            biased;
            signal = signals.next() => Err(signal),
            told = bench.tell(style) => Ok(told),
        };
        let closed = async {
            for client in bench.clients {
                client.close(Holds::Release).await;
            }
        };
        match told {
            Ok(told) => {
                closed.await;
                told.map(|()| 0)
            }
            Err(signal) => {
                tokio::select! {
                    biased;
                    _ = signals.next() => {}
                    _ = timeout(GIVE_BACK, closed) => {}
                }
                let code = code_of_signal(signal);
                let facts = json!({ "signal": signal.as_raw(), "exit": code });
                Reports::new(&arguments.name, style).event("interrupted", facts);
                Ok(code)
            }
        }
    })
}

struct Figures {
    /// The beginning of the names of its locks.
    names: String,
    /// The time for each figure.
    time: Duration,
    clients: [Client; 2],
}

impl Figures {
    async fn tell(&self, style: Style) -> Result<(), Failure> {
        let [client, _] = &self.clients;
        let floor = self.times(async || sign_of_life(client).await).await?;
        floor.tell(style, "answer", "a sign of life of the server", None)?;
        let lock = client.lock(&format!("{}:alone", self.names));
        let alone = self.times(async || lock.clone().acquire().await?.release().await).await?;
        alone.tell(style, "alone", "acquire and release a free lock", Some(&floor))?;
        self.handed_over().await?.tell(style, "hand-over", "from a release to the next client", Some(&floor))?;
        let one = |_| format!("{}:one", self.names);
        rate(style, "one lock", &format!("{RIVALS} tasks take turns"), self.rate(RIVALS, one).await?)?;
        let each = |number| format!("{}:{number}", self.names);
        rate(style, "many locks", &format!("{CROWD} tasks, a lock each"), self.rate(CROWD, each).await?)
    }

    /// The times of an operation that is repeated.
    async fn times(&self, operation: impl AsyncFn() -> Result<(), Error>) -> Result<Times, Error> {
        let mut times = Times::new();
        let warm = Instant::now() + self.time / WARM;
        while Instant::now() < warm {
            operation().await?;
        }
        let end = Instant::now() + self.time;
        while times.is_empty() || Instant::now() < end {
            let begun = Instant::now();
            operation().await?;
            times.add(begun.elapsed());
        }
        Ok(times)
    }

    /// The times from the release of one client to the end of the other one's acquire, which waits in the meantime.
    async fn handed_over(&self) -> Result<Times, Error> {
        let name = format!("{}:hand-over", self.names);
        let [holds, waits] = &self.clients;
        let mut holds = holds;
        let mut waits = waits;
        let mut guard = holds.lock(&name).acquire().await?;
        let mut times = Times::new();
        let warm = Instant::now() + self.time / WARM;
        let end = warm + self.time;
        while times.is_empty() || Instant::now() < end {
            let waiting = waits.lock(&name).acquire();
            tokio::pin!(waiting);
            // The first try finds it taken, and the second one that it is listening.
            if let Ok(early) = timeout(self.pause(), &mut waiting).await {
                // An administrator has taken the lock from the other client.
                guard = early?;
                continue;
            }
            let begun = Instant::now();
            guard.release().await?;
            guard = waiting.await?;
            if begun > warm {
                times.add(begun.elapsed());
            }
            std::mem::swap(&mut holds, &mut waits);
        }
        guard.release().await?;
        Ok(times)
    }

    /// The time after which a waiter surely listens.
    fn pause(&self) -> Duration {
        (self.time / 50).clamp(Duration::from_millis(5), Duration::from_millis(20))
    }

    /// The acquires a second of so many tasks, each of the lock of that name.
    async fn rate(&self, tasks: usize, name: impl Fn(usize) -> String) -> Result<f64, Error> {
        let [client, _] = &self.clients;
        let warm = Instant::now() + self.time / WARM;
        let end = warm + self.time;
        let mut rivals = JoinSet::new();
        for number in 0..tasks {
            let lock = client.lock(&name(number));
            rivals.spawn(async move {
                let mut count = 0_u64;
                while Instant::now() < end {
                    let guard = lock.clone().acquire().await?;
                    count += u64::from(Instant::now() > warm);
                    guard.release().await?;
                }
                Ok::<u64, Error>(count)
            });
        }
        let mut count = 0;
        while let Some(ended) = rivals.join_next().await {
            count += ended.expect("no task panics")?;
        }
        Ok(count as f64 / self.time.as_secs_f64())
    }
}

async fn sign_of_life(client: &Client) -> Result<(), Error> {
    client.run(Request::new(Op::Ping, "plain", "", 0)).await.map(drop)
}

/// Times in ns, each to a thousandth of itself: a bench of hours has billions of them.
struct Times(Histogram<u64>);

impl Times {
    fn new() -> Self {
        Times(Histogram::new(3).expect("a histogram has up to five digits"))
    }

    fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.record(ns).expect("it grows with its times");
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time in µs that this part of them does not exceed.
    fn at(&self, part: f64) -> f64 {
        self.0.value_at_quantile(part) as f64 / 1000.0
    }

    fn tell(&self, style: Style, about: &str, what: &str, floor: Option<&Times>) -> Result<(), Failure> {
        let [median, p99] = [self.at(0.5), self.at(0.99)];
        let factor = floor.map(|floor| median / floor.at(0.5));
        let beside = factor.map(|factor| format!("   {factor:.1} × an answer")).unwrap_or_default();
        let object = json!({
            "about": about, "median_us": rounded(median), "p99_us": rounded(p99), "times_answer": factor.map(rounded), "count": self.0.len(),
        });
        answer(style, &format!("{about:<10}  {what:<33}  median {median:7.0} µs   p99 {p99:7.0} µs{beside}"), &object)
    }
}

fn rate(style: Style, about: &str, what: &str, rate: f64) -> Result<(), Failure> {
    let object = json!({ "about": about, "acquires_per_second": rounded(rate) });
    answer(style, &format!("{about:<10}  {what:<33}  {rate:9.0} acquires a second"), &object)
}

/// With one digit behind the point.
fn rounded(number: f64) -> Value {
    json!((number * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_99th_of_a_hundred() {
        let of = |times: &[u64]| {
            let mut all = Times::new();
            times.iter().for_each(|us| all.add(Duration::from_micros(*us)));
            ([0.5, 0.99].map(|part| all.at(part).round()), all.0.len())
        };
        assert_eq!(of(&(1..=100).rev().collect::<Vec<_>>()), ([50.0, 99.0], 100));
        assert_eq!(of(&[7]), ([7.0, 7.0], 1));
    }

    #[test]
    fn a_long_bench_needs_no_more_memory_than_a_short_one() {
        let mut times = Times::new();
        (0..64).for_each(|power| times.add(Duration::from_nanos(1 << power)));
        let places = times.0.distinct_values();
        (0..1_000_000).for_each(|ns| times.add(Duration::from_nanos(ns * 4000)));
        assert_eq!(times.0.distinct_values(), places);
        assert!(places * size_of::<u64>() < 1_000_000, "{places}");
    }
}
