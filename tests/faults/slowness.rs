//! Servers and networks that answer late.

use super::*;

/// How much later than its wait a call may return. The silence lasts much longer.
const GRACE: Duration = Duration::from_secs(2);

/// Makes the server silent, and tries a lock with a short wait: over old and new connections, blocking and
/// asynchronous.
fn waits_end_in_time(server: &Server, silence: &[&str]) {
    let warm = connect(&server.url());
    warm.lock("warm").blocking().acquire().expect("free").release().expect("held");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("the system gives threads");
    let mut view = server.view();
    let words = silence.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let mut silencer = server.view();
    let silent =
        std::thread::spawn(move || silencer.try_command::<()>(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    std::thread::sleep(ms(100));
    let wait = ms(300);
    let took = |client: &Client, name: &str, blocking: bool| {
        let lock = client.lock(name).lease(LONG).wait(wait);
        let asked = Instant::now();
        let result =
            if blocking { lock.blocking().acquire().map(drop) } else { runtime.block_on(lock.acquire()).map(drop) };
        let took = asked.elapsed();
        let error = result.expect_err("the server is silent");
        assert!(matches!(error.code(), "not_acquired" | "unavailable"), "{name}: {error}");
        assert!(took < wait + GRACE, "{name}: {took:?} for a wait of {wait:?}");
    };
    let fresh = || connect(&server.url());
    std::thread::scope(|scope| {
        for (name, blocking, new) in
            [("old, blocking", true, false), ("old", false, false), ("new, blocking", true, true), ("new", false, true)]
        {
            let client = if new { fresh() } else { warm.clone() };
            let took = &took;
            scope.spawn(move || took(&client, name, blocking));
        }
    });
    silent.join().expect("no panic").expect("the server obeys");
    for name in ["old, blocking", "old", "new, blocking", "new"] {
        nothing_is_left(&mut view, name);
    }
    warm.lock("old").wait(PATIENCE).blocking().acquire().expect("the server is back").release().expect("held");
}

#[test]
fn a_wait_ends_in_time_while_the_server_sleeps() {
    waits_end_in_time(&Server::with(Options { debugging: true, ..Options::default() }), &["DEBUG", "SLEEP", "5"]);
}

#[test]
fn a_wait_ends_in_time_while_the_server_is_paused() {
    waits_end_in_time(&Server::start(), &["CLIENT", "PAUSE", "5000", "ALL"]);
}

#[test]
fn a_wait_for_several_locks_ends_in_time_though_nothing_can_be_given_back() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let other = connect(&server.url());
    let second = other.lock("second").blocking().acquire().expect("free");
    let wait = ms(300);
    let asked = Instant::now();
    let both = client.multi_lock(["first", "second"].map(|name| client.lock(name))).lease(LONG).wait(wait).blocking();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| both.try_acquire().map(|guard| guard.is_some()));
        eventually("the first one to be held", || server.view().exists("first").then_some(()));
        // From then on the client has the server's answer that the second lock is taken.
        eventually("a listener for the second one", || {
            (server.view().listeners(&channel("second")) == 1).then_some(())
        });
        proxy.stall(Direction::ToServer);
        assert_eq!(waits.join().expect("no panic").ok(), Some(false));
    });
    assert!(asked.elapsed() < wait + GRACE, "{:?}", asked.elapsed());
    proxy.flow();
    nothing_is_left(&mut server.view(), "first");
    second.release().expect("held");
}

/// A multi lock with a lease takes its locks for longer than that, and then asks for the lease itself.
#[test]
fn a_wait_for_several_locks_with_a_lease_ends_in_time_though_the_last_answer_does_not_come() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let wait = ms(300);
    let lease = ms(123_456);
    proxy.hold_at(Direction::ToServer, "\r\n123456\r\n", 1);
    let both = client.multi_lock(["first", "second"].map(|name| client.lock(name))).lease(lease).wait(wait).blocking();
    std::thread::scope(|scope| {
        let asked = Instant::now();
        let waits = scope.spawn(|| both.acquire().map(drop));
        eventually("the question for the lease", || (proxy.struck() > 0).then_some(()));
        proxy.stall(Direction::ToServer);
        let error = waits.join().expect("no panic").expect_err("no answer comes");
        assert!(asked.elapsed() < wait + GRACE, "{:?}", asked.elapsed());
        assert_eq!(error.code(), "unavailable", "no other owner has one of the locks: {error}");
    });
    proxy.disarm();
    proxy.flow();
    ["first", "second"].iter().for_each(|name| nothing_is_left(&mut server.view(), name));
}

#[test]
fn a_wait_ends_in_time_behind_a_network_that_swallows_everything() {
    let server = Server::start();
    for direction in [Direction::ToServer, Direction::ToClient] {
        let proxy = Proxy::start(&server);
        let client = connect(&server.url_at(proxy.port()));
        client.lock("warm").blocking().acquire().expect("free").release().expect("held");
        proxy.stall(direction);
        let name = format!("{direction:?}");
        let wait = ms(300);
        let asked = Instant::now();
        assert!(client.lock(&name).lease(LONG).wait(wait).blocking().acquire().is_err());
        assert!(asked.elapsed() < wait + GRACE, "{name}: {:?}", asked.elapsed());
        proxy.flow();
        nothing_is_left(&mut server.view(), &name);
    }
}

#[test]
fn a_slow_network_doubles_no_hold() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    proxy.delay(ms(200));
    let client = connect(&server.url_at(proxy.port()));
    for blocking in [true, false] {
        let name = format!("n{blocking}");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("the system gives threads");
        let lock = || client.lock(&name).wait(PATIENCE);
        if blocking {
            let guard = lock().blocking().acquire().expect("free");
            assert_eq!(counts(&mut server.view(), &name), ["1"]);
            guard.release().expect("held");
        } else {
            let guard = runtime.block_on(lock().acquire()).expect("free");
            assert_eq!(counts(&mut server.view(), &name), ["1"]);
            runtime.block_on(guard.release()).expect("held");
        }
        assert!(!server.view().exists(&name));
    }
}

#[test]
fn a_hold_is_renewed_over_a_new_connection_when_the_old_one_has_gone_silent() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}?watchdog=3&response_timeout=0.5", server.url_at(proxy.port())));
    let guard = client.lock("n").blocking().acquire().expect("free");
    let mut view = server.view();
    view.forget_calls();
    let renewals = |view: &mut View| view.calls().get("pexpire").copied().unwrap_or_default();
    eventually("a first renewal", || (renewals(&mut view) >= 1).then_some(()));
    proxy.freeze(Direction::ToServer);
    proxy.freeze(Direction::ToClient);
    let seen = renewals(&mut view);
    eventually("more renewals", || (renewals(&mut view) >= seen + 3).then_some(()));
    guard.ensure().expect("it was renewed in time");
    guard.release().expect("held");
}
