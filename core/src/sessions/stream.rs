//! The bytes of a connection, over a plain socket or TLS.

use std::future::poll_fn;
use std::io::{ErrorKind, Result};
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "__tls")]
    Secured(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

impl Stream {
    pub fn is_secured(&self) -> bool {
        !matches!(self, Stream::Plain(_))
    }

    /// Waits for bytes; 0: the server has closed the connection. Dropping the future loses nothing.
    pub async fn read_some(&mut self, bytes: &mut [u8]) -> Result<usize> {
        poll_fn(|cx| {
            let mut buffer = ReadBuf::new(bytes);
            let polled = match self {
                Stream::Plain(tcp) => Pin::new(tcp).poll_read(cx, &mut buffer),
                #[cfg(feature = "__tls")]
                Stream::Secured(tls) => Pin::new(tls).poll_read(cx, &mut buffer),
            };
            polled.map_ok(|()| buffer.filled().len())
        })
        .await
    }

    /// Sends all of these bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            let count = poll_fn(|cx| match self {
                Stream::Plain(tcp) => Pin::new(tcp).poll_write(cx, left),
                #[cfg(feature = "__tls")]
                Stream::Secured(tls) => Pin::new(tls).poll_write(cx, left),
            })
            .await?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            left = &left[count..];
        }
        poll_fn(|cx| match self {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            #[cfg(feature = "__tls")]
            Stream::Secured(tls) => Pin::new(tls).poll_flush(cx),
        })
        .await
    }
}
