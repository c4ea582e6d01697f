//! A box between a client and its server. It moves new connections to another server, and ends connections in ways in which a
//! server does not.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// The words of such a question.
const LAST: &[u8] = b"IS_USED_LOCK";

/// Forwards for as long as the program runs.
pub struct Relay {
    pub port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    server: AtomicU16,
    ends_behind_answers: AtomicBool,
    clients: Mutex<Vec<TcpStream>>,
}

impl Relay {
    pub fn start(server: u16) -> Self {
        let listener = redlatch_tests::ports::listen();
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::<State>::default();
        let relay = Relay { port, state: state.clone() };
        relay.move_to(server);
        std::thread::spawn(move || {
            // The servers' ends stay open for as long as the program runs.
            let mut ends = Vec::new();
            for client in listener.incoming().flatten() {
                let port = state.server.load(SeqCst);
                let server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
                let is_last = Arc::<AtomicBool>::default();
                let [up, down] = [(&client, &server), (&server, &client)].map(|(from, to)| (clone(from), clone(to)));
                let (way, asked) = (state.clone(), is_last.clone());
                // The end of a client is told to no server.
                std::thread::spawn(move || {
                    pump(&up.0, &up.1, |bytes| {
                        let asks = bytes.windows(LAST.len()).any(|window| window == LAST);
                        asked.fetch_or(asks && way.ends_behind_answers.load(SeqCst), SeqCst);
                        false
                    });
                });
                std::thread::spawn(move || {
                    pump(&down.0, &down.1, |_| is_last.load(SeqCst));
                    let _ = down.1.shutdown(Shutdown::Both);
                    let _ = down.0.shutdown(Shutdown::Both);
                });
                state.clients.lock().expect("nothing panics").push(client);
                ends.push(server);
            }
        });
        relay
    }

    /// New connections go to this server. Those that are there stay.
    pub fn move_to(&self, server: u16) {
        self.state.server.store(server, SeqCst);
    }

    /// Ends the connections on the side of the clients alone, as a box does that has lost its state.
    pub fn cut_clients(&self) {
        for client in self.state.clients.lock().expect("nothing panics").drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// From now on a connection ends right behind the answer to its first question for the owner of a lock.
    pub fn end_behind_answers(&self, ends: bool) {
        self.state.ends_behind_answers.store(ends, SeqCst);
    }
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("the system has room for another handle")
}

/// Copies until the end of either side, or until a part that `is_last`: those bytes and the end come as one.
fn pump(mut from: &TcpStream, mut to: &TcpStream, is_last: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 4096];
    while let Ok(count) = from.read(&mut bytes)
        && count > 0
    {
        let ends = is_last(&bytes[..count]);
        if ends {
            rustix::net::sockopt::set_tcp_cork(to, true).expect("it is Linux");
        }
        if to.write_all(&bytes[..count]).is_err() || ends {
            return;
        }
    }
}
