//! A server that is down is not reported as a lock that another owner holds: the table of kinds × outages × waits.

use std::sync::mpsc;
use std::thread;

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Error, LockBuilder, RedLock};
use redlatch_tests::all_at_once;

use super::*;

/// A single call ends soon, and these limits end no wait of the table.
const TRIES: &str = "?connect_timeout=1&response_timeout=3&retry_for=3&watchdog=60";
/// None: a single try.
const WAITS: [Option<Duration>; 3] = [None, Some(ms(300)), Some(secs(1))];
/// A server's answer that is hardly older than a wait counts for the wait; an answer of this age does not.
const LONG_AGO: Duration = ms(600);

fn request(traits: &Traits, op: Op, owner: i64) -> Request {
    let numbers = if counts(traits) { vec![1] } else { Vec::new() };
    Request { numbers, ..Request::new(op, traits.name, kinds::name(traits.name, "n"), owner) }
}

/// Whether the kind counts: permits, or the steps of a latch.
fn counts(traits: &Traits) -> bool {
    !traits.held || traits.name == "permit"
}

fn try_for(client: &Client, traits: &Traits, owner: i64, wait: Option<Duration>) -> Result<Answer, Error> {
    client.run_blocking(Request { wait: Some(wait.unwrap_or_default()), ..request(traits, Op::Acquire, owner) })
}

fn is_unavailable(title: &str, end: Result<Answer, Error>, wait: Option<Duration>) {
    let Err(error @ Error::Unavailable { .. }) = end else { panic!("{title}: {end:?}") };
    let said = error.to_string();
    let wanted = wait.map_or(String::new(), |wait| format!("no answer came during the wait of {wait:?}"));
    assert!(said.contains(&wanted) && !said.contains("another owner"), "{title}: {said}");
}

/// Tries every kind with every wait, each with a client of its own.
fn every_kind_ends(url: &str, end: impl Fn(&str, Result<Answer, Error>, Option<Duration>) + Sync) {
    let cells = ALL.iter().flat_map(|KindRow { traits, .. }| WAITS.map(|wait| (traits, wait)));
    all_at_once(cells.map(|(traits, wait)| {
        let url = format!("{url}{TRIES}");
        let end = &end;
        let title = format!("{} {wait:?}", traits.name);
        (title.clone(), move || end(&title, try_for(&connect(&url), traits, 1, wait), wait))
    }));
}

#[test]
fn a_server_that_does_not_run_is_never_told_as_a_lock_that_is_taken() {
    every_kind_ends(&format!("redis://127.0.0.1:{}", ports::free()), is_unavailable);
}

#[test]
fn an_address_that_swallows_everything_is_never_told_as_a_lock_that_is_taken() {
    let hole = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    every_kind_ends(&format!("redis://{}", hole.local_addr().expect("it is bound")), is_unavailable);
}

#[test]
fn a_server_that_stands_still_is_never_told_as_a_lock_that_is_taken() {
    let server = Server::start();
    server.pause();
    every_kind_ends(&server.url(), is_unavailable);
}

#[test]
fn a_server_that_still_loads_its_data_is_told_as_such() {
    let words = ["--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024"].map(str::to_owned);
    let server = Server::with(Options { args: words.into(), debugging: true, ..Options::default() });
    server.view().command::<()>(&[
        "EVAL",
        "for i = 1, 6000 do redis.call('SET', 'k' .. i, string.rep('v', 2000)) end",
        "0",
    ]);
    let mut loader = server.view();
    // The command is answered late or never: the server ends with the test.
    let loading = thread::spawn(move || drop(loader.try_command::<String>(&["DEBUG", "RELOAD"])));
    let mut view = server.view();
    eventually("a server that loads", || {
        view.try_command::<String>(&["GET", "k"]).err().filter(|e| e.code() == Some("LOADING"))
    });
    every_kind_ends(&server.url(), |title, end, wait| match end {
        Err(Error::Refused { code, .. }) if code == "LOADING" => {}
        end => is_unavailable(title, end, wait),
    });
    assert!(view.try_command::<String>(&["GET", "k"]).is_err(), "it still loads");
    server.stop();
    loading.join().expect("no panic");
}

#[test]
fn a_server_in_quarantine_says_not_now_and_the_reason() {
    let server = Server::start();
    let careful = |url: &str| connect(&format!("{url}&quarantine=true"));
    let cells = ALL
        .iter()
        .filter(|KindRow { traits, .. }| traits.name != "latch")
        .flat_map(|KindRow { traits, .. }| WAITS.map(|wait| (traits, wait)));
    all_at_once(cells.map(|(traits, wait)| {
        let client = careful(&format!("{}{TRIES}", server.url()));
        let job = move || {
            // The client must know its server before a short wait.
            assert!(!try_for(&client, traits, 1, None).expect("answered").done);
            assert!(!try_for(&client, traits, 1, wait).expect("answered").done);
            assert!(client.is_held_back("n"));
        };
        (format!("{} {wait:?}", traits.name), job)
    }));
    let client = careful(&format!("{}{TRIES}", server.url()));
    let reason = |error: Error| {
        let said = error.to_string();
        assert!(
            matches!(error, Error::NotAcquired { .. })
                && said.contains("quarantine")
                && !said.contains("another owner"),
            "{said}"
        );
    };
    reason(client.lock("n").wait(secs(1)).blocking().acquire().map(drop).expect_err("nothing is granted"));
    reason(
        client
            .multi_lock([client.lock("n"), client.lock("m")])
            .wait(secs(1))
            .blocking()
            .acquire()
            .map(drop)
            .expect_err("nor here"),
    );
    reason(client.semaphore("s").acquire(1).wait(secs(1)).blocking().expect_err("nor permits"));
    reason(client.permit_semaphore("p").acquire().wait(secs(1)).blocking().map(drop).expect_err("nor those with ids"));
}

/// A lock that `holder` holds and `waiters` want.
struct Taken {
    traits: &'static Traits,
    server: Server,
    waiters: Client,
    _holder: Client,
}

impl Taken {
    fn new(traits: &'static Traits, lease: Option<Duration>) -> Taken {
        let server = Server::start();
        let client = || connect(&format!("{}{TRIES}", server.url()));
        let holder = client();
        let waiters = client();
        let named =
            |name| &ALL.iter().find(|KindRow { traits, .. }| traits.name == name).expect("there is such a kind").traits;
        let by = match traits.name {
            "read" => named("write"),
            "permit" => named("permit_semaphore"),
            _ => traits,
        };
        kinds::set_up(&holder, traits.name, "n", 1);
        if traits.name != "latch" {
            let taken = holder.run_blocking(Request { lease, ..request(by, Op::Acquire, 1) });
            assert!(taken.expect("answered").done, "{}: it is free", traits.name);
        }
        Taken { traits, server, waiters, _holder: holder }
    }

    /// Begins to wait, and returns once the server has answered that the lock is taken, also after the waiter began to
    /// listen.
    fn wait(&self, owner: i64, wait: Duration) -> mpsc::Receiver<Result<Answer, Error>> {
        let (sender, end) = mpsc::channel();
        let mut view = self.server.view();
        let mut tries = || {
            let calls = view.calls();
            let count = |command: &str| calls.get(command).copied().unwrap_or_default();
            // The holder may only now have the server forget its requests, and look at its lock: a script of the one deletes,
            // one of the other comes behind a call for reports of changes, and no try does either.
            count("evalsha") + count("eval") - count("del") - count("client|caching")
        };
        // From then on the server knows the script: each try is one call.
        assert!(
            !try_for(&self.waiters, self.traits, owner, None).expect("answered").done,
            "{}: it is taken",
            self.traits.name
        );
        let before = tries();
        let acquire = Request { wait: Some(wait), ..request(self.traits, Op::Acquire, owner) };
        self.waiters.submit(self.waiters.ticket(), acquire, move |end| drop(sender.send(end)));
        eventually("two tries", || (tries() >= before + 2).then_some(()));
        // The server has written the waiters' answers before this one.
        tries();
        end
    }
}

fn ended(end: mpsc::Receiver<Result<Answer, Error>>) -> Result<Answer, Error> {
    end.recv_timeout(PATIENCE).expect("the wait ends")
}

#[test]
fn a_servers_answer_during_a_wait_counts_for_that_wait_and_not_for_later_ones() {
    all_at_once(ALL.iter().map(|KindRow { traits, .. }| {
        let job = move || {
            let taken = Taken::new(traits, None);
            let told = taken.wait(2, secs(2));
            taken.server.pause();
            thread::sleep(LONG_AGO);
            // Further waiters stand in the line of the first one, where their kind has lines.
            thread::scope(|scope| {
                for (owner, wait) in (3..).zip(WAITS) {
                    let taken = &taken;
                    scope.spawn(move || {
                        is_unavailable("a newcomer", try_for(&taken.waiters, traits, owner, wait), wait)
                    });
                }
            });
            match traits.fair {
                // A fair lock's answer says to try again within a second, or to lose the place in the queue.
                true => is_unavailable(traits.name, ended(told), Some(secs(2))),
                false => assert!(!ended(told).expect("the server has said that it is taken").done),
            }
        };
        (traits.name.to_owned(), job)
    }));
}

#[test]
fn a_servers_answer_does_not_outlive_the_lease_that_it_told_of() {
    all_at_once(ALL.iter().filter(|KindRow { traits, .. }| traits.exclusive).map(|KindRow { traits, .. }| {
        let job = move || {
            let taken = Taken::new(traits, Some(secs(1)));
            let told = taken.wait(2, secs(2));
            taken.server.pause();
            is_unavailable(traits.name, ended(told), Some(secs(2)));
        };
        (traits.name.to_owned(), job)
    }));
}

#[test]
fn a_servers_answer_does_not_outlive_the_connection_that_it_came_by() {
    all_at_once(ALL.iter().map(|KindRow { traits, .. }| {
        let job = move || {
            let taken = Taken::new(traits, None);
            let told = taken.wait(2, secs(2));
            if taken.server.view().channels("*").is_empty() {
                return; // It does not listen, and is told that the connection is gone by its tries alone.
            }
            taken.server.stop();
            is_unavailable(traits.name, ended(told), Some(secs(2)));
        };
        (traits.name.to_owned(), job)
    }));
}

/// The server hears of a try only when the lease that it asks for is over on the client's clock. No other owner has the lock then.
#[test]
fn a_grant_that_comes_after_its_lease_is_never_told_as_a_lock_that_is_taken_and_is_given_back() {
    let lease = ms(600);
    all_at_once(ALL.iter().filter(|KindRow { traits, .. }| traits.held).map(|KindRow { traits, .. }| {
        let job = move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let slow = connect(&format!("{}{TRIES}", server.url_at(proxy.port())));
            let other = connect(&format!("{}{TRIES}", server.url()));
            kinds::set_up(&other, traits.name, "n", 1);
            let acquire = Request { lease: Some(lease), wait: Some(Duration::ZERO), ..request(traits, Op::Acquire, 1) };
            assert!(slow.run_blocking(acquire.clone()).expect("answered").done, "it is free");
            slow.run_blocking(request(traits, Op::Release, 1)).expect("held");
            proxy.stall(Direction::ToServer);
            let tried = thread::scope(|scope| {
                let called = std::time::Instant::now();
                let tries = scope.spawn(|| slow.run_blocking(acquire));
                eventually("the end of the lease", || (called.elapsed() > lease + ms(20)).then_some(()));
                proxy.flow();
                tries.join().expect("no panic")
            });
            match tried {
                // A slow machine: the server has refused that try for its age, and granted the next one.
                Ok(answer) if answer.done => {}
                tried => {
                    let Err(error @ Error::Unavailable { .. }) = tried else { panic!("{}: {tried:?}", traits.name) };
                    assert!(error.to_string().contains("after the lease of 600ms"), "{}: {error}", traits.name);
                }
            }
            let stats = slow.stats();
            assert_eq!(stats.not_acquired, 0, "{}: {stats:?}", traits.name);
            eventually("the give-back", || try_for(&other, traits, 2, None).expect("answered").done.then_some(()));
        };
        (traits.name.to_owned(), job)
    }));
}

#[test]
fn a_wait_whose_grant_comes_after_its_lease_is_never_told_that_the_lock_is_taken_and_leaves_nothing() {
    let lease = ms(600);
    // The answer comes before the end of the wait, soon before it or not, and nothing after it.
    let waits = [ms(800), ms(1200)];
    let held = ALL.iter().filter(|KindRow { traits, .. }| traits.held);
    all_at_once(held.flat_map(|KindRow { traits, .. }| waits.map(|wait| (traits, wait))).map(|(traits, wait)| {
        let title = format!("{} {wait:?}", traits.name);
        let job = {
            let title = title.clone();
            move || {
                let server = Server::start();
                let proxy = Proxy::start(&server);
                let slow = connect(&format!("{}{TRIES}", server.url_at(proxy.port())));
                let other = connect(&format!("{}{TRIES}", server.url()));
                kinds::set_up(&other, traits.name, "n", 1);
                let acquire = Request { lease: Some(lease), wait: Some(wait), ..request(traits, Op::Acquire, 1) };
                assert!(slow.run_blocking(acquire.clone()).expect("answered").done, "it is free");
                slow.run_blocking(request(traits, Op::Release, 1)).expect("held");
                proxy.stall(Direction::ToClient);
                let waited = thread::scope(|scope| {
                    let called = std::time::Instant::now();
                    let waits = scope.spawn(|| slow.run_blocking(acquire));
                    eventually("the end of the lease", || (called.elapsed() > lease + ms(20)).then_some(()));
                    server.pause();
                    proxy.flow();
                    waits.join().expect("no panic")
                });
                let Err(Error::Unavailable { .. }) = waited else { panic!("{title}: {waited:?}") };
                let stats = slow.stats();
                assert_eq!(stats.not_acquired, 0, "{title}: {stats:?}");
                server.resume();
                eventually("the give-back", || try_for(&other, traits, 2, None).expect("answered").done.then_some(()));
            }
        };
        (title, job)
    }));
}

/// The heir has heard that the lock is taken when the answer to the pass comes.
#[test]
fn a_pass_whose_answer_comes_after_the_lease_of_its_heir_is_given_back() {
    let lease = ms(600);
    let passing = ALL.iter().filter(|KindRow { traits, .. }| traits.queue.passes());
    all_at_once(passing.map(|KindRow { traits, .. }| {
        let job = move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let slow = connect(&format!("{}{TRIES}", server.url_at(proxy.port())));
            let mut view = server.view();
            let mut monitor = server.monitor();
            let release = |owner| slow.run_blocking(request(traits, Op::Release, owner));
            let is_of_heir = |word: &[u8]| String::from_utf8_lossy(word).contains(":3");
            // A busy machine may need longer for the release than the server passes locks on.
            eventually("a pass that is given back", || {
                assert!(try_for(&slow, traits, 1, None).expect("answered").done, "it is free");
                thread::scope(|scope| {
                    let second = scope.spawn(|| {
                        assert!(try_for(&slow, traits, 2, Some(secs(10))).expect("answered").done, "released");
                        proxy.stall(Direction::ToServer);
                        release(2)
                    });
                    eventually("a waiter", || (slow.stats().waiting == 1).then_some(()));
                    let heir = scope.spawn(|| {
                        let wait = Some(ms(300));
                        slow.run_blocking(Request { lease: Some(lease), wait, ..request(traits, Op::Acquire, 3) })
                    });
                    eventually("another waiter", || (slow.stats().waiting == 2).then_some(()));
                    calls::seen_so_far(&mut view, &mut monitor);
                    let called = std::time::Instant::now();
                    release(1).expect("held");
                    assert!(!heir.join().expect("no panic").is_ok_and(|answer| answer.done), "it has no answer");
                    eventually("the end of the lease", || (called.elapsed() > lease + ms(20)).then_some(()));
                    proxy.flow();
                    second.join().expect("no panic").expect("held");
                });
                // The release with the pass, and then the give-back.
                let mut seen = 0;
                let limit = std::time::Instant::now() + ms(300);
                while seen < 2 && std::time::Instant::now() < limit {
                    let calls = calls::seen_so_far(&mut view, &mut monitor);
                    seen += calls.iter().filter(|call| call.words.iter().any(|word| is_of_heir(word))).count();
                }
                (seen >= 2).then_some(())
            });
            let other = connect(&format!("{}{TRIES}", server.url()));
            eventually("a free lock", || try_for(&other, traits, 2, None).expect("answered").done.then_some(()));
        };
        (traits.name.to_owned(), job)
    }));
}

#[test]
fn the_give_back_of_a_grant_that_came_after_its_lease_is_done_when_its_client_is_dropped() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let url = server.url_at(proxy.port());
    // A copy that is older than a second would be refused by its script.
    let lease = ms(600);
    let slow = connect(&format!("{url}{TRIES}"));
    slow.lock("n").blocking().acquire().expect("it is free").release().expect("held");
    proxy.stall(Direction::ToServer);
    let tried = thread::scope(|scope| {
        let called = std::time::Instant::now();
        let tries = scope.spawn(|| {
            slow.lock("n").lease(lease).blocking().try_acquire().map(|taken| taken.map(|held| held.release()))
        });
        eventually("the end of the lease", || (called.elapsed() > lease + ms(20)).then_some(()));
        proxy.flow();
        tries.join().expect("no panic")
    });
    match tried {
        // A slow machine: the server has refused that try for its age, and granted the next one.
        Ok(taken) => assert!(taken.is_some(), "no other owner has it"),
        Err(error) => assert!(matches!(error, Error::Unavailable { .. }), "{error}"),
    }
    drop(slow);
    assert!(!server.view().exists("n"), "the program ends, and the lock is free");
}

#[test]
fn a_caller_that_joins_a_sleeping_line_has_the_servers_answer_before_its_wait_ends() {
    let taken = Taken::new(&ALL[0].traits, None);
    let first = taken.wait(2, secs(60));
    eventually("a line that listens", || (!taken.server.view().channels("*").is_empty()).then_some(()));
    thread::sleep(LONG_AGO);
    let answer = try_for(&taken.waiters, taken.traits, 3, Some(secs(2)));
    assert!(!answer.expect("the server is well, and says that it is taken").done);
    assert!(first.try_recv().is_err(), "it still waits");
}

#[test]
fn a_hold_of_the_same_client_counts_as_the_servers_answer() {
    let server = Server::start();
    let client = connect(&format!("{}{TRIES}", server.url()));
    let held = client.lock("n").blocking().acquire().expect("free");
    server.pause();
    assert!(client.lock("n").wait(secs(1)).blocking().try_acquire().expect("this client has it").is_none());
    let said = client.lock("n").wait(ms(300)).blocking().acquire().map(drop).expect_err("this client has it");
    assert!(matches!(said, Error::NotAcquired { .. }) && said.to_string().contains("another owner"), "{said}");
    server.resume();
    held.release().expect("held");
}

#[test]
fn an_answer_after_a_short_wait_does_not_count_and_its_hold_goes_back() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}{TRIES}", server.url_at(proxy.port())));
    client.lock("warm").blocking().acquire().expect("free").release().expect("held");
    proxy.stall(Direction::ToClient);
    let end = client.lock("n").wait(ms(15)).blocking().try_acquire().map(|taken| taken.is_some());
    assert!(matches!(end, Err(Error::Unavailable { .. })), "{end:?}");
    eventually("a copy that was carried out", || server.view().exists("n").then_some(()));
    proxy.flow();
    eventually("that it goes back", || (!server.view().exists("n")).then_some(()));
}

#[test]
fn a_group_is_unavailable_where_too_few_members_answer_and_not_now_where_enough_do() {
    let servers = [(); 3].map(|()| Server::start());
    let urls = servers.each_ref().map(|server| format!("{}{TRIES}", server.url()));
    let clients = urls.each_ref().map(|url| connect(url));
    let multi = |name: &str| clients[0].multi_lock([0, 1].map(|place| clients[place].lock(name)));
    let red = RedLock::connect(&urls).expect("good URLs");
    let other = connect(&servers[0].url());
    let end = |lock: LockBuilder, wait| lock.wait(wait).blocking().try_acquire().map(|taken| taken.is_some());
    // One member of the red lock is taken, and one is gone: the third alone is no majority.
    let held = other.lock("n").blocking().acquire().expect("free");
    servers[2].stop();
    for wait in [ms(0), ms(300), secs(1)] {
        assert!(!end(red.lock("n"), wait).expect("two answer"));
        assert!(!end(multi("n"), wait).expect("the first says that it is taken"));
    }
    held.release().expect("held");
    servers[1].stop();
    all_at_once([ms(0), ms(300), secs(1), secs(4)].into_iter().flat_map(|wait| {
        // Each lock has a name of its own, so that none blocks another.
        let all = format!("multi {wait:?}");
        let most = format!("red {wait:?}");
        [(multi(&all), all), (red.lock(&most), most)].map(|(lock, title)| {
            (title.clone(), move || {
                let end = end(lock, wait);
                assert!(matches!(end, Err(Error::Unavailable { .. })), "{title}: {end:?}");
            })
        })
    }));
    eventually("that nothing is held", || servers[0].view().keys("*").is_empty().then_some(()));
}
