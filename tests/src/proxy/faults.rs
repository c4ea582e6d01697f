//! The present faults, for all connections of one proxy. A connection checks them before each packet.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::Direction;
use super::pump::Connection;

#[derive(Default)]
pub(super) struct Faults {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Default)]
struct Now {
    refuse: bool,
    stalled: [bool; 2],
    delay: Duration,
    traps: Vec<Trap>,
    toll: Option<Toll>,
    rewritten: Option<[Vec<u8>; 2]>,
    kept: Option<(Arc<Connection>, Vec<u8>)>,
    struck: usize,
    replies: Replies,
}

/// A plan for one packet.
struct Trap {
    spring: Spring,
    direction: Direction,
    text: Vec<u8>,
    /// How many packets with the text pass first.
    skip: usize,
}

/// The fate of a trap's packet.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Spring {
    /// The proxy swallows it and cuts its connection.
    Cut,
    /// The proxy holds it back, with all that follows.
    Hold,
    /// The proxy forwards it; something happens to the next packet the other way.
    Doom(Fate),
    /// The proxy puts it aside and cuts the client's half of its connection.
    Keep,
}

/// Picks one of so many requests, for a fate of its reply.
struct Toll {
    fate: Fate,
    text: Vec<u8>,
    every: usize,
    seen: usize,
}

/// The fate of the next packet to a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    /// The proxy swallows it and cuts its connection.
    Lost,
    /// The proxy delays it, with all that follows.
    Late(Duration),
    /// The proxy sends these bytes in place of each reply in it.
    Other(&'static [u8]),
}

/// How many replies met each fate so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    pub lost: usize,
    pub late: usize,
}

impl Faults {
    pub fn refuse(&self, refuse: bool) {
        self.now().refuse = refuse;
    }

    pub fn refuses(&self) -> bool {
        self.now().refuse
    }

    pub fn stall(&self, direction: Direction, stalled: bool) {
        self.change(|now| now.stalled[direction as usize] = stalled);
    }

    pub fn delay(&self, time: Duration) {
        self.now().delay = time;
    }

    pub fn set_trap(&self, spring: Spring, direction: Direction, text: &str, nth: usize) {
        self.now().traps.push(Trap { spring, direction, text: text.into(), skip: nth.saturating_sub(1) });
    }

    pub fn set_toll(&self, fate: Fate, text: &str, every: usize) {
        self.now().toll = Some(Toll { fate, text: text.into(), every, seen: 0 });
    }

    pub fn rewrite(&self, text: &str, other: &str) {
        assert_eq!(text.len(), other.len(), "no length may change");
        self.now().rewritten = Some([text.into(), other.into()]);
    }

    pub fn disarm(&self) {
        let mut now = self.now();
        now.traps.clear();
        now.toll = None;
    }

    pub fn take_kept(&self) -> Option<(Arc<Connection>, Vec<u8>)> {
        self.now().kept.take()
    }

    pub fn struck(&self) -> usize {
        self.now().struck
    }

    pub fn replies(&self) -> Replies {
        self.now().replies
    }

    /// Changes a state that packets wait for, while no packet is being written.
    pub fn made(&self, change: impl FnOnce()) {
        self.change(|_| change());
    }

    /// Forwards a packet, or does to it what the present faults demand. The lock is held while writing, so that no
    /// packet slips through after a verb has returned.
    pub fn pass(&self, connection: &Arc<Connection>, direction: Direction, packet: &[u8]) -> std::io::Result<()> {
        self.linger(connection, direction);
        let mut now = self.flowing(self.now(), connection, direction);
        if connection.discards(direction) {
            return Ok(());
        }
        match now.spring(connection, direction, packet) {
            None => {}
            Some(Spring::Doom(fate)) => connection.doom(Some(fate)),
            Some(Spring::Hold) => {
                connection.mark_held(direction);
                now.struck += 1;
                now = self.flowing(now, connection, direction);
                if connection.discards(direction) {
                    return Ok(());
                }
            }
            Some(Spring::Cut) => {
                drop(now);
                connection.cut();
                let mut now = self.now();
                now.struck += 1;
                now.replies.lost +=
                    usize::from(direction == Direction::ToClient && connection.fate() == Some(Fate::Lost));
                return Ok(());
            }
            Some(Spring::Keep) => {
                drop(now);
                connection.abandon();
                let mut now = self.now();
                now.kept = Some((connection.clone(), packet.to_vec()));
                now.struck += 1;
                return Ok(());
            }
        }
        let rewritten;
        let packet = match &now.rewritten {
            Some([text, other]) if direction == Direction::ToServer => {
                rewritten = replaced(packet, text, other);
                &rewritten
            }
            _ => packet,
        };
        let others;
        let packet = match connection.fate() {
            Some(Fate::Other(said)) if direction == Direction::ToClient => {
                connection.doom(None);
                now.struck += 1;
                others = said.repeat(count_replies(packet));
                &others
            }
            _ => packet,
        };
        let written = connection.write(direction, packet);
        drop(now);
        written
    }

    /// Waits out the delay of a packet.
    fn linger(&self, connection: &Connection, direction: Direction) {
        let delay = self.now().delay;
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        if direction == Direction::ToClient
            && let Some(Fate::Late(time)) = connection.fate()
        {
            std::thread::sleep(time);
            connection.doom(None);
            self.now().replies.late += 1;
        }
    }

    /// Returns once bytes may go this way on this connection, or the connection has ended.
    fn flowing<'a>(
        &'a self,
        now: MutexGuard<'a, Now>,
        connection: &Connection,
        direction: Direction,
    ) -> MutexGuard<'a, Now> {
        let stalled =
            |now: &mut Now| !connection.ended() && (now.stalled[direction as usize] || connection.is_held(direction));
        self.changed.wait_while(now, stalled).expect("nothing panics while it is held")
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now());
        self.changed.notify_all();
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().expect("nothing panics while it is held")
    }
}

impl Now {
    fn spring(&mut self, connection: &Connection, direction: Direction, packet: &[u8]) -> Option<Spring> {
        if direction == Direction::ToClient && connection.fate() == Some(Fate::Lost) {
            return Some(Spring::Cut);
        }
        let mut sprung = None;
        self.traps.retain_mut(|trap| {
            let waits = sprung.is_some() || trap.direction != direction || !contains(packet, &trap.text);
            if waits || trap.skip > 0 {
                trap.skip -= usize::from(!waits);
                return true;
            }
            sprung = Some(trap.spring);
            false
        });
        if let Some(toll) = &mut self.toll
            && sprung.is_none()
            && direction == Direction::ToServer
            && toll.takes(connection, packet)
        {
            sprung = Some(Spring::Doom(toll.fate));
        }
        sprung
    }
}

impl Toll {
    fn takes(&mut self, connection: &Connection, packet: &[u8]) -> bool {
        self.seen += usize::from(contains(packet, &self.text));
        let takes = self.seen >= self.every && connection.fate().is_none();
        if takes {
            self.seen = 0;
        }
        takes
    }
}

fn contains(packet: &[u8], text: &[u8]) -> bool {
    text.is_empty() || packet.windows(text.len()).any(|window| window == text)
}

/// The packet with `other` in place of each `text`, which is as long.
fn replaced(packet: &[u8], text: &[u8], other: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    for at in 0..=packet.len().saturating_sub(text.len()) {
        if packet[at..].starts_with(text) {
            packet[at..at + other.len()].copy_from_slice(other);
        }
    }
    packet
}

/// The number of replies in a packet. No server leaves a reply out, so that a later one would answer another call.
fn count_replies(packet: &[u8]) -> usize {
    let mut left = packet;
    let mut parser = redis::Parser::new();
    let values = std::iter::from_fn(|| parser.parse_value(&mut left).ok());
    values.filter(|value| !matches!(value, redis::Value::Push { .. })).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_of_a_packet_is_counted() {
        for (packet, count) in
            [("+OK\r\n", 1), ("+OK\r\n*2\r\n:1\r\n:7\r\n", 2), ("-ERR no\r\n:1\r\n>1\r\n+message\r\n$2\r\nab\r\n", 3)]
        {
            assert_eq!(count_replies(packet.as_bytes()), count, "{packet:?}");
        }
    }

    #[test]
    fn each_occurrence_of_a_text_is_replaced() {
        for (packet, expected) in [("", ""), ("ab", "ab"), ("abc", "xyz"), ("abcaabcd", "xyzaxyzd")] {
            assert_eq!(replaced(packet.as_bytes(), b"abc", b"xyz"), expected.as_bytes());
        }
    }
}
