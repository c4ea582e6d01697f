//! The servers of red locks, each behind a proxy. One of them may fail at any time; none comes back empty before what it gave has ended.

use std::thread::sleep;
use std::time::Duration;

use redlatch_tests::traffic::LONGEST_RED_LEASE;
use redlatch_tests::{Proxy, Server, ms};

/// How many there are.
pub const SERVERS: usize = 3;

pub struct Quorum {
    pub servers: Vec<Server>,
    proxies: Vec<Proxy>,
}

/// What one of them suffers.
#[derive(Clone, Copy, Debug)]
pub enum Ill {
    /// It is killed, and comes back empty.
    Killed,
    Stopped,
    /// It cannot be reached, and connections to it end.
    Refused,
    /// Nothing goes to it or from it.
    Stalled,
    /// One reply of so many is lost with its connection.
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

    /// With commas.
    pub fn urls(&self, query: &str) -> String {
        let url = |(server, proxy): (&Server, &Proxy)| server.url_at(proxy.port()) + query;
        self.servers.iter().zip(&self.proxies).map(url).collect::<Vec<_>>().join(",")
    }

    /// Returns when it is over.
    pub fn suffer(&self, at: usize, ill: Ill, time: Duration) {
        let (server, proxy) = (&self.servers[at], &self.proxies[at]);
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
    /// How long it lasts at least.
    pub fn least(self) -> Duration {
        if matches!(self, Ill::Killed) { LONGEST_RED_LEASE + ms(300) } else { ms(20) }
    }
}
