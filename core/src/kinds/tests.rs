//! Of every row of the table.

use super::*;

fn cx() -> Cx<'static> {
    let (name, owner, holder, next, request) = ("n\0v", "u:1", "u:2", ("", 0), String::new());
    let (waits, forever, want, known, leave, lease_ms, share_ms, keep_ms) = (true, true, 1, 0, 0, 1, 1, 1);
    Cx { name, owner, lease_ms, share_ms, waits, forever, want, known, leave, next, holder, numbers: &[], request, keep_ms }
}

#[test]
fn every_call_names_its_inputs_as_its_script_does() {
    for (traits, kind) in ALL {
        for op in (1..=99).filter_map(|number| Op::from_number(number).ok()) {
            let call = kind.call(op, &cx());
            let held = traits.held && (op == Op::Release || op == Op::ForceRelease && traits.name != "permit");
            let wanted = held || [Op::Acquire, Op::Inspect].contains(&op);
            assert!(call.is_some() || !wanted, "{} cannot {op:?}", traits.name);
            call.into_iter().for_each(|call| call.assert_names_agree());
        }
        kind.undo(&cx()).into_iter().for_each(|call| call.assert_names_agree());
        if let Some(call) = kind.leave(&cx()) {
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
