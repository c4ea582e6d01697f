//! What the I/O thread does with such a connection: it opens it, reads, and tells of the answers.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{Pipeline, RedisError, RedisResult, Value};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::line::{Flight, Line};
use super::{Swift, resp};
use crate::error::Error;
use crate::link::{Outcome, Sent, is_half_done, no_script, stays};
use crate::script::Call;
use crate::servers::Address;
use crate::together::together;

/// So often it looks whether the server still answers.
const LOOK: Duration = Duration::from_millis(250);

/// Connects, asks, and gives the answers.
pub async fn greet(address: &Address, greeting: &Pipeline) -> RedisResult<(TcpStream, Vec<Value>)> {
    let stream = match address {
        Address::Unix(path) => {
            let stream = std::net::TcpStream::from(OwnedFd::from(UnixStream::connect(path).await?.into_std()?));
            TcpStream::from_std(stream)?
        }
        Address::Tcp { host, port, .. } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            stream
        }
    };
    let (greeted, mut written) = (greeting.get_packed_pipeline(), 0);
    while written < greeted.len() {
        stream.writable().await?;
        written += again(stream.try_write(&greeted[written..]))?.unwrap_or_default();
    }
    let (mut buffer, mut begun, mut answers) = ([0; 1024], Vec::new(), Vec::new());
    while answers.len() < greeting.cmd_iter().count() {
        let came = read(&stream, &mut buffer).await?;
        begun.extend_from_slice(&buffer[..came]);
        for answer in whole(&mut begun) {
            answers.push(answer?);
        }
    }
    Ok((stream, answers))
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

/// `None`: it was not possible just then.
fn again(done: std::io::Result<usize>) -> std::io::Result<Option<usize>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        done => done.map(Some),
    }
}

/// Takes out those answers that are all there.
fn whole(begun: &mut Vec<u8>) -> Vec<RedisResult<Value>> {
    let (mut left, mut answers) = (&begun[..], Vec::new());
    while let Some(answer) = resp::value(&mut left) {
        answers.push(answer);
    }
    let taken = begun.len() - left.len();
    begun.drain(..taken);
    answers
}

/// Has the end of the I/O thread be the end of the connection.
struct Ending<'a>(&'a Line);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

impl Swift {
    /// Returns at the end of the connection, when everybody has been told.
    pub(super) async fn read(&self, line: &Arc<Line>) {
        let _ending = Ending(line);
        let why = self.answers(line).await;
        let left = line.end();
        together(|| {
            for Flight { first, sent, copy, .. } in left {
                first.told(Some((Outcome::Unknown { error: why.clone(), copy }, sent)));
            }
        });
    }

    /// Tells of answers as long as there are some; why there are none any more.
    async fn answers(&self, line: &Arc<Line>) -> Error {
        let over = || self.server.unavailable("closed the connection", false);
        let (mut buffer, mut begun) = (vec![0; 64 * 1024], Vec::new());
        loop {
            if !line.is_all_written() && timeout(LOOK, line.stream.writable()).await.is_ok() {
                line.flush();
            }
            match timeout(LOOK, read(&line.stream, &mut buffer)).await {
                // Only then: this side may have stood still itself.
                Err(_nothing_came) => match line.overdue() {
                    Some(true) => return self.server.unavailable("does not answer in time", true),
                    Some(false) => return over(),
                    None => continue,
                },
                Ok(Err(_)) => return over(),
                Ok(Ok(read)) => begun.extend_from_slice(&buffer[..read]),
            }
            let answers = whole(&mut begun);
            let is_nonsense = answers.iter().any(Result::is_err);
            let flights = line.answered(answers.len());
            together(|| {
                for (Flight { first, sent, copy, .. }, answer) in flights.into_iter().zip(answers) {
                    let tried =
                        self.meaning(first.call(), answer.and_then(Value::extract_error), copy, sent).map(|outcome| (outcome, sent));
                    first.told(tried);
                }
            });
            if is_nonsense {
                return over();
            }
        }
    }

    /// `None`: the server did not know the script.
    fn meaning(&self, call: &Call, answer: RedisResult<Value>, copy: Sent, sent: Instant) -> Option<Outcome> {
        let error: RedisError = match answer {
            Ok(value) => return Some(self.server.understood(value, &self.clock, sent)),
            Err(error) if no_script(&error) => return None,
            Err(error) => error,
        };
        if let Some(elsewhere) = self.server.redirection(&error) {
            return Some(stays(Err(elsewhere)));
        }
        if is_half_done(&error) {
            return Some(Outcome::Unknown { error: self.server.moving(), copy });
        }
        let said_no = self.server.said_no(&call.what(), &error);
        Some(said_no.unwrap_or_else(|| Outcome::Unknown { error: self.server.broken(&error), copy }))
    }
}
