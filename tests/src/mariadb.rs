//! A real server of MariaDB of the test's own: on a free port, from a data directory that was prepared once. Dropping it ends it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};

use crate::guarded::Guarded;
use crate::sql::Sql;
use crate::{deadline, ports};

/// The statements that make the system's own tables, in their order.
const TABLES: [&str; 3] = ["mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"];

/// Each server has this from its start: two users, and a schema with the tables of fencing tokens and of leaders.
const INIT: &str = "\
CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS 'other'@'%' IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO 'app'@'%';
CREATE SCHEMA IF NOT EXISTS app;
CREATE SCHEMA IF NOT EXISTS bare;
GRANT SELECT, INSERT, UPDATE ON app.* TO 'other'@'%';
CREATE TABLE IF NOT EXISTS app.redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS app.redlatch_leader (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL, \
holder VARBINARY(255) NOT NULL, value MEDIUMBLOB NOT NULL) ENGINE=InnoDB;
";

/// A running `mariadbd`.
pub struct Mariadb {
    port: u16,
    dir: PathBuf,
    args: Vec<String>,
    process: Mutex<Option<Guarded>>,
}

impl Mariadb {
    /// Starts a server and returns once it answers.
    pub fn start() -> Self {
        Mariadb::with(&[])
    }

    /// The server that the tests of one program share: each test has names of its own.
    pub fn shared() -> &'static Mariadb {
        static SHARED: LazyLock<Mariadb> = LazyLock::new(Mariadb::start);
        deadline::set();
        &SHARED
    }

    /// Starts a server with more words for its command line.
    pub fn with(args: &[&str]) -> Self {
        deadline::set();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-{}-mariadb-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the folder can be made");
        copy(&prepared(), &dir.join("data"));
        std::fs::write(dir.join("init.sql"), INIT).expect("the file can be written");
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut server = Mariadb { port: 0, dir, args, process: Mutex::new(None) };
        for _ in 0..20 {
            server.port = ports::free();
            if server.launch() {
                return server;
            }
        }
        panic!("no server started on 20 ports: {}", server.log());
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
        format!("mariadb://app:secret@127.0.0.1:{port}/app")
    }

    /// A connection of another client: any program that uses this server's own locks.
    pub fn sql(&self) -> Sql {
        Sql::connect(self.port, "app").unwrap_or_else(|error| panic!("no connection: {error}"))
    }

    /// The server's output since its start.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// Kills the server, as a loss of power does.
    pub fn stop(&self) {
        drop(self.process().take());
        // The guard of the process removes its folder of logs.
        let _ = std::fs::create_dir_all(&self.dir);
    }

    /// Ends the server as an administrator does, and returns when it has ended.
    pub fn shut_down(&self) {
        let process = self.process().take().expect("it runs");
        process.signal("TERM");
        crate::eventually("the end of the server", || process.ended().then_some(()));
    }

    /// Starts a server that was stopped, on the same port.
    pub fn start_again(&self) {
        assert!(self.launch(), "it did not start again: {}", self.log());
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

    fn launch(&self) -> bool {
        let logs = self.dir.join("logs");
        std::fs::create_dir_all(&logs).expect("the folder can be made");
        let process = Guarded::start(&logs, &self.command());
        let answers = crate::eventually("a server of MariaDB that answers", || {
            if process.ended() {
                let _ = std::fs::copy(logs.join("log"), self.dir.join("log"));
                return Some(false);
            }
            Sql::connect(self.port, "app").ok().map(|_| true)
        });
        *self.process() = answers.then_some(process);
        answers
    }

    fn command(&self) -> Vec<String> {
        let path = |name: &str| self.dir.join(name).display().to_string();
        let mut command = server();
        command.extend([
            format!("--datadir={}", path("data")),
            // A server that starts deletes the temporary tables that it finds, also those of other servers.
            format!("--tmpdir={}", self.dir.display()),
            format!("--port={}", self.port),
            "--bind-address=127.0.0.1".into(),
            format!("--socket={}", path("socket")),
            format!("--pid-file={}", path("pid")),
            format!("--init-file={}", path("init.sql")),
            "--max-connections=600".into(),
            "--innodb-flush-log-at-trx-commit=0".into(),
        ]);
        command.extend(self.args.iter().cloned());
        command
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        drop(self.process().take());
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The program and the words that every run of it has.
fn server() -> Vec<String> {
    let found = ["/usr/sbin/mariadbd", "/usr/local/sbin/mariadbd"].into_iter().find(|path| Path::new(path).exists());
    let program = std::env::var("REDLATCH_TEST_MARIADB").ok().or(found.map(str::to_owned)).unwrap_or("mariadbd".into());
    let words = [
        "--no-defaults",
        "--innodb-buffer-pool-size=8M",
        "--innodb-log-file-size=4M",
        "--skip-log-bin",
        "--performance-schema=OFF",
        "--skip-name-resolve",
    ];
    // The server refuses to run as root unless it is told to.
    let as_root = rustix::process::geteuid().is_root().then(|| "--user=root".to_owned());
    [program].into_iter().chain(words.map(str::to_owned)).chain(as_root).collect()
}

/// The data directory that every server begins with. The first test that needs it prepares it, for all programs.
fn prepared() -> PathBuf {
    static PREPARED: LazyLock<PathBuf> = LazyLock::new(|| {
        let words = server();
        let version =
            Command::new(&words[0]).arg("--version").output().expect("mariadbd is there: .ci/setup installs it");
        let version: String =
            String::from_utf8_lossy(&version.stdout).chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
        let all = std::env::temp_dir();
        let ready = all.join(format!("redlatch-mariadb-{version}"));
        if ready.join("mysql").exists() {
            return ready;
        }
        let dir = all.join(format!("redlatch-mariadb-{version}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the folder can be made");
        let data = format!("--datadir={}", dir.display());
        let temporary = format!("--tmpdir={}", dir.display());
        let mut bootstrap = Command::new(&words[0])
            .args(&words[1..])
            .args(["--bootstrap", "--log-warnings=0", &data, &temporary])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("mariadbd is there");
        let mut statements =
            "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n".to_owned();
        for table in TABLES {
            let path = Path::new("/usr/share/mysql").join(table);
            statements += &std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        bootstrap.stdin.take().expect("it is piped").write_all(statements.as_bytes()).expect("the server reads");
        assert!(bootstrap.wait().expect("it ends").success(), "the server did not make its tables");
        // Another program may have been faster.
        if std::fs::rename(&dir, &ready).is_err() {
            let _ = std::fs::remove_dir_all(&dir);
        }
        ready
    });
    PREPARED.clone()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be made");
    for entry in std::fs::read_dir(from).expect("it was prepared") {
        let entry = entry.expect("it can be read");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("it has a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("it can be copied")),
        }
    }
}
