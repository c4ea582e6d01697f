//! The servers of red locks, each behind a proxy. One of them may fail at any time. None comes back empty before its
//! earlier holds have ended.

use std::thread::sleep;
use std::time::Duration;

use redlatch_tests::traffic::LONGEST_RED_LEASE;
use redlatch_tests::{Proxy, Server, ms};

/// How many servers there are.
pub const SERVERS: usize = 3;

pub struct Quorum {
    pub servers: Vec<Server>,
    proxies: Vec<Proxy>,
}

/// The faults of a single server.
#[derive(Clone, Copy, Debug)]
pub enum Ill {
    /// The server is killed, and comes back empty.
    Killed,
    Stopped,
    /// The server cannot be reached, and connections to it end.
    Refused,
    /// The network delivers nothing to the server and nothing from it.
    Stalled,
    /// One of so many replies is lost with its connection.
    Mute {
        every: usize,
    },
}

impl Quorum {
    pub fn start() -> Self {
        let servers: Vec<_> = (0..SERVERS).map(|_| Server::start()).collect();
        let proxies = servers.iter().map(Proxy::start).collect();
        Quorum { servers, proxies }
    }

    /// The servers' URLs, separated by commas.
    pub fn urls(&self, query: &str) -> String {
        let url = |(server, proxy): (&Server, &Proxy)| server.url_through(proxy.port(), query);
        self.servers.iter().zip(&self.proxies).map(url).collect::<Vec<_>>().join(",")
    }

    /// Applies a fault to one server, and returns when the fault is over.
    pub fn suffer(&self, at: usize, ill: Ill, time: Duration) {
        let server = &self.servers[at];
        let proxy = &self.proxies[at];
        match ill {
            Ill::Killed => {
                server.stop();
                sleep(time);
                server.restart();
            }
            Ill::Stopped => {
                server.pause();
                sleep(time);
                server.resume();
            }
            Ill::Refused => {
                proxy.refuse();
                proxy.cut();
                sleep(time);
                proxy.accept();
            }
            Ill::Stalled => {
                proxy.stall(redlatch_tests::Direction::ToServer);
                proxy.stall(redlatch_tests::Direction::ToClient);
                sleep(time);
                proxy.flow();
            }
            Ill::Mute { every } => {
                proxy.lose_replies_to(crate::nemesis::SCRIPTS, every);
                sleep(time);
                proxy.disarm();
            }
        }
    }
}

impl Ill {
    /// The least time of the fault.
    pub fn least(self) -> Duration {
        if matches!(self, Ill::Killed) { LONGEST_RED_LEASE + ms(300) } else { ms(20) }
    }
}
