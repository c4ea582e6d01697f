//! A session at ZooKeeper by a client of the rig's own: it looks at nodes and changes them without any code under test.

mod jute;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::PATIENCE;
use jute::{Bytes, Packet};

/// One session. It sends no sign of life by itself: it asks for a time that outlasts each test. Dropping it ends it.
pub struct Nodes {
    stream: TcpStream,
    id: i64,
    password: Vec<u8>,
    timeout: Duration,
    patience: Duration,
    requests: i32,
    news: VecDeque<News>,
}

/// The life of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Persistent = 0,
    Ephemeral = 1,
    PersistentSequential = 2,
    EphemeralSequential = 3,
    Container = 4,
}

/// A node, as the server tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub data: Vec<u8>,
    /// The transaction that made it, and the one that last changed its data.
    pub made: i64,
    pub changed: i64,
    pub version: i32,
    /// The session with which it ends.
    pub owner: Option<i64>,
    pub children: usize,
}

/// The news of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    pub path: String,
    pub what: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Deleted,
    Data,
    Children,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoNode,
    NodeExists,
    NotEmpty,
    /// The server knows no such session, or does not let it in.
    NoSession,
    Code(i32),
    /// No answer came: the server has closed the connection, or says nothing for so long.
    Silence(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

pub type Result<T> = std::result::Result<T, Refusal>;

/// Longer than any test.
const LONG: Duration = Duration::from_secs(300);

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const GET_DATA: i32 = 4;
const SET_DATA: i32 = 5;
const SET_RIGHTS: i32 = 7;
const SYNC: i32 = 9;
const PING: i32 = 11;
const GET_CHILDREN: i32 = 12;
const CHECK: i32 = 13;
const MULTI: i32 = 14;
const CREATE_CONTAINER: i32 = 19;
const AUTH: i32 = 100;
const CLOSE: i32 = -11;

const AUTH_NUMBER: i32 = -4;
const PING_NUMBER: i32 = -2;
const NEWS_NUMBER: i32 = -1;

impl Nodes {
    /// A new session.
    ///
    /// # Errors
    /// When the server lets nobody in.
    pub fn connect(port: u16) -> Result<Self> {
        Nodes::begin(port, LONG, 0, &[0; 16])
    }

    /// A new session that asks for this time; [`Nodes::timeout`] is what the server gives it.
    ///
    /// # Errors
    /// When the server lets nobody in.
    pub fn lasting(port: u16, timeout: Duration) -> Result<Self> {
        Nodes::begin(port, timeout, 0, &[0; 16])
    }

    /// Enters the session of another client, as that client does after a broken connection.
    ///
    /// # Errors
    /// When the session is over, or the server lets nobody in.
    pub fn enter(port: u16, session: i64) -> Result<Self> {
        Nodes::begin(port, LONG, session, &password(session))
    }

    fn begin(port: u16, timeout: Duration, session: i64, password: &[u8]) -> Result<Self> {
        let stream =
            TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), PATIENCE).map_err(silence)?;
        stream.set_nodelay(true).map_err(silence)?;
        let mut nodes = Nodes {
            stream,
            id: 0,
            password: Vec::new(),
            timeout,
            patience: PATIENCE,
            requests: 0,
            news: VecDeque::new(),
        };
        nodes.patience(PATIENCE);
        let milliseconds = i32::try_from(timeout.as_millis()).expect("a time that the wire can carry");
        nodes.send(&Packet::new().int(0).long(0).int(milliseconds).long(session).buffer(password).bool(false))?;
        let mut answer = nodes.receive()?;
        let _version = answer.int();
        let milliseconds = answer.int();
        if milliseconds <= 0 {
            return Err(Refusal::NoSession);
        }
        nodes.timeout = Duration::from_millis(milliseconds.unsigned_abs().into());
        nodes.id = answer.long();
        nodes.password = answer.buffer();
        Ok(nodes)
    }

    /// The session's number, which the server also notes as the owner of its nodes.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The secret by which a client enters the session from another connection.
    pub fn password(&self) -> &[u8] {
        &self.password
    }

    /// How long the session lives without a sign of life.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Waits no longer than this for each answer from now on.
    pub fn patience(&mut self, time: Duration) {
        self.patience = time;
        self.stream.set_read_timeout(Some(time)).expect("a good time-out");
    }

    /// The names of a node's children, sorted; none: it has none, or there is no such node.
    pub fn children(&mut self, path: &str) -> Vec<String> {
        match self.try_children(path, false) {
            Ok(children) => children,
            Err(Refusal::NoNode) => Vec::new(),
            Err(refusal) => panic!("children of {path}: {refusal}"),
        }
    }

    /// The children of a node with all that the server knows of them, sorted by the number at the end of their names.
    /// A child that ends meanwhile is left out.
    pub fn in_order(&mut self, path: &str) -> Vec<(String, Node)> {
        let mut children = self.children(path);
        children.sort_by_key(|name| name[name.len().saturating_sub(10)..].to_owned());
        children.into_iter().filter_map(|name| self.get(&format!("{path}/{name}")).map(|node| (name, node))).collect()
    }

    /// The same as [`Nodes::children`], with a watch if that is asked for.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn try_children(&mut self, path: &str, watch: bool) -> Result<Vec<String>> {
        let mut answer = self.ask(GET_CHILDREN, &Packet::new().text(path).bool(watch))?;
        let mut children: Vec<String> = (0..answer.int()).map(|_| answer.text()).collect();
        children.sort();
        Ok(children)
    }

    /// A node; `None`: there is none.
    pub fn get(&mut self, path: &str) -> Option<Node> {
        match self.try_get(path, false) {
            Ok(node) => Some(node),
            Err(Refusal::NoNode) => None,
            Err(refusal) => panic!("{path}: {refusal}"),
        }
    }

    pub fn exists(&mut self, path: &str) -> bool {
        self.get(path).is_some()
    }

    /// The same as [`Nodes::get`], with a watch if that is asked for.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn try_get(&mut self, path: &str, watch: bool) -> Result<Node> {
        let mut answer = self.ask(GET_DATA, &Packet::new().text(path).bool(watch))?;
        let data = answer.buffer();
        let [made, changed] = [answer.long(), answer.long()];
        let _times = [answer.long(), answer.long()];
        let version = answer.int();
        let _versions = [answer.int(), answer.int()];
        // Numbers below zero are marks of containers.
        let owner = Some(answer.long()).filter(|owner| *owner > 0);
        let _length = answer.int();
        let children = answer.int().unsigned_abs() as usize;
        Ok(Node { data, made, changed, version, owner, children })
    }

    /// Makes a node, and returns its path, at whose end a sequential one has its number.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn create(&mut self, path: &str, data: &[u8], mode: Mode) -> Result<String> {
        let operation = if mode == Mode::Container { CREATE_CONTAINER } else { CREATE };
        // One entry of access rights: every client may do everything.
        let open = |packet: Packet| packet.int(1).int(31).text("world").text("anyone");
        Ok(self.ask(operation, &open(Packet::new().text(path).buffer(data)).int(mode as i32))?.text())
    }

    /// Makes the missing nodes of a path, as containers.
    pub fn prepare(&mut self, path: &str) {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for end in ends {
            match self.create(&path[..end], b"", Mode::Container) {
                Ok(_) | Err(Refusal::NodeExists) => {}
                Err(refusal) => panic!("{path}: {refusal}"),
            }
        }
    }

    /// Deletes a node, as an administrator does; false: there is no such node.
    pub fn delete(&mut self, path: &str) -> bool {
        match self.ask(DELETE, &Packet::new().text(path).int(-1)) {
            Ok(_) => true,
            Err(Refusal::NoNode) => false,
            Err(refusal) => panic!("{path}: {refusal}"),
        }
    }

    /// Changes the data of a node.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn set(&mut self, path: &str, data: &[u8]) -> Result<()> {
        self.ask(SET_DATA, &Packet::new().text(path).buffer(data).int(-1)).map(drop)
    }

    /// Leaves a node to one user: `user` is its name and its password, with a colon between.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn restrict(&mut self, path: &str, user: &str) -> Result<()> {
        let proof = Packet::new().int(AUTH_NUMBER).int(AUTH).int(0).text("digest").buffer(user.as_bytes());
        self.send(&proof)?;
        self.answer(AUTH_NUMBER)?;
        // One entry of access rights: the users of this session may do everything.
        let rights = Packet::new().text(path).int(1).int(31).text("auth").text("").int(-1);
        self.ask(SET_RIGHTS, &rights).map(drop)
    }

    /// Leaves every client, this one too, no more than these rights to a node: 1 to read, 2 to write, 4 to create children, 8 to
    /// delete them, 16 to change the rights.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn limit(&mut self, path: &str, rights: i32) -> Result<()> {
        let entry = Packet::new().text(path).int(1).int(rights).text("world").text("anyone").int(-1);
        self.ask(SET_RIGHTS, &entry).map(drop)
    }

    /// Whether all these nodes are there, in one call that goes through the leader.
    ///
    /// # Errors
    /// The first refusal of the check, or the server's silence.
    pub fn check(&mut self, paths: &[&str]) -> Result<()> {
        let begun = |packet: Packet, operation: i32, ends: bool| packet.int(operation).bool(ends).int(-1);
        let checks = paths.iter().fold(Packet::new(), |all, path| begun(all, CHECK, false).text(path).int(-1));
        let mut answer = self.ask(MULTI, &begun(checks, -1, true))?;
        for _ in paths {
            let operation = answer.int();
            let _ends = answer.bool();
            let _code = answer.int();
            if operation == -1 {
                refused(answer.int())?;
            }
        }
        Ok(())
    }

    /// Has the server that this session is connected to catch up with its leader.
    ///
    /// # Errors
    /// The server's, or its silence.
    pub fn sync(&mut self) -> Result<()> {
        self.ask(SYNC, &Packet::new().text("/")).map(drop)
    }

    /// A sign of life, which any server answers by itself.
    ///
    /// # Errors
    /// The server's silence.
    pub fn ping(&mut self) -> Result<()> {
        self.send(&Packet::new().int(PING_NUMBER).int(PING))?;
        self.answer(PING_NUMBER).map(drop)
    }

    /// The next news of a watch, or `None` if there is none for so long.
    pub fn news(&mut self, within: Duration) -> Option<News> {
        let patience = self.patience;
        self.patience(within);
        while self.news.is_empty() && matches!(self.stream.peek(&mut [0]), Ok(1)) {
            self.patience(patience);
            let Ok(mut packet) = self.receive() else { break };
            self.note(&mut packet);
        }
        self.patience(patience);
        self.news.pop_front()
    }

    /// Breaks the connection. The session goes on without it until its time is over.
    pub fn abandon(mut self) {
        self.id = 0;
    }

    fn ask(&mut self, operation: i32, body: &Packet) -> Result<Bytes> {
        self.requests += 1;
        let number = self.requests;
        self.send(&Packet::new().int(number).int(operation).and(body))?;
        self.answer(number)
    }

    /// The rest of the answer to that request. News that come before it are kept.
    fn answer(&mut self, to: i32) -> Result<Bytes> {
        loop {
            let mut packet = self.receive()?;
            if self.note(&mut packet) == Some(to) {
                let _transaction = packet.long();
                return refused(packet.int()).map(|()| packet);
            }
        }
    }

    /// Keeps a packet with news. Of another one it returns the number of the request.
    fn note(&mut self, packet: &mut Bytes) -> Option<i32> {
        let number = packet.int();
        if number != NEWS_NUMBER {
            return Some(number);
        }
        let _transaction = packet.long();
        let _code = packet.int();
        let what = match packet.int() {
            1 => Change::Created,
            2 => Change::Deleted,
            3 => Change::Data,
            4 => Change::Children,
            // The state of the connection has changed.
            _ => return None,
        };
        let _state = packet.int();
        self.news.push_back(News { path: packet.text(), what });
        None
    }

    fn send(&mut self, packet: &Packet) -> Result<()> {
        self.stream.write_all(&packet.framed()).map_err(silence)
    }

    fn receive(&mut self) -> Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(silence)?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut body).map_err(silence)?;
        Ok(Bytes::new(body))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if self.id != 0 {
            self.patience(Duration::from_secs(1));
            // The server may be gone.
            let _ = self.ask(CLOSE, &Packet::new());
        }
    }
}

fn refused(code: i32) -> Result<()> {
    Err(match code {
        0 => return Ok(()),
        -101 => Refusal::NoNode,
        -110 => Refusal::NodeExists,
        -111 => Refusal::NotEmpty,
        -112 => Refusal::NoSession,
        code => Refusal::Code(code),
    })
}

fn silence(error: io::Error) -> Refusal {
    Refusal::Silence(error.to_string())
}

/// The password of a session. The server draws it from the session's number by a known generator, so the rig can enter
/// the session of a client under test.
fn password(session: i64) -> [u8; 16] {
    const FACTOR: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = (session as u64 ^ 0xB341_5C00 ^ FACTOR) & MASK;
    let mut password = [0; 16];
    for word in password.chunks_mut(4) {
        state = state.wrapping_mul(FACTOR).wrapping_add(0xB) & MASK;
        word.copy_from_slice(&((state >> 16) as u32).to_le_bytes());
    }
    password
}
