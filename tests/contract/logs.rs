//! The core's log: nothing above debug while all is well, and one warning for a lost hold.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock, Mutex, Once};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{Options, Server, ms, oracle, secs};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::{eventually, pair};

/// The level, the target and the message of an event.
type Line = (Level, String, String);

pub type Lines = Arc<Mutex<Vec<Line>>>;

/// Every event of the program since [`keep`]: the core logs on threads of its own.
static LINES: LazyLock<Lines> = LazyLock::new(Lines::default);

/// Keeps events.
pub struct Log(pub Lines, pub AtomicU64);

struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("redlatch::")
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = String::new();
        event.record(&mut Message(&mut message));
        let level = *event.metadata().level();
        let target = event.metadata().target().to_owned();
        self.0.lock().expect("nothing panics while it is held").push((level, target, message));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.1.fetch_add(1, SeqCst))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Keeps events from now on. A program has one log, which belongs to the rig.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        oracle::hear(|heard| {
            if heard.target != "redlatch::span" {
                let line = (heard.level, heard.target.clone(), heard.message.clone());
                LINES.lock().expect("nothing panics while it is held").push(line);
            }
        })
    });
}

/// The events with these words in them, since [`keep`].
fn said(words: &str) -> Vec<Line> {
    let lines = LINES.lock().expect("nothing panics while it is held");
    lines.iter().filter(|(.., message)| message.contains(words)).cloned().collect()
}

/// The events about a lock.
fn said_of(name: &str) -> Vec<Line> {
    said(&format!("`{name}`"))
}

/// The warnings among them.
pub fn warnings_of(name: &str) -> Vec<Line> {
    said_of(name).into_iter().filter(|(level, ..)| *level < Level::DEBUG).collect()
}

/// The events about the lock's loss, at any level.
pub fn losses_of(name: &str) -> Vec<Line> {
    said_of(name).into_iter().filter(|(_, target, _)| target == "redlatch::lost").collect()
}

#[test]
fn a_quarantine_that_begins_again_with_a_longer_lease_is_said() {
    keep();
    let server = Server::start();
    let client = Client::connect(&format!("{}?quarantine=true&watchdog=0.5", server.url())).expect("a good URL");
    client.lock("n").wait(secs(20)).blocking().acquire().expect("the quarantine is over").release().expect("held");
    let warnings = || said("grants no new locks").iter().filter(|(.., text)| text.contains(&server.address())).count();
    let before = warnings();
    for _ in 0..2 {
        assert!(client.lock("n").lease(secs(600)).blocking().try_acquire().expect("an answer").is_none());
    }
    assert_eq!(warnings(), before + 1, "{:?}", said("grants no new locks"));
}

#[test]
fn a_server_that_may_evict_locks_is_warned_of_once_with_the_remedy() {
    keep();
    let policy = |policy: &str| ["--maxmemory", "100mb", "--maxmemory-policy", policy].map(str::to_owned).to_vec();
    let [full, kept] =
        ["allkeys-lru", "noeviction"].map(|name| Server::with(Options { args: policy(name), ..Options::default() }));
    let wait = |server: &Server| {
        let holder = Client::connect(&server.url()).expect("a good URL");
        let waiter = Client::connect(&server.url()).expect("a good URL");
        let held = holder.lock("n").blocking().acquire().expect("free");
        for _ in 0..2 {
            assert!(waiter.lock("n").wait(ms(500)).blocking().try_acquire().expect("answered").is_none());
            // The request goes out again on another connection.
            server.view().command::<()>(&["CLIENT", "KILL", "TYPE", "normal"]);
        }
        held.release().expect("held");
    };
    wait(&kept);
    wait(&full);
    let warnings = |server: &Server| said(&format!("{} may evict", server.address()));
    eventually(|| warnings(&full).len() == 2);
    assert!(warnings(&full).iter().all(|(level, target, said)| {
        *level == Level::WARN
            && target == "redlatch::link"
            && said.contains("allkeys-lru")
            && said.contains("noeviction")
    }));
    assert!(warnings(&kept).is_empty(), "it evicts nothing");
}

#[test]
fn a_lost_hold_is_one_warning_with_its_time_line_and_the_rest_is_for_debugging() {
    keep();
    let (server, a, _) = pair();
    let kept = a.lock("logged kept").blocking().acquire().expect("free");
    kept.release().expect("held");
    assert!(!said_of("logged kept").is_empty(), "an acquire is told for debugging");
    assert!(warnings_of("logged kept").is_empty());
    let guard = a.lock("logged lost").blocking().acquire().expect("free");
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "logged lost"]);
    eventually(|| guard.ensure().is_err());
    let warnings = warnings_of("logged lost");
    let [(Level::WARN, target, message)] = &warnings[..] else { panic!("one warning: {warnings:?}") };
    assert_eq!(target, "redlatch::lost");
    assert!(message.contains("deleted (acquired ") && message.contains("never renewed"), "{message}");
}

#[test]
fn a_kept_hold_that_ends_with_its_lease_is_no_warning() {
    keep();
    let (server, a, b) = pair();
    let (tell, told) = channel();
    let let_go = |guard: redlatch::BlockingGuard| {
        let tell = tell.clone();
        guard.on_lost(move |loss| tell.send(loss.reason).expect("the test listens"));
        guard.keep();
    };
    let_go(a.lock("kept alone").lease(ms(300)).blocking().acquire().expect("free"));
    let both = [a.lock("kept with another"), b.lock("kept by another client")];
    let_go(a.multi_lock(both).lease(ms(300)).blocking().acquire().expect("free"));
    for _ in 0..2 {
        assert_eq!(told.recv_timeout(secs(20)), Ok(redlatch::LostReason::Expired), "the callbacks stay");
    }
    for name in ["kept alone", "kept with another", "kept by another client"] {
        eventually(|| losses_of(name).len() == 1);
        assert!(warnings_of(name).is_empty(), "{:?}", warnings_of(name));
    }
    // The program counts on a hold without a lease as long as its client lives.
    let_go(a.lock("kept and renewed").blocking().acquire().expect("free"));
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "kept and renewed"]);
    assert_eq!(told.recv_timeout(secs(20)), Ok(redlatch::LostReason::Deleted));
    eventually(|| warnings_of("kept and renewed").len() == 1);
    // The owner's other hold is not kept.
    let again = || a.lock("kept and held").owner(7).lease(ms(300)).blocking().acquire().expect("free");
    let_go(again());
    let _held = again();
    assert_eq!(told.recv_timeout(secs(20)), Ok(redlatch::LostReason::Expired));
    eventually(|| warnings_of("kept and held").len() == 1);
}

/// The subscriber belongs to the program, and may ask the client for anything while it is told of a loss.
#[test]
fn the_report_of_a_loss_keeps_no_caller_waiting() {
    let (server, a, _) = pair();
    let guard = a.lock("asked about").blocking().acquire().expect("free");
    let (ask, asked) = channel();
    let (answer, answered) = channel();
    let (tell, told) = channel();
    let answered = Mutex::new(answered);
    oracle::hear(move |heard| {
        if heard.target == "redlatch::lost" && heard.message.contains("`asked about`") {
            let _ = ask.send(());
            let _ = tell.send(answered.lock().expect("no hearer panics").recv_timeout(secs(20)));
        }
    });
    eventually(|| server.view().tells());
    let asking = std::thread::spawn(move || {
        asked.recv().expect("the loss is reported");
        let _ = answer.send(guard.ensure().is_err());
        guard
    });
    server.view().command::<()>(&["DEL", "asked about"]);
    assert_eq!(told.recv_timeout(secs(40)), Ok(Ok(true)), "an answer about the hold");
    drop(asking.join());
}

/// A subscriber may be slow.
#[test]
fn a_holder_hears_of_its_loss_before_the_report_of_it_is_dealt_with() {
    let (server, a, _) = pair();
    let guard = a.lock("dealt with").blocking().acquire().expect("free");
    let (tell, told) = channel();
    guard.on_lost(move |_| tell.send(()).expect("the test listens"));
    let told = Mutex::new(told);
    let (say, said) = channel();
    oracle::hear(move |heard| {
        if heard.target == "redlatch::lost" && heard.message.contains("`dealt with`") {
            let _ = say.send(told.lock().expect("no hearer panics").recv_timeout(secs(20)));
        }
    });
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "dealt with"]);
    assert_eq!(said.recv_timeout(secs(40)), Ok(Ok(())), "the holder hears of it");
}

/// A caller's question about the group finds the loss of a member: the I/O thread stands still.
#[test]
fn the_report_of_a_members_loss_keeps_no_caller_of_its_group_waiting() {
    let (_server, a, _) = pair();
    let both = || [a.lock("asked in a group"), a.lock("beside it")];
    let guard = a.multi_lock(both()).owner(7).lease(ms(1000)).blocking().acquire().expect("free");
    // This one lasts.
    let _beside = a.lock("beside it").owner(7).lease(secs(600)).blocking().acquire().expect("own");
    let (stand_still, stands_still) = channel();
    let (go_on, goes_on) = channel::<()>();
    a.submit(a.ticket(), Request::new(Op::Ping, "plain", "n", 1), move |_| {
        let _ = stand_still.send(());
        let _ = goes_on.recv_timeout(secs(60));
    });
    stands_still.recv_timeout(secs(20)).expect("the server answers");
    let (ask, asked) = channel();
    let (answer, answered) = channel();
    let (tell, told) = channel();
    let answered = Mutex::new(answered);
    oracle::hear(move |heard| {
        if heard.target == "redlatch::lost" && heard.message.contains("`asked in a group`") {
            let _ = ask.send(());
            let _ = tell.send(answered.lock().expect("no hearer panics").recv_timeout(secs(20)));
        }
    });
    let guard = &guard;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            asked.recv().expect("the loss is reported");
            let _ = answer.send(guard.ensure().is_err());
        });
        eventually(|| guard.ensure().is_err());
    });
    assert_eq!(told.recv_timeout(secs(40)), Ok(Ok(true)), "an answer about the group");
    drop(go_on);
}

/// A subscriber that panics whenever a lock is acquired or released.
struct Panicking;

impl Subscriber for Panicking {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        ["redlatch::acquire", "redlatch::release"].contains(&metadata.target())
    }

    fn event(&self, event: &Event<'_>) {
        panic!("the subscriber fails at {}", event.metadata().target());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_subscriber_that_panics_costs_no_caller_its_lock() {
    let (server, a, _) = pair();
    tracing::subscriber::with_default(Panicking, || {
        let guard = a.lock("panicked at").blocking().acquire().expect("free");
        assert!(server.view().exists("panicked at"));
        guard.release().expect("held");
    });
    assert!(!server.view().exists("panicked at"));
}
