//! The rig's own look at one server, and the violations that it has seen there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::thread::JoinHandle;

use super::places::{self, Place};
use super::sampler::Sampler;
use super::{Statement, Violation, book, last_look, tokens};
use crate::view::View;

/// How many violations are kept.
const MOST: usize = 20;

/// The number of the role *master*.
pub(super) const MASTER: u8 = 1;
pub(super) const REPLICA: u8 = 2;

/// The rig's own look at one server.
pub struct Watch {
    pub(super) place: Place,
    port: u16,
    url: String,
    pub(super) stop: AtomicBool,
    /// The role by the server's latest word; 0: unknown, or the server did not answer.
    pub(super) role: AtomicU8,
    violations: Mutex<Vec<Violation>>,
    exempt: Mutex<Vec<(Statement, String)>>,
    /// Set when the test took the server's data away, or lost it.
    pub(super) emptied: AtomicBool,
    /// How many commands that take the data away are under way.
    emptying: AtomicUsize,
    /// How often each command of this watch was sent since the last reset. Its lock is held while such a command is
    /// under way.
    pub(super) sent: Mutex<BTreeMap<String, u64>>,
    /// The watch's end of its connection, as the server names it.
    address: Mutex<Option<String>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

static ALL: LazyLock<Mutex<HashMap<Place, Weak<Watch>>>> = LazyLock::new(Mutex::default);

/// Whether servers start without a watch.
static ASIDE: AtomicBool = AtomicBool::new(false);

/// Starts servers without a watch from now on: for programs that measure or show.
pub fn stand_aside() {
    ASIDE.store(true, SeqCst);
}

pub(super) fn stands_aside() -> bool {
    ASIDE.load(SeqCst)
}

/// Reports a violation to those servers.
pub(super) fn report(places: &BTreeSet<Place>, violation: Violation) {
    let first = places.iter().find_map(|place| find(*place));
    first.into_iter().for_each(|watch| watch.report(violation.clone()));
}

pub(super) fn find(place: Place) -> Option<Arc<Watch>> {
    ALL.lock().expect("nothing panics while it is held").get(&place).and_then(Weak::upgrade)
}

/// The watch of the server at a port.
pub(crate) fn at(port: u16) -> Option<Arc<Watch>> {
    let all = ALL.lock().expect("nothing panics while it is held");
    all.values().filter_map(Weak::upgrade).find(|watch| watch.port == port)
}

/// Whether `address` is the watch's connection on the server at this port. On another server a client may have the same
/// address.
pub(crate) fn is_one(port: u16, address: &str) -> bool {
    let is_called = |watch: &Arc<Watch>| watch.address.lock().is_ok_and(|own| own.as_deref() == Some(address));
    at(port).is_some_and(|watch| is_called(&watch))
}

impl Watch {
    /// Begins to watch the server at `port`, to which `addresses` lead too.
    pub(crate) fn start(port: u16, addresses: &[String], url: String) -> Option<Arc<Watch>> {
        if ASIDE.load(SeqCst) {
            return None;
        }
        super::news::listen();
        let place = places::number();
        places::leads(&port.to_string(), place);
        addresses.iter().for_each(|address| places::leads(address, place));
        let watch = Arc::new(Watch {
            place,
            port,
            url,
            stop: AtomicBool::new(false),
            role: AtomicU8::new(0),
            violations: Mutex::default(),
            exempt: Mutex::default(),
            emptied: AtomicBool::new(false),
            emptying: AtomicUsize::new(0),
            sent: Mutex::default(),
            address: Mutex::default(),
            thread: Mutex::default(),
        });
        ALL.lock().expect("nothing panics while it is held").insert(place, Arc::downgrade(&watch));
        let connection = watch.connect();
        let run = watch.clone();
        let thread =
            std::thread::Builder::new().name("oracle".into()).spawn(move || Sampler::new(&run, connection).run());
        *watch.thread.lock().expect("nothing panics while it is held") =
            Some(thread.expect("the system gives a thread"));
        Some(watch)
    }

    /// The violations so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.violations.lock().expect("nothing panics while it is held").clone()
    }

    /// Takes the violations so far: another place judges them.
    pub fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.violations.lock().expect("nothing panics while it is held"))
    }

    pub(crate) fn exempt(&self, statement: Statement, name: &str) {
        self.exempt.lock().expect("nothing panics while it is held").push((statement, name.to_owned()));
    }

    pub(super) fn report(&self, violation: Violation) {
        let exempt = self.exempt.lock().expect("nothing panics while it is held");
        if exempt
            .iter()
            .any(|(statement, name)| *statement == violation.statement && violation.name.contains(name.as_str()))
        {
            return;
        }
        let mut violations = self.violations.lock().expect("nothing panics while it is held");
        let is_known =
            violations.iter().any(|known| known.statement == violation.statement && known.name == violation.name);
        if violations.len() < MOST && !is_known {
            violations.push(violation);
        }
    }

    /// Does `work`, after which the server's data is gone and its tokens begin anew.
    pub(crate) fn empties<T>(&self, work: impl FnOnce() -> T) -> T {
        self.emptying.fetch_add(1, SeqCst);
        tokens::pause(self.place);
        let done = work();
        tokens::forget(self.place);
        self.emptied.store(true, SeqCst);
        self.emptying.fetch_sub(1, SeqCst);
        done
    }

    /// Whether the data is being taken away, or was since the sampler's last look.
    pub(super) fn is_emptied(&self) -> bool {
        self.emptying.load(SeqCst) > 0 || self.emptied.load(SeqCst)
    }

    /// Does `work` while no command of this watch is under way. `work` sees how often its commands were sent.
    pub(crate) fn apart<T>(&self, work: impl FnOnce(&mut BTreeMap<String, u64>) -> T) -> T {
        work(&mut self.sent.lock().expect("nothing panics while it is held"))
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.address.lock().expect("nothing panics while it is held").is_some()
    }

    pub(super) fn connect(&self) -> Option<View> {
        let mut view = View::quick(&self.url).ok()?;
        let info: String = view.try_command(&["CLIENT", "INFO"]).ok()?;
        let address = info.split(' ').find_map(|word| word.strip_prefix("addr="))?.to_owned();
        *self.address.lock().expect("nothing panics while it is held") = Some(address);
        Some(view)
    }

    pub(super) fn disconnected(&self) {
        *self.address.lock().expect("nothing panics while it is held") = None;
        self.role.store(0, SeqCst);
    }

    /// Looks at the server once more before its end, as far as it still answers.
    pub(crate) fn look_back(&self) {
        self.stop.store(true, SeqCst);
        if let Some(mut view) = self.connect() {
            last_look::look(self, &mut view);
        }
    }

    /// Notes the server's end.
    pub(crate) fn end(&self) {
        self.stop.store(true, SeqCst);
        let thread = self.thread.lock().expect("nothing panics while it is held").take();
        thread.into_iter().for_each(|thread| drop(thread.join()));
        let clients = book::clients_of(self.place);
        places::gone(self.place);
        tokens::forget(self.place);
        book::forget(&clients);
        ALL.lock().expect("nothing panics while it is held").remove(&self.place);
    }
}
