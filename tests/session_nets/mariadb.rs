//! MariaDB: its kinds, its troubles, and a server whose own tables tell who has which lock.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use redlatch::ffi::Rule;
use redlatch_tests::{Direction, Mariadb, Sql, ms};

use crate::book::{LEASE, Owner};
use crate::system::{Kept, Kind, Server, Sight, System, Target};
use crate::troubles::{Strike, Trouble, trouble};
use crate::witness::Witness;

pub static SYSTEM: System = System {
    name: "mariadb",
    options: &["waiters=8"],
    kinds: &KINDS,
    troubles: &TROUBLES,
    lasts: false,
    spread: 3,
    start,
};

const KINDS: [Kind; 6] = [
    Kind::lock("plain"),
    Kind::lock("non_reentrant"),
    Kind::lock("fenced"),
    Kind::lock("leader"),
    Kind::group("multi", Rule::All, 2),
    Kind::group("red", Rule::Majority, 3),
];

const TROUBLES: [Trouble; 16] = [
    trouble("none", Strike::Nothing, true),
    trouble("session killed at once", Strike::Kill(0), false),
    trouble("session killed soon", Strike::Kill(10), false),
    trouble("server killed", Strike::Restart, false),
    trouble("server stands still", Strike::StandStill(ms(2500)), false),
    trouble("connection cut", Strike::Cut, false),
    trouble("request cut", Strike::CutRequest, false),
    trouble("reply lost", Strike::LostReply, false),
    trouble("half open to the server", Strike::HalfOpen(Direction::ToServer), false),
    trouble("half open to the client", Strike::HalfOpen(Direction::ToClient), false),
    trouble("cancelled at once", Strike::Cancelled(0), true),
    trouble("cancelled soon", Strike::Cancelled(3), true),
    trouble("dropped soon", Strike::Dropped(2), true),
    trouble("stranger", Strike::Stranger, true),
    trouble("no table of tokens", Strike::NoTokens, true),
    trouble("no room", Strike::Full, true),
];

/// The settings that let the witness ask the server, and a log that outlives the server's process.
const OPTIONS: [&str; 5] = [
    "--performance-schema=ON",
    "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
    "--performance-schema-instrument=statement/%=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--innodb-flush-log-at-trx-commit=2",
];
/// The most connections of a server, as the rig starts it.
const CONNECTIONS: u32 = 600;

/// Every lock of the server and each session that waits for one, with the session's number.
const LOCKS: &str = "SELECT object_name, lock_status, processlist_id FROM performance_schema.metadata_locks \
                     JOIN performance_schema.threads ON owner_thread_id = thread_id WHERE object_type = 'USER LEVEL LOCK'";
/// The end of the last statement of each session, `NULL` while there is none; and the present moment, as the beginning of this
/// statement. All in ps. The list of processes would tell it too, but its long texts make a table on the disk for each look, and
/// MariaDB 10.11 has died of that.
const LAST: &str = "SELECT processlist_id, IF(end_event_id IS NULL, NULL, timer_end), \
                    IF(processlist_id = CONNECTION_ID(), timer_start, NULL) FROM performance_schema.events_statements_current \
                    JOIN performance_schema.threads USING (thread_id)";

fn start(_: Strike) -> Box<dyn Server> {
    Box::new(Sessions { server: Mariadb::with(&OPTIONS), view: Mutex::default() })
}

struct Sessions {
    server: Mariadb,
    view: Mutex<Option<Sql>>,
}

type Rows = Vec<Vec<Option<String>>>;

/// The beginning of the names of the locks that mark the sessions of a client.
fn tag(client: &str) -> String {
    format!("redlatch:{client}:")
}

impl Sessions {
    /// Carries out a statement.
    fn ask(&self, statement: &str) -> Result<Rows, String> {
        let mut view = self.view.lock().expect("nothing panics while it is held");
        let open = match view.take() {
            Some(open) => open,
            None => Sql::connect(self.server.port(), "app")?,
        };
        let rows = view.insert(open).try_rows(statement);
        if rows.is_err() {
            *view = None;
        }
        rows
    }

    /// The sessions of a client.
    fn sessions(&self, client: &str) -> Vec<String> {
        let tag = tag(client);
        let rows = self.ask(LOCKS).unwrap_or_default();
        let session = |row: Vec<Option<String>>| match <[_; 3]>::try_from(row) {
            Ok([Some(name), _, session]) if name.starts_with(&tag) => session,
            _ => None,
        };
        rows.into_iter().filter_map(session).collect()
    }

    /// Another program releases what it does not have, and takes the lock for a moment.
    fn lock_as_a_stranger(&self, stranger: &mut Sql, Target { name, witness, is_forced, .. }: &Target) {
        if stranger.unlock(name) {
            witness.violates(name, "a stranger has released a lock that it does not have".into());
        }
        if !stranger.lock(name, 1) {
            return;
        }
        for _ in 0..2 {
            if !is_forced && witness.believing(name) > 0 {
                witness.violates(name, "a holder believes while a stranger has the lock".into());
            }
            sleep(ms(5));
        }
        if !stranger.unlock(name) && !is_forced {
            witness.violates(name, "a stranger has lost its lock".into());
        }
    }
}

impl Server for Sessions {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn urls(&self, proxy: Option<u16>) -> [String; 2] {
        [self.server.url_at(proxy.unwrap_or(self.server.port())), self.server.url()]
    }

    fn mark(&self, _: &str) -> String {
        "_LOCK(".into()
    }

    fn look(&self) -> Option<Box<dyn Sight>> {
        let locks = self.ask(LOCKS).ok()?;
        let last = self.ask(LAST).ok()?;
        let number = |text: &Option<String>| text.as_deref()?.parse::<u64>().ok();
        let moment = last.iter().find_map(|row| number(&row[2])).unwrap_or_default();
        let since = |row: &[Option<String>]| Some(Duration::from_nanos(moment.saturating_sub(number(&row[1])?) / 1000));
        let idle = last.iter().filter_map(|row| Some((row[0].clone()?, since(row)?))).collect();
        let granted = locks
            .iter()
            .filter(|row| row[1].as_deref() == Some("GRANTED"))
            .filter_map(|row| Some((row[0].clone()?, row[2].clone()?)))
            .collect();
        Some(Box::new(Seen { now: Instant::now(), idle, granted }))
    }

    fn left(&self, names: &[String], clients: &[String]) -> Vec<String> {
        let rows = match self.ask(LOCKS) {
            Ok(rows) => rows,
            Err(error) => return vec![format!("the server does not say: {error}")],
        };
        let is_left = |name: &str| {
            names.iter().any(|one| one == name) || clients.iter().any(|client| name.starts_with(&tag(client)))
        };
        rows.iter()
            .filter_map(|row| match &row[..] {
                [Some(name), Some(status), session] if is_left(name) => {
                    Some(format!("`{name}` {status} by session {}", session.as_deref().unwrap_or("?")))
                }
                _ => None,
            })
            .collect()
    }

    fn meddle(&self, strike: Strike, with: &Target, is_over: &AtomicBool) {
        match strike {
            Strike::Kill(after) => {
                sleep(ms(after));
                for session in self.sessions(with.client) {
                    // It may have ended meanwhile.
                    let _ = self.ask(&format!("KILL {session}"));
                }
            }
            Strike::Stranger => {
                let mut stranger = self.server.sql();
                for _ in 0..20 {
                    self.lock_as_a_stranger(&mut stranger, with);
                    if is_over.load(SeqCst) {
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    fn strike(&self, strike: Strike, witness: &Witness) {
        let ask = |statement: &str| {
            self.ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        };
        match strike {
            Strike::Restart => {
                self.server.stop();
                witness.is_down(true);
                sleep(ms(400));
                witness.is_down(false);
                self.server.start_again();
            }
            Strike::StandStill(time) => {
                witness.stands_still(true);
                self.server.pause();
                sleep(time);
                self.server.resume();
                witness.stands_still(false);
            }
            Strike::NoTokens => {
                ask("DROP TABLE app.redlatch_fence");
                sleep(ms(300));
                witness.forgets_tokens();
                ask("CREATE TABLE app.redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL)");
            }
            Strike::Full => {
                ask("SET GLOBAL max_connections = 10");
                sleep(ms(500));
                ask(&format!("SET GLOBAL max_connections = {CONNECTIONS}"));
            }
            _ => unreachable!("MariaDB has no such trouble"),
        }
    }
}

/// A look at the server.
struct Seen {
    now: Instant,
    /// For how long each idle session has been so.
    idle: HashMap<String, Duration>,
    /// Each lock with its session.
    granted: Vec<(String, String)>,
}

impl Sight for Seen {
    fn kept(&self, name: &str, owner: &Owner, _: usize) -> Kept {
        let tag = tag(&owner.0);
        let is_its_own = |id: &str| self.granted.iter().any(|(name, other)| *other == id && name.starts_with(&tag));
        match self.granted.iter().find(|(lock, id)| lock == name && is_its_own(id)) {
            Some((_, session)) => {
                let ends = self.idle.get(session).map(|idle| self.now + LEASE.saturating_sub(*idle));
                Kept::By { session: session.clone(), ends }
            }
            None => {
                let has = self.granted.iter().find(|(lock, _)| lock == name);
                Kept::Not(has.map_or("no session".into(), |(_, id)| format!("session {id}")))
            }
        }
    }
}
