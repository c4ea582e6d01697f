//! The reports of `redlatch` on standard error. Standard output is the command's.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::table::in_one_line;

/// The reports about one run.
pub struct Reports {
    name: String,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A sentence for each trouble.
    Text,
    /// An object for each event.
    Json,
    Quiet,
}

impl Style {
    /// That of the options --json and --quiet.
    pub fn of(json: bool, quiet: bool) -> Self {
        match (json, quiet) {
            (true, _) => Style::Json,
            (_, true) => Style::Quiet,
            _ => Style::Text,
        }
    }
}

impl Reports {
    pub fn new(name: &str, style: Style) -> Self {
        Reports { name: name.to_owned(), style }
    }

    /// Reports a trouble.
    pub fn trouble(&self, event: &str, text: &str, facts: Value) {
        match self.style {
            Style::Text => say(&format!("redlatch: {}", in_one_line(text))),
            Style::Json => {
                let mut facts = facts;
                facts["message"] = text.into();
                self.object(event, facts);
            }
            Style::Quiet => {}
        }
    }

    /// Reports an event that is no trouble: only programs hear of it.
    pub fn event(&self, event: &str, facts: Value) {
        if self.style == Style::Json {
            self.object(event, facts);
        }
    }

    fn object(&self, event: &str, facts: Value) {
        let mut object = Map::from_iter([("event".to_owned(), json!(event)), ("name".to_owned(), json!(self.name))]);
        if let Value::Object(facts) = facts {
            object.extend(facts);
        }
        say(&Value::Object(object).to_string());
    }
}

/// Standard error may be closed, or a pipe without a reader: that is no reason to end the command. The command and others write there as
/// well, so a line is one write.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
