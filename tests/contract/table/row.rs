//! One kind on a server of its own, with two clients.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, Kind, KindRow, Traits};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Server, View, kinds};

use crate::eventually;

pub struct Row {
    pub traits: &'static Traits,
    kind: &'static dyn Kind,
    pub server: Arc<Server>,
    pub a: Client,
    pub b: Client,
    /// The waiters that are known to wait, by channel and client.
    waiting: Mutex<BTreeSet<(Option<String>, String)>>,
}

/// The key of the lock of every row.
const KEY: &str = "n";

fn find(kind: &str) -> &'static KindRow {
    ALL.iter().find(|row| row.traits.name == kind).expect("there is such a kind")
}

impl Row {
    pub fn new(traits: &'static Traits, kind: &'static dyn Kind) -> Self {
        Row::on(Arc::new(Server::start()), traits, kind)
    }

    fn on(server: Arc<Server>, traits: &'static Traits, kind: &'static dyn Kind) -> Self {
        let client = || Client::connect(&server.url()).expect("a good URL");
        Row { traits, kind, a: client(), b: client(), server, waiting: Mutex::default() }
    }

    /// The row of the kind of that name.
    pub fn of(kind: &str) -> Self {
        let row = find(kind);
        Row::new(&row.traits, row.kind)
    }

    /// The row of the kind of that name on the same server.
    pub fn by(&self, kind: &str) -> Self {
        let row = find(kind);
        Row::on(self.server.clone(), &row.traits, row.kind)
    }

    pub fn view(&self) -> View {
        self.server.view()
    }

    /// The key of the lock.
    pub fn key(&self) -> &'static str {
        KEY
    }

    /// The name of the lock.
    pub fn name(&self) -> String {
        kinds::name(self.traits.name, KEY)
    }

    /// A client with a watchdog of so many seconds.
    pub fn quick(&self, seconds: f64) -> Client {
        self.client(&format!("watchdog={seconds}"))
    }

    /// A client with these options.
    pub fn client(&self, options: &str) -> Client {
        Client::connect(&format!("{}?{options}", self.server.url())).expect("a good URL")
    }

    pub fn request(&self, op: Op, owner: i64) -> Request {
        Request::new(op, self.traits.name, self.name(), owner)
    }

    /// Takes the lock at once.
    pub fn take(&self, client: &Client, owner: i64) -> Answer {
        let taken = self.try_for(client, owner, Duration::ZERO);
        taken.unwrap_or_else(|| panic!("{}: it is not free", self.traits.name))
    }

    /// Takes the lock for a lease of its own. An answer after the end of the lease does not count.
    pub fn lease(&self, client: &Client, owner: i64, lease: Duration) -> Answer {
        let answer = client
            .run_blocking(Request {
                lease: Some(lease),
                wait: Some(redlatch_tests::PATIENCE),
                ..self.request(Op::Acquire, owner)
            })
            .expect("answered");
        assert!(answer.done, "{}: it is not free", self.traits.name);
        answer
    }

    pub fn try_for(&self, client: &Client, owner: i64, wait: Duration) -> Option<Answer> {
        let answer =
            client.run_blocking(Request { wait: Some(wait), ..self.request(Op::Acquire, owner) }).expect("answered");
        answer.done.then_some(answer)
    }

    /// Releases the latest hold.
    pub fn give(&self, client: &Client, owner: i64) {
        self.try_give(client, owner).unwrap_or_else(|e| panic!("{}: {e}", self.traits.name));
    }

    pub fn try_give(&self, client: &Client, owner: i64) -> Result<Answer, Error> {
        client.run_blocking(self.request(Op::Release, owner))
    }

    pub fn is_taken(&self, client: &Client) -> bool {
        client.run_blocking(self.request(Op::Inspect, 0)).expect("answered").number != -2
    }

    pub fn count(&self, client: &Client, owner: i64) -> i64 {
        client.run_blocking(self.request(Op::Inspect, owner)).expect("answered").items[0]
    }

    /// Whether waiters are told that another try is worth while.
    pub fn hears(&self) -> bool {
        self.kind.wake(&self.name(), "u:1").channel.is_some()
    }

    /// Begins to wait, and returns once the server has heard of the waiter.
    pub fn wait(&self, client: &Client, owner: i64, wait: Option<Duration>) -> Waiting {
        let mut view = self.view();
        let before = scripts(&mut view);
        let channel = self.kind.wake(&self.name(), &format!("{}:{owner}", client.id())).channel;
        let begun = self.begin(client, owner, wait);
        let mut waiting = self.waiting.lock().expect("nothing panics while it is held");
        // A waiter behind others of its client is in line when `submit` returns. The first of each client listens, or
        // tries.
        let first = waiting.insert((channel.clone(), client.id()));
        let clients = waiting.iter().filter(|(other, _)| *other == channel).count() as u64;
        eventually(|| match &channel {
            Some(channel) => view.listeners(channel) >= clients,
            None => !first || scripts(&mut view) > before,
        });
        begun
    }

    /// Begins to wait.
    pub fn begin(&self, client: &Client, owner: i64, wait: Option<Duration>) -> Waiting {
        let (sender, answer) = mpsc::channel();
        let ticket = client.ticket();
        client.submit(ticket, Request { wait, ..self.request(Op::Acquire, owner) }, move |result| {
            drop(sender.send(result))
        });
        Waiting { client: client.clone(), ticket, answer }
    }

    /// Whether the lock has no holder, no waiter and no subscriber.
    pub fn is_clean(&self) -> bool {
        let mut view = self.view();
        // The counter of fencing tokens outlives its lock: otherwise tokens would not grow.
        view.keys("*").iter().all(|key| key.starts_with("redisson_lock_token")) && view.channels("*").is_empty()
    }
}

/// How many script calls the server has seen.
pub fn scripts(view: &mut View) -> u64 {
    let calls = view.calls();
    calls.get("evalsha").unwrap_or(&0) + calls.get("eval").unwrap_or(&0)
}

/// An acquire without an answer yet.
pub struct Waiting {
    client: Client,
    ticket: u64,
    answer: mpsc::Receiver<Result<Answer, Error>>,
}

impl Waiting {
    pub fn cancel(&self) {
        self.client.cancel(self.ticket);
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.answer.try_recv(), Err(mpsc::TryRecvError::Empty))
    }

    /// Waits for the answer.
    ///
    /// # Panics
    /// When it takes longer than `time`.
    pub fn within(self, time: Duration) -> Result<Answer, Error> {
        self.answer.recv_timeout(time).unwrap_or_else(|e| panic!("no answer within {time:?}: {e}"))
    }
}
