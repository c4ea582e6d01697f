//! The most that the server is able to do: script calls of lock and unlock for many locks, each kind in one write of
//! one socket.

use crate::floor::{self, Calls, calls};
use crate::order::{Order, report};
use crate::socket::Socket;

pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let mut socket = Socket::connect(url);
    Box::new(move |order| match order.what.as_str() {
        "first" => floor::first(&mut socket, order),
        "own" => own(&mut socket, order),
        _ => "cannot=1".into(),
    })
}

fn own(socket: &mut Socket, order: &Order) -> String {
    let count = order.number("callers");
    let (acquires, releases): (Vec<_>, Vec<_>) = (0..count).map(|n| calls(socket, &order.nth_name(n))).unzip();
    let mut rounds =
        [(Calls::together(acquires), ["1"].as_slice()), (Calls::together(releases), ["1", "0"].as_slice())];
    order.begin();
    let mut pairs = order.pairs();
    while pairs.go_on() {
        for (commands, answer) in &mut rounds {
            socket.send(commands.now());
            for _ in 0..count {
                assert_eq!(socket.reply(), *answer, "no other client asks for these locks");
            }
        }
    }
    report([pairs.times(count)])
}
