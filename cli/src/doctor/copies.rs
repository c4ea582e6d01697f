//! Asks how many replicas have a lock of its own, and how soon.

use std::time::Duration;

use redlatch::{Client, Error, Guard, Holds, SyncPolicy};

use super::finding::Finding;
use super::servers::{Site, shown};
use super::{LEASE, PATIENCE, rights};
use crate::clock;
use crate::ending::Failure;
use crate::lock::config;
use crate::table::count;

/// The time that the replicas have.
const WITHIN: Duration = Duration::from_millis(100);

/// `None`: there are no replicas, or the server grants no lock, which other findings tell. In a cluster it asks the server of one name.
pub async fn examine(url: Option<&str>, name: &str, site: &Site) -> Result<Option<Finding>, Failure> {
    let Some(replicas) = u32::try_from(site.replicas).ok().filter(|number| *number > 0) else { return Ok(None) };
    let config = config(url)?.sync(SyncPolicy::Wait { replicas, within: WITHIN });
    let client = Client::with_config(config)?;
    let name = format!("{name}:{}:copies", client.id());
    // The first call opens the connection, which would count.
    let first = confirmed(&client, &name).await;
    let finding = match first {
        Ok(_) | Err(Error::NotSynced { .. }) => judged(confirmed(&client, &name).await, site),
        refused => judged(refused, site),
    };
    client.close(Holds::Release).await;
    Ok(finding)
}

/// Takes a lock, and gives the time until replicas had it.
async fn confirmed(client: &Client, name: &str) -> Result<Duration, Error> {
    let asked = clock::now();
    let guard: Guard = client.lock(name).wait(PATIENCE).lease(LEASE).acquire().await?;
    let took = clock::now().saturating_sub(asked);
    guard.release().await?;
    Ok(took)
}

fn judged(confirmed: Result<Duration, Error>, site: &Site) -> Option<Finding> {
    let about = "copies";
    match confirmed {
        Ok(took) if site.replicas == 1 => {
            Some(Finding::good(about, format!("the replica had a lock {} after it was asked for (WAIT)", shown(took))))
        }
        Ok(took) => {
            let text =
                format!("all {} replicas had a lock {} after it was asked for (WAIT)", site.replicas, shown(took));
            Some(Finding::good(about, text))
        }
        Err(Error::NotSynced { confirmed, expected, .. }) => Some(Finding::doubtful(
            about,
            format!(
                "{confirmed} of {} had a lock within {} (WAIT): a failover to another one loses the locks of that time",
                count(expected.into(), "replica"),
                shown(WITHIN)
            ),
            "look at the load of the replicas and at the network between them and their master",
        )),
        Err(Error::Unsupported(why)) => Some(Finding::doubtful(
            about,
            format!("replicas cannot be asked for a lock: {why}"),
            rights::for_copies(site),
        )),
        Err(_) => None,
    }
}
