//! Holders that die, stop, or go away.

use std::collections::BTreeMap;
use std::thread;

use super::*;

#[test]
fn a_killed_holder_keeps_its_lock_for_its_lease_and_no_longer() {
    let server = Server::start();
    let mut holder = worker(format!("{}?watchdog=2", server.url()));
    assert_eq!(holder.ask("acquire n"), "ok");
    let client = connect(&server.url());
    let waiting =
        thread::spawn(move || client.lock("n").wait(LONG).blocking().acquire().map(|guard| (guard, Instant::now())));
    let mut view = server.view();
    eventually("a listener", || (view.listeners(&channel("n")) == 1).then_some(()));
    drop(holder);
    let asked = Instant::now();
    let left = Duration::from_millis(u64::try_from(view.pttl("n")).expect("it lives as long as its lease"));
    let (guard, taken) = waiting.join().expect("no panic").expect("it gets it");
    assert!(taken >= asked + left - ms(1), "taken {:?} before the lease ended", asked + left - taken);
    assert!(taken < asked + left + secs(5), "taken {:?} after the lease ended", taken - asked - left);
    guard.release().expect("held");
    nothing_is_left(&mut view, "n");
}

/// Between two stops the holder runs until its next renewal. With only a moment each second it would in effect be
/// stopped for longer than that.
#[test]
fn a_holder_stopped_for_less_than_a_third_of_its_lease_keeps_its_lock() {
    let server = Server::start();
    let mut holder = worker(format!("{}?watchdog=6", server.url()));
    assert_eq!(holder.ask("acquire n"), "ok");
    let client = connect(&server.url());
    let mut view = server.view();
    let began = Instant::now();
    // These moments are right after a renewal and right before the next.
    for left in [6_000, 4_300, 6_000, 4_300] {
        eventually("that much is left of its lease", || (view.pttl("n") <= left).then_some(()));
        holder.signal("STOP");
        thread::sleep(ms(1_800));
        holder.signal("CONT");
        assert_eq!(holder.ask("ensure"), "ok", "after {:?}", began.elapsed());
        assert!(client.lock("n").blocking().try_acquire().expect("answered").is_none());
        eventually("a renewal", || (view.pttl("n") > 5_000).then_some(()));
    }
    assert_eq!(holder.ask("release"), "ok");
}

#[test]
fn closing_gives_a_thousand_holds_back() {
    let server = Server::start();
    let client = connect(&server.url());
    let guards: Vec<_> = (0..1000).map(|n| client.lock(&format!("n{n}")).blocking().acquire().expect("free")).collect();
    assert_eq!(server.view().keys("*").len(), 1000);
    client.close_blocking(Holds::Release);
    assert_eq!(server.view().keys("*").len(), 0);
    drop(guards);
}

#[test]
fn nothing_is_renewed_after_its_release() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("{}?watchdog=0.5", server.url_at(proxy.port())));
    let kept = client.lock("kept").blocking().acquire().expect("free");
    for n in 0..20 {
        let guard = client.lock(&format!("n{n}")).blocking().acquire().expect("free");
        match n % 3 {
            0 => guard.release().expect("held"),
            1 => drop(guard),
            _ => {
                proxy.lose_reply_to("EVALSHA");
                guard.release().expect("held");
            }
        }
    }
    let mut view = server.view();
    eventually("the end of all others", || (view.keys("*") == ["kept"]).then_some(()));
    view.forget_calls();
    let count = |calls: &BTreeMap<String, u64>, name: &str| calls.get(name).copied().unwrap_or_default();
    let seen = eventually("five renewals", || Some(view.calls()).filter(|calls| count(calls, "pexpire") >= 5));
    // A renewal reads its key twice, and nothing else. The first renewal may bring its script along.
    let scripts = count(&seen, "evalsha") + count(&seen, "eval");
    let reads = count(&seen, "hexists");
    assert!(reads <= 2 * scripts, "{reads} reads in {scripts} calls for one hold");
    kept.release().expect("held");
}
