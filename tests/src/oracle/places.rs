//! Which servers of the rig a client's addresses lead to: by their ports, through proxies, sentinels and whole clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The number of a server of this process; never used again.
pub type Place = usize;

#[derive(Default)]
struct Map {
    last: Place,
    /// Where an address leads: a port, or the path of a socket.
    ways: BTreeMap<String, BTreeSet<Place>>,
    /// Servers that share what they have.
    families: Vec<BTreeSet<Place>>,
}

static MAP: Mutex<Option<Map>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Map) -> T) -> T {
    work(MAP.lock().expect("nothing panics while it is held").get_or_insert_default())
}

/// A new server.
pub fn number() -> Place {
    with(|map| {
        map.last += 1;
        map.last
    })
}

/// A client that asks at `address` comes to that server, and to no server that was there before.
pub fn leads(address: &str, place: Place) {
    with(|map| map.ways.insert(address.to_owned(), BTreeSet::from([place])));
}

/// A client that asks at the port `from` comes to where those come that ask at one of the ports `to`.
pub fn passes(from: u16, to: &[u16]) {
    with(|map| {
        let places = to.iter().filter_map(|port| map.ways.get(&port.to_string())).flatten().copied().collect();
        map.ways.insert(from.to_string(), places);
    });
}

/// Those at these ports are one: a cluster, or a master with its replicas.
pub fn share(ports: impl Iterator<Item = u16>) {
    with(|map| {
        let family: BTreeSet<Place> = ports.filter_map(|port| map.ways.get(&port.to_string())).flatten().copied().collect();
        map.families.push(family);
    });
}

/// A server is gone: its addresses lead nowhere.
pub fn gone(place: Place) {
    with(|map| {
        map.ways.retain(|_, places| !places.remove(&place) || !places.is_empty());
        map.families.iter_mut().for_each(|family| family.retain(|other| *other != place));
        map.families.retain(|family| !family.is_empty());
    });
}

/// Where a client comes to, that names its servers as `scheme://host:port,host:port/master` or `unix://path`.
pub fn of(servers: &str) -> BTreeSet<Place> {
    let (scheme, rest) = servers.split_once("://").unwrap_or(("", servers));
    let addresses: Vec<&str> = match scheme {
        "unix" => vec![rest],
        _ => rest.split('/').next().unwrap_or_default().split(',').filter_map(|host| host.rsplit(':').next()).collect(),
    };
    with(|map| {
        let mut places: BTreeSet<Place> = addresses.iter().filter_map(|address| map.ways.get(*address)).flatten().copied().collect();
        for family in &map.families {
            if !family.is_disjoint(&places) {
                places.extend(family);
            }
        }
        places
    })
}

/// Whether nothing leads to any of them.
pub fn are_gone(places: &BTreeSet<Place>) -> bool {
    with(|map| map.ways.values().all(|there| there.is_disjoint(places)))
}
