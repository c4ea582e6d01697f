//! How often renewed holds are renewed, by the server's clock.

use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Border, Look, Op, Request};
use redlatch_tests::{Server, all_at_once, kinds, ms};

use super::eventually;

/// Long, since a process that stands still for so long has lost its holds.
const WATCHDOG: Duration = ms(6_000);

fn is_renewed_at_a_third(kind: &'static Traits) {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=6", server.url())).expect("a good URL");
    kinds::set_up(&client, kind.name, "n", 1);
    let name = kinds::name(kind.name, "n");
    let mut monitor = server.monitor();
    assert!(client.run_blocking(Request::new(Op::Acquire, kind.name, name, 1)).expect("answered").done);
    // The times when a call gave the key its whole lease: first the acquire, then each renewal. A script that the
    // server does not know is called twice, the second time with its text.
    let lease = WATCHDOG.as_millis().to_string().into_bytes();
    let mut next_lease = || loop {
        let seen = monitor.next_seen();
        if !seen.by_script && seen.words.contains(&lease) && seen.name() != "eval" {
            return seen.at;
        }
    };
    let mut last = next_lease();
    let mut is_first = true;
    // Renewals are planned in steps of a twelfth of the watchdog, many holds together. The first renewal may come
    // earlier, so that a crowd of new holds is spread out. A busy machine delays some renewals, but not every one.
    eventually(|| {
        let at = next_lease();
        let gap = at.saturating_sub(last);
        last = at;
        let is_early = std::mem::take(&mut is_first);
        assert!(is_early || gap >= WATCHDOG / 4 - ms(20), "{}: renewed {gap:?} after the last time", kind.name);
        !is_early && gap <= WATCHDOG / 3 + ms(400)
    });
    let hold = client.latest(kind.name, &kinds::name(kind.name, "n"), 1).expect("it has one");
    assert!(matches!(client.look(hold), Look::Held { .. }));
}

#[test]
fn a_hold_of_any_kind_without_a_lease_is_renewed_after_each_third_of_the_watchdog() {
    let renewed = ALL.iter().filter(|KindRow { traits: kind, .. }| kind.renewed);
    all_at_once(
        renewed.map(|KindRow { traits: kind, .. }| (kind.name.to_owned(), move || is_renewed_at_a_third(kind))),
    );
}

/// Changes every key that has an end and leaves it as it is: its end comes no sooner.
const TOUCH: &str = "for _, key in ipairs(redis.call('KEYS', '*')) do \
    local left = redis.call('PTTL', key) \
    if left > 0 then redis.call('PEXPIRE', key, left + 1) end \
    end";

fn is_renewed_while_its_key_changes(kind: &'static Traits) {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=3", server.url())).expect("a good URL");
    kinds::set_up(&client, kind.name, "n", 1);
    let answer =
        client.run_blocking(Request::new(Op::Acquire, kind.name, kinds::name(kind.name, "n"), 1)).expect("answered");
    let mut view = server.view();
    eventually(|| view.tells());
    // The server tells the holder of each change, and the holder looks at the key each time.
    let begun = Instant::now();
    while begun.elapsed() < ms(4_500) {
        view.command::<()>(&["EVAL", TOUCH, "0"]);
        let look = client.look(answer.number as u64);
        assert!(matches!(look, Look::Held { .. }), "{}, after {:?}: {look:?}", kind.name, begun.elapsed());
        std::thread::sleep(ms(2));
    }
}

#[test]
fn a_hold_of_any_kind_of_which_the_key_changes_all_the_time_is_renewed() {
    let renewed = ALL.iter().filter(|row| row.traits.renewed);
    all_at_once(
        renewed
            .map(|KindRow { traits: kind, .. }| (kind.name.to_owned(), move || is_renewed_while_its_key_changes(kind))),
    );
}
