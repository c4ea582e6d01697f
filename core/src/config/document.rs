//! A configuration file as a tree that every binding applies in its own way: YAML, or JSON as a part of it, with types
//! as tags.

mod placeholders;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::request::error::{Error, Result};

/// The deepest nesting. A deeper file is a mistake, or an attack on the stack.
const DEEPEST: usize = 64;
/// The most values and the longest text. Only aliases make more.
const MOST: usize = 100_000;
const LONGEST: usize = 1 << 20;

/// One value of a [`document`](read), with the type that its tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The type name as in `!<org.redisson.config.ConstantDelay>` or `!ConstantDelay`, without the marks. YAML's own
    /// types are `str`, `int`, ….
    pub tag: Option<String>,
    /// The value itself.
    pub value: Value,
}

/// The text or the parts of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A value without quotes: it may stand for a number, a truth value or nothing; its reader decides.
    Plain(String),
    /// A text in quotes, or in lines of its own.
    Text(String),
    /// In the order of the file.
    List(Vec<Node>),
    /// In the order of the file, each name once.
    Map(Vec<(String, Node)>),
}

/// Reads a document; an empty one is an empty map. First replaces `${NAME}` and `${NAME:-default}` anywhere in the text
/// by the value that `lookup` has for the name, else by the default; without both the placeholder stays.
///
/// # Errors
/// `Error::Config` for a text that is not YAML, with line and column; for more than one document; for names that are
/// not texts; and for a nesting, a length or a number of values beyond reason. Values that aliases make count too.
pub fn read(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Node> {
    let text = placeholders::fill_in(text, lookup);
    if text.len() > LONGEST {
        return Err(Error::config(format!(
            "the configuration has {} bytes, the most is {LONGEST}; name a smaller file",
            text.len()
        )));
    }
    let mut reading = Reading::default();
    let mut documents = 0;
    for event in Parser::new_from_str(&text) {
        let (event, place) =
            event.map_err(|e| Error::config(format!("the configuration cannot be read as YAML or JSON: {e}")))?;
        documents += usize::from(matches!(event, Event::DocumentStart(_)));
        if documents > 1 {
            return Err(Error::config("the configuration has more than one document; leave out the line `---`"));
        }
        reading
            .take(event)
            .map_err(|why| Error::config(format!("the configuration has {why} in line {}", place.start.line())))?;
    }
    Ok(reading
        .root
        .filter(|root| root.value != Value::Plain(String::new()))
        .unwrap_or(Node { tag: None, value: Value::Map(Vec::new()) }))
}

/// The part of the tree that is complete, and the lists and maps that are open.
#[derive(Default)]
struct Reading {
    root: Option<Node>,
    open: Vec<Unfinished>,
    anchors: HashMap<usize, Node>,
    size: Size,
}

/// The size of the values so far.
#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    bytes: usize,
}

/// A list or a map whose end is still to come.
struct Unfinished {
    anchor: usize,
    node: Node,
    /// In a map, the name whose value comes next.
    name: Option<String>,
    /// In a map, the place of each name's last value.
    last: HashMap<String, usize>,
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
                let mut open = self.open.pop().expect("the parser ends only what it began");
                open.leave_last();
                self.close(open.anchor, open.node)
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).ok_or("an alias of a value that contains it")?;
                // The check comes before the copy.
                self.size.grow(size(node))?;
                let node = node.clone();
                self.put(node)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, tag: Option<&Tag>, value: Value) -> std::result::Result<(), Why> {
        self.open.push(Unfinished {
            anchor,
            node: Node { tag: name_of(tag), value },
            name: None,
            last: HashMap::new(),
        });
        if self.open.len() > DEEPEST { Err("more than 64 levels") } else { Ok(()) }
    }

    /// Notes a value that is complete.
    fn close(&mut self, anchor: usize, node: Node) -> std::result::Result<(), Why> {
        self.size.grow(Size { values: 1, bytes: bytes(&node) })?;
        if anchor > 0 {
            self.size.grow(size(&node))?;
            self.anchors.insert(anchor, node.clone());
        }
        self.put(node)
    }

    /// Puts a value into the list or map that is open.
    fn put(&mut self, node: Node) -> std::result::Result<(), Why> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match (open.name.take(), node.value) {
                (Some(name), value) if name == "<<" => merge(entries, &mut open.last, value)?,
                (Some(name), value) => {
                    open.last.insert(name.clone(), entries.len());
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

impl Unfinished {
    /// Keeps the last of several values of one name.
    fn leave_last(&mut self) {
        if let Value::Map(entries) = &mut self.node.value
            && entries.len() > self.last.len()
        {
            let places = 0..entries.len();
            let all = std::mem::take(entries).into_iter().zip(places);
            *entries =
                all.filter(|((name, _), place)| self.last.get(name) == Some(place)).map(|(entry, _)| entry).collect();
        }
    }
}

impl Size {
    fn grow(&mut self, by: Size) -> std::result::Result<(), Why> {
        self.values += by.values;
        self.bytes += by.bytes;
        if self.values > MOST || self.bytes > 2 * LONGEST {
            Err("too many values, or values that are too long,")
        } else {
            Ok(())
        }
    }
}

/// `<<: *other` adds the names that are missing; a later value replaces an added one.
fn merge(
    entries: &mut Vec<(String, Node)>,
    last: &mut HashMap<String, usize>,
    value: Value,
) -> std::result::Result<(), Why> {
    match value {
        Value::Map(others) => {
            for (name, node) in others {
                if !last.contains_key(&name) {
                    last.insert(name.clone(), entries.len());
                    entries.push((name, node));
                }
            }
            Ok(())
        }
        Value::List(maps) => maps.into_iter().try_for_each(|map| merge(entries, last, map.value)),
        Value::Plain(_) | Value::Text(_) => Err("a `<<` without a map"),
    }
}

fn name_of(tag: Option<&Tag>) -> Option<String> {
    tag.map(|tag| tag.suffix.trim_start_matches('!').to_owned()).filter(|name| !name.is_empty())
}

/// The bytes of a value without its parts.
fn bytes(node: &Node) -> usize {
    let text = match &node.value {
        Value::Plain(text) | Value::Text(text) => text.len(),
        Value::List(_) | Value::Map(_) => 0,
    };
    text + node.tag.as_ref().map_or(0, String::len)
}

/// The size of a value with all its parts.
fn size(node: &Node) -> Size {
    let own = Size { values: 1, bytes: bytes(node) };
    let add = |sum: Size, more: Size| Size { values: sum.values + more.values, bytes: sum.bytes + more.bytes };
    match &node.value {
        Value::Plain(_) | Value::Text(_) => own,
        Value::List(items) => items.iter().map(size).fold(own, add),
        Value::Map(entries) => {
            entries.iter().map(|(name, node)| add(size(node), Size { values: 0, bytes: name.len() })).fold(own, add)
        }
    }
}
