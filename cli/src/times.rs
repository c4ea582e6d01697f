//! Times as words of a command line: `10`, `2.5s`, `500ms`, `3m`, `1h`, `1d`.

use std::time::Duration;

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
    fn a_message_shows_a_time_in_few_digits() {
        assert_eq!(shown(Duration::from_millis(333)), "333 ms");
        assert_eq!(shown(Duration::from_millis(19_666)), "19.7 s");
        assert_eq!(shown(Duration::from_secs(20)), "20 s");
        assert_eq!(shown(Duration::from_millis(100_400)), "100 s");
    }
}
