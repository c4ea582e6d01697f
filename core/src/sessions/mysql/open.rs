//! The opening of a connection: the login, and what the server is.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::config::login::Credentials;
use crate::config::servers::Address;
use crate::request::error::{Error, Result, Source};
use crate::sessions::driver::{Bond, News};
use crate::sessions::mysql::Shared;
use crate::sessions::mysql::connection::{Connection, Role};
use crate::sessions::mysql::login::{self, Failed};
use crate::sessions::mysql::names::{Flavour, literal};
use crate::sessions::mysql::wire::{Answer, Refusal, Rows, Wire};
use crate::sessions::stream::Stream;

/// The server has no room for one more connection, or begins to end.
const FOR_NOW: [u16; 4] = [1040, 1203, 1226, 1053];

/// Opens a connection, and makes its session ready to lock.
pub async fn open(shared: &Arc<Shared>, bond: Bond, tag: &str, role: Role) -> Result<Arc<Connection>> {
    let limit = shared.config.connect_timeout;
    let late = || Error::unavailable(shared.server(), format!("did not let the client in within {limit:?}"), true);
    let (wire, id, sent) =
        timeout(limit, ready(shared, tag)).await.map_err(|_| late())?.map_err(|failed| error(shared, failed))?;
    let connection = Connection::start(shared, wire, bond, id, tag, role);
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

async fn ready(shared: &Shared, tag: &str) -> std::result::Result<(Wire, u64, Instant), Failed> {
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
    // Only the table of tokens can be locked by other programs. MySQL waits for a second at least.
    for least in [0, 1] {
        let limits = format!("SET SESSION lock_wait_timeout={least}, innodb_lock_wait_timeout={least}");
        match query(&mut wire, &limits).await {
            Err(Failed::Refused(_)) if least == 0 => {}
            set => {
                set?;
                break;
            }
        }
    }
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
    let _ = shared.flavour.set(flavour);
    Ok((wire, id, sent))
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
