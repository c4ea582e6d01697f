//! The opening of a connection: TLS, the proof of the user, and the session to begin or to go on with.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::base::jitter::jitter;
use crate::base::reach;
use crate::config::Config;
use crate::config::login;
use crate::config::servers::Address;
use crate::engine::word::AN_ANSWER;
use crate::request::error::{Error, Result, Source};
use crate::sessions::stream::Stream;
use crate::sessions::zookeeper::Shared;
use crate::sessions::zookeeper::wire::{Credentials, Head, Packet, Wire, code, op, xid};

/// The time within which a server is to answer in the first round, if there will be a second one.
pub const SOON: Duration = Duration::from_secs(1);

/// A connection to a server that serves the session.
pub struct Dialed {
    pub wire: Wire,
    pub session: Credentials,
    /// The time for which the server keeps the session without a sign of life.
    pub timeout: Duration,
    /// The sending of the first packet.
    pub sent: Instant,
    /// The server's place among all servers.
    pub at: usize,
}

/// The reason why a connection did not come about.
enum Failed {
    Broken(std::io::Error),
    /// The server has closed the connection without an answer.
    Shut,
    /// The same in the midst of the beginning of TLS.
    NoTls,
    NoProof(i32),
    /// The client is closed.
    Closed,
    /// In words.
    Unsuited(String),
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Failed::Shut,
            _ => Failed::Broken(error),
        }
    }
}

/// Begins a session at the first server that answers, from a random one on.
pub async fn begin(shared: &Shared) -> Result<Dialed> {
    let count = shared.config.servers.named().len();
    let first = (jitter() * count as f64) as usize;
    let longest = shared.config.connect_timeout;
    // One server of several that swallows all packets must not keep a caller from the others.
    let rounds = if count > 1 { vec![longest.min(SOON), longest] } else { vec![longest] };
    let mut last = None;
    for (at, limit) in rounds.iter().flat_map(|limit| (0..count).map(move |more| ((first + more) % count, *limit))) {
        let fresh = Credentials::default();
        match dial(shared, at, &fresh, shared.config.watchdog, 0, limit, &mut None).await {
            Ok(Some(dialed)) => return Ok(dialed),
            Ok(None) => {}
            Err(error @ (Error::Refused { .. } | Error::Closed { .. })) => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| Error::unavailable(shared.server(), "lets no client in", false)))
}

/// Connects to one server, within `limit`. `None`: the session is over. `greeted`: the time for which that server keeps the
/// session, and when the client asked for it; known also if the connection breaks behind the greeting.
pub async fn dial(
    shared: &Shared,
    at: usize,
    session: &Credentials,
    wanted: Duration,
    seen: i64,
    limit: Duration,
    greeted: &mut Option<(Duration, Instant)>,
) -> Result<Option<Dialed>> {
    let server = || match shared.config.servers.named().get(at) {
        Some(address) => format!("{}://{}", shared.config.servers.scheme(), address.endpoint()),
        None => shared.server(),
    };
    match timeout(limit, try_dial(shared, at, session, wanted, seen, greeted)).await {
        Ok(Ok(dialed)) => Ok(dialed),
        Ok(Err(failed)) => Err(error(server(), failed)),
        Err(_) => {
            let is_tls = shared.config.servers.named().get(at).is_none_or(Address::is_tls);
            Err(Error::unavailable(server(), not_in(limit, is_tls), true))
        }
    }
}

/// The cause of a failure to get in.
pub fn not_in(limit: Duration, is_tls: bool) -> String {
    let hint = if is_tls { "" } else { "; if its port is one for TLS, write zookeepers://" };
    // A third of a configured time has no end of digits.
    let limit = Duration::from_millis(limit.as_millis() as u64);
    format!("did not let the client in within {limit:?}{hint}")
}

fn error(server: String, failed: Failed) -> Error {
    match failed {
        Failed::Shut => {
            let cause = "closes the connection before it lets the client in; look whether it has a quorum, whether its port is one for \
                         TLS (zookeepers://), and whether it has room for one more client (maxClientCnxns)";
            Error::unavailable(server, cause, false)
        }
        Failed::NoTls => {
            let cause = "closes the connection before TLS begins; if its port is one without TLS, write zookeeper://, or name its port for TLS";
            Error::unavailable(server, cause, false)
        }
        Failed::NoProof(number) => Error::refused(
            format!("the user of {server}"),
            code::name(number),
            "it does not take the user and the password of the scheme digest; give it others, or none",
        ),
        Failed::Closed => Error::Closed { server },
        Failed::Unsuited(why) => Error::Unsupported(format!("{server} {why}")),
        Failed::Broken(error) => {
            let cause = exhausted::cause(&error).or_else(|| objection(&error)).or_else(|| foreign(&error));
            let cause = cause.unwrap_or_else(|| format!("cannot be reached ({error})"));
            Error::unavailable(server, cause, false).because_of(Some(Source::new(error)))
        }
    }
}

/// The reason why TLS refused the connection; `None`: it was not TLS.
#[cfg(feature = "__tls")]
fn objection(error: &std::io::Error) -> Option<String> {
    let found = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(crate::config::tls::client::objection(found, "zookeeper"))
}

#[cfg(not(feature = "__tls"))]
fn objection(_: &std::io::Error) -> Option<String> {
    None
}

fn foreign(error: &std::io::Error) -> Option<String> {
    let says = "is no ZooKeeper: it speaks another protocol; name the port for its clients, mostly 2181";
    (error.kind() == ErrorKind::InvalidData).then(|| says.to_owned())
}

async fn try_dial(
    shared: &Shared,
    at: usize,
    session: &Credentials,
    wanted: Duration,
    seen: i64,
    greeted: &mut Option<(Duration, Instant)>,
) -> std::result::Result<Option<Dialed>, Failed> {
    let stream = tokio::select! {
        biased;
        stream = connect(&shared.config, at) => stream?,
        // Behind this a server may begin a session, and the client must learn of it to end it.
        () = shared.closed(), if session.id == 0 => return Err(Failed::Closed),
    };
    let mut wire = Wire::new(stream);
    let sent = Instant::now();
    let timeout = i32::try_from(wanted.as_millis()).unwrap_or(i32::MAX);
    let greeting = tokio::select! {
        biased;
        greeting = wire.greet(session, timeout, seen) => greeting?,
        // A server that answers has begun a session, which the client must end. One that never does has begun none.
        () = shared.closed_for(AN_ANSWER), if session.id == 0 => return Err(Failed::Closed),
    };
    let Some(timeout) = u64::try_from(greeting.timeout).ok().filter(|timeout| *timeout > 0) else { return Ok(None) };
    if session.id != 0 && greeting.session.id != session.id {
        return Err(Failed::Unsuited("goes on with another session than the one that it was asked for".into()));
    }
    let timeout = Duration::from_millis(timeout);
    *greeted = Some((timeout, sent));
    prove(shared, &mut wire).await?;
    Ok(Some(Dialed { wire, session: greeting.session, timeout, sent, at }))
}

/// Connects to a server, by TLS if its address says so.
async fn connect(config: &Config, at: usize) -> std::result::Result<Stream, Failed> {
    let Some(Address::Tcp { host, port, tls }) = config.servers.named().get(at) else {
        return Err(Failed::Unsuited("is no address".into()));
    };
    let tcp = reach::any_address(host, *port).await?;
    #[cfg(feature = "__tls")]
    if *tls {
        let name = rustls::pki_types::ServerName::try_from(host.clone())
            .map_err(|error| Failed::Unsuited(format!("has no name for TLS ({error})")))?;
        let settings = crate::config::tls::client::settings(&config.tls).map_err(Failed::Unsuited)?;
        let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(settings));
        let secured = connector.connect(name, tcp).await.map_err(|error| match Failed::from(error) {
            Failed::Shut => Failed::NoTls,
            failed => failed,
        })?;
        return Ok(Stream::Secured(Box::new(secured)));
    }
    #[cfg(not(feature = "__tls"))]
    let _ = tls;
    Ok(Stream::Plain(tcp))
}

/// Tells the server the user, in the scheme `digest`.
async fn prove(shared: &Shared, wire: &mut Wire) -> std::result::Result<(), Failed> {
    let config = &shared.config;
    let credentials = config.login.latest().map_or_else(
        || login::Credentials { username: config.username.clone(), password: config.password.clone() },
        |set| (*set).clone(),
    );
    let (Some(user), Some(password)) = (credentials.username, credentials.password) else { return Ok(()) };
    let proof = format!("{user}:{password}");
    let packet = Packet::new().int(xid::AUTH).int(op::AUTH).int(0).bytes(b"digest").bytes(proof.as_bytes());
    wire.send(&packet.done()).await?;
    loop {
        let packet = wire.receive().await?;
        let (head, _) = Head::read(&packet)?;
        match head.number {
            xid::AUTH if head.error == 0 => return Ok(()),
            xid::AUTH => return Err(Failed::NoProof(head.error)),
            _ => {}
        }
    }
}
