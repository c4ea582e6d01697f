//! One lock made of several.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Member, Op, Request, Rule};
use redlatch::{Client, Error, LockBuilder, LostReason};
use redlatch_tests::{Server, View, all_at_once, told};

use crate::{eventually, ms, secs};

/// Three servers, and a client of each.
struct Three {
    servers: Vec<Server>,
    clients: Vec<Client>,
}

impl Three {
    fn start(query: &str) -> Three {
        let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
        let clients = servers
            .iter()
            .map(|server| Client::connect(&format!("{}{query}", server.url())).expect("a good URL"))
            .collect();
        Three { servers, clients }
    }

    /// A multi lock of the lock `n` on every server, in this order.
    fn lock(&self, order: [usize; 3]) -> LockBuilder {
        self.clients[0].multi_lock(order.map(|i| self.clients[i].lock("n")))
    }

    fn views(&self) -> Vec<View> {
        self.servers.iter().map(Server::view).collect()
    }

    fn nothing_is_left(&self) {
        for view in &mut self.views() {
            eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
        }
    }
}

#[test]
fn a_multi_lock_is_held_while_every_one_of_its_locks_is_held() {
    let three = Three::start("");
    let guard = three.lock([0, 1, 2]).blocking().acquire().expect("free");
    for (server, view) in three.servers.iter().zip(&mut three.views()) {
        let other = Client::connect(&server.url()).expect("a good URL");
        assert!(other.lock("n").blocking().try_acquire().expect("answered").is_none());
        assert_eq!(view.hgetall("n").len(), 1);
    }
    guard.ensure().expect("held");
    assert!(guard.deadline().is_some() && three.lock([0, 1, 2]).blocking().is_locked().expect("answered"));
    guard.release().expect("held");
    three.nothing_is_left();
    assert!(!three.lock([0, 1, 2]).blocking().is_locked().expect("answered"));
}

#[test]
fn a_setting_of_one_of_its_locks_is_refused_with_the_remedy() {
    let client = Client::connect("redis://127.0.0.1:1").expect("a good URL");
    let two = || client.lock("two");
    for (setting, two) in [
        ("wait", two().wait(secs(5))),
        ("lease", two().lease(secs(60))),
        ("owner", two().owner(7)),
        ("backoff", two().backoff(&[ms(5)])),
    ] {
        let both = client.multi_lock([client.lock("one"), two]);
        let refused = both.blocking().try_acquire().map(drop);
        let Err(Error::Config(said)) = refused else { panic!("{setting} must be refused: {refused:?}") };
        assert!(said.contains("`two`") && said.contains(setting), "{said}");
    }
}

#[test]
fn one_taken_lock_keeps_all_the_others_free() {
    let three = Three::start("");
    for i in 0..3 {
        let taken = three.clients[i].lock("n").blocking().acquire().expect("free");
        assert!(three.lock([0, 1, 2]).blocking().try_acquire().expect("answered").is_none());
        assert!(three.lock([0, 1, 2]).wait(ms(100)).blocking().try_acquire().expect("answered").is_none());
        for (j, view) in three.views().iter_mut().enumerate().filter(|(j, _)| *j != i) {
            assert!(!view.exists("n"), "server {j} is locked while {i} is taken");
        }
        taken.release().expect("held");
    }
    three.nothing_is_left();
}

#[test]
fn the_release_of_the_last_taken_lock_wakes_the_waiter() {
    let three = Three::start("");
    let taken = three.clients[2].lock("n").blocking().acquire().expect("free");
    let lock = three.lock([0, 1, 2]).wait(secs(20));
    let waiter = thread::spawn(move || lock.blocking().acquire().map(|guard| guard.release()));
    let mut view = three.servers[2].view();
    eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    taken.release().expect("held");
    waiter.join().expect("no panic").expect("woken").expect("held");
    three.nothing_is_left();
}

#[test]
fn clients_that_name_the_locks_in_another_order_do_not_block_each_other() {
    let three = Three::start("");
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]];
    let mut inside = std::sync::Mutex::new(0);
    all_at_once(orders.iter().map(|order| {
        let three = &three;
        let inside = &inside;
        let work = move || {
            for _ in 0..25 {
                let guard = three.lock(*order).wait(secs(20)).blocking().acquire().expect("no holder keeps it");
                let mut count = inside.try_lock().expect("no other holder is inside");
                thread::yield_now();
                *count += 1;
                drop(count);
                guard.release().expect("held");
            }
        };
        (format!("{order:?}"), work)
    }));
    assert_eq!(*inside.get_mut().expect("no thread panicked"), 100);
    three.nothing_is_left();
}

#[test]
fn a_multi_lock_is_lost_when_one_of_its_locks_is() {
    let three = Three::start("");
    let guard = three.lock([0, 1, 2]).blocking().acquire().expect("free");
    let mut view = three.servers[1].view();
    eventually(|| view.tells());
    view.command::<()>(&["DEL", "n"]);
    assert_eq!(told(&guard).reason, LostReason::Deleted);
    assert!(matches!(guard.ensure(), Err(Error::Lost(_))) && guard.deadline().is_none());
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    three.nothing_is_left();
}

/// The race lasts a microsecond, so that the test fails most easily on a busy machine.
#[test]
fn a_watcher_that_begins_while_one_of_the_locks_is_lost_is_told() {
    let three = Three::start("");
    let mut view = three.servers[1].view();
    for round in 0..500 {
        let guard = three.lock([0, 1, 2]).blocking().acquire().expect("free");
        eventually(|| view.tells());
        view.command::<()>(&["DEL", "n"]);
        // The watch begins at moments from before the news of the loss until after.
        let watch = Instant::now() + Duration::from_micros(round);
        while Instant::now() < watch {
            std::hint::spin_loop();
        }
        assert_eq!(told(&guard).reason, LostReason::Deleted, "round {round}");
    }
}

#[test]
fn a_lease_counts_from_when_it_has_all_of_them() {
    let three = Three::start("");
    let last = three.clients[2].lock("n").lease(ms(700)).blocking().acquire().expect("free");
    let guard = three.lock([0, 1, 2]).lease(secs(2)).wait(secs(20)).blocking().acquire().expect("the lease ends");
    for view in &mut three.views() {
        let left = view.pttl("n");
        assert!(left > 1_000 && left <= 2_000, "{left} ms");
    }
    guard.release().expect("held");
    drop(last);
    three.nothing_is_left();
}

#[test]
fn a_lock_that_is_lost_while_another_one_is_waited_for_is_not_taken_for_held() {
    let three = Three::start("?watchdog=0.5&response_timeout=0.3&retry_for=0.3");
    let mut order = [0, 1, 2];
    order.sort_by_key(|i| three.clients[*i].server());
    let [first, _, last] = order;
    let awaited = three.clients[last].lock("n").blocking().acquire().expect("free");
    thread::scope(|scope| {
        let waits = scope.spawn(|| three.lock(order).wait(secs(2)).blocking().try_acquire());
        eventually(|| three.servers[first].view().exists("n"));
        three.servers[first].stop();
        // No message tells the client that the stopped server lost its lock: the belief ends by time alone.
        thread::sleep(ms(800));
        awaited.release().expect("held");
        if let Ok(Some(guard)) = waits.join().expect("no panic") {
            guard.ensure().expect("a granted lock is held");
        }
    });
}

#[test]
fn a_multi_lock_is_renewed_until_it_is_released() {
    let three = Three::start("?watchdog=1.5");
    let guard = three.lock([0, 1, 2]).blocking().acquire().expect("free");
    for view in &mut three.views() {
        eventually(|| {
            guard.ensure().expect("held");
            view.calls().get("pexpire").copied().unwrap_or_default() >= 4
        });
    }
    guard.ensure().expect("renewed");
    guard.release().expect("held");
    three.nothing_is_left();
}

#[test]
fn an_owner_holds_it_as_often_as_it_took_it() {
    let three = Three::start("");
    let lock = || three.lock([0, 1, 2]).owner(7);
    let outer = lock().blocking().acquire().expect("free");
    let inner = lock().blocking().acquire().expect("own");
    assert_eq!(lock().blocking().hold_count().expect("answered"), 2);
    inner.release().expect("held");
    outer.ensure().expect("held");
    outer.release().expect("held");
    three.nothing_is_left();
}

#[test]
fn dropping_an_acquire_leaves_nothing() {
    let three = Three::start("");
    let taken = three.clients[2].lock("n").blocking().acquire().expect("free");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let mut view = three.servers[2].view();
    runtime.block_on(async {
        let waiting = three.lock([0, 1, 2]).acquire();
        let heard = async {
            while view.listeners("redisson_lock__channel:{n}") == 0 {
                tokio::time::sleep(ms(1)).await;
            }
        };
        tokio::select! { _ = waiting => panic!("one of them is taken"), () = heard => {} }
    });
    taken.release().expect("held");
    three.nothing_is_left();
}

#[test]
fn no_lock_at_all_and_one_lock_twice_are_errors_that_say_so() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let says = |lock: LockBuilder, what: &str| {
        let Err(Error::Config(message)) = lock.blocking().acquire().map(drop) else { panic!("it is refused") };
        assert!(message.contains(what), "{message}");
    };
    says(client.multi_lock([]), "has none");
    says(client.multi_lock([client.lock("a"), client.lock("b"), client.lock("a")]), "`a`");
}

#[test]
fn an_owner_gets_both_halves_of_a_read_write_lock_in_one_multi_lock_in_either_order() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let lock = client.read_write_lock("n");
    for halves in [[lock.read(), lock.write()], [lock.write(), lock.read()]] {
        let both = client.multi_lock(halves);
        let guard = both.clone().blocking().try_acquire().expect("answered").expect("the writer may read as well");
        assert!(both.owner(7).blocking().try_acquire().expect("answered").is_none());
        guard.release().expect("held");
    }
    assert_eq!(server.view().keys("*"), [""; 0]);
}

#[test]
fn a_reader_that_would_wait_for_ever_for_a_multi_lock_with_the_write_lock_is_told() {
    let three = Three::start("");
    let [first, second, third] = [0, 1, 2].map(|i| three.clients[i].clone());
    let lock = second.read_write_lock("n");
    let reader = lock.read().owner(1).blocking().acquire().expect("free");
    let inner = first.multi_lock([first.lock("n"), lock.write()]);
    for multi in [inner.clone(), first.multi_lock([inner, third.lock("n")])] {
        let multi = multi.owner(1);
        let (answer, answers) = mpsc::channel();
        let waiter = multi.clone();
        thread::spawn(move || answer.send(waiter.blocking().acquire().map(drop)));
        let told = answers.recv_timeout(secs(20)).expect("the reader waits for itself");
        assert!(matches!(told, Err(Error::AlreadyHeld { .. })), "{told:?}");
        // With a limit the refusal is an answer, as for a lock of its own.
        let limited = multi.wait(ms(100)).blocking().acquire().map(drop);
        assert!(matches!(limited, Err(Error::NotAcquired { .. })), "{limited:?}");
    }
    reader.release().expect("held");
    three.nothing_is_left();
}

/// A caller that waits behind its own hold is told so: a round that has some of the locks is no such hold.
#[test]
fn a_round_that_waits_for_one_of_its_locks_is_no_hold_of_its_owner() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let other = Client::connect(&server.url()).expect("a good URL");
    let member = |name: &str| Member { client: client.clone(), kind: "plain", name: name.into() };
    let group = Client::group(Rule::All, vec![member("a"), member("b")]).expect("two locks");
    let request = |op| Request { wait: Some(secs(60)), ..Request::new(op, "plain", "both", 7) };
    let held = other.lock("b").blocking().acquire().expect("free");
    let (told, acquired) = mpsc::channel();
    group.submit(group.ticket(), request(Op::Acquire), move |answer| drop(told.send(answer)));
    eventually(|| server.view().exists("a"));
    eventually(|| client.owners("a") == [7]);
    assert!(group.owners("").is_empty(), "{:?}", group.owners(""));
    held.release().expect("held");
    let answer = acquired.recv_timeout(secs(20)).expect("it is free").expect("answered");
    assert_eq!(group.owners(""), [7, 7]);
    group.run_blocking(Request { hold: answer.number as u64, ..request(Op::Release) }).expect("held");
}
