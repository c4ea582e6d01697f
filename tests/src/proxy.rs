//! A TCP proxy in front of a server. It breaks connections on demand. Each verb returns when it is in effect.

mod faults;
mod pump;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::oracle::places;
use crate::ports;
use crate::server::Server;
pub use faults::Replies;
use faults::{Fate, Faults, Spring};
use pump::Connection;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
}

/// Forwards everything to one server until a verb changes that. Dropping it cuts all connections.
pub struct Proxy {
    server: SocketAddr,
    port: u16,
    patience: Duration,
    faults: Arc<Faults>,
    connections: Arc<Mutex<Vec<Arc<Connection>>>>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl Proxy {
    /// Listens on a free port and forwards to `server`.
    pub fn start(server: &Server) -> Self {
        Proxy::to(server.port())
    }

    /// The same in front of a port of this machine.
    pub fn to(port: u16) -> Self {
        Proxy::before(port, Duration::ZERO)
    }

    /// The same in front of a port on which a server may listen later: a client waits so long for it.
    pub fn before(port: u16, patience: Duration) -> Self {
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = ports::listen();
        let port = listener.local_addr().expect("a bound socket has an address").port();
        places::passes(port, &[server.port()]);
        let proxy = Proxy {
            server,
            port,
            patience,
            faults: Arc::default(),
            connections: Arc::default(),
            acceptor: Mutex::new(None),
        };
        proxy.accept_on(listener);
        proxy
    }

    /// The proxy's own port, for [`Server::url_at`].
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many connections the proxy carries now.
    pub fn connections(&self) -> usize {
        self.live().len()
    }

    /// Whether all bytes that have come from either side are on their way to the other.
    pub fn is_idle(&self) -> bool {
        self.live().iter().all(|connection| connection.is_idle())
    }

    /// Cuts all connections. New ones are accepted.
    pub fn cut(&self) {
        for connection in self.live().drain(..) {
            connection.cut();
        }
    }

    /// Refuses new connections, like a port on which no server listens. The present ones stay.
    pub fn refuse(&self) {
        if let Some(acceptor) = self.acceptor().take() {
            self.faults.refuse(true);
            // The acceptor sits in accept(); this connection makes it look.
            let _ = TcpStream::connect(("127.0.0.1", self.port));
            acceptor.join().expect("the acceptor does not panic");
        }
    }

    /// Accepts new connections again.
    pub fn accept(&self) {
        if self.acceptor().is_none() {
            self.faults.refuse(false);
            let listener = crate::eventually("the proxy's port", || TcpListener::bind(("127.0.0.1", self.port)).ok());
            self.accept_on(listener);
        }
    }

    /// Holds back all bytes of one direction, on present and new connections, until [`Proxy::flow`]. Nothing is lost.
    pub fn stall(&self, direction: Direction) {
        self.faults.stall(direction, true);
    }

    /// Holds back all bytes of one direction on the present connections, until [`Proxy::flow`]; new ones are free. To
    /// the peer that would hear them, the link is half open.
    pub fn freeze(&self, direction: Direction) {
        for connection in self.live().iter() {
            connection.hold(direction);
        }
    }

    /// Tells one side of the present connections that the other has ended. The other direction goes on.
    pub fn half_close(&self, direction: Direction) {
        for connection in self.live().iter() {
            connection.half_close(direction);
        }
    }

    /// Delivers all bytes that were held back, in both directions, and ends all holds and stalls.
    pub fn flow(&self) {
        for connection in self.live().iter() {
            connection.let_go();
        }
        self.faults.stall(Direction::ToServer, false);
        self.faults.stall(Direction::ToClient, false);
    }

    /// Makes every packet take at least this much longer, each way.
    pub fn delay(&self, time: Duration) {
        self.faults.delay(time);
    }

    /// Forwards the next request with `text` in it, swallows its answer and cuts the connection.
    pub fn lose_reply_to(&self, text: &str) {
        self.faults.set_trap(Spring::Doom(Fate::Lost), Direction::ToServer, text, 1);
    }

    /// Forwards the next request with `text` in it, and sends its client `said` in place of each reply that comes next in
    /// one packet.
    pub fn answer_to(&self, text: &str, said: &'static [u8]) {
        self.faults.set_trap(Spring::Doom(Fate::Other(said)), Direction::ToServer, text, 1);
    }

    /// Keeps the next request with `text` in it, and cuts its connection before the server sees it.
    /// [`Proxy::deliver_kept`] delivers the late copy.
    pub fn keep_request(&self, text: &str) {
        self.faults.set_trap(Spring::Keep, Direction::ToServer, text, 1);
    }

    /// Swallows the `nth` packet that goes this way with `text` in it, counted from 1, and cuts its connection. An
    /// empty text is in every packet.
    pub fn cut_at(&self, direction: Direction, text: &str, nth: usize) {
        self.faults.set_trap(Spring::Cut, direction, text, nth);
    }

    /// Holds back the `nth` packet, counted as by [`Proxy::cut_at`], with all that follows it on its connection, until
    /// [`Proxy::flow`].
    pub fn hold_at(&self, direction: Direction, text: &str, nth: usize) {
        self.faults.set_trap(Spring::Hold, direction, text, nth);
    }

    /// Swallows the answer to one in `every` requests with `text` in them and cuts its connection, until
    /// [`Proxy::disarm`].
    pub fn lose_replies_to(&self, text: &str, every: usize) {
        self.faults.set_toll(Fate::Lost, text, every);
    }

    /// Delays the answer to one in `every` requests with `text` in them by `time`, with all that follows it on its
    /// connection, until [`Proxy::disarm`].
    pub fn retard_replies_to(&self, text: &str, every: usize, time: Duration) {
        self.faults.set_toll(Fate::Late(time), text, every);
    }

    /// Replaces a text by another of the same length in each packet to the server that has all of it.
    pub fn rewrite(&self, text: &str, other: &str) {
        self.faults.rewrite(text, other);
    }

    /// Sends these bytes to the clients of the present connections, as if the server had sent them.
    pub fn say(&self, bytes: &[u8]) {
        for connection in self.live().iter() {
            // The client may be gone already.
            self.faults.made(|| drop(connection.write(Direction::ToClient, bytes)));
        }
    }

    /// Forgets the plans for packets that have not come.
    pub fn disarm(&self) {
        self.faults.disarm();
    }

    /// Delivers the kept request to the server over its own connection, and returns once the server has dealt with it;
    /// false: the server had ended that connection.
    pub fn deliver_kept(&self) -> bool {
        let (connection, packet) = crate::eventually("a request to keep", || self.faults.take_kept());
        connection.deliver(&packet)
    }

    /// How many single packets were swallowed, kept or held back so far.
    pub fn struck(&self) -> usize {
        self.faults.struck()
    }

    /// How many answers were swallowed and how many were delayed so far.
    pub fn replies(&self) -> Replies {
        self.faults.replies()
    }

    fn accept_on(&self, listener: TcpListener) {
        let (server, patience) = (self.server, self.patience);
        let faults = self.faults.clone();
        let connections = self.connections.clone();
        let accept = move || {
            for client in listener.incoming().flatten() {
                if faults.refuses() {
                    return;
                }
                if let Some(server) = reach(server, &client, patience, &faults) {
                    // Locked before the first byte: otherwise a verb could come in between and miss this connection.
                    let mut connections = connections.lock().expect("nothing panics while it is held");
                    connections.retain(|connection: &Arc<Connection>| !connection.ended());
                    connections.push(Connection::start(client, server, faults.clone()));
                }
            }
        };
        *self.acceptor() = Some(std::thread::spawn(accept));
    }

    fn live(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        let mut connections = self.connections.lock().expect("nothing panics while it is held");
        connections.retain(|connection| !connection.ended());
        connections
    }

    fn acceptor(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.acceptor.lock().expect("nothing panics while it is held")
    }
}

/// Connects to the server for a client, and tries again while that client waits.
fn reach(server: SocketAddr, client: &TcpStream, patience: Duration, faults: &Faults) -> Option<TcpStream> {
    let begun = Instant::now();
    loop {
        if let Ok(server) = TcpStream::connect(server) {
            return Some(server);
        }
        client.set_nonblocking(true).ok()?;
        let has_left = matches!(client.peek(&mut [0]), Ok(0));
        client.set_nonblocking(false).ok()?;
        if has_left || faults.refuses() || begun.elapsed() >= patience {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.flow();
        self.refuse();
        self.cut();
        if let Some((kept, _)) = self.faults.take_kept() {
            kept.cut();
        }
    }
}
