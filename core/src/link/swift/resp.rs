//! Calls as bytes, and bytes as what came back.

use redis::{RedisResult, Value};

use crate::link::sharding::Sharding;
use crate::script::Call;

/// Adds a call as it goes over the wire.
pub fn pack(to: &mut Vec<u8>, call: &Call, not_after: u64, sharding: &Sharding) {
    head(to, b'*', call.keys.len() + call.args.len() + 3);
    text(to, b"EVALSHA");
    text(to, call.script.form(sharding.is_both()).sha.as_bytes());
    text(to, itoa::Buffer::new().format(call.keys.len()).as_bytes());
    call.keys.iter().for_each(|key| text(to, key));
    for (i, arg) in call.args.iter().enumerate() {
        match Some(i) {
            at if at == call.not_after => text(to, itoa::Buffer::new().format(not_after).as_bytes()),
            at if at == call.resent => text(to, b"0"),
            at if at == call.publish => text(to, sharding.publish().as_bytes()),
            _ => text(to, arg),
        }
    }
}

fn text(to: &mut Vec<u8>, text: &[u8]) {
    head(to, b'$', text.len());
    to.extend_from_slice(text);
    to.extend_from_slice(b"\r\n");
}

fn head(to: &mut Vec<u8>, mark: u8, number: usize) {
    to.push(mark);
    to.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    to.extend_from_slice(b"\r\n");
}

/// Takes one answer off the start; `None`: it is not all there yet.
pub fn value(bytes: &mut &[u8]) -> Option<RedisResult<Value>> {
    let mut rest = *bytes;
    let found = part(&mut rest, 0)?;
    *bytes = rest;
    Some(found)
}

fn part(bytes: &mut &[u8], depth: u8) -> Option<RedisResult<Value>> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    let (line, rest) = (&bytes[..end + 2], &bytes[end + 2..]);
    let number = || std::str::from_utf8(&line[1..end]).ok()?.parse::<i64>().ok();
    Some(match (line[0], number()) {
        (b':', Some(number)) => {
            *bytes = rest;
            Ok(Value::Int(number))
        }
        (b'$', Some(length)) if length >= 0 => {
            let length = length as usize;
            let text = rest.get(..length + 2)?;
            *bytes = &rest[length + 2..];
            Ok(Value::BulkString(text[..length].to_vec()))
        }
        (b'*', Some(count)) if count >= 0 && depth < 2 => {
            *bytes = rest;
            let mut items = Vec::with_capacity((count as usize).min(16));
            for _ in 0..count {
                match part(bytes, depth + 1)? {
                    Ok(item) => items.push(item),
                    nonsense => return Some(nonsense),
                }
            }
            Ok(Value::Array(items))
        }
        // Errors, words, and what no script of ours answers.
        _ => {
            *bytes = rest;
            redis::parse_redis_value(line)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once_it_is_all_there() {
        let answers = b"*3\r\n:1\r\n:-2\r\n$3\r\na\r\n\r\n-NOSCRIPT No matching script\r\n+OK\r\n:7\r\n";
        let whole = Value::Array(vec![Value::Int(1), Value::Int(-2), Value::BulkString(b"a\r\n".to_vec())]);
        for cut in 0..22 {
            let mut bytes = &answers[..cut];
            assert!(value(&mut bytes).is_none() && bytes.len() == cut, "{cut}");
        }
        let mut bytes = &answers[..];
        let mut next = || value(&mut bytes).map(|answer| answer.and_then(Value::extract_error));
        assert_eq!(next(), Some(Ok(whole)));
        assert_eq!(next().and_then(Result::err).as_ref().and_then(redis::RedisError::code), Some("NOSCRIPT"));
        assert_eq!([next(), next(), next()], [Some(Ok(Value::Okay)), Some(Ok(Value::Int(7))), None]);
        assert!(value(&mut &b"*x\r\n"[..]).is_some_and(|answer| answer.is_err()));
    }
}
