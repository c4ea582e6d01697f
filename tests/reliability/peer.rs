//! A peer that takes locks: this library in this process, or a real Redisson in a process of its own.

use std::time::{Duration, Instant};

use redlatch::{BlockingGuard, Client};
use redlatch_tests::Agent;
use serde_json::{Value, json};

const REDISSON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/agents/redisson");
const OWNER: i64 = 7;

pub enum Peer {
    Ours(Client),
    Redisson(Agent),
}

/// A lock that was taken.
pub enum Hold<'a> {
    Ours(Box<BlockingGuard>),
    Redisson(&'a Agent, String),
}

impl Peer {
    pub fn ours(url: &str, sync: &str, quarantine: bool) -> Peer {
        let options = format!("retry_for=5&watchdog=5&sync={sync}&quarantine={quarantine}");
        Peer::Ours(Client::connect(&format!("{url}?{options}")).expect("a good URL"))
    }

    pub fn redisson(url: &str) -> Peer {
        Peer::Redisson(Agent::start("redisson", REDISSON, url).expect("`make agents` has made it"))
    }

    /// Takes a lock within `wait`, or returns the error's code.
    pub fn take(&self, name: &str, wait: Duration, lease: Duration) -> Result<Hold<'_>, String> {
        match self {
            Peer::Ours(client) => client
                .lock(name)
                .wait(wait)
                .lease(lease)
                .blocking()
                .acquire()
                .map(|guard| Hold::Ours(Box::new(guard)))
                .map_err(|error| error.code().to_owned()),
            Peer::Redisson(agent) => {
                let mut asked = plain(name);
                asked["wait"] = (wait.as_millis() as u64).into();
                asked["lease"] = (lease.as_millis() as u64).into();
                match agent.ask("try_lock", asked).within(wait + Duration::from_secs(60)) {
                    Ok(taken) if taken == true => Ok(Hold::Redisson(agent, name.to_owned())),
                    other => Err(format!("{other:?}")),
                }
            }
        }
    }
}

impl Hold<'_> {
    /// Keeps the hold until `end`, or until the news of its loss. Returns when that was, and whether the holder was
    /// told of a loss.
    pub fn hold_until(&self, end: Instant) -> (Instant, bool) {
        let left = end.saturating_duration_since(Instant::now());
        match self {
            Hold::Ours(guard) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                let told = runtime.block_on(async { tokio::time::timeout(left, guard.lost()).await }).is_ok();
                (Instant::now(), told)
            }
            Hold::Redisson(..) => {
                std::thread::sleep(left);
                (Instant::now(), false)
            }
        }
    }

    /// Releases the lock, if the peer still holds it.
    pub fn release(self) {
        match self {
            Hold::Ours(guard) => drop(guard.release()),
            Hold::Redisson(agent, name) => drop(
                agent
                    .ask("unlock", json!({ "kind": "plain", "getter": "get_lock", "name": name, "owner": OWNER }))
                    .within(Duration::from_secs(60)),
            ),
        }
    }
}

/// The fields of a command about a plain lock.
fn plain(name: &str) -> Value {
    json!({ "kind": "plain", "getter": "get_lock", "name": name, "owner": OWNER })
}
