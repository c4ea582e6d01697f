//! Tests of every row of the table.

use std::time::Duration;

use super::*;
use crate::base::clock::Instant;
use crate::engine::pace::{Next, Pace};
use crate::engine::traits::counted_as;

fn inputs() -> Inputs<'static> {
    Inputs {
        name: "n\0v",
        owner: "u:1",
        lease_ms: 1,
        share_ms: 1,
        waits: true,
        forever: true,
        want: 1,
        spare: 0,
        leave: 0,
        next_owner: "",
        next_lease_ms: 0,
        holder: "u:2",
        numbers: &[],
        texts: &[],
        request: String::new(),
        keep_ms: 1,
    }
}

#[test]
fn every_call_names_its_inputs_as_its_script_does() {
    for KindRow { traits, kind } in rows() {
        for op in (1..=99).filter_map(|number| Op::from_number(number).ok()) {
            let call = kind.call(op, &inputs());
            let held = traits.held && (op == Op::Release || op == Op::ForceRelease && traits.name != "permit");
            let wanted = held || op == Op::Acquire || op == Op::Inspect && traits.name != LEADER_WATCH;
            assert!(call.is_some() || !wanted, "{} cannot {op:?}", traits.name);
            call.into_iter().for_each(|call| call.assert_names_agree());
        }
        kind.undo(&inputs()).into_iter().for_each(|call| call.assert_names_agree());
        if let Some(call) = kind.leave(&inputs()) {
            call.assert_names_agree();
        }
        let mut renewal = kind.renew("u", 1, false);
        assert_eq!(renewal.is_some(), traits.renewed);
        if let Some(call) = &mut renewal {
            for (name, owner) in [("a\0v", 1), ("b\0v", 2)] {
                kind.renew_also(call, "u", name, owner);
            }
            call.assert_names_agree();
        }
    }
}

#[test]
fn companions_stay_in_the_slot_of_the_name() {
    assert_eq!(prefixed("p", "n"), "p:{n}");
    assert_eq!(prefixed("p", "a{b}c"), "p:a{b}c");
}

#[test]
fn waiters_of_spin_and_token_locks_ask_as_often_as_is_promised() {
    for (kind, promised) in [("spin", &[1, 2, 4, 8, 16, 32, 64, 128][..]), ("token", &[8, 16, 32, 64, 128, 250])] {
        let now = Instant::now();
        let wake = find(kind).expect("it is a kind").kind.wake("n", "u:1");
        let mut pace = Pace::new(false, now);
        pace.set_delays(wake.delays.iter().copied().map(Duration::from_millis).collect(), wake.channel.is_some());
        let slowest = promised.last().expect("there are some");
        for most in promised.iter().chain([slowest; 20]).copied().map(Duration::from_millis) {
            pace.listening();
            pace.busy(None, true, now);
            let Next::Sleep(until) = pace.next(now) else { panic!("{kind}: it does not sleep") };
            let delay = until - now;
            assert!(delay <= most && delay >= most * 3 / 4, "{kind}: {delay:?} in place of {most:?}");
        }
    }
}

#[test]
fn kinds_of_locks_that_are_one_hash_with_a_count_are_counted_together() {
    for KindRow { traits, .. } in rows() {
        let is_one = traits.form == PLAIN.form && traits.held;
        assert_eq!(counted_as(traits.name), if is_one { PLAIN.name } else { traits.name });
    }
}
