//! Connections over TLS, and the meaning of their errors. The redis crate takes its cryptography from the process, and
//! so would choose it for the application too; ours is that of [`crate::config::tls::crypto::provider`].

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;

use redis::{Parser, RedisError, RedisResult, Value};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use tokio_rustls::client::TlsStream;

use super::wire::left;
use crate::base::clock::Instant;
use crate::base::reach;
use crate::config::tls::Tls;
use crate::config::tls::client::{self, settings};
use crate::config::tls::crypto::Why;

/// Opens connections to one server.
pub struct Connector {
    config: Arc<ClientConfig>,
    host: String,
    port: u16,
    name: ServerName<'static>,
}

impl Connector {
    pub fn new(host: &str, port: u16, tls: &Tls) -> Result<Self, Why> {
        let name = ServerName::try_from(host).map_err(|error| error.to_string())?.to_owned();
        Ok(Connector { config: Arc::new(settings(tls)?), host: host.to_owned(), port, name })
    }

    /// Opens a connection for the I/O thread.
    pub async fn stream(&self) -> RedisResult<TlsStream<tokio::net::TcpStream>> {
        // As the redis crate does it for connections without TLS.
        let tcp = reach::any_address(&self.host, self.port).await?;
        Ok(tokio_rustls::TlsConnector::from(self.config.clone()).connect(self.name.clone(), tcp).await?)
    }

    /// Opens a connection that the calling thread drives, within `limit`. The handshake comes with the first sending.
    pub fn blocking(&self, limit: Duration) -> RedisResult<Secured> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone())
            .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
        let end = Instant::now() + limit;
        let secured = Secured { stream: StreamOwned::new(session, self.reach(end)?), parser: Parser::new() };
        secured.set_write_timeout(left(end))?;
        Ok(secured)
    }

    fn reach(&self, end: Instant) -> std::io::Result<std::net::TcpStream> {
        let mut last = None;
        for address in (&*self.host, self.port).to_socket_addrs()? {
            match std::net::TcpStream::connect_timeout(&address, left(end)) {
                Ok(tcp) => {
                    tcp.set_nodelay(true)?;
                    return Ok(tcp);
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(reach::no_address))
    }
}

/// A connection that the calling thread drives.
pub struct Secured {
    stream: StreamOwned<ClientConnection, std::net::TcpStream>,
    parser: Parser,
}

impl Secured {
    /// Sends commands in the form of the wire. The first time, this reads as well: the handshake.
    pub fn send(&mut self, bytes: &[u8]) -> RedisResult<()> {
        self.stream.write_all(bytes)?;
        Ok(self.stream.flush()?)
    }

    pub fn receive(&mut self) -> RedisResult<Value> {
        self.parser.parse_value(&mut self.stream)
    }

    pub fn set_read_timeout(&self, limit: Duration) -> RedisResult<()> {
        Ok(self.stream.sock.set_read_timeout(Some(limit))?)
    }

    pub fn set_write_timeout(&self, limit: Duration) -> RedisResult<()> {
        Ok(self.stream.sock.set_write_timeout(Some(limit))?)
    }
}

/// The reason why TLS refused the connection, and the remedy; `None`: it was not TLS.
pub fn objection(error: &RedisError) -> Option<String> {
    Some(client::objection(cause(error)?, "redis"))
}

fn cause(error: &RedisError) -> Option<&rustls::Error> {
    let error = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    error.downcast_ref().or_else(|| error.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref())
}
