//! The table of changes: for every kind each operation that changes a server's state, with the state that it needs
//! before.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use redlatch::ffi::kinds::{ALL, KindRow, LEADERS, Traits};
use redlatch::ffi::{Answer, Border, Op, Request};

use super::*;

/// An operation, and the state in which it changes something.
pub struct Change {
    pub name: &'static str,
    /// The operation only gives back, or only sets another end: a full server accepts it.
    pub frees: bool,
    pub before: fn(&Stage),
    pub change: fn(&Stage),
}

/// A kind on a server of its own, and the client that makes the changes.
pub struct Stage {
    kind: &'static Traits,
    pub server: Arc<Server>,
    proxy: Proxy,
    pub client: Client,
    /// The id of the taken permit, in two halves.
    permit: Mutex<Vec<i64>>,
    waiting: Mutex<Option<(u64, Waiting)>>,
}

/// The answer to an acquire that is still waiting.
pub type Waiting = Receiver<redlatch::Result<Answer>>;

/// Every kind with a change, that of leaders too.
pub fn kinds() -> impl Iterator<Item = &'static KindRow> {
    ALL.iter().chain(LEADERS.iter().filter(|row| row.traits.held))
}

/// Every change of a kind.
pub fn of(kind: &Traits) -> impl Iterator<Item = &'static Change> {
    let tables: &[&'static [Change]] = match kind.name {
        "semaphore" => &[SEMAPHORE],
        "latch" => &[LATCH],
        "permit_semaphore" => &[PERMIT_SEMAPHORE],
        "permit" => &[PERMIT],
        "plain" => &[LOCK, AGAIN, KEYS],
        _ if kind.fair && kind.reentrant => &[LOCK, AGAIN, FAIR],
        _ if kind.fair => &[LOCK, FAIR],
        "read" => &[LOCK, AGAIN, SHARED],
        "write" => &[LOCK, AGAIN, DOWNGRADE],
        _ if kind.reentrant => &[LOCK, AGAIN],
        _ => &[LOCK],
    };
    tables.iter().copied().flatten()
}

/// An operation that takes or sets.
const fn change(name: &'static str, before: fn(&Stage), change: fn(&Stage)) -> Change {
    Change { name, frees: false, before, change }
}

/// An operation that gives back.
const fn freeing(name: &'static str, before: fn(&Stage), change: fn(&Stage)) -> Change {
    Change { name, frees: true, before, change }
}

const LOCK: &[Change] = &[
    change("acquire", |_| {}, Stage::take),
    freeing("release", Stage::take, |stage| stage.give(0)),
    freeing("forced release", Stage::take, Stage::force),
    freeing("extend", Stage::take, Stage::extend),
];

const AGAIN: &[Change] = &[
    change("acquire again", Stage::take, Stage::take),
    freeing("inner release", Stage::take_twice, |stage| stage.give(1)),
];

const FAIR: &[Change] = &[
    freeing("leave the queue", Stage::wait, Stage::give_up),
    change("release before a waiter", Stage::wait, Stage::give_to_waiter),
];

const SHARED: &[Change] = &[freeing("release beside another reader", Stage::take_beside, |stage| stage.give(0))];

const DOWNGRADE: &[Change] =
    &[freeing("release of a writer that goes on reading", Stage::take_and_read, |stage| stage.give(0))];

/// Operations on keys of any kind.
const KEYS: &[Change] = &[
    freeing("delete", Stage::take, |stage| stage.ask_keys(&["DEL"])),
    freeing("delete what matches", Stage::take, |stage| stage.ask_keys(&["DEL MATCHING"])),
    change("rename", Stage::take, |stage| stage.ask_keys(&["RENAME", "m"])),
];

const SEMAPHORE: &[Change] = &[
    change("set once", |_| {}, Stage::set),
    change("acquire", Stage::set, |stage| assert!(stage.ask(Op::Acquire, &[2]).done)),
    change("drain", Stage::set, |stage| assert_eq!(stage.ask(Op::Drain, &[]).number, 5)),
    freeing("release", Stage::set, |stage| assert_eq!(stage.ask(Op::Release, &[2]).number, 7)),
    freeing("release if it is there", Stage::set, |stage| assert_eq!(stage.ask(Op::ReleaseIfExists, &[2]).number, 7)),
    freeing("add", Stage::set, |stage| assert_eq!(stage.ask(Op::Add, &[2]).number, 7)),
    freeing("delete", Stage::set, |stage| assert_eq!(stage.ask(Op::Delete, &[]).number, 1)),
    freeing("undo", Stage::take_unknown, Stage::undo),
    LIVE_FOR,
];

const LATCH: &[Change] = &[
    change("set once", |_| {}, Stage::set),
    freeing("count down", Stage::set, |stage| assert_eq!(stage.ask(Op::CountDown, &[]).number, 4)),
    freeing("open", Stage::set_one, |stage| assert_eq!(stage.ask(Op::CountDown, &[]).number, 0)),
    freeing("delete", Stage::set, |stage| assert_eq!(stage.ask(Op::Delete, &[]).number, 1)),
    LIVE_FOR,
];

const PERMIT_SEMAPHORE: &[Change] = &[
    change("set once", |_| {}, Stage::set),
    change("set", Stage::set, |stage| assert_eq!(stage.ask(Op::Set, &[7]).number, 7)),
    change("acquire", Stage::set, |stage| assert!(stage.ask(Op::Acquire, &[2]).done)),
    change("acquire of what ends", Stage::set_with_an_end, |stage| assert!(stage.ask(Op::Acquire, &[2]).done)),
    freeing("extend", Stage::take_permit, |stage| assert!(stage.ask_for(Op::Extend, &stage.permit(), 5 * LONG).done)),
    freeing("release", Stage::take_permit, |stage| assert_eq!(stage.ask(Op::Release, &stage.permit()).number, 1)),
    freeing("add", Stage::set, |stage| assert_eq!(stage.ask(Op::Add, &[2]).number, 7)),
    freeing("delete", Stage::set, |stage| assert_eq!(stage.ask(Op::Delete, &[]).number, 1)),
    freeing("undo", Stage::take_unknown, Stage::undo),
    LIVE_FOR,
];

const PERMIT: &[Change] = &[
    change("acquire", Stage::set, Stage::take),
    freeing("release", Stage::set_and_take, |stage| stage.give(0)),
    freeing("extend", Stage::set_and_take, Stage::extend),
];

/// Only without an end: a second round would find one.
const LIVE_FOR: Change =
    change("live for", Stage::set, |stage| assert_eq!(stage.ask(Op::LiveFor, &[600_000, 1]).number, 1));

/// The owner that makes the change, and the owner that waits behind it.
const OWNER: i64 = 1;
const WAITER: i64 = 2;

impl Stage {
    pub fn new(kind: &'static Traits, server: &Arc<Server>) -> Self {
        let proxy = Proxy::start(server);
        let client = connect(&format!("{}?response_timeout=1&retry_for=20", server.url_at(proxy.port())));
        Stage { kind, server: server.clone(), proxy, client, permit: Mutex::default(), waiting: Mutex::default() }
    }

    fn request(&self, op: Op) -> Request {
        Request::new(op, self.kind.name, kinds::name(self.kind.name, "n"), OWNER)
    }

    fn run(&self, request: Request) -> Answer {
        let asked = format!("{:?}", request.op);
        self.client.run_blocking(request).unwrap_or_else(|e| panic!("{asked} of {}: {e}", self.kind.name))
    }

    fn ask(&self, op: Op, numbers: &[i64]) -> Answer {
        self.ask_for(op, numbers, LONG)
    }

    fn ask_for(&self, op: Op, numbers: &[i64], lease: Duration) -> Answer {
        self.run(Request { numbers: numbers.to_vec(), lease: Some(lease), ..self.request(op) })
    }

    fn ask_keys(&self, words: &[&str]) {
        let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        assert_eq!(self.run(Request { texts, ..self.request(Op::Keys) }).number, 1);
    }

    pub fn take(&self) {
        assert!(self.ask(Op::Acquire, &[]).done, "{}: it is not free", self.kind.name);
    }

    /// Another owner reads as well, for a shorter time.
    fn take_beside(&self) {
        self.take();
        self.run(Request { owner: WAITER, lease: Some(LONG / 2), ..self.request(Op::Acquire) });
    }

    /// The owner of the write lock reads as well, for a shorter time.
    fn take_and_read(&self) {
        self.take();
        self.run(Request { kind: "read", lease: Some(LONG / 2), ..self.request(Op::Acquire) });
    }

    fn take_twice(&self) {
        self.take();
        self.take();
    }

    /// Releases one hold, so that `left` holds remain.
    pub fn give(&self, left: i64) {
        assert_eq!(self.ask(Op::Release, &[]).number, left);
        if self.kind.name != "permit" {
            assert_eq!(self.ask(Op::Inspect, &[]).items[0], left, "the server counts others");
        }
    }

    pub fn release_of(&self, owner: i64) -> Request {
        Request { owner, ..self.request(Op::Release) }
    }

    /// Another owner releases its only hold.
    pub fn give_of(&self, owner: i64) {
        assert_eq!(self.run(self.release_of(owner)).number, 0);
    }

    pub fn force(&self) {
        assert_eq!(self.ask(Op::ForceRelease, &[]).number, 1);
    }

    /// Swallows the reply to the next script call.
    pub fn lose_next_reply(&self) {
        self.proxy.lose_reply_to("EVALSHA");
    }

    /// How many replies were lost.
    pub fn struck(&self) -> usize {
        self.proxy.struck()
    }

    /// Swallows the reply to the second script call from now on.
    pub fn lose_second_reply(&self) {
        self.proxy.lose_replies_to("EVALSHA", 2);
    }

    fn extend(&self) {
        let hold = self.client.latest(self.kind.name, &kinds::name(self.kind.name, "n"), OWNER).expect("it has one");
        assert!(self.run(Request { hold, lease: Some(5 * LONG), ..self.request(Op::Extend) }).done);
    }

    /// Sets the number of permits, or the count, to five.
    fn set(&self) {
        self.set_to(5);
    }

    fn set_one(&self) {
        self.set_to(1);
    }

    fn set_to(&self, count: i64) {
        let kind = kinds::row(self.kind.name).set_by.expect("the kind has permits or a count");
        let request = Request { kind, numbers: vec![count], ..self.request(Op::TrySet) };
        assert_eq!(self.run(request).number, 1);
    }

    fn set_with_an_end(&self) {
        self.set();
        assert_eq!(self.ask(Op::LiveFor, &[600_000]).number, 1);
    }

    fn set_and_take(&self) {
        self.set();
        self.take();
    }

    fn take_permit(&self) {
        self.set();
        *self.permit.lock().expect("nothing panics while it is held") = self.ask(Op::Acquire, &[1]).items;
    }

    fn permit(&self) -> Vec<i64> {
        self.permit.lock().expect("nothing panics while it is held").clone()
    }

    /// Takes a permit whose answer stays under way for longer than the caller waits.
    fn take_unknown(&self) {
        self.set();
        // With this call the server knows the script, so that its last script call is the acquire's.
        assert!(self.ask(Op::Acquire, &[2]).done);
        assert_eq!(self.ask(Op::Delete, &[]).number, 1);
        self.set();
        let mut view = self.server.view();
        // After a long idle time a connection is first asked for a sign of life, which does not arrive either. Then the
        // test tries again.
        eventually("an acquire whose answer is on its way", || {
            self.settled(&mut view);
            self.proxy.stall(Direction::ToClient);
            let request = Request {
                numbers: vec![2],
                lease: Some(LONG),
                retry_for: Some(Duration::ZERO),
                ..self.request(Op::Acquire)
            };
            let unknown = self.client.run_blocking(Request { response_timeout: Some(ms(100)), ..request });
            assert!(matches!(unknown, Err(redlatch::Error::Unavailable { .. })), "{unknown:?}");
            // The client gives the permit back once no copy of the acquire can arrive any more: 1 s after its sending,
            // and not before this test lets it.
            self.proxy.stall(Direction::ToServer);
            let is_taken = view.command::<i64>(&["GET", "n"]) == 3;
            if !is_taken {
                self.undo();
            }
            is_taken.then_some(())
        });
    }

    /// Waits until the client gives back what it may have been granted.
    fn undo(&self) {
        self.proxy.flow();
        let mut view = self.server.view();
        eventually("the permits", || (view.command::<i64>(&["GET", "n"]) == 5).then_some(()));
    }

    /// Another owner begins to wait. Returns the channel of its answer.
    pub fn heir(&self) -> Waiting {
        self.heir_of(WAITER)
    }

    pub fn heir_of(&self, owner: i64) -> Waiting {
        self.begin_to_wait(owner).1
    }

    /// Whether the server has heard of the client's waiter: the waiter tried and found the lock held.
    pub fn waits(&self) -> bool {
        self.server.view().channels("*").len() == 1 || !kinds::listens(self.kind.name)
    }

    /// Another owner begins to wait. Returns its ticket and the channel of its answer.
    fn begin_to_wait(&self, owner: i64) -> (u64, Waiting) {
        let (sender, receiver) = channel();
        (self.begin_to_wait_and(owner, move |taken| drop(sender.send(taken))), receiver)
    }

    /// The same with a callback that runs as soon as the answer is there.
    pub fn begin_to_wait_and(&self, owner: i64, told: impl FnOnce(redlatch::Result<Answer>) + Send + 'static) -> u64 {
        let ticket = self.client.ticket();
        let request = Request { owner, wait: Some(LONG), lease: Some(LONG), ..self.request(Op::Acquire) };
        self.client.submit(ticket, request, told);
        ticket
    }

    /// One owner holds the lock, and another one stands in the queue.
    fn wait(&self) {
        self.take();
        let waiting = self.begin_to_wait(WAITER);
        let mut view = self.server.view();
        eventually("a waiter in the queue", || view.exists("redisson_lock_queue:{n}").then_some(()));
        eventually("a listener", || (!view.channels("*").is_empty()).then_some(()));
        *self.waiting.lock().expect("nothing panics while it is held") = Some(waiting);
    }

    /// The owner releases the lock, and the waiter gets it.
    fn give_to_waiter(&self) {
        self.give(0);
        let waiting = self.waiting.lock().expect("nothing panics while it is held").take();
        let (_, told) = waiting.expect("an owner waits");
        assert!(told.recv_timeout(PATIENCE).expect("it is told in the end").expect("the lock is free").done);
    }

    fn give_up(&self) {
        let waiting = self.waiting.lock().expect("nothing panics while it is held").take();
        let (ticket, told) = waiting.expect("an owner waits");
        self.client.cancel(ticket);
        let told = told.recv_timeout(PATIENCE).expect("it is told in the end");
        assert!(matches!(told, Err(redlatch::Error::Cancelled)), "{told:?}");
        let mut view = self.server.view();
        eventually("the queue without it", || (!view.exists("redisson_lock_queue:{n}")).then_some(()));
    }

    /// Returns once the client has had the server forget all answered requests.
    pub fn settled(&self, view: &mut View) {
        eventually("no request that is remembered", || view.keys("redlatch_request*").is_empty().then_some(()));
    }
}
