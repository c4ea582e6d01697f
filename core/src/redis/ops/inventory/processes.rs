//! The machines and processes of clients, from the names of their connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;

use super::REST;
use crate::base::clock::Instant;
use crate::redis::client_name::ClientName;
use crate::redis::link::Link;

/// The age up to which the list of a server's connections is used again.
pub const FRESH: Duration = Duration::from_secs(5);

/// The machine and the process of each client, by its uuid.
pub type Known = HashMap<String, (String, u32)>;

/// The last answer of a server.
#[derive(Clone)]
struct Said {
    asked: Instant,
    known: Option<Arc<Known>>,
}

/// The last answer of each server, by a slot of it.
#[derive(Default)]
pub struct Processes(Mutex<HashMap<u16, Said>>);

impl Processes {
    /// The processes with a connection to the server of that slot, from a list of at most this age; `None`: the server does
    /// not tell. The list is long where a server has many connections, so the server has a rest after it.
    pub async fn of(&self, link: &Link, slot: u16, limit: Duration, age: Duration) -> Option<Arc<Known>> {
        let slot = link.part_of(slot);
        let last = self.0.lock().expect("nothing panics while it is held").get(&slot).cloned();
        if let Some(said) = last.filter(|said| said.asked.elapsed() <= age) {
            return said.known;
        }
        let asked = Instant::now();
        let list = link.connections(slot, limit).await.ok();
        sleep(asked.elapsed() * REST).await;
        let said = Said { asked, known: list.map(|list| Arc::new(known(&list))) };
        let known = said.known.clone();
        self.0.lock().expect("nothing panics while it is held").insert(slot, said);
        known
    }
}

/// Reads the answer to `CLIENT LIST`.
fn known(list: &str) -> Known {
    list.lines()
        .filter_map(|line| {
            let name = line.split(' ').find_map(|word| word.strip_prefix("name="))?;
            let ClientName { host, process, uuid } = ClientName::read(name)?;
            Some((uuid, (host, process)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_found_by_the_name_of_its_connections() {
        let list = "id=3 addr=[::1]:5 name=redlatch@api-3:8121:u age=1\nid=4 addr=x name= age=2\nid=5 name=worker\n";
        assert_eq!(known(list), Known::from([("u".to_owned(), ("api-3".to_owned(), 8121))]));
    }
}
