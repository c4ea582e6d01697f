//! The settings of one section of a configuration, by name, and the names that a reader has asked for.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use crate::config::document::{Node, Value};
use crate::request::error::{Error, Result};
use crate::request::shown;

/// The tags that YAML itself gives to values.
const PLAIN: [&str; 7] = ["str", "int", "float", "bool", "null", "seq", "map"];
const YEAR_MS: i64 = 365 * 24 * 3600 * 1000;

pub struct Section<'a> {
    /// The path of the section, with a dot at its end; empty: the whole file.
    pub path: String,
    entries: &'a [(String, Node)],
    asked: RefCell<HashSet<&'a str>>,
}

impl<'a> Section<'a> {
    pub fn new(path: &str, entries: &'a [(String, Node)]) -> Self {
        Section { path: path.to_owned(), entries, asked: RefCell::default() }
    }

    /// The value of a setting; `None` if it is missing or null.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        let (name, node) = self.entries.iter().find(|(known, _)| known == name)?;
        self.asked.borrow_mut().insert(name);
        Some(node).filter(|node| !is_nothing(node))
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// The settings that no reader has asked for.
    pub fn unused(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        self.entries
            .iter()
            .filter(|(name, _)| !asked.contains(&**name))
            .map(|(name, _)| format!("{}{name}", self.path))
            .collect()
    }

    /// The settings of a nested map.
    pub fn within(&self, name: &str) -> Result<Option<Section<'a>>> {
        match self.get(name).map(|node| &node.value) {
            None => Ok(None),
            Some(Value::Map(entries)) => Ok(Some(Section::new(&format!("{}{name}.", self.path), entries))),
            Some(_) => Err(Error::config(format!(
                "{}{name} is no map; write its settings below it, two blanks deeper",
                self.path
            ))),
        }
    }

    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.get(name).map(|node| text(node).ok_or_else(|| self.bad(name, "it must be a value"))).transpose()
    }

    /// A list of texts. A single text need not be in a list.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let nodes = match self.get(name) {
            None => return Ok(Vec::new()),
            Some(Node { value: Value::List(nodes), .. }) => nodes.as_slice(),
            Some(node) => std::slice::from_ref(node),
        };
        nodes.iter().map(|node| text(node).ok_or_else(|| self.bad(name, "it must be a list of texts"))).collect()
    }

    /// A whole number as YAML writes it: `1_000`, `0x1F`, `017`.
    pub fn number(&self, name: &str, otherwise: i64) -> Result<i64> {
        let Some(text) = self.text(name)? else { return Ok(otherwise) };
        let bare = text.replace('_', "");
        let (sign, digits) = bare.strip_prefix('-').map_or((1, bare.trim_start_matches('+')), |digits| (-1, digits));
        let number = match (digits.strip_prefix("0x"), digits.strip_prefix('0')) {
            (Some(hex), _) => i64::from_str_radix(hex, 16),
            (None, Some(octal)) if !octal.is_empty() => i64::from_str_radix(octal, 8),
            _ => digits.parse(),
        };
        number.map(|number| sign * number).map_err(|_| self.bad(name, "it must be a whole number"))
    }

    /// A time in ms.
    pub fn millis(&self, name: &str, otherwise: i64, least: i64) -> Result<Duration> {
        let ms = self.number(name, otherwise)?;
        if !(least..=YEAR_MS).contains(&ms) {
            return Err(Error::config(format!("{}{name} is {ms} ms, it must be from {least} to {YEAR_MS}", self.path)));
        }
        Ok(Duration::from_millis(ms.unsigned_abs()))
    }

    pub fn truth(&self, name: &str, otherwise: bool) -> Result<bool> {
        match self.text(name)?.map(|text| text.to_lowercase()).as_deref() {
            None => Ok(otherwise),
            Some("true" | "yes" | "on") => Ok(true),
            Some("false" | "no" | "off") => Ok(false),
            Some(_) => Err(self.bad(name, "it must be true or false")),
        }
    }

    /// One of several words.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let known = words.iter().copied().find(|word| *word == text);
        known.map(Some).ok_or_else(|| self.bad(name, &format!("it must be one of {}", words.join(", "))))
    }

    /// The class of a value: its tag, or in JSON its `class`.
    pub fn class(&self, name: &str) -> Option<&'a str> {
        class(self.get(name)?)
    }

    /// Refuses every class but the default one, which does nothing.
    pub fn no_class_of_its_own(&self, name: &str, remedy: &str) -> Result<()> {
        let Some(node) = self.get(name) else { return Ok(()) };
        let default = |class: &str| {
            class.starts_with("org.redisson.")
                && class.rsplit('.').next().is_some_and(|last| last.starts_with("Default"))
        };
        match class(node) {
            Some(class) if default(class) => Ok(()),
            Some(class) => Err(Error::config(format!(
                "{}{name} is a `{class}`, and only the JVM has classes; {remedy}",
                self.path
            ))),
            None => Err(self.bad(name, &format!("and only the JVM has classes for it; {remedy}"))),
        }
    }

    /// Refuses any value of a setting.
    pub fn not_here(&self, name: &str, why: &str) -> Result<()> {
        self.get(name).map_or(Ok(()), |_| Err(self.bad(name, &format!("it cannot be set: {why}"))))
    }

    /// The error for a value that a setting cannot take.
    pub fn bad(&self, name: &str, expected: &str) -> Error {
        let found = self.get(name).map_or("missing".to_owned(), |node| match (&node.value, class(node)) {
            _ if shown::is_secret(name) => "not as it should be".to_owned(),
            (_, Some(class)) => format!("a `{class}`"),
            (Value::Plain(text) | Value::Text(text), _) => format!("`{}`", shown::value(name, text)),
            (Value::List(_), _) => "a list".to_owned(),
            (Value::Map(_), _) => "a map".to_owned(),
        });
        Error::config(format!("{}{name} is {found}, {expected}", self.path))
    }
}

fn is_nothing(node: &Node) -> bool {
    matches!(&node.value, Value::Plain(text) if text.is_empty() || text == "~" || text.eq_ignore_ascii_case("null"))
}

fn text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Plain(text) | Value::Text(text) => Some(text.clone()),
        Value::List(_) | Value::Map(_) => None,
    }
}

fn class(node: &Node) -> Option<&str> {
    let tag = node.tag.as_deref().filter(|tag| !PLAIN.contains(tag));
    tag.or_else(|| match &node.value {
        Value::Map(entries) => {
            entries.iter().find(|(name, _)| name == "class").and_then(|(_, node)| match &node.value {
                Value::Plain(text) | Value::Text(text) => Some(text.as_str()),
                _ => None,
            })
        }
        _ => None,
    })
}
