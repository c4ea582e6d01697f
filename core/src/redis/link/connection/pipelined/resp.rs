//! Reads answers from bytes.

use std::ops::Range;

use redis::{ErrorKind, RedisError, RedisResult, Value};

/// The most bytes of one answer. Answers to first tries have a few numbers and ids: a server that sends more has lost
/// its way.
const LONGEST: usize = 1 << 20;
/// The deepest nesting of lists; our scripts answer with one list.
const DEEPEST: usize = 2;
/// The longest line of `:`, `$` and `*`, which have a number of 64 bits behind them.
const NUMBER: usize = 24;

/// Reads answers from the bytes of one connection, which come in pieces of any size. It looks at no byte twice, and no
/// byte makes it panic.
#[derive(Default)]
pub struct Reader {
    bytes: Vec<u8>,
    /// The bytes before this have been read.
    at: usize,
    /// There is no end of the line between `at` and this.
    searched: usize,
    /// A text of this length begins at `at`.
    text: Option<usize>,
    /// The lists that are open, the outermost first.
    lists: Vec<List>,
    /// The bytes of the present answer that have been read.
    read: usize,
    is_over: bool,
}

/// A list whose end has not come yet.
struct List {
    missing: usize,
    items: Vec<Value>,
}

impl Reader {
    /// Takes the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.searched -= self.at;
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next answer; `None`: it is not complete yet. After an answer without sense there are no more: the next could
    /// begin anywhere.
    pub fn next(&mut self) -> Option<RedisResult<Value>> {
        if self.is_over {
            return None;
        }
        let answer = self.answer().transpose()?;
        self.is_over = answer.is_err();
        if self.is_over {
            *self = Reader { is_over: true, ..Reader::default() };
        }
        Some(answer)
    }

    fn answer(&mut self) -> RedisResult<Option<Value>> {
        while let Some(part) = self.part()? {
            let whole = self.put(part);
            if self.read > LONGEST {
                return Err(nonsense("an answer that is too long"));
            }
            if whole.is_some() {
                self.read = 0;
                return Ok(whole);
            }
        }
        Ok(None)
    }

    /// A value that is not a list, or an empty list; `None`: more bytes must come.
    fn part(&mut self) -> RedisResult<Option<Value>> {
        loop {
            if let Some(length) = self.text {
                return self.text_of(length);
            }
            let Some(line) = self.line()? else { return Ok(None) };
            let line = &self.bytes[line];
            let number = std::str::from_utf8(line.get(1..).unwrap_or_default())
                .ok()
                .and_then(|number| number.parse::<i64>().ok());
            match (line.first(), number) {
                (Some(b':'), Some(number)) => return Ok(Some(Value::Int(number))),
                (Some(b'$' | b'*'), Some(-1)) => return Ok(Some(Value::Nil)),
                (Some(b'$'), Some(length @ 0..)) => self.text = Some(usize::try_from(length).unwrap_or(usize::MAX)),
                (Some(b'*'), Some(0)) => return Ok(Some(Value::Array(Vec::new()))),
                (Some(b'*'), Some(count @ 1..)) => self.begin(usize::try_from(count).unwrap_or(usize::MAX))?,
                (Some(b'+' | b'-'), _) => {
                    // The server may have cut the words of an error inside a letter.
                    let words = format!("{}\r\n", String::from_utf8_lossy(line));
                    return redis::parse_redis_value(words.as_bytes()).map(Some);
                }
                _ => return Err(nonsense("a line that is no part of an answer")),
            }
        }
    }

    /// Passes the next line; gives its place without its end.
    fn line(&mut self) -> RedisResult<Option<Range<usize>>> {
        let from = self.searched.max(self.at);
        let found = self.bytes[from..].windows(2).position(|two| two == b"\r\n").map(|end| from + end);
        // The last byte may be the first half of an end.
        let end = found.unwrap_or_else(|| self.bytes.len().saturating_sub(1).max(self.at));
        let is_number = matches!(self.bytes.get(self.at), Some(b':' | b'$' | b'*'));
        if end - self.at > if is_number { NUMBER } else { LONGEST } {
            return Err(nonsense("a line that is too long"));
        }
        let line = self.at..end;
        match found {
            Some(end) => self.pass(end + 2),
            None => self.searched = end,
        }
        Ok(found.map(|_| line))
    }

    /// Takes a text and its end.
    fn text_of(&mut self, length: usize) -> RedisResult<Option<Value>> {
        if self.read > LONGEST || length > LONGEST - self.read {
            return Err(nonsense("a text that is too long"));
        }
        let end = self.at + length;
        let next = self.at + length + 2;
        if self.bytes.len() < next {
            return Ok(None);
        }
        if &self.bytes[end..next] != b"\r\n" {
            return Err(nonsense("a text that does not end where it should"));
        }
        let text = self.bytes[self.at..end].to_vec();
        self.text = None;
        self.pass(next);
        Ok(Some(Value::BulkString(text)))
    }

    fn begin(&mut self, count: usize) -> RedisResult<()> {
        if self.lists.len() == DEEPEST {
            return Err(nonsense("lists in lists"));
        }
        // The server alone says how long the list is: it may be wrong.
        self.lists.push(List { missing: count, items: Vec::with_capacity(count.min(16)) });
        Ok(())
    }

    /// Puts a value into the list that is open; gives the answer that it completes.
    fn put(&mut self, mut value: Value) -> Option<Value> {
        while let Some(list) = self.lists.last_mut() {
            list.items.push(value);
            list.missing -= 1;
            if list.missing > 0 {
                return None;
            }
            value = Value::Array(self.lists.pop()?.items);
        }
        Some(value)
    }

    fn pass(&mut self, to: usize) {
        self.read += to - self.at;
        self.at = to;
        self.searched = to;
    }
}

fn nonsense(what: &'static str) -> RedisError {
    (ErrorKind::Parse, what).into()
}

#[cfg(test)]
mod tests;
