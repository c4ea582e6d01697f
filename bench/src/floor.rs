//! The floors: what a bare socket needs for the script calls of a lock and an unlock, and for a message from one process to another.

use std::thread::sleep;
use std::time::Duration;

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
/// Server time in ms that does not come; as many digits as that of a call.
const NOT_AFTER: &str = "9999999999999";

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
    let (acquire, release) = calls(socket, order.name());
    pair(socket, &acquire, &release);
    "pairs=1".into()
}

/// The script calls of a lock and an unlock, ready to be sent.
pub fn calls(socket: &mut Socket, name: &str) -> (Vec<u8>, Vec<u8>) {
    let channel = channel(name);
    let owner = format!("{CLIENT}:{:013}", std::process::id());
    let mut load = |script| socket.call(&encoded(&["SCRIPT", "LOAD", script])).remove(0);
    let (acquire, release) = (load(script!("acquire", "_look", "_kind")), load(script!("release", "_look")));
    (
        encoded(&["EVALSHA", &acquire, "1", name, "30000", &owner, "1", NOT_AFTER]),
        encoded(&["EVALSHA", &release, "1", name, &owner, "0", "0", "", "0", "", "PUBLISH", &channel, NOT_AFTER]),
    )
}

fn channel(name: &str) -> String {
    format!("redisson_lock__channel:{{{name}}}")
}

fn pair(socket: &mut Socket, acquire: &[u8], release: &[u8]) {
    assert_eq!(socket.call(acquire), ["1"], "the lock is free");
    assert_eq!(socket.call(release), ["1", "0"], "it is held");
}

fn pairs(socket: &mut Socket, order: &Order, name: &str) -> Pairs {
    let (acquire, release) = calls(socket, name);
    let mut pairs = order.pairs();
    while pairs.go_on() {
        pair(socket, &acquire, &release);
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

/// What a lock cannot do without when it is handed over: the releasing script, its message, and the acquiring script.
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
    let (acquire, release) = calls(socket, order.name());
    listener.call(&encoded(&["SUBSCRIBE", &channel(order.name())]));
    let (mut taken, mut released) = (Vec::new(), Vec::new());
    for _ in 0..order.number("times") {
        while socket.call(&acquire)[0] != "1" {
            listener.reply();
        }
        taken.push(now());
        sleep(order.duration("hold"));
        released.push(now());
        socket.call(&release);
        sleep(order.duration("gap"));
    }
    format!("taken={} released={}", list(&taken), list(&released))
}

/// Two processes send a message to and fro, each with one socket that publishes and one that listens.
fn handover(publisher: &mut Socket, listener: &mut Socket, order: &Order) -> String {
    let (name, starts) = (order.name(), order.number("starts"));
    listener.call(&encoded(&["SUBSCRIBE", &format!("{name}:{starts}")]));
    let publish = encoded(&["PUBLISH", &format!("{name}:{}", 1 - starts), "0"]);
    let (mut taken, mut released) = (Vec::new(), Vec::new());
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
