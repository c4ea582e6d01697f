//! Looks at the servers of MySQL, MariaDB and ZooKeeper, as far as a connection tells of them.

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error};

use super::finding::Finding;
use super::{keeper, servers::shown};
use crate::ending::Failure;

/// False: the server keeps no locks, and no further one is tried.
pub async fn examine(
    client: &Client,
    url: Option<&str>,
    name: &str,
    mut add: impl FnMut(Finding),
) -> Result<bool, Failure> {
    let server = client.server();
    match client.run(Request::new(Op::Ping, "plain", name, 0)).await {
        Ok(_) => {}
        // The client looks at this when it connects, and the error has the remedy.
        Err(Error::Unsupported(why)) => {
            let (what, remedy) = why.split_once("; ").unwrap_or((&why, "use another server, or another system"));
            add(Finding::bad("server", what, remedy));
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    }
    if server.starts_with("zookeeper") {
        keeper::examine(client, url, name, &mut add).await?;
        return Ok(true);
    }
    let text = format!(
        "{server} keeps locks: it is not read-only, no node of Galera and of no group with several primaries, and no proxy shares its \
         sessions"
    );
    add(Finding::good("server", text));
    let time = shown(std::time::Duration::from_secs(client.watchdog().as_millis().div_ceil(1000) as u64));
    let text = format!(
        "a lock is free at once when its process ends, and {time} after its machine vanishes (wait_timeout of the client's sessions)"
    );
    add(Finding::good("session", text));
    Ok(true)
}
