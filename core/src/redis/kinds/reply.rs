//! The answer of a script.

use std::time::Duration;

/// The outcome that a script tells, see the table in `core/scripts/README.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    Done,
    /// Released, and passed on to the next waiter of the same client.
    Passed,
    #[default]
    NotNow,
    /// The hold or key that the call builds on is missing.
    Missing,
    /// The call came too late, or the server's clock was set back.
    TooLate,
    /// The owner holds the lock, and cannot take it once more that way.
    AlreadyHeld,
    /// The key is of another kind.
    WrongKind,
}

impl Code {
    /// `None`: no script of ours gives this number.
    fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            1 => Code::Done,
            2 => Code::Passed,
            0 => Code::NotNow,
            -1 => Code::Missing,
            -2 => Code::TooLate,
            -3 => Code::AlreadyHeld,
            -4 => Code::WrongKind,
            _ => return None,
        })
    }
}

/// The answer of a script: its code, then integers, and texts for ids and the content of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub code: Code,
    pub numbers: Vec<i64>,
    pub texts: Vec<Vec<u8>>,
}

impl Reply {
    /// Reads the value that a server sent. `None`: it is not the answer of a script of ours, and the next answers on
    /// that connection may belong to other calls.
    pub fn read(value: redis::Value) -> Option<Self> {
        let redis::Value::Array(items) = value else { return None };
        let mut items = items.into_iter();
        let Some(redis::Value::Int(number)) = items.next() else { return None };
        let mut reply = Reply { code: Code::from_number(number)?, ..Reply::default() };
        for item in items {
            match item {
                redis::Value::Int(number) => reply.numbers.push(number),
                redis::Value::BulkString(bytes) => reply.texts.push(bytes),
                _ => return None,
            }
        }
        Some(reply)
    }

    /// The time for which the server keeps what a release has left; `None`: it has nothing, or keeps it without end.
    pub fn left(&self) -> Option<Duration> {
        let ms = self.numbers.get(1).filter(|_| self.code == Code::Done)?;
        u64::try_from(*ms).ok().map(Duration::from_millis)
    }

    /// The first text of the reply.
    pub fn text(&self) -> Option<String> {
        self.texts.first().map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    fn read(code: i64) -> Option<Reply> {
        Reply::read(Value::Array(vec![Value::Int(code), Value::Int(7), Value::BulkString(b"id".to_vec())]))
    }

    #[test]
    fn each_code_of_the_table_and_no_other_is_the_outcome_of_a_script() {
        let table = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/README.md"));
        for code in -100..=100 {
            let is_in_table = table.lines().any(|line| line.starts_with(&format!("| `{code}` | ")));
            assert_eq!(read(code).is_some(), is_in_table, "{code}");
        }
    }

    #[test]
    fn numbers_and_texts_stand_apart() {
        let reply = read(2).expect("2 is a code");
        assert_eq!((reply.code, reply.numbers, reply.texts), (Code::Passed, vec![7], vec![b"id".to_vec()]));
    }

    #[test]
    fn a_value_of_another_form_is_no_answer_of_a_script() {
        for value in [Value::Nil, Value::Int(1), Value::Array(vec![]), Value::Array(vec![Value::Int(1), Value::Nil])] {
            assert_eq!(Reply::read(value), None);
        }
    }
}
