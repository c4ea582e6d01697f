//! The same scenario again and again, each time with a fault at another packet, until every packet has had its turn.

use redlatch_tests::{Direction, Proxy, Server, all_at_once};

use super::connect;

/// More packets each way than a scenario has.
const MOST: usize = 32;

/// One run of a scenario.
pub struct Run<'a> {
    pub server: &'a Server,
    /// The name of this run's own lock.
    pub name: String,
    pub proxy: Proxy,
    pub direction: Direction,
    pub nth: usize,
}

impl Run<'_> {
    /// The URL through the proxy.
    pub fn url(&self) -> String {
        self.server.url_at(self.proxy.port())
    }

    /// Cuts the connection at the packet.
    pub fn cut(&self) {
        self.proxy.cut_at(self.direction, "", self.nth);
    }

    /// Holds the packet back, with all that follows it.
    pub fn hold(&self) {
        self.proxy.hold_at(self.direction, "", self.nth);
    }

    pub fn struck(&self) -> bool {
        self.proxy.struck() > 0
    }
}

/// Runs `scenario` for every packet in both directions, all at once.
///
/// # Panics
/// When a run panics, when no packet was struck, or when a scenario may have more packets than were tried.
pub fn at_every_packet(what: &str, scenario: impl Fn(&Run) + Sync) {
    let server = Server::start();
    // A script that the server does not know is sent twice. Only some runs would meet that, and packet numbers would
    // differ between runs.
    connect(&server.url()).lock("first").blocking().acquire().expect("free").release().expect("held");
    let runs: Vec<Run> = [Direction::ToServer, Direction::ToClient]
        .into_iter()
        .flat_map(|direction| (1..=MOST).map(move |nth| (direction, nth)))
        .map(|(direction, nth)| {
            let name = format!("{what}-{direction:?}-{nth}");
            Run { server: &server, name, proxy: Proxy::start(&server), direction, nth }
        })
        .collect();
    all_at_once(runs.iter().map(|run| (run.name.clone(), || scenario(run))));
    for direction in [Direction::ToServer, Direction::ToClient] {
        let struck: Vec<usize> =
            runs.iter().filter(|run| run.direction == direction && run.struck()).map(|run| run.nth).collect();
        assert!(struck.contains(&1), "{direction:?}: nothing was struck");
        assert!(!struck.contains(&MOST), "{direction:?}: there may be more than {MOST} packets: {struck:?}");
    }
}
