//! The witness of one server: it notes all that the clients believe, at every change, and looks at the server's own locks and
//! sessions again and again. [`Book`] judges by what is seen.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, RwLock, Weak};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use redlatch_tests::ms;
use redlatch_tests::oracle::{self, Change};

use crate::book::{Book, TOLD, Terms};
use crate::system::Server;

/// The time between two looks at the server.
const BEAT: Duration = ms(15);

/// Which witness hears of a client.
static CLIENTS: LazyLock<RwLock<HashMap<String, Weak<Witness>>>> = LazyLock::new(RwLock::default);

pub struct Witness {
    pub server: Box<dyn Server>,
    book: Mutex<Book>,
    /// The server stands still, and answers no look.
    is_still: AtomicBool,
    is_over: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Witness {
    pub fn start(server: Box<dyn Server>) -> Arc<Self> {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| oracle::hear_beliefs(note));
        let witness = Arc::new(Witness {
            server,
            book: Mutex::default(),
            is_still: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            thread: Mutex::default(),
        });
        let run = witness.clone();
        let thread = thread::Builder::new().name("witness".into()).spawn(move || run.run());
        *witness.thread() = Some(thread.expect("the system gives a thread"));
        witness
    }

    /// Hears from now on what this client believes.
    pub fn hears(self: &Arc<Self>, client: &str) {
        CLIENTS.write().expect("nothing panics while it is held").insert(client.to_owned(), Arc::downgrade(self));
    }

    /// Ends the looks. The server ends with the last one that has its witness.
    pub fn end(&self) {
        self.is_over.store(true, SeqCst);
        let thread = self.thread().take();
        if let Some(thread) = thread {
            thread.join().expect("the witness does not panic");
        }
    }

    /// Notes that the server stands still or goes on.
    pub fn stands_still(&self, is_still: bool) {
        self.is_still.store(is_still, SeqCst);
    }

    /// Notes the end of the server and its sessions, or its return.
    pub fn is_down(&self, is_down: bool) {
        self.book().down = is_down.then(Instant::now);
    }

    /// Notes that the tokens begin anew.
    pub fn forgets_tokens(&self) {
        self.book().forgets_tokens();
    }

    /// Notes the promises of a lock.
    pub fn has_terms(&self, name: &str, terms: Terms) {
        self.book().has_terms(name, terms);
    }

    /// How many owners of our clients believe that they have the lock.
    pub fn believing(&self, name: &str) -> usize {
        self.book().believing(name, Instant::now())
    }

    pub fn violates(&self, name: &str, text: String) {
        self.book().violates(name, text);
    }

    /// Takes the violations about locks with this beginning of their names.
    pub fn take_wrong(&self, stem: &str) -> Vec<String> {
        self.book().take_wrong(stem)
    }

    /// When the client noticed the loss of a hold.
    pub fn lost_at(&self, client: &str, hold: u64) -> Option<Instant> {
        self.book().lost_at(client, hold)
    }

    /// The time in which a caller is told on this machine.
    pub fn patience(&self) -> Duration {
        TOLD + self.book().slowest
    }

    /// The longest time by which this machine has delayed a thread or a server that is in no trouble.
    pub fn slowest(&self) -> Duration {
        let book = self.book();
        book.slowest.max(book.longest_look)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nothing panics while it is held")
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().expect("nothing panics while it is held")
    }

    fn run(&self) {
        let mut pause = BEAT;
        while !self.is_over.load(SeqCst) {
            let asleep = Instant::now();
            sleep(pause);
            let awake = Instant::now();
            {
                let mut book = self.book();
                book.slowness = (book.slowness.mul_f64(0.95)).max((awake - asleep).saturating_sub(pause));
                book.slowest = book.slowest.max(book.slowness);
                book.look_at_beliefs(Instant::now());
            }
            if !self.is_still.load(SeqCst) {
                self.look_at_server();
            }
            // A busy server has half of its time for the clients.
            pause = BEAT.max(awake.elapsed());
        }
    }

    /// Compares the beliefs with the server's own locks and sessions.
    fn look_at_server(&self) {
        let before = self.book().beliefs(Instant::now());
        if before.is_empty() {
            return;
        }
        let asked = Instant::now();
        let Some(sight) = self.server.look() else { return self.book().sees_nothing() };
        let now = Instant::now();
        let mut book = self.book();
        // A server that answers late tells a client of its end late, too.
        book.longest_look = book.longest_look.max(now - asked);
        book.slowness = book.slowness.max(now - asked);
        for belief in before {
            let kept = sight.kept(&belief.name, &belief.owner, belief.room);
            book.compare(&belief, kept, asked, now);
        }
    }
}

fn note(change: &Change) {
    let witness = CLIENTS.read().expect("nothing panics while it is held").get(&change.client).cloned();
    if let Some(witness) = witness.and_then(|witness| witness.upgrade()) {
        witness.book().note(change);
    }
}
