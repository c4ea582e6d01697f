//! What goes wrong now, for all connections of one proxy; asked before each packet.

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
    kept: Option<(Arc<Connection>, Vec<u8>)>,
    struck: usize,
}

/// Waits for one packet.
struct Trap {
    spring: Spring,
    direction: Direction,
    text: Vec<u8>,
    /// How many packets with the text are let by before.
    skip: usize,
}

/// What becomes of the packet that a trap waits for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Spring {
    /// It is swallowed and its connection cut.
    Cut,
    /// It stays where it is, and what follows it.
    Hold,
    /// It is forwarded; the next packet the other way is swallowed and the connection cut.
    LoseReply,
    /// It is put aside and the client's half of its connection cut.
    Keep,
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

    pub fn disarm(&self) {
        self.now().traps.clear();
    }

    pub fn take_kept(&self) -> Option<(Arc<Connection>, Vec<u8>)> {
        self.now().kept.take()
    }

    pub fn struck(&self) -> usize {
        self.now().struck
    }

    /// Changes something that packets wait for, while none is being written.
    pub fn made(&self, change: impl FnOnce()) {
        self.change(|_| change());
    }

    /// Forwards, or does worse. The lock is held while writing, so that no packet slips through after a verb has returned.
    pub fn pass(&self, connection: &Arc<Connection>, direction: Direction, packet: &[u8]) -> std::io::Result<()> {
        let delay = self.now().delay;
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        let mut now = self.flowing(self.now(), connection, direction);
        if connection.discards(direction) {
            return Ok(());
        }
        match now.spring(connection, direction, packet) {
            None => {}
            Some(Spring::LoseReply) => connection.lose_reply(),
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
                self.now().struck += 1;
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
        let written = connection.write(direction, packet);
        drop(now);
        written
    }

    /// Returns once bytes may go this way on this connection, or it has ended.
    fn flowing<'a>(&'a self, now: MutexGuard<'a, Now>, connection: &Connection, direction: Direction) -> MutexGuard<'a, Now> {
        let stalled = |now: &mut Now| !connection.ended() && (now.stalled[direction as usize] || connection.is_held(direction));
        self.changed.wait_while(now, stalled).expect("nobody panics while holding this")
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now());
        self.changed.notify_all();
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().expect("nobody panics while holding this")
    }
}

impl Now {
    fn spring(&mut self, connection: &Connection, direction: Direction, packet: &[u8]) -> Option<Spring> {
        if direction == Direction::ToClient && connection.reply_is_lost() {
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
        sprung
    }
}

fn contains(packet: &[u8], text: &[u8]) -> bool {
    text.is_empty() || packet.windows(text.len()).any(|window| window == text)
}
