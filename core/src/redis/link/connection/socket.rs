//! A connection that the calling thread drives, with TLS or without.

use std::time::Duration;

use redis::{Connection, RedisResult, Value};

#[cfg(feature = "__tls")]
use super::tls::Secured;

pub enum Socket {
    Plain(Connection),
    #[cfg(feature = "__tls")]
    Secured(Box<Secured>),
}

impl Socket {
    /// Sends commands in the form of the wire.
    pub fn send(&mut self, bytes: &[u8]) -> RedisResult<()> {
        match self {
            Socket::Plain(con) => con.send_packed_command(bytes),
            #[cfg(feature = "__tls")]
            Socket::Secured(con) => con.send(bytes),
        }
    }

    /// Waits for the next answer.
    pub fn receive(&mut self) -> RedisResult<Value> {
        match self {
            Socket::Plain(con) => con.recv_response(),
            #[cfg(feature = "__tls")]
            Socket::Secured(con) => con.receive(),
        }
    }

    pub fn set_read_timeout(&self, limit: Duration) -> RedisResult<()> {
        match self {
            Socket::Plain(con) => con.set_read_timeout(Some(limit)),
            #[cfg(feature = "__tls")]
            Socket::Secured(con) => con.set_read_timeout(limit),
        }
    }

    pub fn set_write_timeout(&self, limit: Duration) -> RedisResult<()> {
        match self {
            Socket::Plain(con) => con.set_write_timeout(Some(limit)),
            #[cfg(feature = "__tls")]
            Socket::Secured(con) => con.set_write_timeout(limit),
        }
    }
}
