//! Asks each server a question about itself, for a report on the servers.

use redis::Value;

use crate::redis::target::Target;
use crate::request::Answer;
use crate::request::error::{Error, Result};

/// The questions, without what may follow. None of them changes a server.
const QUESTIONS: [&[&str]; 6] =
    [&["PING"], &["INFO"], &["TIME"], &["CONFIG", "GET"], &["SLOWLOG", "LEN"], &["ACL", "WHOAMI"]];

impl Target {
    pub async fn ask_servers(&self) -> Result<Answer> {
        let words: Vec<_> = self.texts.iter().map(|word| String::from_utf8_lossy(word)).collect();
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        if !QUESTIONS.iter().any(|question| words.starts_with(question)) {
            let known = QUESTIONS.map(|question| question.join(" ")).join(", ");
            return Err(Error::config(format!("`{}` is no question to a server; these are: {known}", words.join(" "))));
        }
        let parts = self.redis.link.parts(self.response).await?;
        let mut answer = Answer::done(parts.len() as i64);
        for part in parts {
            let (server, reply) = self.redis.link.ask::<Value>(part, &words, self.response).await?;
            let (state, said) = match reply {
                Ok(reply) => ("1", texts(&reply)),
                Err(error @ Error::Refused { .. }) => ("0", vec![error.to_string().into_bytes()]),
                Err(error) => ("-", vec![error.to_string().into_bytes()]),
            };
            let head = [server, state.to_owned(), said.len().to_string()];
            answer.texts.extend(head.map(String::into_bytes));
            answer.texts.extend(said);
        }
        Ok(answer)
    }
}

/// The texts and numbers of a reply, in its order.
fn texts(reply: &Value) -> Vec<Vec<u8>> {
    match reply {
        Value::BulkString(bytes) => vec![bytes.clone()],
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => vec![text.clone().into_bytes()],
        Value::Int(number) => vec![number.to_string().into_bytes()],
        Value::Okay => vec![b"OK".to_vec()],
        Value::Array(items) | Value::Set(items) => items.iter().flat_map(texts).collect(),
        Value::Map(pairs) => pairs.iter().flat_map(|(name, value)| [texts(name), texts(value)].concat()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_and_numbers_of_a_reply_stand_in_its_order() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let reply = Value::Array(vec![text("a"), Value::Map(vec![(text("b"), Value::Int(7))]), Value::Nil]);
        assert_eq!(texts(&reply), [b"a".to_vec(), b"b".to_vec(), b"7".to_vec()]);
    }
}
