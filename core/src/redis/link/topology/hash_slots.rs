//! The slot of a key in a cluster.

use crc::{CRC_16_XMODEM, Crc};

use super::Topology;
use crate::redis::kinds::script::Call;
use crate::request::error::{Error, Result};

pub const SLOTS: u16 = 16384;

static CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key, or of a channel that belongs to slots.
pub fn slot(key: &[u8]) -> u16 {
    CRC.checksum(tag(key)) % SLOTS
}

/// The text between the first `{` and the next `}`, if there is any; else the whole key.
fn tag(key: &[u8]) -> &[u8] {
    let inside = key.iter().position(|byte| *byte == b'{').map(|open| &key[open + 1..]);
    let ended = inside.and_then(|inside| inside.iter().position(|byte| *byte == b'}').map(|close| &inside[..close]));
    ended.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

/// Tells whether the whole key decides its slot.
fn is_untagged(key: &[u8]) -> bool {
    tag(key).len() == key.len()
}

/// The slot of a channel. The server of the key publishes the keyspace events.
pub fn of_channel(channel: &str) -> u16 {
    let key = channel.strip_prefix("__keyspace@0__:").unwrap_or(channel);
    slot(key.as_bytes())
}

impl Topology {
    /// The slot of a call; all its keys must be in one.
    pub fn slot_of(&self, call: &Call) -> Result<u16> {
        let mut keys = call.keys.iter();
        let Some(first) = keys.next().filter(|_| self.is_cluster()) else { return Ok(call.slot) };
        if first.iter().any(|byte| b"{}".contains(byte)) && is_untagged(first) {
            return Err(Error::config(format!(
                "`{}` has a brace but no {{tag}}, so that its keys are in several slots of the cluster; use a name with a tag, or without",
                String::from_utf8_lossy(first)
            )));
        }
        let one = slot(first);
        let channel = call.channel().filter(|channel| self.sharding.is_on() && !channel.is_empty());
        match keys.chain(channel).find(|key| slot(key) != one) {
            None => Ok(one),
            Some(other) => Err(Error::config(format!(
                "{} needs `{}` and `{}`, which are in two slots of the cluster; use a name with one {{tag}}, or without braces",
                call.what(),
                String::from_utf8_lossy(first),
                String::from_utf8_lossy(other)
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_that_of_the_specification() {
        let known =
            [("123456789", 12739), ("foo", 12182), ("{user1000}.following", 3443), ("{user1000}.followers", 3443)];
        for (key, expected) in known {
            assert_eq!(slot(key.as_bytes()), expected, "of {key}");
        }
        let same =
            [("foo{}{bar}", "foo{}{bar}"), ("foo{{bar}}zap", "{bar"), ("foo{bar}{zap}", "bar"), ("foo{bar", "foo{bar")];
        for (key, tagged) in same {
            assert_eq!(tag(key.as_bytes()), tagged.as_bytes(), "of {key}");
        }
        assert_eq!(of_channel("__keyspace@0__:foo"), 12182);
    }
}
