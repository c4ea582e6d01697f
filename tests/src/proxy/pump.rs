//! One connection through the proxy: two threads that copy bytes, and check [`Faults`] before each packet.

use std::io::{Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use super::Direction;
use super::faults::{Fate, Faults};

/// One client's connection and its other half to the server.
pub(super) struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// The fate of the next packet to the client.
    fate: Mutex<Option<Fate>>,
    held: [AtomicBool; 2],
    half_closed: [AtomicBool; 2],
    /// Whether the client's half is closed.
    ended: AtomicBool,
    /// Whether the server closed its half.
    closed: AtomicBool,
    /// Whether bytes of a direction are out of the one socket and not yet in the other.
    busy: [AtomicBool; 2],
    faults: Arc<Faults>,
}

impl Connection {
    pub fn start(client: TcpStream, server: TcpStream, faults: Arc<Faults>) -> Arc<Self> {
        let _ = client.set_nodelay(true);
        let _ = server.set_nodelay(true);
        let connection = Arc::new(Connection {
            client,
            server,
            fate: Mutex::default(),
            held: Default::default(),
            half_closed: Default::default(),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            busy: Default::default(),
            faults,
        });
        for direction in [Direction::ToServer, Direction::ToClient] {
            let connection = connection.clone();
            std::thread::spawn(move || connection.copy(direction));
        }
        connection
    }

    pub fn ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    /// Whether this way has no receiver any more.
    pub fn discards(&self, direction: Direction) -> bool {
        self.ended() || self.half_closed[direction as usize].load(SeqCst)
    }

    pub fn fate(&self) -> Option<Fate> {
        *self.fate.lock().expect("nothing panics while it is held")
    }

    /// Sets the fate of the next packet from the server.
    pub fn doom(&self, fate: Option<Fate>) {
        *self.fate.lock().expect("nothing panics while it is held") = fate;
    }

    pub fn is_held(&self, direction: Direction) -> bool {
        self.held[direction as usize].load(SeqCst)
    }

    /// Holds back all bytes of one direction.
    pub fn hold(&self, direction: Direction) {
        self.faults.made(|| self.mark_held(direction));
    }

    /// As [`Connection::hold`], for a thread that is writing a packet of this direction.
    pub fn mark_held(&self, direction: Direction) {
        self.held[direction as usize].store(true, SeqCst);
    }

    /// Ends the holds of both directions.
    pub fn let_go(&self) {
        self.faults.made(|| self.held.iter().for_each(|held| held.store(false, SeqCst)));
    }

    /// Ends one direction. Later bytes of that direction are dropped.
    pub fn half_close(&self, direction: Direction) {
        self.faults.made(|| {
            self.half_closed[direction as usize].store(true, SeqCst);
            let _ = self.to(direction).shutdown(Shutdown::Write);
        });
    }

    /// Ends both halves.
    pub fn cut(&self) {
        let _ = self.server.shutdown(Shutdown::Both);
        self.abandon();
    }

    /// Ends the client's half only. Later bytes from the server are dropped.
    pub fn abandon(&self) {
        self.ended.store(true, SeqCst);
        let _ = self.client.shutdown(Shutdown::Both);
        self.faults.made(|| {});
    }

    /// Sends the kept packet of an abandoned connection, and returns when the server has run it and closed its half;
    /// false: the server had ended the connection.
    pub fn deliver(&self, packet: &[u8]) -> bool {
        if (&self.server).write_all(packet).is_err() || self.server.shutdown(Shutdown::Write).is_err() {
            return false;
        }
        crate::eventually("the end of an abandoned connection", || self.closed.load(SeqCst).then_some(()));
        true
    }

    pub fn write(&self, direction: Direction, packet: &[u8]) -> Result<()> {
        self.to(direction).write_all(packet)
    }

    /// Whether all bytes that have come from either side are on their way to the other.
    pub fn is_idle(&self) -> bool {
        let is_read = |stream| rustix::io::ioctl_fionread(stream).map_or(true, |unread| unread == 0);
        is_read(&self.client) && is_read(&self.server) && self.busy.iter().all(|busy| !busy.load(SeqCst))
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
        // Bytes are unread until the connection is noted as busy, so that they are always seen.
        while let Ok(1..) = from.peek(&mut packet[..1]) {
            self.busy[direction as usize].store(true, SeqCst);
            let Ok(length @ 1..) = from.read(&mut packet) else { break };
            if self.faults.pass(&self, direction, &packet[..length]).is_err() {
                break;
            }
            self.busy[direction as usize].store(false, SeqCst);
        }
        if !self.ended() {
            self.cut();
        }
        if direction == Direction::ToClient {
            self.closed.store(true, SeqCst);
        }
    }
}
