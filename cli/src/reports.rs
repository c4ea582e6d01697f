//! The reports of `redlatch` on standard error. Standard output is the command's.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::table::{in_one_line, is_shown};

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
        say(&one_line(&Value::Object(object)));
    }
}

/// An object as a line of output. Letters that change a terminal are escaped.
pub fn one_line(object: &Value) -> String {
    let mut line = String::new();
    // Only texts have such letters.
    for c in object.to_string().chars() {
        match is_shown(c) {
            true => line.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    line
}

/// Standard error may be closed, or a pipe without a reader: that is no reason to end the command. The command and others write there as
/// well, so a line is one write.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_cannot_write_to_the_screen_and_is_read_as_it_was() {
        let object = json!({ "a\u{9b}2J": "b\u{202e}c\u{7f}\u{e0001}", "ä": "在\n" });
        let line = one_line(&object);
        assert_eq!(line, r#"{"a\u009b2J":"b\u202ec\u007f\udb40\udc01","ä":"在\n"}"#);
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), object);
    }
}
