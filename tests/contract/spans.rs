//! The spans of a program's acquires and holds, and what is reported inside them.

use std::sync::{LazyLock, Mutex, Once};

use redlatch::Holds;
use redlatch_tests::ms;
use redlatch_tests::oracle::{self, Heard};
use tokio::time::timeout;
use tracing::{Instrument, Span, info_span};

use super::{eventually, pair, secs};

/// The target, the message and the spans of each report since [`keep`].
type Line = (String, String, Vec<String>);

static LINES: LazyLock<Mutex<Vec<Line>>> = LazyLock::new(Mutex::default);

fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        oracle::hear(|Heard { target, message, spans, .. }| {
            let line = (target.clone(), message.clone(), spans.clone());
            LINES.lock().expect("nothing panics while it is held").push(line);
        })
    });
}

/// The reports inside the caller's span of that name, without that span itself: in front of each its target's last word.
fn inside(caller: &str) -> Vec<String> {
    let lines = LINES.lock().expect("nothing panics while it is held");
    let is_inside = |line: &&Line| line.2.first().is_some_and(|span| span == &format!("order{{name={caller}}}"));
    let lines = lines.iter().filter(is_inside).filter(|(target, ..)| target != "redlatch::test");
    let told = |(target, message, spans): &Line| match target.as_str() {
        "redlatch::span" => format!("{} {message}", spans[1..].join(" ")),
        target => format!("{} in {}", target.trim_start_matches("redlatch::"), spans[1..].join(" ")),
    };
    lines.map(told).collect()
}

/// The span of a caller.
fn order(name: &str) -> Span {
    info_span!(target: "redlatch::test", "order", name)
}

/// The reports of an acquire, and of its hold without its end.
fn begun(acquire: &str, hold: &str) -> Vec<String> {
    vec![
        format!("{acquire} begins"),
        format!("acquire in {acquire}"),
        format!("{acquire} ends"),
        format!("{hold} begins"),
    ]
}

/// As [`begun`], with a release.
fn ended(acquire: &str, hold: &str) -> Vec<String> {
    let released = [format!("release in {hold}"), format!("{hold} ends")];
    begun(acquire, hold).into_iter().chain(released).collect()
}

/// The end of a span may come late from the I/O thread, after the next span has begun.
fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_unstable();
    lines
}

fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(work)
}

#[test]
fn an_acquire_and_its_hold_are_spans_in_that_of_the_caller() {
    keep();
    let (_server, a, _) = pair();
    let acquire = "redlatch.acquire{lock=traced kind=fenced wait=5s}";
    order("blocking").in_scope(|| {
        let guard = a.fenced_lock("traced").wait(ms(5000)).blocking().acquire().expect("free");
        guard.release().expect("held");
    });
    let hold = "redlatch.hold{lock=traced kind=fenced token=1}";
    eventually(|| inside("blocking") == ended(acquire, hold));

    let work = async {
        let guard = a.fenced_lock("traced").wait(ms(5000)).acquire().await.expect("free");
        guard.release().await.expect("held");
    };
    on_a_runtime(work.instrument(order("awaited")));
    let hold = "redlatch.hold{lock=traced kind=fenced token=2}";
    eventually(|| sorted(inside("awaited")) == sorted(ended(acquire, hold)));

    // In the background.
    order("dropped").in_scope(|| drop(a.lock("traced too").owner(7).blocking().acquire().expect("free")));
    let [acquire, hold] =
        ["acquire", "hold"].map(|what| format!("redlatch.{what}{{lock=traced too kind=plain owner=7}}"));
    eventually(|| sorted(inside("dropped")) == sorted(ended(&acquire, &hold)));
}

#[test]
fn a_loss_is_told_in_the_span_of_its_hold_which_ends_then() {
    keep();
    let (server, a, _) = pair();
    let guard = order("lost").in_scope(|| a.lock("traced lost").blocking().acquire().expect("free"));
    eventually(|| server.view().tells());
    let [acquire, hold] = ["acquire", "hold"].map(|what| format!("redlatch.{what}{{lock=traced lost kind=plain}}"));
    assert_eq!(inside("lost"), begun(&acquire, &hold));
    server.view().command::<()>(&["DEL", "traced lost"]);
    let lost = [format!("lost in {hold}"), format!("{hold} ends")];
    eventually(|| inside("lost") == begun(&acquire, &hold).into_iter().chain(lost.clone()).collect::<Vec<_>>());
    assert!(guard.ensure().is_err());
}

#[test]
fn a_kept_hold_has_its_span_until_it_ends() {
    keep();
    let (_server, a, _) = pair();
    order("kept").in_scope(|| a.lock("traced kept").blocking().acquire().expect("free").keep());
    let [acquire, hold] = ["acquire", "hold"].map(|what| format!("redlatch.{what}{{lock=traced kept kind=plain}}"));
    assert_eq!(inside("kept"), begun(&acquire, &hold));
    a.close_blocking(Holds::Release);
    // The program has ended it itself, which is a loss for debugging.
    assert_eq!(inside("kept")[4..], [format!("lost in {hold}"), format!("{hold} ends")]);
}

#[test]
fn a_loss_is_told_in_the_span_of_the_caller_if_no_subscriber_wants_another() {
    keep();
    let (server, a, _) = pair();
    let take = || a.lock("traced by its caller").blocking().acquire().expect("free");
    let guard = oracle::without_spans(|| order("filtered").in_scope(take));
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "traced by its caller"]);
    eventually(|| inside("filtered") == ["acquire in ", "lost in "]);
    drop(guard);
}

#[test]
fn a_warning_about_an_acquire_is_told_in_its_span() {
    keep();
    let (_server, a, _) = pair();
    let acquire = a.semaphore("traced unset").acquire(1).instrument(order("unset"));
    assert!(on_a_runtime(async { timeout(ms(500), acquire).await }).is_err(), "it has no permits");
    let span = "redlatch.acquire{lock=traced unset kind=semaphore}";
    let told = [
        format!("{span} begins"),
        format!("semaphore in {span}"),
        format!("acquire in {span}"),
        format!("{span} ends"),
    ];
    eventually(|| inside("unset") == told);
}

#[test]
fn permits_have_spans_while_they_are_out() {
    keep();
    let (_server, a, _) = pair();
    let permits = a.semaphore("traced permits");
    permits.try_set_permits(3).blocking().expect("the server answers");
    order("permits").in_scope(|| {
        let permit = permits.acquire(2).blocking().expect("available");
        permit.release_blocking().expect("they are out");
    });
    let [acquire, hold] =
        ["acquire", "hold"].map(|what| format!("redlatch.{what}{{lock=traced permits kind=semaphore}}"));
    let ends = [format!("{hold} ends")];
    eventually(|| inside("permits") == begun(&acquire, &hold).into_iter().chain(ends.clone()).collect::<Vec<_>>());
}

#[test]
fn the_loss_of_one_of_several_locks_is_told_in_the_span_of_them_all() {
    keep();
    let (server, a, b) = pair();
    let locks = || [a.lock("traced one"), b.lock("traced other")];
    let guard = order("several").in_scope(|| a.multi_lock(locks()).blocking().acquire().expect("free"));
    eventually(|| server.view().tells());
    server.view().command::<()>(&["DEL", "traced other"]);
    eventually(|| guard.ensure().is_err());
    let hold =
        |line: &String| line.starts_with("lost in redlatch.hold{lock=traced one") && line.ends_with("kind=group}");
    eventually(|| inside("several").iter().any(hold));
    eventually(|| {
        inside("several").last().is_some_and(|line| line.starts_with("redlatch.hold") && line.ends_with("ends"))
    });
    // The other lock goes back in the background.
    drop(guard);
}

#[test]
fn the_span_of_a_waiter_ends_with_its_wait_however_long_others_wait() {
    keep();
    let (server, a, b) = pair();
    let held = b.lock("one line").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let wait = |caller: &'static str, wait| {
            let client = a.clone();
            scope.spawn(move || {
                order(caller).in_scope(|| client.lock("one line").wait(wait).blocking().acquire().map(drop))
            })
        };
        let first = wait("first in line", ms(1000));
        eventually(|| server.view().channels("*").len() == 1);
        let second = wait("second in line", secs(60));
        first.join().expect("no panic").expect_err("it is held");
        eventually(|| inside("first in line").iter().any(|line| line.ends_with(" ends")));
        held.release().expect("held");
        second.join().expect("no panic").expect("it is free");
    });
}
