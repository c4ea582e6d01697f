//! The watchdog sleeps until the first hold is due. A client's last acquire may come at any moment while the watchdog
//! goes to sleep.

use std::thread;
use std::time::Duration;

use redlatch::Client;
use redlatch_tests::{Server, View, soon};

use super::eventually;

/// Whether the key lasts longer than it did at some look before. `least`: the shortest time of those looks.
fn is_renewed(view: &mut View, name: &str, least: &mut i64) -> bool {
    let left = view.pttl(name);
    *least = left.min(*least);
    left > *least + 100
}

#[test]
fn the_last_hold_of_a_client_is_renewed_or_told_lost_whenever_it_begins() {
    let server = Server::start();
    thread::scope(|scope| {
        for number in 0..60_u32 {
            let server = &server;
            scope.spawn(move || {
                let client = Client::connect(&format!("{}?watchdog=3", server.url())).expect("a good URL");
                let name = format!("n{number}");
                let mut view = server.view();
                let first = client.lock(&name).blocking().acquire().expect("free");
                let mut least = view.pttl(&name);
                eventually(|| is_renewed(&mut view, &name, &mut least));
                first.release().expect("held");
                // The server tells the client of the end of that key. The watchdog wakes, finds no hold, and goes to sleep.
                thread::sleep(Duration::from_millis(1) * number);
                let guard = client.lock(&name).blocking().acquire().expect("free");
                let mut least = view.pttl(&name);
                let told = thread::scope(|scope| {
                    let told = scope.spawn(|| {
                        soon(async { tokio::time::timeout(Duration::from_secs(15), guard.lost()).await.is_ok() })
                    });
                    let mut renewed = false;
                    eventually(|| {
                        renewed |= is_renewed(&mut view, &name, &mut least);
                        renewed || told.is_finished()
                    });
                    if renewed {
                        // Ends the wait for the loss.
                        view.command::<()>(&["DEL", &name]);
                    }
                    told.join().expect("no panic") || renewed
                });
                assert!(told, "{name} was neither renewed nor was its holder told of its loss");
            });
        }
    });
}
