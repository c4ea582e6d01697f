//! The measuring program for Rust: `redlatch-bench <blocking|async|floor|ceiling|bare> <url>` carries out orders, one a
//! line, see bench/README.md; `redlatch-bench distance <url>` is a proxy.

mod asynchronous;
mod blocking;
mod ceiling;
mod distance;
mod floor;
mod order;
mod owners;
mod socket;

use std::io::BufRead;

use order::Order;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, url] = &arguments[..] else {
        panic!("usage: redlatch-bench <blocking|async|floor|ceiling|bare|distance> <url>")
    };
    let mut carry_out: Box<dyn FnMut(&Order) -> String> = match way.as_str() {
        "floor" => floor::program(url),
        "ceiling" => ceiling::program(url),
        "bare" => floor::bare(url),
        "blocking" => blocking::program(url),
        "async" => asynchronous::program(url),
        "distance" => distance::program(url),
        _ => panic!("there is no way `{way}`; take blocking, async, floor, ceiling, bare or distance"),
    };
    for line in std::io::stdin().lock().lines() {
        println!("{}", carry_out(&Order::parse(&line.expect("the input is text"))));
    }
}
