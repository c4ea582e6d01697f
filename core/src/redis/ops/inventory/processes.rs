//! The machines and processes of clients, from the names of their connections.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;

use super::REST;
use crate::base::clock::Instant;
use crate::redis::client_name::ClientName;
use crate::redis::link::Link;

/// The age up to which the list of a server's connections is used again.
const FRESH: Duration = Duration::from_secs(5);
/// A client without a connection that tells is remembered as such, among so many of a server.
const MOST_STRANGERS: usize = 100_000;

/// The machine and the process of each client, by its uuid.
pub type Known = HashMap<String, (String, u32)>;

/// The last answer of a server.
#[derive(Clone)]
struct Said {
    asked: Instant,
    known: Option<Arc<Known>>,
    /// Clients that the server did not tell of when it was asked for them. Redisson's never have a connection that tells.
    strangers: Arc<HashSet<String>>,
}

/// The answers of one server.
#[derive(Default)]
struct Part {
    last: Option<Said>,
    /// One look at a time asks.
    asking: Arc<tokio::sync::Mutex<()>>,
}

/// The last answer of each server, by a slot of it.
#[derive(Default)]
pub struct Processes(Mutex<HashMap<u16, Part>>);

impl Processes {
    /// The processes with a connection to the server of that slot; `None`: the server does not tell, or there are no clients. A client that is not
    /// among them may have connected since the last answer, so the server is asked once for the sake of each. `began`: the clients were
    /// seen since then.
    pub async fn of(
        &self,
        link: &Link,
        slot: u16,
        limit: Duration,
        clients: &[&str],
        began: Instant,
    ) -> Option<Arc<Known>> {
        if clients.is_empty() {
            return None;
        }
        let slot = link.part_of(slot);
        let (asking, last) = self.part(slot, |part| (part.asking.clone(), part.last.clone()));
        if let Some(said) = last.filter(|said| said.is_enough(clients, began)) {
            return self.remember(slot, said, clients);
        }
        let (_asks, has_waited) = match asking.try_lock() {
            Ok(asks) => (asks, false),
            // Another look asks. What was known of these clients will do.
            Err(_) => match self.part(slot, |part| part.last.clone()).filter(|said| said.has_answered(clients)) {
                Some(said) => return said.known,
                None => (asking.lock().await, true),
            },
        };
        let said = match self.part(slot, |part| part.last.clone()) {
            Some(said) if said.is_enough(clients, began) => said,
            // A long list with its rest is no longer fresh when those behind it have their turn: each of them would ask anew.
            Some(said) if has_waited && (said.asked >= began || said.has_answered(clients)) => said,
            last => self.ask(link, slot, limit, last).await,
        };
        self.remember(slot, said, clients)
    }

    fn part<T>(&self, slot: u16, look: impl FnOnce(&mut Part) -> T) -> T {
        look(self.0.lock().expect("nothing panics while it is held").entry(slot).or_default())
    }

    /// Asks the server. The list is long where it has many connections, so it has a rest after it.
    async fn ask(&self, link: &Link, slot: u16, limit: Duration, last: Option<Said>) -> Said {
        let asked = Instant::now();
        let list = link.connections(slot, limit).await.ok();
        sleep(asked.elapsed() * REST).await;
        let strangers = last.map(|said| said.strangers).unwrap_or_default();
        let said = Said { asked, known: list.map(|list| Arc::new(known(&list))), strangers };
        self.part(slot, |part| part.last = Some(said.clone()));
        said
    }

    /// Keeps in mind which of the clients the answer does not have, and gives those that it has.
    fn remember(&self, slot: u16, said: Said, clients: &[&str]) -> Option<Arc<Known>> {
        self.part(slot, |part| {
            let Some(last) = &mut part.last else { return };
            let missing: Vec<_> = clients.iter().filter(|client| !last.has_answered(&[client])).collect();
            if missing.is_empty() {
                return;
            }
            let strangers = Arc::make_mut(&mut last.strangers);
            if strangers.len() >= MOST_STRANGERS {
                strangers.clear();
            }
            strangers.extend(missing.into_iter().map(|client| (*client).to_owned()));
        });
        said.known
    }
}

impl Said {
    /// Whether these clients need no further answer: it is fresh, and was given after they were seen, or has them.
    fn is_enough(&self, clients: &[&str], began: Instant) -> bool {
        self.asked.elapsed() <= FRESH && (self.asked >= began || self.has_answered(clients))
    }

    /// Whether there is nothing to ask for the sake of these clients.
    fn has_answered(&self, clients: &[&str]) -> bool {
        let Some(known) = &self.known else { return true };
        clients.iter().all(|client| known.contains_key(*client) || self.strangers.contains(*client))
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
    fn a_server_is_asked_once_for_a_client_that_it_does_not_know() {
        let processes = Processes::default();
        let said = Said {
            asked: Instant::now(),
            known: Some(Arc::new(known("id=3 name=redlatch@api-3:8121:ours"))),
            strangers: Arc::default(),
        };
        processes.part(0, |part| part.last = Some(said.clone()));
        assert!(said.has_answered(&["ours"]));
        assert!(!said.has_answered(&["ours", "redisson's"]));
        processes.remember(0, said, &["ours", "redisson's"]);
        let last = processes.part(0, |part| part.last.clone()).expect("it was put there");
        assert!(last.has_answered(&["ours", "redisson's"]));
        assert!(!last.has_answered(&["new"]));
        assert_eq!(last.strangers.len(), 1, "one that is known is no stranger when it goes");
    }

    #[test]
    fn a_client_is_found_by_the_name_of_its_connections() {
        let list = "id=3 addr=[::1]:5 name=redlatch@api-3:8121:u age=1\nid=4 addr=x name= age=2\nid=5 name=worker\n";
        assert_eq!(known(list), Known::from([("u".to_owned(), ("api-3".to_owned(), 8121))]));
    }
}
