//! One connection through the proxy: two threads that copy bytes, and ask [`Faults`] before each packet.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::Direction;

/// What goes wrong now, for all connections of one proxy.
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
    lose_reply_to: Option<Vec<u8>>,
    keep_request: Option<Vec<u8>>,
    kept: Option<(Arc<Connection>, Vec<u8>)>,
    struck: usize,
}

/// What becomes of one packet.
enum Fate {
    Forward,
    /// There is nobody any more to send it to.
    Discard,
    Lose,
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
        self.now().stalled[direction as usize] = stalled;
        self.changed.notify_all();
    }

    pub fn delay(&self, time: Duration) {
        self.now().delay = time;
    }

    pub fn lose_reply_to(&self, text: &str) {
        self.now().lose_reply_to = Some(text.into());
    }

    pub fn keep_request(&self, text: &str) {
        self.now().keep_request = Some(text.into());
    }

    pub fn take_kept(&self) -> Option<(Arc<Connection>, Vec<u8>)> {
        self.now().kept.take()
    }

    pub fn struck(&self) -> usize {
        self.now().struck
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().expect("nobody panics while holding this")
    }

    /// Forwards, or does worse. The lock is held while writing, so that no packet slips through after a verb has returned.
    fn pass(&self, connection: &Arc<Connection>, direction: Direction, packet: &[u8]) -> std::io::Result<()> {
        let delay = self.now().delay;
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        let stalled = |now: &mut Now| now.stalled[direction as usize] && !connection.ended();
        let mut now = self.changed.wait_while(self.now(), stalled).expect("nobody panics while holding this");
        match now.fate(connection, direction, packet) {
            Fate::Forward => return (&mut connection.to(direction)).write_all(packet),
            Fate::Discard => return Ok(()),
            Fate::Lose => {
                drop(now);
                connection.cut();
                now = self.now();
            }
            Fate::Keep => {
                drop(now);
                connection.abandon();
                now = self.now();
                now.kept = Some((connection.clone(), packet.to_vec()));
            }
        }
        now.struck += 1;
        Ok(())
    }
}

impl Now {
    fn fate(&mut self, connection: &Connection, direction: Direction, packet: &[u8]) -> Fate {
        let hits = |text: &Option<Vec<u8>>| text.as_ref().is_some_and(|text| contains(packet, text));
        if connection.ended() {
            return Fate::Discard;
        }
        if direction == Direction::ToClient {
            return if connection.reply_is_lost.load(Ordering::Relaxed) { Fate::Lose } else { Fate::Forward };
        }
        if hits(&self.keep_request) {
            self.keep_request = None;
            return Fate::Keep;
        }
        if hits(&self.lose_reply_to) {
            self.lose_reply_to = None;
            connection.reply_is_lost.store(true, Ordering::Relaxed);
        }
        Fate::Forward
    }
}

fn contains(packet: &[u8], text: &[u8]) -> bool {
    text.is_empty() || packet.windows(text.len()).any(|window| window == text)
}

/// One client's connection and its other half to the server.
pub(super) struct Connection {
    client: TcpStream,
    server: TcpStream,
    reply_is_lost: AtomicBool,
    /// The client's half is closed.
    ended: AtomicBool,
    /// The server closed its half.
    closed: AtomicBool,
    faults: Arc<Faults>,
}

impl Connection {
    pub fn start(client: TcpStream, server: TcpStream, faults: Arc<Faults>) -> Arc<Self> {
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let no = AtomicBool::default;
        let connection = Arc::new(Connection { client, server, reply_is_lost: no(), ended: no(), closed: no(), faults });
        for direction in [Direction::ToServer, Direction::ToClient] {
            let connection = connection.clone();
            std::thread::spawn(move || connection.copy(direction));
        }
        connection
    }

    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends both halves.
    pub fn cut(&self) {
        let _ = self.server.shutdown(Shutdown::Both);
        self.abandon();
    }

    /// Ends the client's half only; what the server still says is dropped.
    fn abandon(&self) {
        self.ended.store(true, Ordering::Release);
        let _ = self.client.shutdown(Shutdown::Both);
        drop(self.faults.now());
        self.faults.changed.notify_all();
    }

    /// Sends what was kept of an abandoned connection, and returns when the server has run it and closed its half.
    pub fn deliver(&self, packet: &[u8]) {
        (&self.server).write_all(packet).expect("the server keeps an abandoned connection open");
        self.server.shutdown(Shutdown::Write).expect("it is open");
        crate::eventually("the end of an abandoned connection", || self.closed.load(Ordering::Acquire).then_some(()));
    }

    fn to(&self, direction: Direction) -> &TcpStream {
        match direction {
            Direction::ToServer => &self.server,
            Direction::ToClient => &self.client,
        }
    }

    fn copy(self: Arc<Self>, direction: Direction) {
        let mut from = match direction {
            Direction::ToServer => &self.client,
            Direction::ToClient => &self.server,
        };
        let mut packet = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from.read(&mut packet) {
            if self.faults.pass(&self, direction, &packet[..length]).is_err() {
                break;
            }
        }
        if !self.ended() {
            self.cut();
        }
        if direction == Direction::ToClient {
            self.closed.store(true, Ordering::Release);
        }
    }
}
