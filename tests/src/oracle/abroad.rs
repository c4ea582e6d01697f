//! The beliefs of other processes. Each [`crate::Process`] reports over a connection of its own what its clients
//! believe, and when. The time is the machine's clock, which all processes share. When a process is gone, its beliefs
//! count no more.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread;

use serde_json::{Value, json};

use super::book::{self, What};
use super::news::Told;
use super::watch;
use crate::{clock, ports};

/// The environment variable with the address at which the rig listens.
const VARIABLE: &str = "REDLATCH_BELIEFS";

/// The rig's process, as a process that it has started sees it: the receiver of the beliefs.
struct Rig {
    stream: Mutex<TcpStream>,
    /// The process that opened the stream. A forked child reports nothing: its parent may hold the stream's lock for
    /// ever.
    process: u32,
}

static RIG: OnceLock<Rig> = OnceLock::new();

/// Reports the beliefs of this process's clients to the rig that has started it, from now on. Without such a rig it
/// does nothing.
///
/// # Panics
/// When the rig does not listen at the address that it gave.
pub fn tell_the_rig() {
    let Ok(address) = std::env::var(VARIABLE) else { return };
    let stream = TcpStream::connect(&address).unwrap_or_else(|e| panic!("{VARIABLE}={address}: {e}"));
    stream.set_nodelay(true).expect("it is a socket");
    let told = RIG.set(Rig { stream: Mutex::new(stream), process: std::process::id() });
    assert!(told.is_ok(), "the rig is told once");
    super::news::listen();
}

/// The words before the command of a process that is to report its beliefs.
pub(crate) fn words() -> Vec<String> {
    if watch::stands_aside() { Vec::new() } else { vec!["env".into(), format!("{VARIABLE}=127.0.0.1:{}", *PORT)] }
}

/// Sends an event to the rig; false: this process is the rig.
pub(super) fn pass_on(told: &Told, at: u64) -> bool {
    let Some(rig) = RIG.get() else { return false };
    if rig.process == std::process::id() {
        let line = json!({
            "at": at, "change": told.change, "client": told.client, "kind": told.kind, "name": told.name, "servers": told.servers,
            "owner": told.owner, "grip": told.grip, "hold": told.hold, "token": told.token, "database": told.database, "left": told.left,
            "asked": told.asked,
        });
        let mut stream = rig.stream.lock().expect("nothing panics while it is held");
        // The rig may be gone, and then nothing is left to tell.
        let _ = stream.write_all(format!("{line}\n").as_bytes());
    }
    true
}

/// The port where this process listens to the processes that it starts.
static PORT: LazyLock<u16> = LazyLock::new(|| {
    let listener = ports::listen();
    let port = listener.local_addr().expect("a bound socket has an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let reporter = Arc::new(Reporter { stream, busy: AtomicBool::new(true) });
            REPORTERS.lock().expect("nothing panics while it is held").push(reporter.clone());
            thread::spawn(move || {
                hear(&reporter);
                let mut reporters = REPORTERS.lock().expect("nothing panics while it is held");
                reporters.retain(|other| !Arc::ptr_eq(other, &reporter));
            });
        }
    });
    port
});

/// A process that reports its beliefs.
struct Reporter {
    stream: TcpStream,
    /// Whether a report has been read and is not noted yet.
    busy: AtomicBool,
}

static REPORTERS: Mutex<Vec<Arc<Reporter>>> = Mutex::new(Vec::new());

/// Whether all reports are noted that other processes have sent so far. A process reports a change before its client
/// asks the server for it.
pub(crate) fn are_all_noted() -> bool {
    // A report is unread until its reporter is noted as busy.
    let is_read = |reporter: &Reporter| rustix::io::ioctl_fionread(&reporter.stream).map_or(true, |unread| unread == 0);
    let reporters = REPORTERS.lock().expect("nothing panics while it is held");
    reporters.iter().all(|reporter| is_read(reporter) && !reporter.busy.load(SeqCst))
}

fn hear(process: &Reporter) {
    let mut clients = BTreeSet::new();
    let mut reader = BufReader::new(&process.stream);
    let mut line = String::new();
    loop {
        if reader.buffer().is_empty() {
            process.busy.store(false, SeqCst);
            let has_more = matches!(process.stream.peek(&mut [0]), Ok(1..));
            process.busy.store(true, SeqCst);
            if !has_more {
                break;
            }
        }
        line.clear();
        // A process that was killed in the middle of a line has reported the lines before, and no more.
        let Ok(1..) = reader.read_line(&mut line) else { break };
        let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let signed = |field: &str| line[field].as_i64().unwrap_or_default();
        let number = |field: &str| line[field].as_u64().unwrap_or_default();
        let told = Told {
            change: text("change"),
            client: text("client"),
            kind: text("kind"),
            name: text("name"),
            servers: text("servers"),
            owner: signed("owner"),
            grip: signed("grip"),
            hold: number("hold"),
            token: signed("token"),
            database: signed("database"),
            left: number("left"),
            asked: number("asked"),
        };
        let change = told.change(clock::instant(number("at")));
        if matches!(change.what, What::Begun { .. }) {
            clients.insert(change.client.clone());
        }
        book::note(change);
    }
    clients.iter().filter_map(|client| book::find(client)).for_each(|client: Arc<book::Client>| client.died());
}
