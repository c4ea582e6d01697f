//! The measuring program for Rust: `redlatch-bench <blocking|async|floor> <url>` carries out what comes as lines, see bench/README.md.

mod blocking;
mod floor;
mod order;
mod socket;

use std::io::BufRead;

use order::Order;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, url] = &arguments[..] else { panic!("usage: redlatch-bench <blocking|async|floor> <url>") };
    let mut carry_out: Box<dyn FnMut(&Order) -> String> = match way.as_str() {
        "floor" => floor::program(url),
        "blocking" => blocking::program(url),
        "async" => asynchronous(url),
        _ => panic!("there is no way `{way}`; take blocking, async or floor"),
    };
    for line in std::io::stdin().lock().lines() {
        println!("{}", carry_out(&Order::parse(&line.expect("the input is text"))));
    }
}

fn asynchronous(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let client = redlatch::Client::connect(url).expect("the URL is good");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    Box::new(move |order| {
        assert_eq!(order.what, "solo", "the async program knows no other order");
        let name = order.text("name");
        runtime.block_on(async {
            let mut pairs = order.pairs();
            while pairs.go_on() {
                let guard = client.lock(name).acquire().await.expect("the lock is free");
                guard.release().await.expect("it is held");
            }
            pairs.report()
        })
    })
}
