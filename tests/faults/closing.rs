//! Clients that are closed while their other threads send every sort of request.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use redlatch::ffi::kinds::{ALL, KindRow, Queue, Traits};
use redlatch::ffi::{Answer, Border, Member, Op, Request, Rule};
use redlatch::{Error, Holds};

use super::*;
use redlatch_tests::begun;
use redlatch_tests::dice::Dice;

type End = Result<Answer, Error>;

const THREADS: i64 = 4;
/// Permits of each semaphore.
const PERMITS: i64 = 3;

/// A request under way, with its kind and owner.
struct Asked {
    what: String,
    end: Receiver<End>,
}

impl Asked {
    fn by(client: &Client, ticket: u64, request: Request, on_own_thread: bool) -> Asked {
        let what = format!("{request:?}");
        if on_own_thread {
            return Asked { what, end: begun(client, Duration::MAX, ticket, request) };
        }
        let (sender, end) = mpsc::channel();
        client.submit(ticket, request, move |result| drop(sender.send(result)));
        Asked { what, end }
    }

    fn end(self) -> End {
        self.end.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{} never ended: {error}", self.what))
    }
}

/// The holds that a round's threads were granted, by kind and owner.
#[derive(Default)]
struct Told {
    held: BTreeSet<(&'static str, i64)>,
    /// Holds whose release was requested: the client's end may have come before it.
    leaving: BTreeSet<(&'static str, i64)>,
}

impl Told {
    fn count(&self, kind: &str) -> (i64, i64) {
        let of = |all: &BTreeSet<(&str, i64)>| all.iter().filter(|(other, _)| *other == kind).count() as i64;
        (of(&self.held), of(&self.held) + of(&self.leaving))
    }
}

struct Round<'a> {
    server: &'a Server,
    name: String,
    client: Client,
    /// Locks of the closing client alone, and of that client together with one that stays open.
    groups: [Client; 2],
    told: Mutex<Told>,
}

fn is_counted(kind: &str) -> bool {
    ["semaphore", "permit_semaphore", "latch"].contains(&kind)
}

impl<'a> Round<'a> {
    fn begin(server: &'a Server, other: &Client, number: u64) -> Self {
        let name = format!("r{number}");
        let client = connect(&format!("{}?watchdog=120", server.url()));
        let member = |client: &Client, name: &str| Member { client: client.clone(), kind: "plain", name: name.into() };
        let group = |of: &Client| {
            let members = vec![member(&client, &format!("{name}:plain")), member(of, &format!("{name}:second"))];
            Client::group(Rule::All, members).expect("two locks")
        };
        let groups = [group(&client), group(other)];
        for permits in ["semaphore", "permit_semaphore"] {
            server.view().command::<()>(&["SET", &format!("{name}:{permits}"), &PERMITS.to_string()]);
        }
        Round { server, name, client, groups, told: Mutex::default() }
    }

    fn told<T>(&self, note: impl FnOnce(&mut Told) -> T) -> T {
        note(&mut self.told.lock().expect("nothing panics while it is held"))
    }

    fn name(&self, kind: &str) -> String {
        match kind {
            "permit" => format!("{}:permit_semaphore", self.name),
            "read" | "write" => format!("{}:read_write", self.name),
            kind => kinds::name(kind, &format!("{}:{kind}", self.name)),
        }
    }

    fn request(&self, op: Op, kind: &'static str, owner: i64) -> Request {
        let numbers = if is_counted(kind) && op == Op::Acquire { vec![1] } else { Vec::new() };
        Request { numbers, ..Request::new(op, kind, self.name(kind), owner) }
    }

    /// One thread: sends all sorts of requests until the client is closed.
    fn ask(&self, mut dice: Dice, thread: i64) {
        let mut pending = Vec::<Asked>::new();
        let mut holds = Vec::<(Client, Request)>::new();
        for number in 0.. {
            let KindRow { traits, .. } = dice.pick(ALL);
            let owner = thread + THREADS * number;
            let of_group = traits.name == "plain" && dice.percent(50);
            let client = if of_group { dice.pick(&self.groups) } else { &self.client };
            let ticket = client.ticket();
            let on_own_thread = dice.percent(60);
            let ask = |client: &Client, request| Asked::by(client, ticket, request, on_own_thread);
            let end = match dice.below(10) {
                0..=4 => {
                    let wait = *dice.pick(&[Some(Duration::ZERO), Some(ms(1)), None, None]);
                    let asked = ask(client, Request { wait, ..self.request(Op::Acquire, traits.name, owner) });
                    if dice.percent(10) {
                        client.cancel(ticket);
                    }
                    let end = asked.end();
                    if let Ok(taken @ Answer { done: true, .. }) = &end {
                        self.told(|told| told.held.insert((traits.name, owner)));
                        holds.push((client.clone(), self.release(traits, owner, taken)));
                    }
                    end
                }
                5 | 6 if !holds.is_empty() => {
                    let (client, release) = holds.swap_remove(dice.below(holds.len() as u64) as usize);
                    let of = (release.kind, release.owner);
                    self.told(|told| (told.held.remove(&of), told.leaving.insert(of)));
                    ask(&client, release).end()
                }
                7 if !holds.is_empty() => {
                    let (client, held) = &holds[dice.below(holds.len() as u64) as usize];
                    match (is_counted(held.kind), dice.percent(50)) {
                        (true, _) => continue,
                        (false, true) => {
                            ask(client, Request { op: Op::Extend, lease: Some(LONG), ..held.clone() }).end()
                        }
                        (false, false) => {
                            pending.push(ask(client, Request { op: Op::Watch, ..held.clone() }));
                            continue;
                        }
                    }
                }
                8 => {
                    let listen = self.request(Op::Expiry, traits.name, owner);
                    let listening = ask(&self.client, listen.clone()).end();
                    if let Ok(Answer { number, .. }) = listening {
                        let next = Request { hold: number as u64, wait: None, ..listen };
                        pending.push(Asked::by(&self.client, self.client.ticket(), next, on_own_thread));
                    }
                    listening
                }
                _ => {
                    let op = *dice.pick(&[Op::Inspect, Op::Ping, Op::ForceRelease, Op::Keys, Op::CountDown]);
                    let texts = if op == Op::Keys { vec![b"TYPE".to_vec()] } else { Vec::new() };
                    let kind = if op == Op::CountDown { "latch" } else { traits.name };
                    ask(client, Request { texts, ..self.request(op, kind, owner) }).end()
                }
            };
            match end {
                Err(Error::Closed { .. }) => break,
                Err(Error::Lost(_) | Error::NotHeld { .. } | Error::Cancelled | Error::Unsupported(_)) | Ok(_) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        for asked in pending {
            let what = asked.what.clone();
            match asked.end() {
                Ok(_) | Err(Error::Closed { .. } | Error::Lost(_) | Error::Cancelled) => {}
                Err(error) => panic!("{what}: {error:?}"),
            }
        }
    }

    fn release(&self, traits: &Traits, owner: i64, taken: &Answer) -> Request {
        let release = self.request(Op::Release, traits.name, owner);
        match traits.name {
            "semaphore" => Request { numbers: vec![1], ..release },
            "permit_semaphore" => Request { numbers: taken.items.clone(), ..release },
            _ => Request { hold: taken.number as u64, ..release },
        }
    }

    /// The server's record of this client's owners, by kind, as far as their names are there.
    fn left(&self) -> Vec<(String, String)> {
        let mut view = self.server.view();
        let stem = format!("{}:", self.client.id());
        let mut left = Vec::new();
        for key in
            view.keys(&format!("*{}:*", self.name)).into_iter().filter(|key| !key.starts_with("redlatch_request"))
        {
            let names = match &*view.kind(&key) {
                "hash" => view.hgetall(&key).into_keys().collect(),
                "list" => view.command::<Vec<String>>(&["LRANGE", &key, "0", "-1"]),
                "zset" if !key.ends_with(":timeout") => view.command(&["ZRANGE", &key, "0", "-1"]),
                "string" => vec![view.command::<String>(&["GET", &key])],
                _ => Vec::new(),
            };
            left.extend(names.into_iter().filter(|name| name.contains(&stem)).map(|name| (key.clone(), name)));
            if key.contains(&stem) {
                left.push((key.clone(), key));
            }
        }
        left
    }

    /// How many permits of each sort are out.
    fn out(&self) -> [i64; 2] {
        let mut view = self.server.view();
        let there: i64 = view.command(&["GET", &format!("{}:semaphore", self.name)]);
        [PERMITS - there, view.command(&["ZCARD", &format!("{{{}:permit_semaphore}}:timeout", self.name)])]
    }

    /// Every hold that the server has of the client's owners was granted to them; after a release at the client's end
    /// the server has none.
    fn is_accounted_for(&self, released: bool) -> Result<(), String> {
        let told = self.told.lock().expect("nothing panics while it is held");
        let stem = format!("{}:", self.client.id());
        let known = |key: &str, name: &str| {
            let owner = name.split(&stem).nth(1).and_then(|rest| rest.split(':').next()?.parse().ok()).unwrap_or(-1);
            // An owner may have the lock through the field of an earlier one.
            let is_through = |kind: &str| kinds::traits(kind).queue == Queue::Inside && self.name(kind) == key;
            let is_it = |(kind, other): &(&str, i64)| *other == owner || is_through(kind);
            !released && told.held.iter().chain(&told.leaving).any(is_it)
        };
        let unknown: Vec<_> = self.left().into_iter().filter(|(key, name)| !known(key, name)).collect();
        let [plain, named] = self.out();
        let (least, most) = told.count("semaphore");
        let (least_named, most_kept) = told.count("permit_semaphore");
        let (_, renewed) = told.count("permit");
        let most_named = if released { most_kept } else { most_kept + renewed };
        match () {
            () if !unknown.is_empty() => Err(format!("left: {unknown:?}")),
            () if !(least..=most).contains(&plain) => {
                Err(format!("{plain} permits are out, {least} to {most} were taken"))
            }
            () if !(least_named..=most_named).contains(&named) => {
                Err(format!("{named} permits with ids are out, {least_named} to {most_named} were taken"))
            }
            () => Ok(()),
        }
    }
}

/// A group gives back what it took in vain by tasks of its own, which its caller does not wait for if the client ends.
#[test]
fn a_group_that_gives_back_while_its_client_closes_leaves_nothing() {
    const ROUNDS: u64 = 1500;
    let server = Server::start();
    let other = connect(&server.url());
    for name in ["second", "third"] {
        assert!(other.run_blocking(Request::new(Op::Acquire, "plain", name, 1)).expect("answered").done);
    }
    for number in 0..ROUNDS {
        let client = connect(&format!("{}?watchdog=120", server.url()));
        let (rule, names) = match number % 2 {
            0 => (Rule::All, &["first", "second"][..]),
            _ => (Rule::Majority, &["first", "second", "third"][..]),
        };
        let member = |name: &&str| Member { client: client.clone(), kind: "plain", name: (*name).into() };
        let group = Client::group(rule, names.iter().map(member).collect()).expect("some locks");
        thread::scope(|scope| {
            scope.spawn(|| {
                let in_vain = Request { wait: Some(Duration::ZERO), ..Request::new(Op::Acquire, "plain", "first", 1) };
                loop {
                    match group.run_blocking(in_vain.clone()) {
                        Err(Error::Closed { .. }) => break,
                        taken => assert!(!taken.expect("answered").done, "the other locks are taken"),
                    }
                }
            });
            // The rounds differ in the moment of the end.
            thread::sleep(Dice::new(number, 0).between(ms(1), ms(5)));
            client.close_blocking(Holds::Keep);
        });
        let left = server.view().hgetall("first");
        assert!(left.is_empty(), "round {number}, {rule:?}: {left:?}");
    }
}

/// A kind on a server, and a proxy that can hold an answer back from one client.
struct Stage {
    kind: &'static str,
    server: Server,
    proxy: Proxy,
}

impl Stage {
    fn new(kind: &'static str) -> Self {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        if is_counted(kind) || kind == "permit" {
            server.view().command::<()>(&["SET", "n", "1"]);
        }
        Stage { kind, server, proxy }
    }

    fn request(&self, op: Op, owner: i64) -> Request {
        let numbers = if is_counted(self.kind) { vec![1] } else { Vec::new() };
        let lease = if is_counted(self.kind) { None } else { Some(LONG) };
        Request { numbers, lease, ..Request::new(op, self.kind, kinds::name(self.kind, "n"), owner) }
    }

    /// Has another client take all of it, so that no owner can take more.
    fn occupy(&self) -> Client {
        let other = connect(&self.server.url());
        if self.kind != "latch" {
            let kind = if self.kind == "read" { "write" } else { self.kind };
            let taken = other.run_blocking(Request { kind, ..self.request(Op::Acquire, 1) });
            assert!(taken.expect("answered").done, "{}: it is free", self.kind);
        }
        other
    }

    /// A client that has begun to work, and from which the proxy holds back an answer with this text.
    fn client(&self, options: &str, answer: &str) -> Client {
        let client = connect(&format!("{}{options}", self.server.url_at(self.proxy.port())));
        let patience = Some(PATIENCE);
        let inspect =
            Request { response_timeout: patience, retry_for: patience, lease: None, ..self.request(Op::Inspect, 1) };
        for on_own_thread in [true, false] {
            Asked::by(&client, client.ticket(), inspect.clone(), on_own_thread).end().expect("answered");
        }
        self.proxy.hold_at(Direction::ToClient, answer, 1);
        client
    }

    fn held_back(&self) {
        eventually("the answer", || (self.proxy.struck() > 0).then_some(()));
    }

    fn let_go(&self) {
        self.proxy.disarm();
        self.proxy.flow();
    }

    /// Whether the server is as it was at first.
    fn is_free(&self) -> bool {
        let mut view = self.server.view();
        let left = view.keys("*");
        match self.kind {
            "semaphore" | "permit_semaphore" | "permit" => {
                left == ["n"] && view.command::<String>(&["GET", "n"]) == "1"
            }
            _ => left.iter().all(|key| key.starts_with("redisson_lock_token")),
        }
    }
}

fn every_kind(check: impl Fn(&'static str) + Sync) {
    all_at_once(ALL.iter().map(|KindRow { traits, .. }| (traits.name.to_owned(), || check(traits.name))));
}

#[test]
fn a_caller_whose_answer_comes_after_the_end_of_its_client_does_not_begin_to_wait() {
    every_kind(|kind| {
        let stage = Stage::new(kind);
        let _holder = stage.occupy();
        let client = stage.client("?retry_for=0&response_timeout=0.2", ":0\r\n:");
        let patient = Request { wait: None, response_timeout: Some(PATIENCE), ..stage.request(Op::Acquire, 2) };
        thread::scope(|scope| {
            let asked = scope.spawn(|| Asked::by(&client, client.ticket(), patient, true).end());
            stage.held_back();
            client.close_blocking(Holds::Release);
            stage.let_go();
            let end = asked.join().expect("it is answered");
            assert!(matches!(end, Err(Error::Closed { .. })), "{kind}: {end:?}");
        });
    });
}

#[test]
fn a_hold_taken_while_its_client_closes_is_given_back() {
    for released in [true, false] {
        every_kind(|kind| {
            if kind == "latch" {
                return; // nothing is taken
            }
            let stage = Stage::new(kind);
            let client = stage.client("", ":1\r\n");
            thread::scope(|scope| {
                let request = Request { wait: None, ..stage.request(Op::Acquire, 2) };
                let asked = scope.spawn(|| Asked::by(&client, client.ticket(), request, true).end());
                stage.held_back();
                let closing =
                    scope.spawn(|| client.close_blocking(if released { Holds::Release } else { Holds::Keep }));
                eventually("the end", || client.is_closed().then_some(()));
                stage.let_go();
                let end = asked.join().expect("it is answered");
                assert!(matches!(end, Err(Error::Closed { .. })), "{kind}: {end:?}");
                closing.join().expect("it returns");
                assert!(stage.is_free(), "{kind}, released {released}: {:?}", stage.server.view().keys("*"));
            });
        });
    }
}

#[test]
fn a_release_that_waits_for_its_turn_when_its_client_closes_is_carried_out() {
    all_at_once(ALL.iter().filter(|KindRow { traits, .. }| traits.held).map(|KindRow { traits, .. }| {
        let check = || {
            let stage = Stage::new(traits.name);
            let client = stage.client("", "no such answer");
            let taken = client.run_blocking(stage.request(Op::Acquire, 2)).expect("answered");
            let own = |op| Request { hold: taken.number as u64, ..stage.request(op, 2) };
            stage.proxy.hold_at(Direction::ToClient, ":1\r\n", 1);
            let extended = Asked::by(&client, client.ticket(), own(Op::Extend), false);
            stage.held_back();
            let released = Asked::by(&client, client.ticket(), own(Op::Release), false);
            thread::scope(|scope| {
                let closing = scope.spawn(|| client.close_blocking(Holds::Keep));
                eventually("the end", || client.is_closed().then_some(()));
                stage.let_go();
                drop(extended.end());
                let released = released.end();
                assert!(released.is_ok(), "{}: {released:?}", stage.kind);
                closing.join().expect("it returns");
            });
            assert!(stage.is_free(), "{}: {:?}", stage.kind, stage.server.view().keys("*"));
        };
        (traits.name.to_owned(), check)
    }));
}

#[test]
fn every_request_to_a_closing_client_is_answered_and_nothing_stays() {
    const ROUNDS: u64 = 3000;
    let words = ["--notify-keyspace-events", "Kgx"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args: words, ..Options::default() });
    let other = connect(&server.url());
    for number in 0..ROUNDS {
        let round = Round::begin(&server, &other, number);
        let released = number % 2 == 0;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let round = &round;
                scope.spawn(move || round.ask(Dice::new(number, thread as u64), thread));
            }
            // The rounds differ in the moment of the end.
            thread::sleep(Dice::new(number, 99).between(ms(0), ms(4)));
            round.client.close_blocking(if released { Holds::Release } else { Holds::Keep });
        });
        let since = Instant::now();
        while let Err(wrong) = round.is_accounted_for(released) {
            assert!(since.elapsed() < PATIENCE, "round {number}, released {released}: {wrong}");
            thread::sleep(ms(2));
        }
        server.view().command::<()>(&["FLUSHALL"]);
    }
}

#[test]
fn a_close_that_is_awaited_leaves_its_executor_free() {
    let server = Server::start();
    let client = connect(&server.url());
    let _guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let since = Instant::now();
    let (tell, told) = mpsc::channel();
    server.pause();
    runtime.block_on(async {
        tokio::spawn(async move {
            loop {
                let begun = Instant::now();
                tokio::time::sleep(ms(10)).await;
                tell.send(begun.elapsed()).expect("the test listens");
            }
        });
        client.close(Holds::Release).await;
    });
    let closed = since.elapsed();
    server.resume();
    let longest = told.try_iter().max().expect("the executor went on");
    assert!(closed > secs(3) && longest < secs(3), "it took {closed:?}, and the executor stood still for {longest:?}");
}

#[test]
fn a_close_whose_future_is_dropped_goes_on() {
    let server = Server::start();
    let mut view = server.view();
    let client = connect(&server.url());
    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    let closing = async { client.close(Holds::Release).await };
    let polled = std::pin::pin!(closing).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(polled.is_pending() && client.is_closed());
    nothing_is_left(&mut view, "n");
    eventually("the end of its connections", || (view.clients() == 1).then_some(()));
    drop(guard);
}
