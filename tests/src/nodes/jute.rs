//! The encoding of ZooKeeper's wire.

/// A packet that is being written.
#[derive(Clone, Debug, Default)]
pub struct Packet(Vec<u8>);

impl Packet {
    pub fn new() -> Self {
        Packet::default()
    }

    pub fn bool(mut self, value: bool) -> Self {
        self.0.push(value.into());
        self
    }

    pub fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn long(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn buffer(self, value: &[u8]) -> Self {
        let mut packet = self.int(length(value));
        packet.0.extend(value);
        packet
    }

    pub fn text(self, value: &str) -> Self {
        self.buffer(value.as_bytes())
    }

    pub fn and(mut self, rest: &Packet) -> Self {
        self.0.extend(&rest.0);
        self
    }

    /// The bytes that go out: the length, and the packet.
    pub fn framed(&self) -> Vec<u8> {
        Packet::new().buffer(&self.0).0
    }
}

fn length(value: &[u8]) -> i32 {
    i32::try_from(value.len()).expect("a length that the wire can carry")
}

/// A packet that came, as far as it is not read yet.
#[derive(Debug)]
pub struct Bytes {
    packet: Vec<u8>,
    at: usize,
}

impl Bytes {
    pub fn new(packet: Vec<u8>) -> Self {
        Bytes { packet, at: 0 }
    }

    pub fn bool(&mut self) -> bool {
        self.take::<1>() == [1]
    }

    pub fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take())
    }

    pub fn long(&mut self) -> i64 {
        i64::from_be_bytes(self.take())
    }

    /// A buffer that is not there has a length below zero.
    pub fn buffer(&mut self) -> Vec<u8> {
        let length = usize::try_from(self.int()).unwrap_or(0);
        let start = self.at;
        self.at += length;
        self.packet[start..self.at].to_vec()
    }

    pub fn text(&mut self) -> String {
        String::from_utf8(self.buffer()).expect("the server's texts are UTF-8")
    }

    fn take<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let start = self.at;
        self.at += COUNT;
        self.packet[start..self.at].try_into().expect("so many bytes")
    }
}
