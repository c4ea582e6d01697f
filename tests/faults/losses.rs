//! Holds that end without their holder's doing.

use std::thread;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Error, LostReason};
use redlatch_tests::oracle::Statement;
use redlatch_tests::{all_at_once, told};

use super::*;

fn is_lost<T>(result: redlatch::Result<T>) -> bool {
    matches!(result, Err(Error::Lost(_)))
}

#[test]
fn a_holder_stopped_beyond_its_lease_knows_it_at_its_first_look() {
    let server = Server::start();
    // Long enough to stop the holder before its first renewal.
    let mut holder = worker(format!("{}?watchdog=2", server.url()));
    let client = connect(&server.url());
    for round in 0..4 {
        let name = format!("n{round}");
        assert_eq!(holder.ask(&format!("acquire {name}")), "ok");
        holder.signal("STOP");
        let next = client.lock(&name).wait(PATIENCE).blocking().acquire().expect("the lease ends");
        holder.signal("CONT");
        let first = holder.ask("ensure");
        assert!(first.starts_with("lost ") && first.contains("process was paused"), "it says {first}");
        assert!(holder.ask("lost").starts_with("lost "));
        assert!(holder.ask("release").starts_with("lost "));
        next.ensure().expect("no release took it away");
        next.release().expect("held");
    }
}

#[test]
fn no_holder_believes_longer_than_the_server_does() {
    let server = Server::start();
    let server = &server;
    let job = |delay: Duration| {
        let job = move || {
            let proxy = Proxy::start(server);
            proxy.delay(delay);
            let client = connect(&format!("{}?watchdog=3", server.url_at(proxy.port())));
            let mut view = server.view();
            let watched = format!("watched {delay:?}");
            let leased = format!("leased {delay:?}");
            let one = client.lock(&watched).blocking().acquire().expect("free");
            let two = client.lock(&leased).lease(secs(3)).blocking().acquire().expect("free");
            let since = Instant::now();
            while since.elapsed() < ms(2500) {
                for (name, guard) in [(&watched, &one), (&leased, &two)] {
                    let Some(deadline) = guard.deadline() else {
                        assert!(since.elapsed() > ms(2500), "{name} is lost after {:?}", since.elapsed());
                        continue;
                    };
                    let left = match view.pttl(name) {
                        -2 => 0,
                        left => u64::try_from(left).expect("it has an end"),
                    };
                    // The server may have carried the call out long after it was sent, but not after its answer.
                    let answered = Instant::now();
                    assert!(
                        deadline < answered + ms(left),
                        "{name} is believed in for {:?} with {left} ms left",
                        deadline - answered
                    );
                }
                thread::sleep(ms(5));
            }
        };
        (format!("delay {delay:?}"), job)
    };
    all_at_once([ms(0), ms(100)].into_iter().map(job));
}

#[test]
fn a_holder_cut_off_in_any_way_stops_believing_before_another_has_it() {
    let server = Server::start();
    type Part = fn(&Proxy);
    let ways: [(&str, Part); 4] = [
        ("nothing arrives", |proxy| proxy.stall(Direction::ToServer)),
        ("nothing comes back", |proxy| proxy.stall(Direction::ToClient)),
        ("silence", |proxy| {
            proxy.stall(Direction::ToServer);
            proxy.stall(Direction::ToClient);
        }),
        ("no connection", |proxy| {
            proxy.refuse();
            proxy.cut();
        }),
    ];
    let server = &server;
    let job = |(name, part): (&'static str, Part)| {
        let job = move || {
            let proxy = Proxy::start(server);
            let holder = connect(&format!("{}?watchdog=2", server.url_at(proxy.port())));
            let other = connect(&server.url());
            let guard = holder.lock(name).blocking().acquire().expect("free");
            part(&proxy);
            let waiting = thread::spawn(move || {
                other.lock(name).wait(PATIENCE).blocking().acquire().map(|guard| (guard, Instant::now()))
            });
            let noticed = Instant::now() - told(&guard).noticed;
            let (next, taken) = waiting.join().expect("no panic").expect("the lease ended");
            assert!(noticed < taken, "another had it for {:?} before the holder noticed", noticed - taken);
            assert!(is_lost(guard.ensure()) && is_lost(guard.release()));
            next.release().expect("held");
        };
        (name.to_owned(), job)
    };
    all_at_once(ways.into_iter().map(job));
}

#[test]
fn every_deletion_of_a_key_is_told_long_before_the_lease_ends() {
    let ways: &[&[&str]] = &[
        &["DEL", "n"],
        &["UNLINK", "n"],
        &["FLUSHDB"],
        &["FLUSHALL"],
        &["RENAME", "n", "other"],
        &["PEXPIRE", "n", "1"],
        &["HDEL", "n", "FIELD"],
        &["EVAL", "redis.call('DEL', 'n') redis.call('HSET', 'n', 'u:1', 1)", "0"],
    ];
    let job = |(way, lease): (&'static [&'static str], Option<Duration>)| {
        let job = move || {
            let server = Server::start();
            let client = connect(&server.url());
            let mut view = server.view();
            let lock = client.lock("n");
            let guard = lease.map_or(lock.clone(), |lease| lock.lease(lease)).blocking().acquire().expect("free");
            lasts(&mut view);
            if way[0] == "PEXPIRE" {
                server.exempt(
                    Statement::Belief,
                    "n",
                    "another client gives the key an end, and the holder is told of it a moment later",
                );
            }
            let field = format!("{}:{}", client.id(), guard.owner());
            let words: Vec<&str> =
                way.iter().map(|word| if *word == "FIELD" { field.as_str() } else { word }).collect();
            view.command::<redis::Value>(&words);
            told(&guard);
            assert!(is_lost(guard.ensure()) && is_lost(guard.release()));
        };
        (format!("{way:?}, lease {lease:?}"), job)
    };
    all_at_once(ways.iter().flat_map(|way| [(*way, None), (*way, Some(LONG))]).map(job));
}

/// Returns once the server tracks keys for the client.
fn lasts(view: &mut View) {
    eventually("the server's promise to tell", || view.tells().then_some(()));
}

#[test]
fn an_evicted_key_is_told_long_before_the_lease_ends() {
    let server = Server::start();
    let client = connect(&server.url());
    let mut view = server.view();
    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    lasts(&mut view);
    view.command::<()>(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    // The server evicts with each command that may need room, until it has room. It refuses this command in the end.
    assert!(view.try_command::<()>(&["SET", "large", &"x".repeat(1000)]).is_err());
    eventually("the end of the key", || (!view.exists("n")).then_some(()));
    told(&guard);
}

#[test]
fn a_release_takes_nothing_from_the_next_holder() {
    let server = Server::start();
    let client = connect(&server.url());
    let other = connect(&server.url());
    let mut view = server.view();
    // In each round another moment: whether the holder is told before it releases is a matter of time.
    for round in 0..10 {
        let name = format!("n{round}");
        let guard = client.lock(&name).lease(LONG).blocking().acquire().expect("free");
        view.command::<i64>(&["DEL", &name]);
        let next = other.lock(&name).lease(LONG).blocking().acquire().expect("free");
        let released = guard.release();
        assert_eq!(counts(&mut view, &name), ["1"], "the present holder");
        assert!(is_lost(released));
        next.ensure().expect("no release took it away");
        next.release().expect("held");
    }
}

#[test]
fn all_holders_are_told_when_the_server_comes_back_empty() {
    let server = Server::start();
    let client = connect(&server.url());
    let lock = |n: u64| client.lock(&format!("n{n}"));
    let watched = (0..10).map(|n| lock(n).blocking().acquire().expect("free"));
    let leased = (10..20).map(|n| lock(n).lease(LONG).blocking().acquire().expect("free"));
    let guards: Vec<_> = watched.chain(leased).collect();
    server.restart();
    for guard in &guards {
        told(guard);
    }
    assert!(guards.into_iter().all(|guard| is_lost(guard.release())));
    assert_eq!(server.view().keys("*"), [""; 0], "a lost hold does not come back");
    lock(0).blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn an_overwritten_key_stops_no_other_renewal() {
    let server = Server::start();
    let client = connect(&format!("{}?watchdog=1", server.url()));
    let guards: Vec<_> = (0..20).map(|n| client.lock(&format!("n{n}")).blocking().acquire().expect("free")).collect();
    let mut view = server.view();
    view.command::<()>(&["SET", "n7", "something else"]);
    told(&guards[7]);
    let renewals = |view: &mut View| view.calls().get("pexpire").copied().unwrap_or_default();
    let before = renewals(&mut view);
    eventually("three renewals of each of the others", || (renewals(&mut view) >= before + 3 * 19).then_some(()));
    for (n, guard) in guards.iter().enumerate().filter(|(n, _)| *n != 7) {
        guard.ensure().unwrap_or_else(|lost| panic!("n{n}: {lost}"));
    }
    assert_eq!(view.command::<String>(&["GET", "n7"]), "something else");
}

#[test]
fn a_holder_without_other_calls_is_told_of_a_loss_after_a_cut() {
    let job = |refused: bool| {
        let job = move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let client = connect(&server.url_at(proxy.port()));
            let mut view = server.view();
            let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
            lasts(&mut view);
            if refused {
                proxy.refuse();
            }
            proxy.cut();
            view.command::<()>(&["DEL", "n"]);
            proxy.accept();
            told(&guard);
        };
        (format!("refused meanwhile: {refused}"), job)
    };
    all_at_once([false, true].into_iter().map(job));
}

#[test]
fn a_holder_is_told_of_a_loss_by_its_own_client() {
    let server = Server::start();
    // The next renewal would come after the test's end.
    let client = connect(&format!("{}?watchdog=1000", server.url()));
    let keys = |name: &str, words: &[&str]| {
        let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        client.run_blocking(Request { texts, ..Request::new(Op::Keys, "plain", name, 1) }).expect("answered")
    };
    for name in ["forced", "DEL", "UNLINK", "RENAME", "DEL MATCHING"] {
        let held = client.lock(name).blocking().acquire().expect("free");
        eventually("a hold that is looked at", || server.view().tells().then_some(()));
        match name {
            "forced" => assert!(client.lock(name).blocking().force_release().expect("answered")),
            "RENAME" => drop(keys(name, &[name, "another"])),
            _ => assert_eq!(keys(name, &[name]).number, 1),
        }
        assert_eq!(told(&held).reason, LostReason::Deleted, "{name}");
    }
}
