//! Turns a call into the words of a command, and tells the errors of scripts apart.

use crate::redis::kinds::script::Call;
use crate::redis::link::topology::sharding::Sharding;

/// The values of a call that are known only when it is sent.
#[derive(Clone, Copy)]
pub struct Stamp<'a> {
    /// The server's time in ms from which it ignores the call.
    pub not_after: u64,
    /// A copy of the call may have run before.
    pub resent: bool,
    /// The text of the script goes along, because the server does not know it.
    pub whole: bool,
    pub sharding: &'a Sharding,
}

impl<'a> Stamp<'a> {
    /// Of the first copy of a call, whose script the server is likely to know.
    pub fn first(not_after: u64, sharding: &'a Sharding) -> Self {
        Stamp { not_after, resent: false, whole: false, sharding }
    }
}

/// Makes the command for a connection of the redis crate.
pub fn command(call: &Call, stamp: Stamp) -> redis::Cmd {
    let mut cmd = redis::Cmd::with_capacity(count(call), size(call, stamp));
    each_word(call, stamp, |word| {
        cmd.arg(word);
    });
    cmd
}

/// Adds the command in the form of the wire.
pub fn write(to: &mut Vec<u8>, call: &Call, stamp: Stamp) {
    to.reserve(size(call, stamp) + 16 * count(call));
    head(to, b'*', count(call));
    each_word(call, stamp, |word| {
        head(to, b'$', word.len());
        to.extend_from_slice(word);
        to.extend_from_slice(b"\r\n");
    });
}

fn head(to: &mut Vec<u8>, mark: u8, number: usize) {
    to.push(mark);
    to.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    to.extend_from_slice(b"\r\n");
}

/// The number of words.
fn count(call: &Call) -> usize {
    call.keys.len() + call.args.len() + 3
}

/// About the size of all words together.
fn size(call: &Call, stamp: Stamp) -> usize {
    let script = if stamp.whole { call.script.form(stamp.sharding.is_both()).text.len() } else { 0 };
    call.keys.size() + call.args.size() + 80 + script
}

fn each_word(call: &Call, stamp: Stamp, mut add: impl FnMut(&[u8])) {
    let script = call.script.form(stamp.sharding.is_both());
    let mut number = itoa::Buffer::new();
    match stamp.whole {
        true => [&b"EVAL"[..], script.text.as_bytes()].into_iter().for_each(&mut add),
        false => [&b"EVALSHA"[..], script.sha.as_bytes()].into_iter().for_each(&mut add),
    }
    add(number.format(call.keys.len()).as_bytes());
    call.keys.iter().for_each(&mut add);
    for (i, arg) in call.args.iter().enumerate() {
        match Some(i) {
            at if at == call.not_after => add(number.format(stamp.not_after).as_bytes()),
            at if at == call.resent => add(if stamp.resent { b"1" } else { b"0" }),
            at if at == call.publish => add(stamp.sharding.publish().as_bytes()),
            _ => add(arg),
        }
    }
}

/// Tells whether a script ended half way. That happens while a slot moves to another server: the script needs a key
/// that has left already, or has not arrived yet.
pub fn is_half_done(error: &redis::RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("non local key"))
}

pub fn no_script(error: &redis::RedisError) -> bool {
    error.code() == Some("NOSCRIPT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::kinds::script::{Script, script};

    static RELEASE: Script = script!("semaphore/release", "_look", "_undo", "_kind", "_number", "_once");

    #[test]
    fn a_call_on_the_wire_is_the_command_of_the_redis_crate() {
        let sharding = Sharding::default();
        let call = Call::new(&RELEASE)
            .key("permits", "näme\r\n")
            .arg("count", -3)
            .publish()
            .arg("channel", "")
            .resent()
            .not_after();
        for whole in [false, true] {
            for resent in [false, true] {
                let stamp = Stamp { not_after: 1_700_000_000_123, resent, whole, sharding: &sharding };
                let mut bytes = b"before".to_vec();
                write(&mut bytes, &call, stamp);
                assert_eq!(
                    bytes[6..],
                    command(&call, stamp).get_packed_command()[..],
                    "whole: {whole}, resent: {resent}"
                );
            }
        }
    }
}
