//! Times as words of a command line: `10`, `2.5s`, `500ms`, `3m`, `1h`, `1d`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];
/// A century, as the longest lease of the library.
const MOST: f64 = 100.0 * 365.0 * 86_400.0;

/// Reads a time; a number without a unit has seconds, as `flock -w` has.
pub fn read(word: &str) -> Result<Duration, String> {
    let unit = word.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(word.len());
    let (number, unit) = word.split_at(unit);
    let factor = match unit {
        "" => Some(1.0),
        unit => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor),
    };
    let is_plain = number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let seconds = number.parse::<f64>().ok().filter(|_| is_plain).zip(factor).map(|(number, factor)| number * factor);
    match seconds {
        Some(seconds) if seconds <= MOST => Ok(Duration::from_secs_f64(seconds)),
        Some(_) => Err("it is longer than a century".into()),
        None => Err("write seconds (10, 2.5) or a number with ms, s, m, h or d (500ms, 3m)".into()),
    }
}

/// A time as messages show it.
pub fn shown(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{} ms", time.as_millis()),
        seconds if seconds < 60.0 => format!("{} s", (seconds * 10.0).round() / 10.0),
        seconds => format!("{} s", seconds.round()),
    }
}

/// A moment in UTC, `2026-11-27T16:04:11.250Z`.
pub fn utc(moment: SystemTime) -> String {
    let time = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(time.as_secs() / 86_400);
    let second = time.as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", time.subsec_millis())
}

/// The date of a day after 1970-01-01.
fn date(mut day: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for days in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_seconds_or_has_a_unit() {
        let read = |word| read(word).unwrap_or_else(|why| panic!("{word}: {why}"));
        assert_eq!(read("10"), Duration::from_secs(10));
        assert_eq!(read("2.5"), Duration::from_millis(2500));
        assert_eq!(read("0"), Duration::ZERO);
        assert_eq!(read("500ms"), Duration::from_millis(500));
        assert_eq!(read("30s"), Duration::from_secs(30));
        assert_eq!(read("3m"), Duration::from_secs(180));
        assert_eq!(read("1h"), Duration::from_secs(3600));
        assert_eq!(read("1d"), Duration::from_secs(86_400));
    }

    #[test]
    fn any_other_word_is_no_time() {
        for word in ["", "s", "-1", "1.2.3", "1e3", "inf", "nan", "10x", "10 s", "1m30s", "+1", "99999999999999999h"] {
            assert!(read(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_moment_has_its_date() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00.250Z"),
            (951_782_400, "2000-02-29T00:00:00.250Z"),
            (1_785_542_399, "2026-07-31T23:59:59.250Z"),
            (1_798_761_599, "2026-12-31T23:59:59.250Z"),
            (4_107_542_400, "2100-03-01T00:00:00.250Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 250)), shown);
        }
    }

    #[test]
    fn a_message_shows_a_time_in_few_digits() {
        assert_eq!(shown(Duration::from_millis(333)), "333 ms");
        assert_eq!(shown(Duration::from_millis(19_666)), "19.7 s");
        assert_eq!(shown(Duration::from_secs(20)), "20 s");
        assert_eq!(shown(Duration::from_millis(100_400)), "100 s");
    }
}
