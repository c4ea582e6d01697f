//! The watchdog sleeps until the first hold is due. A client's last acquire may come at any moment while the watchdog
//! goes to sleep.

use std::thread;
use std::time::Duration;

use redlatch::Client;
use redlatch_tests::{Server, soon};

use super::eventually;

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
                client.lock(&name).blocking().acquire().expect("free").release().expect("held");
                // The watchdog wakes at the time at which it would have looked at that hold first, 100 to 150 ms later,
                // and goes to sleep again.
                thread::sleep(Duration::from_millis(90 + 2 * u64::from(number)));
                let guard = client.lock(&name).blocking().acquire().expect("free");
                let mut least = view.pttl(&name);
                let told = thread::scope(|scope| {
                    let told = scope.spawn(|| {
                        soon(async { tokio::time::timeout(Duration::from_secs(15), guard.lost()).await.is_ok() })
                    });
                    let mut renewed = false;
                    eventually(|| {
                        let left = view.pttl(&name);
                        renewed |= left > least + 100;
                        least = least.min(left);
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
