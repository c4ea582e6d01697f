//! Servers that stand still while calls wait for confirmation.

use redlatch_tests::PATIENCE;

use super::*;

/// How many calls have a connection of their own at once.
const AT_ONCE: usize = 8;

#[test]
fn a_server_that_stands_still_again_and_again_keeps_no_more_connections() {
    let master = Server::start();
    let _replica = master.replica();
    let mut view = master.view();
    let client = Client::connect(&format!("{}?sync=wait(replicas=1,within=10)", master.url())).expect("a good URL");
    let locks = |wait: std::time::Duration| {
        let client = &client;
        let job = move |number: usize| {
            let taken = client.lock(&format!("n{number}")).wait(wait).blocking().acquire();
            taken.and_then(|guard| guard.release())
        };
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..AT_ONCE).map(|number| scope.spawn(move || job(number))).collect();
            running.into_iter().map(|one| one.join().expect("no panic").is_ok()).filter(|taken| *taken).count()
        })
    };
    assert_eq!(locks(PATIENCE), AT_ONCE);
    for _ in 0..5 {
        // Longer than a connection may be idle before the client asks for a sign of life.
        std::thread::sleep(ms(1100));
        master.pause();
        assert_eq!(locks(ms(200)), 0, "nothing is confirmed while the server stands still");
        master.resume();
        assert_eq!(locks(PATIENCE), AT_ONCE);
    }
    // One connection for each call at once, four of callers, the common one, the replica's, and this view's.
    let most = AT_ONCE as i64 + 4 + 1 + 1 + 1;
    eventually("the end of connections that lead nowhere", || (view.clients() as i64 <= most).then_some(()));
}
