//! The opening of a connection: the login, what the server is, and the end of sessions that the client has lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::config::login::Credentials;
use crate::config::servers::Address;
use crate::request::error::{Error, Result, Source};
use crate::sessions::driver::{Bond, News};
use crate::sessions::mysql::connection::Connection;
use crate::sessions::mysql::login::{self, Failed};
use crate::sessions::mysql::names::{Flavour, literal};
use crate::sessions::mysql::wire::{Answer, Refusal, Rows, Wire};
use crate::sessions::mysql::{ENDING, NO_RIGHT_TO_KILL, NO_SUCH_THREAD, Shared};
use crate::sessions::stream::Stream;

/// The server has no room for one more connection, or begins to end.
const FOR_NOW: [u16; 4] = [1040, 1203, 1226, 1053];

/// Opens a connection, and makes its session ready to lock.
pub async fn open(
    shared: &Arc<Shared>,
    bond: Bond,
    tag: &str,
    ghosts: &BTreeSet<String>,
    reserved: bool,
) -> Result<Arc<Connection>> {
    let limit = shared.config.connect_timeout;
    let late = || Error::unavailable(shared.server(), format!("did not let the client in within {limit:?}"), true);
    let (wire, id, sent) = timeout(limit, ready(shared, tag, ghosts))
        .await
        .map_err(|_| late())?
        .map_err(|failed| error(shared, failed))?;
    let connection = Connection::start(shared, wire, bond, id, tag, reserved);
    shared.tell(News::Opened { bond, sent, lease: shared.config.watchdog });
    Ok(connection)
}

/// The error of a connection that did not come about.
fn error(shared: &Shared, failed: Failed) -> Error {
    let server = shared.server();
    match failed {
        Failed::Refused(refusal) if FOR_NOW.contains(&refusal.code) => {
            let cause =
                format!("lets no client in ({}); raise its max_connections, or have fewer clients", refusal.message);
            Error::unavailable(server, cause, false)
        }
        Failed::Refused(refusal) => refusal.error(&format!("the login at {server}")),
        Failed::Unsuited(why) if why.starts_with("is read-only") => Error::unavailable(server, why, false),
        Failed::Unsuited(why) => Error::Unsupported(format!("{server} {why}")),
        Failed::Broken(error) => {
            let cause = exhausted::cause(&error).or_else(|| objection(&error));
            let cause = cause.unwrap_or_else(|| format!("cannot be reached ({error})"));
            Error::unavailable(server, cause, false).because_of(Some(Source::new(error)))
        }
    }
}

/// The reason why TLS refused the connection; `None`: it was not TLS.
#[cfg(feature = "__tls")]
fn objection(error: &std::io::Error) -> Option<String> {
    let found = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(crate::config::tls::client::objection(found, "mysql"))
}

#[cfg(not(feature = "__tls"))]
fn objection(_: &std::io::Error) -> Option<String> {
    None
}

async fn ready(
    shared: &Shared,
    tag: &str,
    ghosts: &BTreeSet<String>,
) -> std::result::Result<(Wire, u64, Instant), Failed> {
    let config = &shared.config;
    let credentials = config.login.latest().map_or_else(
        || Credentials { username: config.username.clone(), password: config.password.clone() },
        |set| (*set).clone(),
    );
    let Some(Address::Tcp { host, port, tls }) = config.servers.named().first() else {
        return Err(Failed::Unsuited("is no address".into()));
    };
    let tcp = TcpStream::connect((host.as_str(), *port)).await?;
    tcp.set_nodelay(true)?;
    let mut wire = Wire::new(Stream::Plain(tcp));
    let greeting = login::greeting(&mut wire).await?;
    let flavour = flavour(&greeting.version)?;
    if shared.flavour.get().is_some_and(|before| *before != flavour) {
        return Err(Failed::Unsuited(
            "has become another kind of server, which tells other names apart; connect a new client".into(),
        ));
    }
    let greeted = greeting.id;
    #[cfg(feature = "__tls")]
    let secured = match tls {
        false => None,
        true => {
            let name = rustls::pki_types::ServerName::try_from(host.clone())
                .map_err(|error| Failed::Unsuited(format!("has no name for TLS ({error})")))?;
            let settings = crate::config::tls::client::settings(&config.tls).map_err(Failed::Unsuited)?;
            Some((tokio_rustls::TlsConnector::from(Arc::new(settings)), name))
        }
    };
    #[cfg(not(feature = "__tls"))]
    let _ = tls;
    let mut wire = login::log_in(
        wire,
        greeting,
        &credentials,
        config.schema.as_deref(),
        #[cfg(feature = "__tls")]
        secured,
    )
    .await?;
    let lease = shared.lease().as_secs();
    query(&mut wire, &format!("SET SESSION wait_timeout={lease}, autocommit=1")).await?;
    let names = "'read_only','super_read_only','wsrep_on','group_replication_single_primary_mode'";
    let variables = query(&mut wire, &format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")).await?;
    suits(&variables)?;
    let tag = literal(tag);
    let sent = Instant::now();
    let own = query(&mut wire, &format!("SELECT CONNECTION_ID(),GET_LOCK({tag},0)")).await?;
    let id = number(&own, 0).unwrap_or_default() as u64;
    if id as u32 != greeted {
        return Err(Failed::Unsuited(
            "is behind a proxy that shares its sessions, and a lock belongs to a session; name the server itself"
                .into(),
        ));
    }
    for ghost in ghosts {
        end_ghost(&mut wire, &literal(ghost)).await?;
    }
    let _ = shared.flavour.set(flavour);
    Ok((wire, id, sent))
}

/// Ends a session of this client that may still live at the server: no lock of it outlasts the client's belief by long, and
/// no other session has that mark. No right is needed for one's own sessions.
async fn end_ghost(wire: &mut Wire, tag: &str) -> std::result::Result<(), Failed> {
    loop {
        let holder = query(wire, &format!("SELECT IS_USED_LOCK({tag})")).await?;
        let Some(id) = number(&holder, 0) else { return Ok(()) };
        match query(wire, &format!("KILL {id}")).await {
            Ok(_) => {}
            Err(Failed::Refused(refusal)) if refusal.code == NO_SUCH_THREAD => {}
            // The client has another user now. The server ends that session by itself, and keeps its locks from others until then.
            Err(Failed::Refused(refusal)) if refusal.code == NO_RIGHT_TO_KILL => return Ok(()),
            Err(failed) => return Err(failed),
        }
        sleep(ENDING).await;
    }
}

/// The kind of server, by the version in its greeting; an old one keeps only one lock for each session.
fn flavour(version: &str) -> std::result::Result<Flavour, Failed> {
    let is_maria = version.contains("MariaDB");
    // MariaDB of some versions pretends to be MySQL 5.5.5 for old replicas.
    let plain = version.strip_prefix("5.5.5-").filter(|_| is_maria).unwrap_or(version);
    let mut numbers =
        plain.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
    let version = [numbers.next(), numbers.next(), numbers.next()].map(Option::unwrap_or_default);
    let (flavour, least) = if is_maria { (Flavour::Mariadb, [10, 0, 2]) } else { (Flavour::Mysql, [5, 7, 5]) };
    if version < least {
        let [major, minor, patch] = version;
        return Err(Failed::Unsuited(format!(
            "has the version {major}.{minor}.{patch}, whose sessions keep one lock at a time; use MariaDB 10.0.2 or MySQL 5.7.5 or later"
        )));
    }
    Ok(flavour)
}

/// Refuses servers on which a lock does not exclude all clients.
fn suits(variables: &Rows) -> std::result::Result<(), Failed> {
    let value = |name: &str| {
        let row =
            variables.iter().find(|row| row.first().is_some_and(|first| first.as_deref() == Some(name.as_bytes())));
        row.and_then(|row| row.get(1)?.as_deref()).map(|value| String::from_utf8_lossy(value).to_ascii_uppercase())
    };
    let is_on = |name: &str| value(name).is_some_and(|value| !["OFF", "0"].contains(&value.as_str()));
    if is_on("wsrep_on") {
        return Err(Failed::Unsuited(
            "is a node of a Galera cluster, where a lock excludes only the clients of one node; lock on one server outside it, \
             or by another system"
                .into(),
        ));
    }
    if value("group_replication_single_primary_mode").is_some() && !is_on("group_replication_single_primary_mode") {
        return Err(Failed::Unsuited(
            "is a member of a group with several primaries, where a lock excludes only the clients of one member; use a group \
             with a single primary"
                .into(),
        ));
    }
    if is_on("read_only") || is_on("super_read_only") {
        return Err(Failed::Unsuited(
            "is read-only, as a replica is, and locks belong to the primary; name that one".into(),
        ));
    }
    Ok(())
}

/// Carries out a statement on a connection without a task.
async fn query(wire: &mut Wire, statement: &str) -> std::result::Result<Rows, Failed> {
    wire.command(3, statement.as_bytes()).await?;
    let mut answer = Answer::default();
    loop {
        let packet = wire.receive().await?;
        if let Some(whole) = answer.add(&packet.content)? {
            return whole.map_err(|refusal: Refusal| Failed::Refused(refusal));
        }
    }
}

fn number(rows: &Rows, at: usize) -> Option<i64> {
    std::str::from_utf8(rows.first()?.get(at)?.as_deref()?).ok()?.parse().ok()
}
