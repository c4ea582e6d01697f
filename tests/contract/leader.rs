//! Leaders: one process leads at a time, all see who does, and no value of a former leader stands beside a present one.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, CurrentLeader, Error, Holds, LostReason, Observer};
use redlatch_tests::{Agent, Proxy, Server, soon};
use serde_json::json;

use super::{eventually, ms, pair, secs};

const PLACE: &str = "redlatch_leader:{n}";

fn current(client: &Client) -> Option<CurrentLeader> {
    client.leader("n").current().blocking().expect("answered")
}

/// The value and the token of the present leader.
fn seen(client: &Client) -> Option<(String, Option<i64>)> {
    current(client).map(|leader| (leader.value, leader.token))
}

fn next(observer: &mut Observer) -> Option<(String, Option<i64>)> {
    observer.next_blocking().expect("answered").map(|leader| (leader.value, leader.token))
}

#[test]
fn one_candidate_leads_and_everyone_sees_its_value_and_its_token_until_it_resigns() {
    let (server, a, b) = pair();
    assert_eq!(seen(&b), None);
    let term = a.leader("n").value("api-1:80").lead().blocking().expect("no other candidate");
    let first = term.token().expect("a term has a token");
    assert_eq!(seen(&b), Some(("api-1:80".to_owned(), Some(first))));
    assert!(b.leader("n").value("api-2:80").try_lead().blocking().expect("answered").is_none());
    let late = b.leader("n").lead().wait(ms(50)).blocking();
    assert!(matches!(late, Err(Error::NotAcquired { .. })), "{late:?}");
    assert_eq!(seen(&b), Some(("api-1:80".to_owned(), Some(first))), "a candidate's value is not a leader's");
    term.ensure().expect("it leads");
    term.release_blocking().expect("it leads");
    assert_eq!(seen(&b), None);
    let mut view = server.view();
    assert!(!view.exists(PLACE), "{:?}", view.keys("*"));
    let term = b.leader("n").lead().blocking().expect("no other candidate");
    assert!(term.token() > Some(first), "each term has a greater token");
    assert_eq!(seen(&a), Some((String::new(), term.token())), "a leader may have no value");
    term.release_blocking().expect("it leads");
}

#[test]
fn the_next_candidate_leads_as_soon_as_the_leader_resigns_in_this_process_and_in_another_one() {
    let (server, a, b) = pair();
    let mut tokens = Vec::new();
    let mut term = a.leader("n").value("0").lead().blocking().expect("no other candidate");
    for (at, client) in [&a, &b, &b, &a, &a].into_iter().enumerate() {
        let value = (at + 1).to_string();
        term = std::thread::scope(|scope| {
            let waits = scope.spawn(|| client.leader("n").value(&value).lead().wait(secs(20)).blocking());
            eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
            tokens.push(term.token());
            let begun = Instant::now();
            drop(term);
            let term = waits.join().expect("no panic").expect("the leader has resigned");
            assert!(begun.elapsed() < secs(2), "{:?}", begun.elapsed());
            term
        });
        // Inside a process, too, each term has its own value.
        assert_eq!(seen(&b), Some((value, term.token())));
    }
    tokens.push(term.token());
    assert!(tokens.is_sorted() && tokens.windows(2).all(|two| two[0] < two[1]), "{tokens:?}");
}

#[test]
fn no_look_shows_the_value_of_one_leader_beside_the_token_of_another() {
    let (server, a, b) = pair();
    let clients = [a, b, Client::connect(&server.url()).expect("a good URL")];
    let over = AtomicBool::new(false);
    let terms = std::sync::Mutex::new(std::collections::BTreeMap::new());
    let looks = std::thread::scope(|scope| {
        let leading = clients.each_ref().map(|client| {
            let (over, terms) = (&over, &terms);
            [0, 1].map(|number| {
                scope.spawn(move || {
                    let mut count = 0;
                    while !over.load(Relaxed) {
                        let value = format!("{} {number} {count}", client.id());
                        let term = client.leader("n").value(&value).lead().blocking().expect("answered");
                        terms.lock().expect("no panic").insert(term.token().expect("it has one"), value);
                        std::thread::sleep(Duration::from_micros(300));
                        term.release_blocking().expect("it leads");
                        count += 1;
                    }
                })
            })
        });
        let looking = scope.spawn(|| {
            let mut looks = Vec::new();
            while looks.len() < 500 {
                looks.extend(seen(&clients[2]));
            }
            over.store(true, Relaxed);
            looks
        });
        let looks = looking.join().expect("no panic");
        leading.into_iter().flatten().for_each(|leads| leads.join().expect("no panic"));
        looks
    });
    let terms = terms.into_inner().expect("no panic");
    assert!(terms.len() > 10, "{} terms", terms.len());
    let mut last = 0;
    for (value, token) in looks {
        let token = token.expect("every holder is a leader of ours");
        assert!(token >= last, "a look went back from {last} to {token}");
        last = token;
        assert_eq!(terms.get(&token), Some(&value), "of token {token}");
    }
}

#[test]
fn an_observer_hears_who_leads_and_of_each_change() {
    let (server, a, b) = pair();
    let mut observer = b.leader("n").observe();
    assert_eq!(next(&mut observer), None, "the first call tells of the present");
    for (client, value) in [(&a, "api-1"), (&b, "api-2"), (&a, "")] {
        let (term, heard) = std::thread::scope(|scope| {
            let hears = scope.spawn(|| next(&mut observer));
            eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
            let begun = Instant::now();
            let term = client.leader("n").value(value).lead().blocking().expect("no other candidate");
            let heard = hears.join().expect("no panic");
            assert!(begun.elapsed() < secs(2), "told after {:?}", begun.elapsed());
            (term, heard)
        });
        assert_eq!(heard, Some((value.to_owned(), term.token())));
        let heard = std::thread::scope(|scope| {
            let hears = scope.spawn(|| next(&mut observer));
            eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
            drop(term);
            hears.join().expect("no panic")
        });
        assert_eq!(heard, None, "it has resigned");
    }
    // The next call tells of changes that came between the two.
    let term = a.leader("n").value("x").lead().blocking().expect("no other candidate");
    assert_eq!(next(&mut observer), Some(("x".to_owned(), term.token())));
}

#[test]
fn an_observer_hears_of_a_leader_that_was_forced_out_or_whose_lease_has_ended() {
    let (server, a, b) = pair();
    let mut observer = b.leader("n").observe();
    let term = a.leader("n").value("x").lead().blocking().expect("no other candidate");
    assert_eq!(next(&mut observer), Some(("x".to_owned(), term.token())));
    let heard = std::thread::scope(|scope| {
        let hears = scope.spawn(|| next(&mut observer));
        eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
        assert!(b.lock("n").blocking().force_release().expect("answered"));
        hears.join().expect("no panic")
    });
    assert_eq!(heard, None);
    let loss = soon(term.lost()).expect("it is lost");
    assert!(matches!(loss.reason, LostReason::Deleted | LostReason::TakenOver), "{loss:?}");
    // The forced release of a lock knows nothing of leaders: the value that it leaves beside the lock counts no more.
    assert!(server.view().exists(PLACE));
    assert_eq!(seen(&b), None);
    let other = b.fenced_lock("n").blocking().acquire().expect("free");
    assert_eq!(seen(&a), Some((String::new(), None)), "it is no leader of ours");
    other.release().expect("held");
    let proxy = Proxy::start(&server);
    let cut = Client::connect(&format!("redis://127.0.0.1:{}?watchdog=0.5", proxy.port())).expect("a good URL");
    let term = cut.leader("n").value("y").lead().blocking().expect("no other candidate");
    assert_eq!(next(&mut observer), Some(("y".to_owned(), term.token())));
    proxy.refuse();
    proxy.cut();
    assert_eq!(next(&mut observer), None, "its lease has ended");
    assert!(!server.view().exists(PLACE), "it ends with its lock");
    assert!(soon(term.lost()).is_some());
    proxy.accept();
}

#[test]
fn a_leader_is_renewed_with_its_value_for_as_long_as_its_process_lives() {
    let (server, _, b) = pair();
    for name in ["n", "of{braces}"] {
        let place = if name == "n" { PLACE } else { "redlatch_leader:of{braces}" };
        let a = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
        let term = a.leader(name).value("x").lead().blocking().expect("no other candidate");
        let mut view = server.view();
        let begun = Instant::now();
        // Several leases long.
        while begun.elapsed() < secs(2) {
            let leader = b.leader(name).current().blocking().expect("answered").expect("it leads");
            assert_eq!((leader.value.as_str(), leader.token), ("x", term.token()), "{:?}", begun.elapsed());
            let both = "return {redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2])}";
            let [lock, place]: [i64; 2] = view.command(&["EVAL", both, "2", name, place]);
            assert!(lock > 0 && (lock - place).abs() <= 1, "the lock has {lock} ms, the value {place}");
            std::thread::sleep(ms(20));
        }
        term.release_blocking().expect("it leads");
    }
}

#[test]
fn the_value_of_a_killed_leader_ends_with_its_lease_and_another_candidate_leads() {
    let (server, a, b) = pair();
    let url = format!("{}?watchdog=1", server.url());
    let leads = Agent::start("rust", env!("CARGO_BIN_EXE_redlatch-agent"), &url).expect("it starts");
    let led = leads.ask("try_lock", json!({ "kind": "leader", "name": "n", "owner": 7 })).within(secs(20));
    assert_eq!(led.expect("answered"), true);
    assert_eq!(seen(&b).map(|(_, token)| token.is_some()), Some(true));
    leads.kill();
    let begun = Instant::now();
    let term = a.leader("n").value("next").lead().wait(secs(20)).blocking().expect("the lease ends");
    assert!(begun.elapsed() < secs(2), "after {:?}", begun.elapsed());
    assert_eq!(seen(&b), Some(("next".to_owned(), term.token())));
    term.release_blocking().expect("it leads");
    assert!(!server.view().exists(PLACE));
}

#[test]
fn a_leaders_lock_excludes_the_other_locks_of_its_name() {
    let (server, a, b) = pair();
    let term = a.leader("n").lead().blocking().expect("no other candidate");
    for lock in [b.lock("n"), b.fenced_lock("n"), b.fair_lock("n")] {
        assert!(lock.blocking().try_acquire().expect("answered").is_none());
    }
    let first = term.token();
    term.release_blocking().expect("it leads");
    let guard = b.fenced_lock("n").blocking().acquire().expect("free");
    assert!(guard.token() > first, "both draw from one row of tokens");
    assert!(a.leader("n").try_lead().blocking().expect("answered").is_none());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| a.leader("n").lead().wait(secs(20)).blocking().map(|term| term.token()));
        eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
        let token = guard.token();
        guard.release().expect("held");
        assert!(waits.join().expect("no panic").expect("free") > token);
    });
}

#[test]
fn a_value_that_cannot_be_kept_is_refused_before_the_server_sees_it() {
    let (server, a, _) = pair();
    let longest = "ä".repeat(32 * 1024);
    let term = a.leader("n").value(&longest).lead().blocking().expect("it is not too long");
    assert_eq!(current(&a).map(|leader| leader.value), Some(longest.clone()));
    term.release_blocking().expect("it leads");
    let mut view = server.view();
    view.forget_calls();
    for (value, word) in [(format!("{longest}."), "65537 bytes, the most is 65536"), ("a\0b".to_owned(), "a zero byte")]
    {
        for refused in [
            a.leader("n").value(&value).lead().blocking().map(drop),
            a.leader("n").value(&value).try_lead().blocking().map(drop),
        ] {
            let error = refused.expect_err("it cannot be kept");
            assert!(matches!(error, Error::Config(_)) && error.to_string().contains(word), "{error}");
        }
    }
    let empty = a.leader("").lead().blocking().expect_err("a name has at least one character");
    assert!(matches!(empty, Error::Config(_)), "{empty}");
    assert_eq!(view.calls().get("evalsha"), None);
    let other = Request { texts: vec![vec![0xff]], ..Request::new(Op::Acquire, "leader", "n", 1) };
    let error = a.run_blocking(other).expect_err("it is no text").to_string();
    assert!(error.contains("UTF-8"), "{error}");
    // All other texts come back as they are.
    for value in ["", " ", "a\nb\r\n", "x 1 y", "{\"host\":\"käse\"}", "%d {}"] {
        let term = a.leader("n").value(value).lead().blocking().expect("no other candidate");
        assert_eq!(seen(&a), Some((value.to_owned(), term.token())));
        term.release_blocking().expect("it leads");
    }
}

#[test]
fn a_key_of_another_kind_is_an_error_that_names_it() {
    let (server, a, _) = pair();
    server.view().command::<()>(&["SET", "n", "v"]);
    for error in [
        a.leader("n").lead().blocking().map(drop),
        a.leader("n").current().blocking().map(drop),
        a.leader("n").observe().next_blocking().map(drop),
    ] {
        let error = error.expect_err("it is no lock").to_string();
        assert!(error.contains("WRONGTYPE") && error.contains("a text"), "{error}");
    }
    server.view().command::<()>(&["DEL", "n"]);
}

#[test]
fn a_cancelled_candidate_leaves_nothing_and_a_cancelled_observer_misses_nothing() {
    let (server, a, b) = pair();
    let term = a.leader("n").value("x").lead().blocking().expect("no other candidate");
    let mut view = server.view();
    soon(async {
        let mut observer = b.leader("n").observe();
        assert!(observer.next().await.expect("answered").is_some());
        for _ in 0..20 {
            let lead = tokio::time::timeout(ms(5), b.leader("n").value("late").lead()).await;
            assert!(lead.is_err(), "another one leads");
            assert!(tokio::time::timeout(ms(5), observer.next()).await.is_err(), "nothing has changed");
        }
        let first = term.token();
        term.release().await.expect("it leads");
        let term = b.leader("n").value("y").lead().await.expect("no other candidate");
        let heard = observer.next().await.expect("answered").expect("one leads");
        assert_eq!((heard.value.as_str(), heard.token), ("y", term.token()));
        assert!(term.token() > first);
        term.release().await.expect("it leads");
    });
    eventually(|| view.channels("*").is_empty());
    assert_eq!(view.keys("*"), ["redisson_lock_token:{n}"]);
}

#[test]
fn the_end_of_a_client_resigns_and_ends_candidates_and_observers() {
    let (server, a, b) = pair();
    let term = a.leader("n").value("x").lead().blocking().expect("no other candidate");
    let mut observer = a.leader("n").observe();
    next(&mut observer);
    std::thread::scope(|scope| {
        let candidate = scope.spawn(|| a.leader("n").lead().blocking().map(drop));
        let observes = scope.spawn(|| observer.next_blocking().map(drop));
        eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
        a.close_blocking(Holds::Release);
        for ended in [candidate, observes] {
            let error = ended.join().expect("no panic");
            assert!(matches!(error, Err(Error::Closed { .. })), "{error:?}");
        }
    });
    assert_eq!(seen(&b), None);
    assert!(!server.view().exists(PLACE));
    assert!(matches!(soon(term.lost()), Some(loss) if loss.reason == LostReason::Closed));
}

#[test]
fn a_lost_answer_makes_no_second_term_and_no_value_without_a_leader() {
    let (server, _, b) = pair();
    let proxy = Proxy::start(&server);
    let a = Client::connect(&format!("redis://127.0.0.1:{}", proxy.port())).expect("a good URL");
    a.leader("n").lead().blocking().expect("no other candidate").release_blocking().expect("it leads");
    for (at, value) in ["x", "y", "z"].into_iter().enumerate() {
        // The values of commands travel as they are.
        proxy.lose_reply_to(&format!("\r\n{value}\r\n"));
        let term = a.leader("n").value(value).lead().blocking().expect("the call is repeated");
        assert_eq!(proxy.struck(), at + 1, "the answer was lost");
        assert_eq!(seen(&b), Some((value.to_owned(), term.token())), "the value has the token of the answer that came");
        proxy.disarm();
        term.release_blocking().expect("it leads");
        assert_eq!(seen(&b), None);
        assert!(!server.view().exists(PLACE));
    }
}

#[test]
fn a_full_server_renews_a_leader_and_lets_it_resign() {
    let server = Server::start();
    let a = Client::connect(&format!("{}?watchdog=1", server.url())).expect("a good URL");
    let term = a.leader("n").value("x").lead().blocking().expect("no other candidate");
    let mut view = server.view();
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    let begun = Instant::now();
    while begun.elapsed() < secs(3) {
        assert_eq!(seen(&a), Some(("x".to_owned(), term.token())));
        term.ensure().expect("it is renewed");
        std::thread::sleep(ms(20));
    }
    term.release_blocking().expect("a full server takes it");
    assert!(!view.exists(PLACE) && !view.exists("n"));
    let refused = a.leader("n").lead().blocking().map(drop);
    assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "OOM"), "{refused:?}");
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
}
