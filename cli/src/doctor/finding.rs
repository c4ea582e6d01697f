//! One line of the report, with its remedy.

use crate::table::in_one_line;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Good,
    /// Locks work; something may hurt them on a bad day, or could not be looked at.
    Doubtful,
    /// Locks are in danger, or some do not work.
    Bad,
}

#[derive(Debug)]
pub struct Finding {
    pub level: Level,
    /// One word or two.
    pub about: &'static str,
    pub text: String,
    pub remedy: Option<String>,
}

impl Finding {
    pub fn good(about: &'static str, text: impl Into<String>) -> Self {
        Finding { level: Level::Good, about, text: text.into(), remedy: None }
    }

    pub fn doubtful(about: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { level: Level::Doubtful, about, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub fn bad(about: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { level: Level::Bad, ..Finding::doubtful(about, text, remedy) }
    }

    /// The line, and one below it with the remedy.
    pub fn lines(&self, colours: bool) -> String {
        let sign = match colours {
            true => format!("\u{1b}[{}m{}\u{1b}[0m", self.level.colour(), self.level.sign()),
            false => self.level.sign().to_owned(),
        };
        let remedy =
            self.remedy.as_ref().map_or(String::new(), |remedy| format!("\n  {:9} → {}", "", in_one_line(remedy)));
        format!("{sign} {:9} {}{remedy}", self.about, in_one_line(&self.text))
    }
}

impl Level {
    fn sign(self) -> &'static str {
        match self {
            Level::Good => "✓",
            Level::Doubtful => "!",
            Level::Bad => "✗",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Doubtful => "doubtful",
            Level::Bad => "bad",
        }
    }

    fn colour(self) -> u8 {
        match self {
            Level::Good => 32,
            Level::Doubtful => 33,
            Level::Bad => 31,
        }
    }
}
