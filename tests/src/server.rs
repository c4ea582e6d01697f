//! A real server of the test's own: on a free port, with nothing on disk. Dropping it ends it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use crate::authority::Issued;
use crate::deadline;
use crate::guarded::Guarded;
use crate::listener::Listener;
use crate::monitor::Monitor;
use crate::oracle::{Statement, Violation, Watch};
use crate::ports;
use crate::view::View;

/// How a server differs from the default one.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// More words for the command line, such as `["--maxmemory", "1mb"]`.
    pub args: Vec<String>,
    pub password: Option<String>,
    /// Whether the server also listens on a unix socket, see [`Server::unix_url`].
    pub unix_socket: bool,
    /// Whether the server also speaks TLS, on [`Server::tls_port`].
    pub tls: Option<Tls>,
    /// Whether the server obeys `DEBUG`.
    pub debugging: bool,
    /// Whether the server can join a cluster.
    pub clustered: bool,
    /// Whether the oracle stays away, for a test that measures the server: it has the server report each call.
    pub unwatched: bool,
    /// The server's program; `None`: the usual one.
    pub program: Option<String>,
}

/// The server's side of TLS: its certificate, and what it demands of clients.
#[derive(Clone, Debug)]
pub struct Tls {
    pub shown: Issued,
    /// The file of the authority that must have signed a client's certificate.
    pub clients: Option<String>,
}

/// A running `redis-server` from `PATH`, or the program that `REDLATCH_TEST_SERVER` names.
pub struct Server {
    pub(crate) options: Options,
    port: u16,
    tls_port: u16,
    bus_port: u16,
    dir: PathBuf,
    process: Mutex<Option<Guarded>>,
    watch: Option<Arc<Watch>>,
}

impl Server {
    /// Starts a server and returns once it answers.
    pub fn start() -> Self {
        Server::with(Options::default())
    }

    /// Starts a server with `options` and returns once it answers.
    pub fn with(options: Options) -> Self {
        deadline::set();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-{}-{count}", std::process::id()));
        let mut server =
            Server { options, port: 0, tls_port: 0, bus_port: 0, dir, process: Mutex::new(None), watch: None };
        for _ in 0..20 {
            server.port = ports::free();
            server.tls_port = ports::free();
            server.bus_port = ports::free();
            if server.options.clustered && is_before_7(&server.program()) {
                server.bus_port = server.port + 10_000;
            }
            let started = server.launch();
            if started.is_ok() {
                let addresses = [server.tls_port.to_string(), server.dir.join("socket").display().to_string()];
                if !server.options.unwatched {
                    server.watch = Watch::start(server.port, &addresses, server.direct_url());
                }
                return server;
            }
        }
        panic!("no server started on 20 ports: {}", server.launch().err().unwrap_or_default());
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The port with TLS, see [`Options::tls`].
    pub fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// The port for the other servers of the cluster. By default a server would choose one among the ports of ordinary
    /// connections.
    pub fn bus_port(&self) -> u16 {
        self.bus_port
    }

    /// `host:port`, as messages name it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL for clients, with the password in it.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same for another port, such as a proxy's. A cluster tells its clients where to go: from now on it sends all
    /// of them to this port.
    pub fn url_at(&self, port: u16) -> String {
        if mode() == "cluster" && port != self.port {
            self.view().command::<()>(&["CONFIG", "SET", "cluster-announce-port", &port.to_string()]);
        }
        self.url_of(mode(), port)
    }

    /// The URL of a client with this query, that reaches the server only through this port. Unlike with
    /// [`Server::url_at`], other clients may go through other ports.
    pub fn url_through(&self, port: u16, query: &str) -> String {
        let nat = format!("&nat={}=127.0.0.1:{port}", self.address());
        self.url_of(mode(), port) + query + if mode() == "cluster" { &nat } else { "" }
    }

    fn url_of(&self, mode: &str, port: u16) -> String {
        let plus = if mode.is_empty() { "" } else { "+" };
        let password = self.options.password.iter().map(|password| format!(":{password}@")).collect::<String>();
        format!("redis{plus}{mode}://{password}127.0.0.1:{port}")
    }

    /// The URL of this one server, for views of its contents.
    pub fn direct_url(&self) -> String {
        self.url_of("", self.port)
    }

    /// The URL of the unix socket, without the password.
    pub fn unix_url(&self) -> String {
        format!("unix://{}", self.dir.join("socket").display())
    }

    /// A fresh connection that shows the server's contents.
    pub fn view(&self) -> View {
        View::connect(&self.direct_url()).unwrap_or_else(|e| panic!("no connection to {}: {e}", self.address()))
    }

    /// Starts a witness of the messages on `channel`.
    pub fn listen(&self, channel: &str) -> Listener {
        Listener::start(&self.direct_url(), channel)
    }

    /// Starts a witness of all commands.
    pub fn monitor(&self) -> Monitor {
        Monitor::start(&format!("127.0.0.1:{}", self.port()))
    }

    /// The server's output since its start, if it runs.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// Kills the server. Everything in it is lost.
    pub fn stop(&self) {
        let kill = || drop(self.process().take());
        match &self.watch {
            Some(watch) => watch.empties(kill),
            None => kill(),
        }
    }

    /// Exempts names with `name` in them from a statement that the test breaks on purpose; `reason` says why.
    pub fn exempt(&self, statement: Statement, name: &str, reason: &str) {
        assert!(!reason.is_empty(), "say why");
        self.watch.iter().for_each(|watch| watch.exempt(statement, name));
    }

    /// The rig's own watch of the server.
    pub fn watch(&self) -> &Watch {
        self.watch.as_ref().expect("it stands aside in programs that measure")
    }

    /// Takes one last look, ends the watch, and returns the violations on this server.
    pub fn judged(&self) -> Vec<Violation> {
        self.watch().look_back();
        self.watch().take_violations()
    }

    /// Starts the server again, empty, on the same port.
    pub fn restart(&self) {
        self.stop();
        self.launch().unwrap_or_else(|log| panic!("{} did not start again: {log}", self.address()));
    }

    /// How long the server had a processor for its commands.
    pub fn processor_time(&self) -> Duration {
        self.process().as_ref().expect("it runs").processor_time()
    }

    /// Freezes the process: its connections stay open, and it answers nothing.
    pub fn pause(&self) {
        self.process().as_ref().expect("it runs").signal("STOP");
    }

    /// Lets a frozen process go on.
    pub fn resume(&self) {
        self.process().as_ref().expect("it runs").signal("CONT");
    }

    fn process(&self) -> std::sync::MutexGuard<'_, Option<Guarded>> {
        self.process.lock().expect("no test panics while it holds this")
    }

    fn launch(&self) -> Result<(), String> {
        std::fs::create_dir_all(&self.dir).map_err(|e| e.to_string())?;
        let process = Guarded::start(&self.dir, &self.command());
        // Another process may have won the port: only an answer with the pid of this server counts.
        let ours = crate::eventually("a server that answers", || {
            if process.ended() {
                return Some(false);
            }
            View::connect(&self.direct_url()).ok().and_then(|mut view| view.pid()).map(|pid| pid == process.pid)
        });
        if !ours {
            let log = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            return Err(log.lines().last().unwrap_or("it said nothing").to_owned());
        }
        if mode() == "cluster" {
            View::connect(&self.direct_url()).map_err(|e| e.to_string())?.take_every_slot();
        }
        *self.process() = Some(process);
        Ok(())
    }

    fn program(&self) -> String {
        // Not every build of a server has TLS. Debian's has, and the test is about the client's TLS.
        let asked = std::env::var("REDLATCH_TEST_SERVER").ok().filter(|_| self.options.tls.is_none());
        self.options.program.clone().or(asked).unwrap_or_else(|| "redis-server".into())
    }

    fn command(&self) -> Vec<String> {
        let port = self.port.to_string();
        let dir = self.dir.display().to_string();
        let fixed = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", &dir];
        // By default a server waits 5 s for more replicas before it serves the first one.
        let fixed = fixed.into_iter().chain(["--repl-diskless-sync-delay", "0"]);
        let mut command: Vec<String> = [self.program()].into_iter().chain(fixed.map(str::to_owned)).collect();
        if let Some(password) = &self.options.password {
            command.extend(["--requirepass".into(), password.clone()]);
        }
        if self.options.unix_socket {
            command.extend(["--unixsocket".into(), self.dir.join("socket").display().to_string()]);
        }
        if let Some(Tls { shown, clients }) = &self.options.tls {
            let port = self.tls_port.to_string();
            let asked = if clients.is_some() { "yes" } else { "no" };
            let words = [
                "--tls-port",
                &port,
                "--tls-cert-file",
                &shown.cert,
                "--tls-key-file",
                &shown.key,
                "--tls-auth-clients",
                asked,
            ];
            command.extend(words.map(str::to_owned));
            command.extend(clients.iter().flat_map(|ca| ["--tls-ca-cert-file".to_owned(), ca.clone()]));
        }
        if self.options.debugging && !is_before_7(&command[0]) {
            command.extend(["--enable-debug-command", "local"].map(str::to_owned));
        }
        if self.options.clustered || mode() == "cluster" {
            // Otherwise a server that has never met another does not know its own address, and Redisson does not find
            // it.
            let words = [
                "--cluster-enabled",
                "yes",
                "--cluster-require-full-coverage",
                "no",
                "--cluster-announce-ip",
                "127.0.0.1",
            ];
            command.extend(words.map(str::to_owned));
            if !is_before_7(&command[0]) {
                command.extend(["--cluster-port".into(), self.bus_port.to_string()]);
            }
        }
        command.extend(self.options.args.iter().cloned());
        command
    }
}

/// The role of each server for its clients: `cluster`, a cluster of one; `replicated`, a master without replicas;
/// empty: a plain server.
fn mode() -> &'static str {
    static MODE: LazyLock<String> = LazyLock::new(|| std::env::var("REDLATCH_TEST_MODE").unwrap_or_default());
    &MODE
}

/// Servers before 7 always obey `DEBUG` and choose their bus port, and do not know the options.
fn is_before_7(program: &str) -> bool {
    let version = std::process::Command::new(program).arg("--version").output().expect("the server's program runs");
    String::from_utf8_lossy(&version.stdout).contains("v=6.")
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(watch) = self.watch.take() else { return self.stop() };
        if self.process().is_some() && !std::thread::panicking() {
            watch.look_back();
        }
        self.stop();
        watch.end();
        let violations: Vec<String> = watch.violations().iter().map(ToString::to_string).collect();
        if !violations.is_empty() && !std::thread::panicking() {
            panic!("a statement of tests/src/oracle was violated:\n{}", violations.join("\n"));
        }
    }
}
