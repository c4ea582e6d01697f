//! The work of the I/O thread for a pipelined connection: it opens it, reads, and hands out the answers.

use std::io::ErrorKind;
use std::time::Duration;

use redis::{RedisError, RedisResult, Value};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Pipelined;
use super::pipeline::{Flight, Pipeline};
use super::resp::Reader;
use crate::base::clock::Instant;
use crate::base::together::together;
use crate::config::servers::Address;
use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::Call;
use crate::redis::link::connection::first::tell;
use crate::redis::link::{Outcome, Sent, is_half_done, no_script, stays};
use crate::request::error::{Error, Source};

/// The interval at which it checks that the server still answers.
const LOOK: Duration = Duration::from_millis(250);

/// Connects, asks the questions, and gives the answers.
pub async fn greet(address: &Address, greeting: &redis::Pipeline) -> RedisResult<(TcpStream, Vec<Value>)> {
    let stream = match address {
        Address::Unix(path) => connect_unix(path).await?,
        Address::Tcp { host, port, .. } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            stream
        }
    };
    let greeted = greeting.get_packed_pipeline();
    let mut written = 0;
    while written < greeted.len() {
        stream.writable().await?;
        written += again(stream.try_write(&greeted[written..]))?.unwrap_or_default();
    }
    let mut buffer = [0; 1024];
    let mut reader = Reader::default();
    let mut answers = Vec::new();
    while answers.len() < greeting.cmd_iter().count() {
        let came = read(&stream, &mut buffer).await?;
        reader.add(&buffer[..came]);
        while let Some(answer) = reader.next() {
            answers.push(answer?);
        }
    }
    Ok((stream, answers))
}

/// A Unix socket, in the type of the others: to the system it is a socket like them.
#[cfg(unix)]
async fn connect_unix(path: &str) -> std::io::Result<TcpStream> {
    let stream = tokio::net::UnixStream::connect(path).await?.into_std()?;
    TcpStream::from_std(std::net::TcpStream::from(std::os::fd::OwnedFd::from(stream)))
}

#[cfg(not(unix))]
async fn connect_unix(_: &str) -> std::io::Result<TcpStream> {
    Err(std::io::Error::new(ErrorKind::Unsupported, "this system has no Unix sockets that a client could use"))
}

async fn read(stream: &TcpStream, to: &mut [u8]) -> std::io::Result<usize> {
    loop {
        stream.readable().await?;
        match again(stream.try_read(to))? {
            Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Some(came) => return Ok(came),
            None => {}
        }
    }
}

/// `None`: the system could not do it at that moment.
fn again(done: std::io::Result<usize>) -> std::io::Result<Option<usize>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        done => done.map(Some),
    }
}

/// Makes any end of the reading the end of the connection: callers that wait for an answer hear of it.
struct Ending<'a> {
    pipeline: &'a Pipeline,
    why: Error,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.pipeline.end_with(&self.why);
    }
}

impl Pipelined {
    /// Returns at the end of the connection, after every caller has its outcome.
    pub(super) async fn read(&self, pipeline: &Pipeline) {
        let mut ending = Ending { pipeline, why: self.over() };
        ending.why = self.answers(pipeline).await;
    }

    fn over(&self) -> Error {
        self.server.unavailable("closed the connection", false)
    }

    /// Hands out answers as long as they come; gives the reason why they stop.
    async fn answers(&self, pipeline: &Pipeline) -> Error {
        let mut buffer = vec![0; 64 * 1024];
        let mut reader = Reader::default();
        loop {
            if !pipeline.is_all_written() && timeout(LOOK, pipeline.stream.writable()).await.is_ok() {
                pipeline.flush();
            }
            match timeout(LOOK, read(&pipeline.stream, &mut buffer)).await {
                // The check comes only after a quiet read: this process may have stood still itself.
                Err(_nothing_came) => match pipeline.overdue() {
                    Some(true) => return self.server.unavailable("does not answer in time", true),
                    Some(false) => return self.over(),
                    None => continue,
                },
                Ok(Err(error)) => return self.over().because_of(Some(Source::new(error))),
                Ok(Ok(read)) => reader.add(&buffer[..read]),
            }
            let mut answers = Vec::new();
            let mut nonsense = None;
            // An answer behind nonsense may belong to another call than it seems.
            while nonsense.is_none()
                && let Some(answer) = reader.next()
            {
                match answer.map(Value::extract_error) {
                    Err(error) => nonsense = Some(self.server.broken(&error)),
                    Ok(Err(error)) => answers.push(Err(error)),
                    Ok(Ok(value)) => match Reply::read(value) {
                        Some(reply) => answers.push(Ok(reply)),
                        None => nonsense = Some(self.server.nonsense()),
                    },
                }
            }
            let count = answers.len();
            let flights = pipeline.answered(count);
            if flights.len() < count {
                nonsense = Some(self.server.unavailable("sends an answer that belongs to no question", false));
            }
            together(|| {
                for (Flight { first, sent, copy, .. }, answer) in flights.into_iter().zip(answers) {
                    let tried = self.meaning(first.call(), answer, copy, sent).map(|outcome| (outcome, sent));
                    tell(first, tried);
                }
            });
            if let Some(nonsense) = nonsense {
                return nonsense;
            }
        }
    }

    /// Interprets an answer. `None`: the server did not know the script.
    fn meaning(&self, call: &Call, answer: RedisResult<Reply>, copy: Sent, sent: Instant) -> Option<Outcome> {
        let error: RedisError = match answer {
            Ok(reply) => return Some(self.server.understood(reply, &self.clock, sent)),
            Err(error) if no_script(&error) => return None,
            Err(error) => error,
        };
        if let Some(elsewhere) = self.server.redirection(&error) {
            return Some(stays(Err(elsewhere)));
        }
        if is_half_done(&error) {
            return Some(Outcome::Unknown { error: self.server.moving(), copy });
        }
        let said_no = self.server.refused_call(call, &error);
        Some(said_no.unwrap_or_else(|| Outcome::Unknown { error: self.server.broken(&error), copy }))
    }
}
