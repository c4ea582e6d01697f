//! The way to a host that may have several addresses.

use std::io::{Error, ErrorKind, Result};

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;

/// Connects to all addresses of a host at once, and gives the first connection: one of them may swallow everything.
pub async fn any_address(host: &str, port: u16) -> Result<TcpStream> {
    let mut trying = JoinSet::new();
    for address in lookup_host((host, port)).await? {
        trying.spawn(TcpStream::connect(address));
    }
    let mut failure = None;
    while let Some(came) = trying.join_next().await {
        match came {
            Ok(Ok(tcp)) => {
                tcp.set_nodelay(true)?;
                return Ok(tcp);
            }
            Ok(Err(error)) => failure = Some(error),
            Err(ended) => failure = Some(ended.into()),
        }
    }
    Err(failure.unwrap_or_else(no_address))
}

pub fn no_address() -> Error {
    Error::new(ErrorKind::AddrNotAvailable, "the host has no address")
}
