//! A real server of ZooKeeper of the test's own: on a free port, alone or as a member of an ensemble. Dropping it ends
//! it.

mod ensemble;
mod snapshot;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::authority::{Authority, Issued};
use crate::guarded::Guarded;
use crate::nodes::{self, Nodes};
use crate::{deadline, ms, ports, secs};
pub use ensemble::Ensemble;

/// Starts a server, for the tests of every language.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/zookeeper/server");

/// A running server.
pub struct Zookeeper {
    port: u16,
    secure_port: u16,
    dir: PathBuf,
    settings: Mutex<Vec<String>>,
    process: Mutex<Option<Guarded>>,
}

impl Zookeeper {
    /// Starts a server and returns once it answers.
    pub fn start() -> Self {
        Zookeeper::with(&[])
    }

    /// The server that the tests of one program share: each test has names of its own.
    pub fn shared() -> &'static Zookeeper {
        static SHARED: LazyLock<Zookeeper> = LazyLock::new(Zookeeper::start);
        deadline::set();
        &SHARED
    }

    /// Starts a server with more lines for its configuration, such as `minSessionTimeout=4000`.
    pub fn with(settings: &[&str]) -> Self {
        deadline::set();
        let mut server = Zookeeper::new(settings.iter().map(|line| (*line).to_owned()).collect());
        for _ in 0..20 {
            server.port = ports::free();
            server.launch();
            if server.serves() {
                return server;
            }
        }
        panic!("no server started on 20 ports: {}", server.log());
    }

    /// Starts a server that clients reach by TLS as well, with a certificate for these hosts and with more lines for its
    /// configuration. It asks no client for a certificate, unless a line says so.
    pub fn secured(authority: &Authority, hosts: &str, settings: &[&str]) -> Self {
        let Issued { cert, key } = authority.issue(hosts);
        let read = |file: &str| std::fs::read_to_string(file).expect("the file can be read");
        let store = format!("{cert}-store.pem");
        std::fs::write(&store, read(&key) + &read(&cert)).expect("the file can be written");
        let trusted = authority.cert();
        let port = ports::free();
        let lines = format!(
            "secureClientPort={port}\nsecureClientPortAddress=127.0.0.1\n\
             serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n\
             ssl.keyStore.location={store}\nssl.keyStore.type=PEM\nssl.trustStore.location={trusted}\nssl.trustStore.type=PEM\n\
             ssl.clientAuth=none"
        );
        let lines: Vec<&str> = lines.lines().chain(settings.iter().copied()).collect();
        let mut server = Zookeeper::with(&lines);
        server.secure_port = port;
        // It listens there a little later.
        crate::eventually("a port for TLS", || TcpStream::connect(("127.0.0.1", port)).ok());
        server
    }

    /// The port for TLS of [`Zookeeper::secured`].
    pub fn secure_port(&self) -> u16 {
        self.secure_port
    }

    fn new(settings: Vec<String>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-{}-zookeeper-{count}", std::process::id()));
        std::fs::create_dir_all(dir.join("data")).expect("the folder can be made");
        Zookeeper { port: 0, secure_port: 0, dir, settings: Mutex::new(settings), process: Mutex::new(None) }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same for another port, such as a proxy's.
    pub fn url_at(&self, port: u16) -> String {
        format!("zookeeper://127.0.0.1:{port}")
    }

    /// A session of another client.
    pub fn nodes(&self) -> Nodes {
        Nodes::connect(self.port).unwrap_or_else(|refusal| panic!("no session: {refusal}"))
    }

    /// Ends a session of any client, as the server does when its time is over; false: there is no such session.
    pub fn expire(&self, session: i64) -> bool {
        match Nodes::enter(self.port, session) {
            // Its end ends the session.
            Ok(_entered) => true,
            Err(nodes::Refusal::NoSession) => false,
            Err(refusal) => panic!("the session {session:#x}: {refusal}"),
        }
    }

    /// The answer to a command of four letters, such as `mntr`; `None`: there is none.
    pub fn word(&self, command: &str) -> Option<String> {
        word(self.port, command, Duration::from_secs(2))
    }

    /// A figure of the server's own, such as `zk_watch_count`.
    pub fn figure(&self, name: &str) -> u64 {
        let figures = self.word("mntr").unwrap_or_default();
        let line = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        line.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("no figure {name} in {figures}"))
    }

    /// The sessions that have not ended, whether a client is connected or not.
    pub fn sessions(&self) -> Vec<i64> {
        // A dump goes through lists among which each request moves its session: it may tell of a session nowhere.
        let mut sessions = [self.dump(), self.dump(), self.dump()].concat();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// The sessions of one dump, in no order.
    fn dump(&self) -> Vec<i64> {
        let told = self.word("dump").expect("it answers");
        // Behind this line come the sessions with nodes of theirs, a second time.
        let all = told.split("ephemeral nodes dump").next().unwrap_or_default();
        let ids = all.split("0x").skip(1).filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
            u64::from_str_radix(&digits, 16).ok()
        });
        ids.map(u64::cast_signed).collect()
    }

    /// How many watches clients have set at this server.
    pub fn watches(&self) -> u64 {
        self.figure("zk_watch_count")
    }

    /// How many connections clients have to this server.
    pub fn connections(&self) -> u64 {
        // The connection that asks is one of them.
        self.figure("zk_num_alive_connections") - 1
    }

    /// The server's output since its start.
    pub fn log(&self) -> String {
        let running = self.dir.join("logs").join("log");
        std::fs::read_to_string(running).or_else(|_| std::fs::read_to_string(self.dir.join("log"))).unwrap_or_default()
    }

    /// Kills the server, as a loss of power does.
    pub fn kill(&self) {
        let _ = std::fs::copy(self.dir.join("logs").join("log"), self.dir.join("log"));
        drop(self.process().take());
    }

    /// Starts a server that was killed, on the same port and with its data.
    pub fn restart(&self) {
        self.launch();
        assert!(self.serves(), "it did not start again: {}", self.log());
    }

    /// Starts a server that has lost all its data, on the same port.
    pub fn restart_empty(&self) {
        self.kill();
        std::fs::remove_dir_all(self.data()).expect("it is there");
        self.restart();
    }

    /// Adds a line to its configuration, for its next start.
    pub fn set(&self, line: &str) {
        self.settings.lock().expect("no test panics while it holds this").push(line.to_owned());
    }

    /// Has the server give this number to the next child of a node that asks for one, as if it had counted so far. That takes
    /// two restarts, and a server with `digest.enabled=false`.
    pub fn count_from(&self, path: &str, number: i32) {
        // It writes all it knows into a file when it starts.
        for set in [false, true] {
            self.kill();
            if set {
                snapshot::count_from(&self.data(), path, number);
            }
            self.restart();
        }
    }

    /// Freezes the process: its connections stay open, and it answers nothing.
    pub fn pause(&self) {
        self.process().as_ref().expect("it runs").signal("STOP");
    }

    /// Lets a frozen process go on.
    pub fn resume(&self) {
        self.process().as_ref().expect("it runs").signal("CONT");
    }

    fn process(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.process.lock().expect("no test panics while it holds this")
    }

    /// Starts the process, and returns at once.
    fn launch(&self) {
        let logs = self.dir.join("logs");
        std::fs::create_dir_all(&logs).expect("the folder can be made");
        let words = [PROGRAM.to_owned(), self.dir.display().to_string(), self.port.to_string()];
        let settings = self.settings.lock().expect("no test panics while it holds this").clone();
        let command: Vec<String> = words.into_iter().chain(settings).collect();
        *self.process() = Some(Guarded::start(&logs, &command));
    }

    /// Waits until the server serves clients; false: it has ended.
    fn serves(&self) -> bool {
        // Beside builds, a JVM that starts has to wait for its time.
        let begun = Instant::now();
        let serves = crate::eventually_within(secs(60), "a server of ZooKeeper that answers", || {
            if self.process().as_ref().is_none_or(Guarded::ended) {
                return Some(false);
            }
            // A server that is not quite ready leaves a question without an answer, for ever. One that starts slowly
            // answers slowly, too.
            let patience = (begun.elapsed() / 4).clamp(ms(100), secs(5));
            let ask = |command| word(self.port, command, patience);
            // Another server may have won the port.
            let ours = format!("dataDir={}", self.data().display());
            (ask("conf")?.contains(&ours) && ask("srvr")?.contains("Mode: ")).then_some(true)
        });
        if !serves {
            self.kill();
        }
        serves
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }
}

impl Drop for Zookeeper {
    fn drop(&mut self) {
        drop(self.process().take());
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The answer of the server on a port to a command of four letters; `None`: there is none
/// within this time.
fn word(port: u16, command: &str, time: Duration) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), time).ok()?;
    stream.set_read_timeout(Some(time)).ok()?;
    stream.write_all(command.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}
