//! The packets of ZooKeeper's protocol: numbers and texts in a fixed order, behind their length.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Result};

use crate::sessions::stream::Stream;

/// The longest packet that a server may send. A list of 50,000 waiters is shorter.
const LONGEST: usize = 8 << 20;
/// The longest answer to the first packet.
const LONGEST_GREETING: usize = 1 << 10;

/// The numbers of the operations.
pub mod op {
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const PING: i32 = 11;
    pub const GET_CHILDREN: i32 = 12;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const CREATE_CONTAINER: i32 = 19;
    pub const AUTH: i32 = 100;
    pub const SET_WATCHES: i32 = 101;
    pub const CLOSE: i32 = -11;
}

/// The numbers of packets that are no answers to numbered requests.
pub mod xid {
    pub const EVENT: i32 = -1;
    pub const PING: i32 = -2;
    pub const AUTH: i32 = -4;
    pub const SET_WATCHES: i32 = -8;
}

/// The numbers of the server's refusals.
pub mod code {
    pub const UNIMPLEMENTED: i32 = -6;
    pub const NO_NODE: i32 = -101;
    pub const NO_AUTH: i32 = -102;
    pub const BAD_VERSION: i32 = -103;
    pub const NODE_EXISTS: i32 = -110;
    pub const EXPIRED: i32 = -112;
    pub const AUTH_FAILED: i32 = -115;
    pub const MOVED: i32 = -118;

    /// The name of a refusal, as the clients of the system have it.
    pub fn name(code: i32) -> super::Cow<'static, str> {
        let name = match code {
            -1 => "SystemError",
            -2 => "RuntimeInconsistency",
            -4 => "ConnectionLoss",
            -5 => "MarshallingError",
            UNIMPLEMENTED => "Unimplemented",
            -7 => "OperationTimeout",
            -8 => "BadArguments",
            NO_NODE => "NoNode",
            NO_AUTH => "NoAuth",
            BAD_VERSION => "BadVersion",
            -108 => "NoChildrenForEphemerals",
            NODE_EXISTS => "NodeExists",
            -111 => "NotEmpty",
            EXPIRED => "SessionExpired",
            -114 => "InvalidACL",
            AUTH_FAILED => "AuthFailed",
            MOVED => "SessionMoved",
            -119 => "NotReadOnly",
            -120 => "EphemeralOnLocalSession",
            -124 => "SessionClosedRequireSaslAuth",
            -125 => "QuotaExceeded",
            -127 => "ThrottledOp",
            _ => return format!("Error {code}").into(),
        };
        name.into()
    }
}

/// An ephemeral node ends with its session; the server adds a number to the name of a sequential one.
pub const EPHEMERAL: i32 = 1;
pub const EPHEMERAL_SEQUENTIAL: i32 = 3;
pub const PERSISTENT: i32 = 0;
const CONTAINER: i32 = 4;

fn foreign() -> Error {
    Error::new(ErrorKind::InvalidData, "the server speaks another protocol")
}

/// A packet that is being written.
pub struct Packet(Vec<u8>);

impl Packet {
    pub fn new() -> Self {
        Packet(vec![0; 4])
    }

    pub fn int(mut self, number: i32) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub fn long(mut self, number: i64) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub fn flag(mut self, flag: bool) -> Self {
        self.0.push(flag.into());
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn texts<'a>(self, texts: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let packet = self.int(texts.len() as i32);
        texts.fold(packet, |packet, text| packet.bytes(text.as_bytes()))
    }

    /// The whole packet, behind its length.
    pub fn done(mut self) -> Vec<u8> {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        self.0
    }
}

/// Reads the parts of a packet in their order. A part that is missing is an error, never a panic.
pub struct Parts<'a>(pub &'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (part, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| Error::new(ErrorKind::InvalidData, "the server sends half a packet"))?;
        self.0 = rest;
        Ok(part)
    }

    pub fn flag(&mut self) -> Result<bool> {
        Ok(self.take(1)?[0] != 0)
    }

    pub fn int(&mut self) -> Result<i32> {
        Ok(self.take(4)?.iter().fold(0, |number, byte| number << 8 | i32::from(*byte)))
    }

    pub fn long(&mut self) -> Result<i64> {
        Ok(self.take(8)?.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)))
    }

    /// The bytes behind their length; −1 stands for none.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        match self.int()? {
            -1 => Ok(&[]),
            length => self.take(usize::try_from(length).map_err(|_| foreign())?),
        }
    }

    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| foreign())
    }

    /// A list of texts. Its length is not believed before the texts are there.
    pub fn texts(&mut self) -> Result<Vec<&'a str>> {
        let count = self.int()?;
        (0..count.max(0)).map(|_| self.text()).collect()
    }

    pub fn stat(&mut self) -> Result<Stat> {
        let created = self.long()?;
        let modified = self.long()?;
        self.take(16)?;
        let version = self.int()?;
        self.take(8 + 8 + 8)?;
        Ok(Stat { created, modified, version, changed: self.long()? })
    }
}

/// The parts of a node's state that a client of ours looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The number of the transaction that made it.
    pub created: i64,
    /// The number of the transaction that last wrote its data.
    pub modified: i64,
    /// The number of times that its data was written.
    pub version: i32,
    /// The number of the transaction that last added or removed a child.
    pub changed: i64,
}

/// A request without its number: the operation and its inputs.
#[derive(Clone, Debug)]
pub struct Call {
    pub op: i32,
    inputs: Vec<u8>,
}

impl Call {
    fn new(op: i32, mut inputs: Packet) -> Self {
        Call { op, inputs: inputs.0.split_off(4) }
    }

    /// Makes a node that every client may use, as those of other clients.
    pub fn create(path: &str, data: &[u8], flags: i32) -> Self {
        let packet = Packet::new().bytes(path.as_bytes()).bytes(data);
        let packet = packet.int(1).int(31).bytes(b"world").bytes(b"anyone").int(flags);
        Call::new(op::CREATE, packet)
    }

    /// Makes a node that stays; `container`: until its last child has gone.
    pub fn create_parent(path: &str, container: bool) -> Self {
        let Call { inputs, .. } = Call::create(path, &[], if container { CONTAINER } else { PERSISTENT });
        Call { op: if container { op::CREATE_CONTAINER } else { op::CREATE }, inputs }
    }

    pub fn delete(path: &str) -> Self {
        Call::new(op::DELETE, Packet::new().bytes(path.as_bytes()).int(-1))
    }

    /// Looks whether a node exists; `check` is an operation of a [`Call::multi`].
    pub fn check(path: &str) -> Self {
        Call::new(op::CHECK, Packet::new().bytes(path.as_bytes()).int(-1))
    }

    pub fn exists(path: &str) -> Self {
        Call::new(op::EXISTS, Packet::new().bytes(path.as_bytes()).flag(false))
    }

    pub fn data(path: &str, watch: bool) -> Self {
        Call::new(op::GET_DATA, Packet::new().bytes(path.as_bytes()).flag(watch))
    }

    /// Writes a node's data; a `version` of −1 fits any.
    pub fn write(path: &str, data: &[u8], version: i32) -> Self {
        Call::new(op::SET_DATA, Packet::new().bytes(path.as_bytes()).bytes(data).int(version))
    }

    pub fn children(path: &str, watch: bool) -> Self {
        Call::new(op::GET_CHILDREN, Packet::new().bytes(path.as_bytes()).flag(watch))
    }

    /// All of these or none, in one transaction.
    pub fn multi(calls: &[Call]) -> Self {
        let mut packet = Packet::new();
        for call in calls {
            packet = packet.int(call.op).flag(false).int(-1);
            packet.0.extend_from_slice(&call.inputs);
        }
        Call::new(op::MULTI, packet.int(-1).flag(true).int(-1))
    }

    pub fn close() -> Self {
        Call { op: op::CLOSE, inputs: Vec::new() }
    }

    /// Its packet, with its number.
    pub fn packet(&self, number: i32) -> Vec<u8> {
        let mut packet = Packet::new().int(number).int(self.op);
        packet.0.extend_from_slice(&self.inputs);
        packet.done()
    }
}

/// The outcome of one operation of a [`Call::multi`].
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// The path of a node that it made.
    Created(String),
    Done,
    /// The operation that failed has the reason; the others have other numbers.
    Failed(i32),
}

/// Reads the outcomes of a [`Call::multi`].
pub fn outcomes(answer: &[u8]) -> Result<Vec<Part>> {
    let mut parts = Parts(answer);
    let mut all = Vec::new();
    loop {
        let kind = parts.int()?;
        let is_last = parts.flag()?;
        let error = parts.int()?;
        if is_last {
            return Ok(all);
        }
        all.push(match kind {
            op::CREATE => Part::Created(parts.text()?.to_owned()),
            op::SET_DATA => {
                parts.stat()?;
                Part::Done
            }
            op::DELETE | op::CHECK => Part::Done,
            -1 => {
                parts.int()?;
                match error {
                    0 => Part::Done,
                    error => Part::Failed(error),
                }
            }
            _ => return Err(foreign()),
        });
    }
}

/// The head of a packet of the server.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub number: i32,
    /// The number of the last transaction that the server knows.
    pub transaction: i64,
    pub error: i32,
}

impl Head {
    /// Reads it; the rest of the packet is its content.
    pub fn read(packet: &[u8]) -> Result<(Head, &[u8])> {
        let mut parts = Parts(packet);
        let head = Head { number: parts.int()?, transaction: parts.long()?, error: parts.int()? };
        Ok((head, parts.0))
    }
}

/// A change that the client asked to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Deleted,
    Written,
    /// A child has come or gone.
    Children,
    Other,
}

/// Reads a change, and the path of its node.
pub fn change(content: &[u8]) -> Result<(Change, &str)> {
    let mut parts = Parts(content);
    let kind = parts.int()?;
    parts.int()?;
    let change = match kind {
        2 => Change::Deleted,
        3 => Change::Written,
        4 => Change::Children,
        _ => Change::Other,
    };
    Ok((change, parts.text()?))
}

/// The proof by which a session goes on over another connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    pub id: i64,
    pub password: Vec<u8>,
}

/// The server's answer to the first packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Greeting {
    pub session: Credentials,
    /// The ms for which it keeps the session without a sign of life; 0 or less: the session is over.
    pub timeout: i32,
}

impl Greeting {
    fn read(packet: &[u8]) -> Result<Self> {
        let mut parts = Parts(packet);
        let version = parts.int()?;
        let timeout = parts.int()?;
        let id = parts.long()?;
        let password = parts.bytes()?.to_vec();
        if version != 0 || password.len() > 64 {
            return Err(foreign());
        }
        Ok(Greeting { session: Credentials { id, password }, timeout })
    }
}

pub struct Wire {
    stream: Stream,
    /// The bytes that have come and are no whole packet yet.
    read: Vec<u8>,
    longest: usize,
}

impl Wire {
    pub fn new(stream: Stream) -> Self {
        Wire { stream, read: Vec::new(), longest: LONGEST_GREETING }
    }

    /// Begins a session, or goes on with one. `seen`: the number of the last transaction that the client knows.
    pub async fn greet(&mut self, session: &Credentials, timeout: i32, seen: i64) -> Result<Greeting> {
        let empty = [0; 16];
        let password = if session.password.is_empty() { &empty[..] } else { &session.password };
        let first = Packet::new().int(0).long(seen).int(timeout).long(session.id).bytes(password).flag(false);
        self.send(&first.done()).await?;
        let answer = self.receive().await?;
        self.longest = LONGEST;
        Greeting::read(&answer)
    }

    /// Waits for the next packet. Dropping the future loses nothing.
    pub async fn receive(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(length) = self.read.first_chunk() {
                let length = u32::from_be_bytes(*length) as usize;
                if length > self.longest {
                    return Err(foreign());
                }
                if self.read.len() >= 4 + length {
                    let rest = self.read.split_off(4 + length);
                    let mut packet = std::mem::replace(&mut self.read, rest);
                    packet.drain(..4);
                    return Ok(packet);
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

    pub async fn send(&mut self, packets: &[u8]) -> Result<()> {
        self.stream.send(packets).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_is_its_number_its_operation_and_its_inputs_behind_their_length() {
        let sent = Call::data("/n", true).packet(7);
        assert_eq!(sent, [0, 0, 0, 15, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 2, b'/', b'n', 1]);
        assert_eq!(Call::close().packet(1), [0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5]);
    }

    #[test]
    fn a_multi_has_a_head_before_each_operation_and_one_at_its_end() {
        let Call { op, inputs } = Call::multi(&[Call::check("/a"), Call::delete("/b")]);
        assert_eq!(op, op::MULTI);
        let check = [0, 0, 0, 13, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, b'/', b'a', 0xff, 0xff, 0xff, 0xff];
        let delete = [0, 0, 0, 2, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, b'/', b'b', 0xff, 0xff, 0xff, 0xff];
        let end = [0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(inputs, [&check[..], &delete, &end].concat());
    }

    #[test]
    fn the_outcomes_of_a_multi_tell_which_operation_failed() {
        let result = |kind: i32, error: i32| Packet::new().int(kind).flag(false).int(error).0.split_off(4);
        let end = Packet::new().int(-1).flag(true).int(-1).0.split_off(4);
        let made =
            [result(op::DELETE, 0), result(op::CREATE, 0), Packet::new().bytes(b"/n").0.split_off(4), end.clone()];
        assert_eq!(outcomes(&made.concat()).expect("well formed"), [Part::Done, Part::Created("/n".into())]);
        let failed = |error: i32| [result(-1, error), error.to_be_bytes().to_vec()].concat();
        let refused = [failed(0), failed(code::NO_NODE), failed(-2), end];
        let told = [Part::Done, Part::Failed(code::NO_NODE), Part::Failed(-2)];
        assert_eq!(outcomes(&refused.concat()).expect("well formed"), told);
    }

    #[test]
    fn the_state_of_a_node_has_its_fields_in_their_order() {
        let packet = Packet::new().long(1).long(2).long(3).long(4).int(5).int(6).int(7).long(8).int(9).int(10).long(11);
        let stat = Parts(&packet.0[4..]).stat().expect("well formed");
        assert_eq!(stat, Stat { created: 1, modified: 2, version: 5, changed: 11 });
    }

    #[test]
    fn a_server_of_another_kind_is_found_out_by_its_first_bytes() {
        for first in [&b"-ERR unknown command"[..], b"HTTP/1.1 400", b"\x5b\0\0\0\x0a5.5.5", b"SSH-2.0"] {
            let length = u32::from_be_bytes(*first.first_chunk().expect("four bytes"));
            assert!(length as usize > LONGEST_GREETING, "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_packet_of_a_server_makes_the_client_panic(packet in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = (outcomes(&packet).is_ok(), Greeting::read(&packet).is_ok(), change(&packet).is_ok());
            let _ = (Parts(&packet).texts().is_ok(), Parts(&packet).stat().is_ok(), Head::read(&packet).is_ok());
        }
    }
}
