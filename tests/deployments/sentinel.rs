use redlatch_tests::{Direction, Proxy, Sentinels, eventually, secs, told};

use super::{client, hand_over, use_every_kind};

#[test]
fn the_master_that_sentinels_name_is_used() {
    let sentinels = Sentinels::start();
    let one = client(&sentinels.url());
    let two = client(&sentinels.url());
    use_every_kind(&one, "n");
    hand_over(&one, &two, "n", || {
        eventually("a listener", || (!sentinels.servers[0].view().channels("*").is_empty()).then_some(()));
    });
}

#[test]
fn a_failover_is_followed_and_waiters_are_woken_after_it() {
    let sentinels = Sentinels::start();
    let url = format!("{}?retry_for=20&watchdog=30", sentinels.url());
    let one = client(&url);
    let two = client(&url);
    one.lock("warm").blocking().acquire().expect("free").release().expect("held");
    let held = one.lock("n").lease(secs(3)).blocking().acquire().expect("free");
    let waiting =
        std::thread::spawn(move || two.lock("n").wait(secs(30)).blocking().acquire().map(|guard| guard.release()));
    eventually("a listener", || (!sentinels.servers[0].view().channels("*").is_empty()).then_some(()));
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    waiting.join().expect("no panic").expect("it ended").expect("held");
    drop(held);
    one.lock("after").wait(secs(10)).blocking().acquire().expect("the new master").release().expect("held");
    assert!(sentinels.servers[1].view().keys("after").is_empty());
}

#[test]
fn waiters_and_clients_with_failing_calls_learn_of_another_master_from_the_sentinels() {
    let sentinels = Sentinels::start();
    let url = format!("{}?retry_for=20", sentinels.url());
    let one = client(&url);
    let two = client(&url);
    let listen = |count: usize| {
        let mut listeners =
            sentinels.views().map(|mut view| view.command::<String>(&["CLIENT", "LIST"]).matches(" sub=1 ").count());
        listeners.all(|listening| listening == count).then_some(())
    };
    let held = one.lock("n").blocking().acquire().expect("free");
    listen(0).expect("no waiter is there yet");
    let waiting =
        std::thread::spawn(move || two.lock("n").wait(secs(30)).blocking().acquire().map(|guard| guard.release()));
    eventually("a waiter's subscription to each sentinel", || listen(1));
    held.release().expect("held");
    waiting.join().expect("no panic").expect("free").expect("held");
    eventually("no subscription after the last wait", || listen(0));
    sentinels.servers[0].stop();
    let calling = std::thread::spawn(move || one.lock("n").blocking().acquire().map(|guard| guard.release()));
    eventually("the subscription of a client with a failing call", || listen(1));
    calling.join().expect("no panic").expect("another master").expect("held");
}

#[test]
fn a_holder_is_told_as_soon_as_there_is_another_master() {
    let sentinels = Sentinels::start();
    // A failed check of a hold is repeated after a tenth of the watchdog: after the test has ended.
    let client = client(&format!("{}?retry_for=20&watchdog=1000", sentinels.url()));
    let held = client.lock("n").lease(secs(900)).blocking().acquire().expect("free");
    eventually("a hold that is looked at and replicated", || {
        (sentinels.servers[0].view().tells() && sentinels.servers[1].view().exists("n")).then_some(())
    });
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    sentinels.servers[1].view().command::<()>(&["DEL", "n"]);
    told(&held);
}

/// The former master has granted the lock, and its answer comes once the client works with the new one.
#[test]
fn a_grant_of_a_master_that_was_replaced_meanwhile_does_not_count() {
    let sentinels = Sentinels::start();
    let [former, new] = [0, 1].map(|place| &sentinels.servers[place]);
    let proxy = Proxy::start(former);
    let nat = format!("127.0.0.1:{}=127.0.0.1:{}", former.port(), proxy.port());
    let client = client(&format!("{}?nat={nat}&response_timeout=60&retry_for=60", sentinels.url()));
    client.lock("warm").blocking().acquire().expect("free").release().expect("held");
    proxy.stall(Direction::ToClient);
    let lock = client.lock("n").blocking();
    let trying = std::thread::spawn(move || lock.try_acquire());
    eventually("the lock at the former master", || former.view().exists("n").then_some(()));
    sentinels.fail_over();
    sentinels.until_master(1);
    eventually("the lock is lost in the failover", || {
        let mut view = new.view();
        view.try_command::<i64>(&["DEL", "n"]).ok()?;
        let taken = client.lock("after").blocking().try_acquire().ok().flatten()?;
        let is_there = view.exists("after");
        taken.release().expect("held");
        is_there.then_some(())
    });
    proxy.flow();
    if let Some(guard) = trying.join().expect("no panic").expect("the new master answers") {
        assert!(new.view().exists("n"), "the new master grants it: {:?}", guard.name());
        guard.release().expect("held");
    }
}

#[test]
fn one_failover_after_another_is_followed() {
    let sentinels = Sentinels::start();
    let client = client(&format!("{}?retry_for=20", sentinels.url()));
    for round in 0..3 {
        client.lock("n").wait(secs(20)).blocking().acquire().expect("a master").release().expect("held");
        let next = 1 - sentinels.master();
        sentinels.fail_over();
        sentinels.until_master(next);
        // The old master serves calls for a while longer. A client that has heard of the new master soon uses it.
        eventually("a lock at the new master", || {
            let guard = client.lock(&format!("after{round}")).wait(secs(20)).blocking().acquire().expect("a master");
            let there = sentinels.servers[next].view().exists(&format!("after{round}"));
            guard.release().expect("held");
            there.then_some(())
        });
    }
}

#[test]
fn the_error_about_a_master_that_no_sentinel_knows_names_it() {
    let sentinels = Sentinels::start();
    let url = sentinels.url().replace("mymaster", "theirs");
    let said = client(&format!("{url}?retry_for=0"))
        .lock("n")
        .blocking()
        .acquire()
        .map(drop)
        .expect_err("unknown")
        .to_string();
    assert!(said.contains("theirs") || said.contains("No such master"), "{said}");
}
