//! Which servers of the rig a client's addresses lead to: by their ports, and through proxies, sentinels and whole
//! clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The number of a server of this process. It is never used again.
pub type Place = usize;

#[derive(Default)]
struct Map {
    last: Place,
    /// The servers to which an address leads. An address is a port, or the path of a socket.
    ways: BTreeMap<String, BTreeSet<Place>>,
    /// Sets of servers that share their data.
    families: Vec<BTreeSet<Place>>,
}

static MAP: Mutex<Option<Map>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Map) -> T) -> T {
    work(MAP.lock().expect("nothing panics while it is held").get_or_insert_default())
}

/// A number for a new server.
pub fn number() -> Place {
    with(|map| {
        map.last += 1;
        map.last
    })
}

/// Notes that `address` leads to that server, and no longer to an earlier one.
pub fn leads(address: &str, place: Place) {
    with(|map| map.ways.insert(address.to_owned(), BTreeSet::from([place])));
}

/// Notes that the port `from` leads to the servers behind the ports `to`.
pub fn passes(from: u16, to: &[u16]) {
    with(|map| {
        let places = to.iter().filter_map(|port| map.ways.get(&port.to_string())).flatten().copied().collect();
        map.ways.insert(from.to_string(), places);
    });
}

/// Notes that the servers at these ports share their data: a cluster, or a master with its replicas.
pub fn share(ports: impl Iterator<Item = u16>) {
    with(|map| {
        let family: BTreeSet<Place> =
            ports.filter_map(|port| map.ways.get(&port.to_string())).flatten().copied().collect();
        map.families.push(family);
    });
}

/// Notes that a server is gone: its addresses lead nowhere.
pub fn gone(place: Place) {
    with(|map| {
        map.ways.retain(|_, places| !places.remove(&place) || !places.is_empty());
        map.families.iter_mut().for_each(|family| family.retain(|other| *other != place));
        map.families.retain(|family| !family.is_empty());
    });
}

/// The servers of a client that names them as `scheme://host:port,host:port/master` or `unix://path`.
pub fn of(servers: &str) -> BTreeSet<Place> {
    let (scheme, rest) = servers.split_once("://").unwrap_or(("", servers));
    let addresses: Vec<&str> = match scheme {
        "unix" => vec![rest],
        _ => rest.split('/').next().unwrap_or_default().split(',').filter_map(|host| host.rsplit(':').next()).collect(),
    };
    with(|map| {
        let mut places: BTreeSet<Place> =
            addresses.iter().filter_map(|address| map.ways.get(*address)).flatten().copied().collect();
        for family in &map.families {
            if !family.is_disjoint(&places) {
                places.extend(family);
            }
        }
        places
    })
}

/// Whether no address leads to any of these servers.
pub fn are_gone(places: &BTreeSet<Place>) -> bool {
    with(|map| map.ways.values().all(|there| there.is_disjoint(places)))
}
