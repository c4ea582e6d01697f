//! The time for which retries go on: the sum of the delays between the attempts. For random delays it takes their mean.

use std::time::Duration;

use super::section::Section;
use crate::request::error::Result;

const YEAR: f64 = 365.0 * 24.0 * 3600.0;
/// The delays no longer grow after so many attempts; a number of attempts may be as good as endless.
const SETTLED: i64 = 1000;

enum Delay {
    Constant(f64),
    /// Each delay is random, from a part of a limit to the limit; the limit doubles each time.
    Doubling {
        base: f64,
        most: f64,
        mean: f64,
    },
    /// Each delay is random, from a minimum to three times the delay before it.
    Tripling {
        least: f64,
        most: f64,
    },
}

pub fn retry_for(server: &Section) -> Result<Duration> {
    let attempts = server.number("retryAttempts", 4)?;
    if !(0..i64::from(i32::MAX)).contains(&attempts) {
        return Err(server.bad("retryAttempts", "it must be from 0 to 2147483646"));
    }
    let delay = delay(server)?;
    let mut sum = 0.0;
    let mut last = 0.0;
    for attempt in 0..attempts.min(SETTLED) {
        last = delay.of(attempt, last);
        sum += last;
    }
    sum += last * (attempts - SETTLED).max(0) as f64;
    Ok(Duration::from_secs_f64(sum.min(YEAR)))
}

impl Delay {
    /// The delay in seconds; `last`: the delay before it.
    fn of(&self, attempt: i64, last: f64) -> f64 {
        match *self {
            Delay::Constant(delay) => delay,
            Delay::Doubling { base, most, mean } => mean * most.min(base * 2f64.powi(attempt.min(30) as i32)),
            Delay::Tripling { least, most } => {
                (least + most.min(3.0 * if attempt == 0 { least } else { last }).max(least)) / 2.0
            }
        }
    }
}

fn delay(server: &Section) -> Result<Delay> {
    let interval = server.millis("retryInterval", 1500, 0)?;
    let Some(class) = server.class("retryDelay") else {
        if server.get("retryDelay").is_some() {
            return Err(server
                .bad("retryDelay", "it must have a tag, as in `!<org.redisson.config.ConstantDelay> {delay: PT1S}`"));
        }
        return Ok(match server.get("retryInterval") {
            Some(_) => Delay::Constant(interval.as_secs_f64()),
            None => Delay::Doubling { base: 1.0, most: 2.0, mean: 0.75 },
        });
    };
    let given = server.within("retryDelay")?.unwrap_or_else(|| Section::new("retryDelay.", &[]));
    let time = |name| duration(&given, name);
    Ok(match class.strip_prefix("org.redisson.config.").unwrap_or(class) {
        "ConstantDelay" => Delay::Constant(time("delay")?),
        "FullJitterDelay" => Delay::Doubling { base: time("baseDelay")?, most: time("maxDelay")?, mean: 0.5 },
        "EqualJitterDelay" => Delay::Doubling { base: time("baseDelay")?, most: time("maxDelay")?, mean: 0.75 },
        "DecorrelatedJitterDelay" => Delay::Tripling { least: time("minDelay")?, most: time("maxDelay")? },
        _ => {
            return Err(
                server.bad("retryDelay", "it must be one of Redisson's own, such as org.redisson.config.ConstantDelay")
            );
        }
    })
}

/// A duration such as `PT1.5S`, `PT1M30S` or `P1DT2H`, in seconds, a year at most.
fn duration(given: &Section, name: &str) -> Result<f64> {
    let bad = || given.bad(name, "it must be a duration such as PT1.5S");
    let text = given.text(name)?.ok_or_else(bad)?.to_uppercase();
    let (days, times) = text.strip_prefix('P').ok_or_else(bad)?.split_once('T').unwrap_or((&text[1..], ""));
    let (days, _) = part(days, 'D').ok_or_else(bad)?;
    let (hours, rest) = part(times, 'H').ok_or_else(bad)?;
    let (minutes, rest) = part(rest, 'M').ok_or_else(bad)?;
    let (seconds, rest) = part(rest, 'S').ok_or_else(bad)?;
    let whole = [days, hours, minutes].iter().all(|number| number.fract() == 0.0);
    if text.len() < 3 || text.ends_with('T') || !rest.is_empty() || !whole {
        return Err(bad());
    }
    Ok((((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds).min(YEAR))
}

/// The number in front of a unit, 0 if it is missing, and the text behind the unit.
fn part(text: &str, unit: char) -> Option<(f64, &str)> {
    let Some((number, rest)) = text.split_once(unit) else { return Some((0.0, text)) };
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number.parse().ok().filter(|_| plain).map(|number| (number, rest))
}
