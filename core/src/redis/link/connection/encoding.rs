//! Turns a call into a command, and the server's answer into a reply.

use std::ops::RangeInclusive;

use crate::redis::kinds::script::Call;
use crate::redis::link::Reply;
use crate::redis::link::topology::sharding::Sharding;

impl Reply {
    /// The first text of the reply.
    pub fn text(&self) -> Option<String> {
        self.texts.first().map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

/// Makes the command. `resent`: a copy of it may have run before.
pub fn packed(call: &Call, not_after: u64, whole: bool, resent: bool, sharding: &Sharding) -> redis::Cmd {
    let size = call.keys.size() + call.args.size() + 80;
    let script = call.script.form(sharding.is_both());
    let mut cmd = redis::Cmd::with_capacity(call.keys.len() + call.args.len() + 3, if whole { size + script.text.len() } else { size });
    cmd.arg(if whole { "EVAL" } else { "EVALSHA" }).arg(if whole { script.text } else { script.sha }).arg(call.keys.len());
    for key in call.keys.iter() {
        cmd.arg(key);
    }
    for (i, arg) in call.args.iter().enumerate() {
        match Some(i) {
            at if at == call.not_after => cmd.arg(not_after),
            at if at == call.resent => cmd.arg(u8::from(resent)),
            at if at == call.publish => cmd.arg(sharding.publish()),
            _ => cmd.arg(arg),
        };
    }
    cmd
}

/// The codes with which scripts answer. A value with another code is not the answer of a script, and the next answers may belong to other
/// calls.
const CODES: RangeInclusive<i64> = -4..=2;

/// Tells whether a script of ours may have given this answer.
pub fn is_reply(value: &redis::Value) -> bool {
    let redis::Value::Array(items) = value else { return false };
    matches!(items.first(), Some(redis::Value::Int(code)) if CODES.contains(code))
        && items.iter().all(|item| matches!(item, redis::Value::Int(_) | redis::Value::BulkString(_)))
}

pub fn reply(value: redis::Value) -> Option<Reply> {
    let redis::Value::Array(items) = value else { return None };
    let mut items = items.into_iter();
    let code = match items.next() {
        Some(redis::Value::Int(code)) if CODES.contains(&code) => code,
        _ => return None,
    };
    let mut reply = Reply { code, ..Reply::default() };
    for item in items {
        match item {
            redis::Value::Int(number) => reply.numbers.push(number),
            redis::Value::BulkString(bytes) => reply.texts.push(bytes),
            _ => return None,
        }
    }
    Some(reply)
}

/// Tells whether a script ended half way. That happens while a slot moves to another server: the script needs a key that has left already,
/// or has not arrived yet.
pub fn is_half_done(error: &redis::RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("non local key"))
}

pub fn no_script(error: &redis::RedisError) -> bool {
    error.code() == Some("NOSCRIPT")
}
