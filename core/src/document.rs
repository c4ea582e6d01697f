//! A configuration file as a tree that every binding applies in its own way: YAML, of which JSON is a part, with types as tags.

mod placeholders;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::error::{Error, Result};

/// Deeper ones are a mistake, or an attack on the stack.
const DEEPEST: usize = 64;
/// More values than this are made by aliases of aliases only.
const MOST: usize = 100_000;

/// One value of a [`document`](read), with the type that its tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// As in `!<org.redisson.config.ConstantDelay>` or `!ConstantDelay`, without the marks. Those of YAML itself are `str`, `int`, ….
    pub tag: Option<String>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Without quotes: it may stand for a number, a truth value or nothing, as its reader likes.
    Plain(String),
    /// In quotes, or in lines of its own: a text.
    Text(String),
    List(Vec<Node>),
    /// In the order of the file, each name once.
    Map(Vec<(String, Node)>),
}

/// Reads a document; an empty one is an empty map. First, anywhere in the text, `${NAME}` and `${NAME:-default}` become what `lookup` knows
/// of the name, else the default, else stay.
///
/// # Errors
/// `Error::Config` for what is no YAML, with line and column; for more than one document, names that are no texts, and a nesting beyond reason.
pub fn read(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Node> {
    let text = placeholders::fill_in(text, lookup);
    let mut reading = Reading::default();
    let mut documents = 0;
    for event in Parser::new_from_str(&text) {
        let (event, place) = event.map_err(|e| Error::config(format!("the configuration cannot be read as YAML or JSON: {e}")))?;
        documents += usize::from(matches!(event, Event::DocumentStart(_)));
        if documents > 1 {
            return Err(Error::config("the configuration has more than one document; leave out the line `---`"));
        }
        reading.take(event).map_err(|why| Error::config(format!("the configuration has {why} in line {}", place.start.line())))?;
    }
    Ok(reading.root.filter(|root| root.value != Value::Plain(String::new())).unwrap_or(Node { tag: None, value: Value::Map(Vec::new()) }))
}

/// What has been read, and what is open.
#[derive(Default)]
struct Reading {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    count: usize,
}

/// A list or a map whose end is still to come.
struct Open {
    anchor: usize,
    node: Node,
    /// Of a map, the name whose value comes next.
    name: Option<String>,
}

type Why = &'static str;

impl Reading {
    fn take(&mut self, event: Event) -> std::result::Result<(), Why> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let value = if style == ScalarStyle::Plain { Value::Plain(text) } else { Value::Text(text) };
                self.close(anchor, Node { tag: name_of(tag.as_deref()), value })
            }
            Event::SequenceStart(anchor, tag) => self.begin(anchor, tag.as_deref(), Value::List(Vec::new())),
            Event::MappingStart(anchor, tag) => self.begin(anchor, tag.as_deref(), Value::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { anchor, node, .. } = self.open.pop().expect("the parser ends only what it began");
                self.close(anchor, node)
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned().ok_or("an alias of what contains it")?;
                self.count += size(&node);
                self.close(0, node)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, tag: Option<&Tag>, value: Value) -> std::result::Result<(), Why> {
        self.open.push(Open { anchor, node: Node { tag: name_of(tag), value }, name: None });
        if self.open.len() > DEEPEST { Err("more than 64 levels") } else { Ok(()) }
    }

    /// A value is complete: it goes where it belongs.
    fn close(&mut self, anchor: usize, node: Node) -> std::result::Result<(), Why> {
        self.count += 1;
        if self.count > MOST {
            return Err("too many values");
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match (open.name.take(), node.value) {
                (Some(name), value) if name == "<<" => merge(entries, value)?,
                (Some(name), value) => {
                    entries.retain(|(known, _)| *known != name);
                    entries.push((name, Node { tag: node.tag, value }));
                }
                (None, Value::Plain(name) | Value::Text(name)) => open.name = Some(name),
                (None, _) => return Err("a name that is no text"),
            },
            Value::Plain(_) | Value::Text(_) => unreachable!("only lists and maps are opened"),
        }
        Ok(())
    }
}

/// `<<: *other` takes over what is not there; what comes later replaces it.
fn merge(entries: &mut Vec<(String, Node)>, value: Value) -> std::result::Result<(), Why> {
    match value {
        Value::Map(others) => {
            for (name, node) in others {
                if entries.iter().all(|(known, _)| *known != name) {
                    entries.push((name, node));
                }
            }
            Ok(())
        }
        Value::List(maps) => maps.into_iter().try_for_each(|map| merge(entries, map.value)),
        Value::Plain(_) | Value::Text(_) => Err("a `<<` without a map"),
    }
}

fn name_of(tag: Option<&Tag>) -> Option<String> {
    tag.map(|tag| tag.suffix.trim_start_matches('!').to_owned()).filter(|name| !name.is_empty())
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::Plain(_) | Value::Text(_) => 1,
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, node)| size(node)).sum::<usize>(),
    }
}
