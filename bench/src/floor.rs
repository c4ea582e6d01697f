//! The floors: the times of a bare socket for the script calls of a lock and an unlock, and for a message from one
//! process to another.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::order::{Order, Pairs, list, now, report};
use crate::socket::{Socket, encoded};

/// As the core puts it together.
macro_rules! script {
    ($name:literal $(, $fragment:literal)+) => {
        concat!(
            include_str!("../../core/scripts/_late.lua"),
            $(include_str!(concat!("../../core/scripts/", $fragment, ".lua")),)+
            include_str!(concat!("../../core/scripts/plain/", $name, ".lua"))
        )
    };
}

/// As long as a client's; the number of an owner comes behind it.
const CLIENT: &str = "7d0cd1a5-8f2c-4a54-b5a6-0d7c5a3c1f00";
/// A placeholder, as long, for the time in ms after which the server ignores a call.
const NOT_AFTER: &str = "0000000000000";
/// How long a call is valid, as a client's.
const VALID: Duration = Duration::from_secs(1);

/// Script calls in one text. Before each sending they get the time after which the server ignores them.
pub struct Calls {
    bytes: Vec<u8>,
    /// Where each of these times begins.
    times: Vec<usize>,
}

impl Calls {
    /// The time is the last word.
    fn one(words: &[&str]) -> Self {
        let bytes = encoded(words);
        let times = vec![bytes.len() - NOT_AFTER.len() - "\r\n".len()];
        Calls { bytes, times }
    }

    pub fn together(all: impl IntoIterator<Item = Calls>) -> Self {
        let mut together = Calls { bytes: Vec::new(), times: Vec::new() };
        for calls in all {
            let begin = together.bytes.len();
            together.times.extend(calls.times.iter().map(|time| begin + time));
            together.bytes.extend(calls.bytes);
        }
        together
    }

    /// The text to send now. The server has the clock of this machine.
    pub fn now(&mut self) -> &[u8] {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is long after 1970");
        let digits = (since + VALID).as_millis().to_string();
        for time in &self.times {
            self.bytes[*time..*time + NOT_AFTER.len()].copy_from_slice(digits.as_bytes());
        }
        &self.bytes
    }
}

pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let url = url.to_owned();
    let mut socket = Socket::connect(&url);
    Box::new(move |order| match order.what.as_str() {
        "first" => first(&mut socket, order),
        "solo" => {
            order.begin();
            report([pairs(&mut socket, order, order.name())])
        }
        "own" => own(&url, order),
        "handover" => handover(&mut socket, &mut Socket::connect(&url), order),
        _ => "cannot=1".into(),
    })
}

pub fn first(socket: &mut Socket, order: &Order) -> String {
    let (mut acquire, mut release) = calls(socket, order.name());
    pair(socket, &mut acquire, &mut release);
    "pairs=1".into()
}

/// The script calls of a lock and an unlock, ready to be sent.
pub fn calls(socket: &mut Socket, name: &str) -> (Calls, Calls) {
    let channel = channel(name);
    let owner = format!("{CLIENT}:{:013}", std::process::id());
    let mut load = |script| socket.call(&encoded(&["SCRIPT", "LOAD", script])).remove(0);
    let acquire = load(script!("acquire", "_look", "_kind", "_end"));
    let release = load(script!("release", "_look"));
    (
        Calls::one(&["EVALSHA", &acquire, "1", name, "30000", &owner, "1", NOT_AFTER]),
        Calls::one(&[
            "EVALSHA", &release, "1", name, &owner, "0", "0", "", "0", "", "0", "PUBLISH", &channel, NOT_AFTER,
        ]),
    )
}

fn channel(name: &str) -> String {
    format!("redisson_lock__channel:{{{name}}}")
}

fn pair(socket: &mut Socket, acquire: &mut Calls, release: &mut Calls) {
    assert_eq!(socket.call(acquire.now()), ["1"], "the lock is free");
    assert_eq!(socket.call(release.now()), ["1", "0"], "it is held");
}

fn pairs(socket: &mut Socket, order: &Order, name: &str) -> Pairs {
    let (mut acquire, mut release) = calls(socket, name);
    let mut pairs = order.pairs();
    while pairs.go_on() {
        pair(socket, &mut acquire, &mut release);
    }
    pairs
}

/// Each caller has a thread and a socket.
fn own(url: &str, order: &Order) -> String {
    let caller = |n| {
        let mut socket = Socket::connect(url);
        order.begin();
        pairs(&mut socket, order, &order.nth_name(n))
    };
    report(std::thread::scope(|scope| {
        let callers: Vec<_> = (0..order.number("callers")).map(|n| scope.spawn(move || caller(n))).collect();
        callers.into_iter().map(|caller| caller.join().expect("no caller panics")).collect::<Vec<_>>()
    }))
}

/// The least that a hand-over needs: the releasing script, its message, and the acquiring script.
pub fn bare(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let url = url.to_owned();
    let mut socket = Socket::connect(&url);
    Box::new(move |order| match order.what.as_str() {
        "first" => first(&mut socket, order),
        "handover" => scripts_handover(&mut socket, &mut Socket::connect(&url), order),
        _ => "cannot=1".into(),
    })
}

fn scripts_handover(socket: &mut Socket, listener: &mut Socket, order: &Order) -> String {
    let (mut acquire, mut release) = calls(socket, order.name());
    listener.call(&encoded(&["SUBSCRIBE", &channel(order.name())]));
    let mut taken = Vec::new();
    let mut released = Vec::new();
    for _ in 0..order.number("times") {
        while socket.call(acquire.now())[0] != "1" {
            listener.reply();
        }
        taken.push(now());
        sleep(order.duration("hold"));
        released.push(now());
        socket.call(release.now());
        sleep(order.duration("gap"));
    }
    format!("taken={} released={}", list(&taken), list(&released))
}

/// Two processes send a message to and fro, each with one socket that publishes and one that listens.
fn handover(publisher: &mut Socket, listener: &mut Socket, order: &Order) -> String {
    let name = order.name();
    let starts = order.number("starts");
    listener.call(&encoded(&["SUBSCRIBE", &format!("{name}:{starts}")]));
    let publish = encoded(&["PUBLISH", &format!("{name}:{}", 1 - starts), "0"]);
    let mut taken = Vec::new();
    let mut released = Vec::new();
    for time in 0..order.number("times") {
        let first = starts == 1 && time == 0;
        if !first {
            listener.reply();
            taken.push(now());
        }
        sleep(order.duration("hold"));
        released.push(now());
        while publisher.call(&publish) == ["0"] && first {
            // The other one does not listen yet.
            sleep(Duration::from_millis(1));
            released[0] = now();
        }
    }
    format!("taken={} released={}", list(&taken), list(&released))
}
