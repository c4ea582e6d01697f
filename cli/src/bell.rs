//! A signal as something to wait for. The runtime's own way would change the library as well: a runtime that knows signals needs a
//! descriptor more for each client.

use std::io;
use std::os::unix::net::UnixStream as Pipe;
use std::task::{Context, Poll, ready};

use rustix::process::Signal;
use signal_hook::low_level::pipe;
use tokio::net::UnixStream;

/// It rings at each signal of one sort. Signals that come before it is heard ring once.
pub struct Bell(UnixStream);

impl Bell {
    /// From now on the signal does nothing else.
    pub fn of(signal: Signal) -> io::Result<Self> {
        let (heard, rung) = Pipe::pair()?;
        heard.set_nonblocking(true)?;
        pipe::register(signal.as_raw(), rung)?;
        Ok(Bell(UnixStream::from_std(heard)?))
    }

    pub fn poll_rung(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if ready!(self.0.poll_read_ready(cx)).is_err() {
                return Poll::Pending;
            }
            match self.0.try_read(&mut [0; 64]) {
                Ok(1..) => return Poll::Ready(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The other end lives as long as the process.
                _ => return Poll::Pending,
            }
        }
    }

    /// Waits for the next signal.
    pub async fn rung(&self) {
        std::future::poll_fn(|cx| self.poll_rung(cx)).await;
    }
}
