//! One event as one line of text: time, lane, attempt, a letter, and the fields that belong to the letter.

use std::fmt::{Display, Formatter, Result};
use std::str::{FromStr, SplitAsciiWhitespace};

use super::{Entry, Event, Section};

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let at = self.at;
        let lane = self.lane;
        let attempt = self.attempt;
        write!(f, "{at} {lane} {attempt} ")?;
        match &self.event {
            Event::Acquire { key, owner, wait, lease, takes } => {
                write!(f, "a {key} {owner} {} {} {takes}", Maybe(*wait), Maybe(*lease))
            }
            Event::Held { asked, deadline } => write!(f, "h {asked} {deadline}"),
            Event::Token { token } => write!(f, "t {token}"),
            Event::NotNow => write!(f, "n"),
            Event::Failed { code, text } => write!(f, "f {code} {}", text.replace('\n', " ")),
            Event::Dropped => write!(f, "d"),
            Event::Deadline { deadline } => write!(f, "u {deadline}"),
            Event::Lost { since, reason, section } => {
                write!(f, "l {since} {} {}", reason.replace(' ', "_"), Maybe(section.wrote()))
            }
            Event::Counted { count, expected } => write!(f, "c {count} {expected}"),
            Event::Release { section } => write!(f, "r {}", Maybe(section.wrote())),
            Event::Released { code } => write!(f, "e {code}"),
        }
    }
}

impl FromStr for Entry {
    type Err = String;

    fn from_str(line: &str) -> std::result::Result<Self, String> {
        let mut words = Words(line.split_ascii_whitespace());
        let at = words.number()?;
        let lane = words.number()? as u32;
        let attempt = words.number()?;
        let event = match words.word()? {
            "a" => {
                let key = words.number()? as u32;
                let owner = words.number()?;
                Event::Acquire { key, owner, wait: words.maybe()?, lease: words.maybe()?, takes: words.number()? }
            }
            "h" => Event::Held { asked: words.number()?, deadline: words.number()? },
            "t" => Event::Token { token: words.number()? as i64 },
            "n" => Event::NotNow,
            "f" => Event::Failed { code: words.word()?.to_owned(), text: words.rest() },
            "d" => Event::Dropped,
            "u" => Event::Deadline { deadline: words.number()? },
            "l" => {
                let since = words.number()?;
                let reason = words.word()?.replace('_', " ");
                Event::Lost { since, reason, section: words.section()? }
            }
            "c" => Event::Counted { count: words.number()?, expected: words.number()? },
            "r" => Event::Release { section: words.section()? },
            "e" => Event::Released { code: words.word()?.to_owned() },
            other => return Err(format!("there is no event `{other}`")),
        };
        Ok(Entry { at, lane, attempt, event })
    }
}

impl Section {
    fn wrote(self) -> Option<u64> {
        match self {
            Section::None => None,
            Section::Wrote(read) => Some(read),
        }
    }
}

struct Maybe(Option<u64>);

impl Display for Maybe {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => write!(f, "-"),
        }
    }
}

struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self) -> std::result::Result<&'a str, String> {
        self.0.next().ok_or_else(|| "it ends too early".to_owned())
    }

    fn rest(&mut self) -> String {
        self.0.by_ref().collect::<Vec<_>>().join(" ")
    }

    fn number(&mut self) -> std::result::Result<u64, String> {
        let word = self.word()?;
        word.parse().map_err(|e| format!("`{word}`: {e}"))
    }

    fn maybe(&mut self) -> std::result::Result<Option<u64>, String> {
        match self.word()? {
            "-" => Ok(None),
            word => word.parse().map(Some).map_err(|e| format!("`{word}`: {e}")),
        }
    }

    fn section(&mut self) -> std::result::Result<Section, String> {
        Ok(self.maybe()?.map_or(Section::None, Section::Wrote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reads_as_it_was_written() {
        let events = [
            Event::Acquire { key: 3, owner: 12, wait: None, lease: Some(300), takes: 0 },
            Event::Acquire { key: 3, owner: 12, wait: Some(0), lease: None, takes: 2 },
            Event::Held { asked: 76, deadline: 77 },
            Event::Token { token: 79 },
            Event::NotNow,
            Event::Failed { code: "unavailable".into(), text: "`redis://[::1]:7` is silent".into() },
            Event::Dropped,
            Event::Deadline { deadline: 78 },
            Event::Lost { since: 5, reason: "taken over".into(), section: Section::Wrote(9) },
            Event::Counted { count: 2, expected: 1 },
            Event::Release { section: Section::None },
            Event::Released { code: "ok".into() },
        ];
        for event in events {
            let entry = Entry { at: 1, lane: 2, attempt: 3, event };
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
        assert!(
            "1 2 3".parse::<Entry>().is_err()
                && "1 2 3 z".parse::<Entry>().is_err()
                && "1 2 3 h x".parse::<Entry>().is_err()
        );
    }
}
