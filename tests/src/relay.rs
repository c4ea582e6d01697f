//! Forwards connections from one address to another, without faults. [`crate::Proxy`] is for faults.

use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use crate::oracle::places;

pub struct Relay {
    port: u16,
    first: Receiver<Vec<u8>>,
}

impl Relay {
    /// Listens at `host` and `port` (0: any free port), and forwards to the port `to` until the test's process ends.
    pub fn start(host: &str, port: u16, to: u16) -> Self {
        let listener = TcpListener::bind((host, port)).unwrap_or_else(|e| panic!("{host}:{port}: {e}"));
        let port = listener.local_addr().expect("a bound socket has an address").port();
        places::passes(port, &[to]);
        let (sender, first) = channel();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let (mut up, mut down) =
                    [(&client, &server), (&server, &client)].map(|(from, to)| (clone(from), clone(to))).into();
                let sender = sender.clone();
                std::thread::spawn(move || {
                    let mut bytes = vec![0; 4096];
                    let count = up.0.read(&mut bytes).unwrap_or_default();
                    bytes.truncate(count);
                    let _ = up.1.write_all(&bytes);
                    let _ = sender.send(bytes);
                    pass(&mut up.0, &mut up.1);
                });
                std::thread::spawn(move || pass(&mut down.0, &mut down.1));
            }
        });
        Relay { port, first }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The first bytes of a client: of each connection once.
    ///
    /// # Panics
    /// When none come.
    pub fn first(&self) -> Vec<u8> {
        self.first.recv_timeout(crate::PATIENCE).expect("a connection")
    }
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("the system has room for another handle")
}

fn pass(from: &mut TcpStream, to: &mut TcpStream) {
    let _ = copy(from, to);
    // Both ends see the end, as if there were no relay between them.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
