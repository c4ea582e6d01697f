//! A connection that the calling thread drives, with TLS or without.

use std::time::Duration;

use redis::{Connection, RedisConnectionInfo, RedisResult, Value};

#[cfg(feature = "__tls")]
use super::tls::Secured;
use super::wire::left;
use crate::base::clock::Instant;

pub enum Socket {
    Plain(Connection),
    #[cfg(feature = "__tls")]
    Secured(Box<Secured>),
}

impl Socket {
    /// Logs in and chooses the database, all within `limit`. The redis crate would not tell the server's words if it
    /// refuses the login.
    pub fn log_in(&mut self, login: &RedisConnectionInfo, limit: Duration) -> RedisResult<()> {
        let end = Instant::now() + limit;
        if let Some(password) = login.password() {
            let words: Vec<&str> = login.username().into_iter().chain([password]).collect();
            self.ask(redis::cmd("AUTH").arg(words), end).or_else(|error| match error.detail() {
                // The other connections get in there, too.
                Some(said) if said.contains("without any password configured") => Ok(()),
                _ => Err(error),
            })?;
        }
        if login.db() != 0 {
            self.ask(redis::cmd("SELECT").arg(login.db()), end)?;
        }
        Ok(())
    }

    fn ask(&mut self, question: &redis::Cmd, end: Instant) -> RedisResult<()> {
        // The TLS handshake comes with the first write, and it reads.
        self.set_read_timeout(left(end))?;
        self.send(&question.get_packed_command())?;
        self.set_read_timeout(left(end))?;
        self.receive()?.extract_error().map(drop)
    }

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
