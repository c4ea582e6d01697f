//! The beliefs of other processes. Each that the rig starts as a [`crate::Process`] says over a connection of its own what its clients
//! believe, and when by the machine's clock: that is the same clock for all. What a process that is gone has believed counts no more.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread;

use serde_json::{Value, json};

use super::book::{self, What};
use super::news::Told;
use super::watch;
use crate::{clock, ports};

/// Names the address at which the rig listens.
const VARIABLE: &str = "REDLATCH_BELIEFS";

/// The rig's process, to which this one says what its clients believe.
struct Rig {
    stream: Mutex<TcpStream>,
    /// A child of this process says nothing: its parent may hold the stream for ever.
    process: u32,
}

static RIG: OnceLock<Rig> = OnceLock::new();

/// From now on the rig that has started this process hears what its clients believe. Without a rig that listens nothing happens.
///
/// # Panics
/// When the rig does not listen where it says.
pub fn tell_the_rig() {
    let Ok(address) = std::env::var(VARIABLE) else { return };
    let stream = TcpStream::connect(&address).unwrap_or_else(|e| panic!("{VARIABLE}={address}: {e}"));
    stream.set_nodelay(true).expect("it is a socket");
    let told = RIG.set(Rig { stream: Mutex::new(stream), process: std::process::id() });
    assert!(told.is_ok(), "the rig is told once");
    super::news::listen();
}

/// The words before a command whose process is to say what it believes.
pub(crate) fn words() -> Vec<String> {
    if watch::stands_aside() { Vec::new() } else { vec!["env".into(), format!("{VARIABLE}=127.0.0.1:{}", *PORT)] }
}

/// Sends an event to the rig; false: this process is the rig.
pub(super) fn pass_on(told: &Told, at: u64) -> bool {
    let Some(rig) = RIG.get() else { return false };
    if rig.process == std::process::id() {
        let line = json!({
            "at": at, "change": told.change, "client": told.client, "kind": told.kind, "name": told.name, "servers": told.servers,
            "owner": told.owner, "hold": told.hold, "token": told.token, "database": told.database, "left": told.left,
            "asked": told.asked,
        });
        let mut stream = rig.stream.lock().expect("nothing panics while it is held");
        // A rig that is gone hears nothing.
        let _ = stream.write_all(format!("{line}\n").as_bytes());
    }
    true
}

/// Where this process listens to those that it starts.
static PORT: LazyLock<u16> = LazyLock::new(|| {
    let listener = ports::listen();
    let port = listener.local_addr().expect("a bound socket has an address").port();
    thread::spawn(move || {
        for process in listener.incoming().flatten() {
            thread::spawn(move || hear(BufReader::new(process)));
        }
    });
    port
});

fn hear(process: impl BufRead) {
    let mut clients = BTreeSet::new();
    // A process that is killed in the middle of a line has said no more than the lines before.
    for line in process.lines().map_while(Result::ok) {
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
