//! The packets of the server's protocol, over a plain socket or TLS. A connection reads even while it asks nothing: so the
//! client hears at once that its session has ended.

use std::io::{Error, ErrorKind, Result};

use crate::sessions::stream::Stream;

/// The longest packet that a server may send: no answer is nearly as long.
const LONGEST: usize = 1 << 20;

pub struct Wire {
    stream: Stream,
    /// The bytes that have come and are no whole packet yet.
    read: Vec<u8>,
}

/// A packet: its number in the exchange, and its content.
pub struct Packet {
    pub number: u8,
    pub content: Vec<u8>,
}

impl Wire {
    pub fn new(stream: Stream) -> Self {
        Wire { stream, read: Vec::new() }
    }

    /// The socket, before TLS begins on it.
    #[cfg(feature = "__tls")]
    pub fn into_stream(self) -> Stream {
        self.stream
    }

    pub fn is_secured(&self) -> bool {
        self.stream.is_secured()
    }

    /// Waits for the next packet. Dropping the future loses nothing.
    pub async fn receive(&mut self) -> Result<Packet> {
        loop {
            if let Some([a, b, c, number]) = self.read.first_chunk() {
                let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
                if length > LONGEST {
                    return Err(Error::new(ErrorKind::InvalidData, "the server speaks another protocol"));
                }
                if self.read.len() >= 4 + length {
                    let number = *number;
                    let rest = self.read.split_off(4 + length);
                    let mut content = std::mem::replace(&mut self.read, rest);
                    content.drain(..4);
                    return Ok(Packet { number, content });
                }
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read_some(&mut bytes).await?;
            if count == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the server has closed the connection"));
            }
            self.read.extend_from_slice(&bytes[..count]);
        }
    }

    /// Sends one packet.
    pub async fn send(&mut self, number: u8, content: &[u8]) -> Result<()> {
        let length = u32::try_from(content.len()).ok().filter(|length| *length < 1 << 24);
        let length =
            length.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "the statement is too long"))?.to_le_bytes();
        let mut bytes = Vec::with_capacity(4 + content.len());
        bytes.extend_from_slice(&[length[0], length[1], length[2], number]);
        bytes.extend_from_slice(content);
        self.stream.send(&bytes).await
    }

    /// Sends a command: 3 is a statement, 1 the end.
    pub async fn command(&mut self, command: u8, text: &[u8]) -> Result<()> {
        self.send(0, &[&[command], text].concat()).await
    }
}

/// Reads the parts of a packet in their order. A part that is missing is an error, never a panic.
pub struct Parts<'a>(pub &'a [u8]);

impl<'a> Parts<'a> {
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (part, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| Error::new(ErrorKind::InvalidData, "the server sends half a packet"))?;
        self.0 = rest;
        Ok(part)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// A number of so many bytes.
    pub fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number whose first byte tells its length; `None`: SQL's `NULL`.
    pub fn length(&mut self) -> Result<Option<u64>> {
        Ok(Some(match self.byte()? {
            0xfb => return Ok(None),
            0xfc => self.number(2)?,
            0xfd => self.number(3)?,
            0xfe => self.number(8)?,
            small => small.into(),
        }))
    }

    /// A text behind its length.
    pub fn text(&mut self) -> Result<Option<&'a [u8]>> {
        match self.length()? {
            Some(length) => self.bytes(usize::try_from(length).unwrap_or(usize::MAX)).map(Some),
            None => Ok(None),
        }
    }

    /// A text that ends with a zero, or with the packet.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let (text, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        text
    }
}

/// The server's refusal of a statement or of a login.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: u16,
    pub message: String,
}

impl Refusal {
    /// Reads it from a packet that begins with 255.
    pub fn new(content: &[u8]) -> Self {
        let mut parts = Parts(content.get(1..).unwrap_or_default());
        let code = parts.number(2).unwrap_or_default() as u16;
        if parts.0.first() == Some(&b'#') {
            let _ = parts.bytes(6);
        }
        Refusal { code, message: String::from_utf8_lossy(parts.0).into_owned() }
    }
}

/// The rows of an answer; a statement without rows has none.
pub type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// An answer that comes in packets.
#[derive(Default)]
pub struct Answer {
    /// The number of columns; `None`: no packet has come.
    columns: Option<u64>,
    /// The packets that mark the end of the columns and of the rows.
    ends: u8,
    rows: Rows,
    /// The number that a statement without rows has made (`LAST_INSERT_ID(…)`); 0: none.
    pub made: u64,
}

impl Answer {
    /// Adds the next packet. `Some`: the answer is whole.
    pub fn add(&mut self, content: &[u8]) -> Result<Option<std::result::Result<Rows, Refusal>>> {
        let first = content.first().copied();
        let is_end = first == Some(0xfe) && content.len() < 9;
        match (self.columns, first) {
            (_, Some(0xff)) => Ok(Some(Err(Refusal::new(content)))),
            (None, Some(0)) => {
                let mut parts = Parts(&content[1..]);
                let _changed = parts.length()?;
                self.made = parts.length()?.unwrap_or_default();
                Ok(Some(Ok(Rows::new())))
            }
            (None, _) => {
                self.columns = Parts(content).length()?;
                Ok(None)
            }
            (Some(_), _) if is_end => {
                self.ends += 1;
                Ok((self.ends == 2).then(|| Ok(std::mem::take(&mut self.rows))))
            }
            (Some(columns), _) => {
                if self.ends == 1 {
                    let mut parts = Parts(content);
                    let row = (0..columns).map(|_| Ok(parts.text()?.map(<[u8]>::to_vec)));
                    self.rows.push(row.collect::<Result<_>>()?);
                }
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_is_whole_after_its_last_row() {
        let mut answer = Answer::default();
        let end = [0xfe, 0, 0, 2, 0];
        for packet in [&[2][..], b"column", b"column", &end, b"\x0242\xfb", b"\x01n\x00"] {
            assert!(answer.add(packet).expect("it is well formed").is_none());
        }
        let rows = answer.add(&end).expect("it is well formed").expect("whole").expect("no refusal");
        assert_eq!(rows, [[Some(b"42".to_vec()), None], [Some(b"n".to_vec()), Some(Vec::new())]]);
    }

    #[test]
    fn an_answer_without_rows_has_the_number_that_the_statement_has_made() {
        let mut answer = Answer::default();
        let done = answer.add(b"\x00\x02\xfc\x39\x30\x02\x00\x00\x00").expect("it is well formed");
        assert!(matches!(done, Some(Ok(rows)) if rows.is_empty()));
        assert_eq!(answer.made, 12_345);
    }

    #[test]
    fn a_refusal_has_its_number_and_its_words() {
        let refused = Answer::default().add(b"\xff\x15\x04#28000Access denied").expect("it is well formed");
        let Some(Err(Refusal { code: 1045, message })) = refused else { panic!("{refused:?}") };
        assert_eq!(message, "Access denied");
    }

    proptest! {
        #[test]
        fn no_packets_of_a_server_make_the_client_panic(packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut answer = Answer::default();
            for packet in &packets {
                if !matches!(answer.add(packet), Ok(None)) {
                    break;
                }
            }
        }
    }
}
