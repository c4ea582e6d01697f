//! Each check finds its planted violation, and nothing in the same story without it.

use super::*;
use crate::history::Entry;

pub const LIMITS: Limits = Limits { grace: 10, call: 50, queue: 10, idle: 100, settle: 200, lease: 300, told: 25 };

/// Histories of processes 0, 1, …, each with its lines set apart by `;`.
pub fn story(histories: &[&str]) -> Vec<Vec<Entry>> {
    let line = |line: &str| line.trim().parse().unwrap_or_else(|e| panic!("`{line}`: {e}"));
    histories.iter().map(|text| text.split(';').filter(|text| !text.trim().is_empty()).map(line).collect()).collect()
}

pub fn fault(from: u64, until: u64, kind: Kind) -> Fault {
    Fault { from, until, kind }
}

pub fn overlaps(histories: &[&str], faults: &[Fault]) -> Exclusion {
    exclusion(&assemble(&story(histories), faults), faults, &LIMITS)
}

const FIRST: &str = "10 1 1 a 7 1 - - 1; 20 1 1 h 19 1000; 50 1 1 r 0; 60 1 1 e ok";

#[test]
fn two_owners_at_once_are_found() {
    let apart = overlaps(&[FIRST, "15 1 1 a 7 1 - - 1; 50 1 1 h 49 1000; 80 1 1 r 1; 90 1 1 e ok"], &[]);
    assert_eq!((apart.holds, apart.violations.count), (2, 0), "{apart:?}");
    let both = overlaps(&[FIRST, "15 1 1 a 7 1 - - 1; 49 1 1 h 48 1000; 80 1 1 r 1; 90 1 1 e ok"], &[]);
    assert_eq!(both.violations.count, 1);
    assert!(both.violations.words[0].contains("key 7"), "{both:?}");
    let other_key = overlaps(&[FIRST, "15 1 1 a 8 1 - - 1; 49 1 1 h 48 1000; 80 1 1 r 1"], &[]);
    assert_eq!(other_key.violations.count, 0);
}

#[test]
fn an_owner_may_hold_it_twice_and_another_lane_may_not() {
    let nested = "10 1 1 a 7 1 - - 1; 20 1 1 h 19 1000; 25 1 2 a 7 1 - - 1; 30 1 2 h 29 1000; 40 1 2 r -; 41 1 2 e ok; 50 1 1 r -; 60 1 1 e ok";
    assert_eq!(overlaps(&[nested], &[]).violations.count, 0);
    assert_eq!(overlaps(&[&nested.replace("25 1 2 a 7 1", "25 1 2 a 7 2")], &[]).violations.count, 1);
}

#[test]
fn a_hold_is_believed_until_its_deadline_or_its_loss_or_the_end_of_its_process() {
    let next = "15 1 1 a 7 1 - - 1; 100 1 1 h 99 1000; 120 1 1 r -; 121 1 1 e ok";
    let ended_by =
        |line: &str| overlaps(&[&format!("10 1 1 a 7 1 - - 1; 20 1 1 h 19 90; {line}"), next], &[]).violations.count;
    assert_eq!(ended_by("200 1 1 l 200 expired -"), 0, "by its deadline");
    assert_eq!(ended_by("80 1 1 u 180; 200 1 1 l 200 expired -"), 1, "the deadline had moved");
    assert_eq!(ended_by("80 1 1 u 180; 95 1 1 l 90 deleted -"), 0, "told before");
    assert_eq!(ended_by("80 1 1 u 180; 95 1 2 a 8 2 - - 1"), 0, "its process said nothing after 95");
    assert_eq!(ended_by("150 1 1 r -"), 1, "sure beyond its deadline, so it was renewed");
}

#[test]
fn an_operators_delete_is_counted_and_hides_nothing_else() {
    let histories = [FIRST, "15 1 1 a 7 1 - - 1; 40 1 1 h 39 1000; 80 1 1 r 1; 90 1 1 e ok"];
    let counted = overlaps(&histories, &[fault(30, 31, Kind::Delete { key: 7 })]);
    assert_eq!((counted.violations.count, counted.behind_the_back, counted.believed), (0, 1, vec![20]));
    for other in [
        fault(30, 31, Kind::Delete { key: 8 }),
        fault(5, 6, Kind::Flush),
        fault(12, 13, Kind::Flush),
        fault(41, 42, Kind::Flush),
        fault(30, 31, Kind::Network),
    ] {
        assert_eq!(overlaps(&histories, std::slice::from_ref(&other)).violations.count, 1, "{other:?}");
    }
}

#[test]
fn a_delete_explains_a_hold_whose_answer_comes_after_that_of_the_next_holder() {
    let histories = [
        "30 1 1 a 7 1 - - 1; 40 1 1 h 38 1000; 50 1 1 r -; 60 1 1 e ok",
        "10 1 1 a 7 1 - - 1; 42 1 1 h 20 1000; 45 1 1 l 44 deleted -",
    ];
    let overlapping = |from| overlaps(&histories, &[fault(from, from + 1, Kind::Flush)]);
    assert_eq!((overlapping(25).violations.count, overlapping(25).behind_the_back), (0, 1));
    assert_eq!(overlapping(15).violations.count, 1, "it came before both");
}

#[test]
fn a_hold_returned_after_its_deadline_is_counted() {
    assert_eq!(overlaps(&["10 1 1 a 7 1 - 5 1; 20 1 1 h 19 15; 21 1 1 l 15 expired -"], &[]).stale, 1);
}

#[test]
fn a_lost_update_is_found() {
    let counted =
        |second: &str, faults: &[Fault], last| counter(&assemble(&story(&[FIRST, second]), faults), faults, |_| last);
    let good = "15 1 1 a 7 1 - - 1; 70 1 1 h 69 1000; 80 1 1 r 1; 90 1 1 e ok";
    let fine = counted(good, &[], 2);
    assert_eq!((fine.violations.count, fine.whole, fine.shows, fine.explained), (0, 2, 2, 0));
    assert_eq!(counted(&good.replace("r 1", "r 0"), &[], 1).violations.count, 1, "it did not see the first one's");
    assert_eq!(counted(good, &[], 1).violations.count, 1, "no section wrote the last number");
    let deleted = |read: &str, last| {
        counted(&good.replace("15 1 1", "47 1 1").replace("r 1", read), &[fault(45, 46, Kind::Delete { key: 7 })], last)
    };
    assert_eq!(
        (deleted("r 0", 1).violations.count, deleted("r 0", 1).broken),
        (0, 1),
        "the first one may write or not"
    );
    assert_eq!((deleted("r 1", 2).violations.count, deleted("r 1", 2).explained), (0, 1));
}

#[test]
fn a_broken_section_explains_a_step_only_while_it_could_write() {
    let third = "15 1 1 a 7 1 - - 1; 170 1 1 h 169 1000; 180 1 1 r 2; 190 1 1 e ok";
    let explained = |broken: &str| {
        let counted = counter(&assemble(&story(&[FIRST, broken, third]), &[]), &[], |_| 3);
        (counted.violations.count, counted.explained)
    };
    assert_eq!(explained("15 1 1 a 7 1 - - 1; 100 1 1 h 99 150; 160 1 1 l 150 expired 1"), (0, 1));
    assert_eq!(
        explained("15 1 1 a 7 1 - - 1; 100 1 1 h 99 150; 160 1 1 l 150 expired -"),
        (1, 0),
        "it says that it wrote nothing"
    );
    assert_eq!(explained("5 1 1 a 7 1 - - 1; 6 1 1 h 5 9; 15 1 1 l 9 expired 0"), (1, 0), "long before");
}

#[test]
fn a_late_answer_is_found_and_a_stop_is_not_held_against_it() {
    let count = |text: &str, faults: &[Fault]| waits(&assemble(&story(&[text]), faults), faults, &LIMITS);
    // Times here are ns, waits are ms.
    assert_eq!(count("10 1 1 a 7 1 1 - 1; 1000020 1 1 n", &[]).violations.count, 0);
    let late = count("10 1 1 a 7 1 1 - 1; 1000021 1 1 n", &[]);
    assert_eq!((late.violations.count, late.latest, late.not_now), (1, 11, 1));
    let stop = fault(500, 600, Kind::Stop { process: 0 });
    assert_eq!(count("10 1 1 a 7 1 1 - 1; 1000100 1 1 n", &[stop]).violations.count, 0);
    assert_eq!(count("10 1 1 a 7 1 0 - 1; 100 1 1 n", &[]).violations.count, 1, "a try that does not wait");
    assert_eq!(count("10 1 1 a 7 1 - - 1; 9000000 1 1 d", &[]).violations.count, 0, "its future was dropped");
}

#[test]
fn an_error_without_a_cause_is_found() {
    let failed = |faults: &[Fault]| {
        let attempts = assemble(&story(&["1000 1 1 a 7 1 - - 1; 2000 1 1 f unavailable"]), faults);
        waits(&attempts, faults, &LIMITS).violations.count
    };
    assert_eq!(failed(&[]), 1);
    assert_eq!(failed(&[fault(1500, 1600, Kind::KillSubscribers)]), 1);
    assert_eq!((failed(&[fault(1500, 1600, Kind::Network)]), failed(&[fault(700, 800, Kind::Server)])), (0, 0));
    assert_eq!(
        (failed(&[fault(2100, 2200, Kind::Network)]), failed(&[fault(700, 750, Kind::Server)])),
        (1, 1),
        "too late, too early"
    );
}

#[test]
fn a_call_that_never_returns_is_found_unless_its_process_was_killed() {
    let waiting = ["10 1 1 a 7 1 - - 1", "10 1 1 a 7 1 - - 1; 20 1 1 h 19 90; 50 1 1 r -"];
    for text in waiting {
        let attempts = |faults: &[Fault]| assemble(&story(&[text]), faults);
        assert_eq!(waits(&attempts(&[]), &[], &LIMITS).violations.count, 1, "{text}");
        let kill = [fault(60, 61, Kind::Kill { process: 0 })];
        assert_eq!(waits(&attempts(&kill), &kill, &LIMITS).violations.count, 0, "{text}");
    }
}

#[test]
fn a_lock_that_stays_free_while_a_waiter_waits_is_found() {
    let waiter = |at: u64| format!("15 1 1 a 7 1 - - 1; {at} 1 1 h {at} 9000; {} 1 1 r 1; {} 1 1 e ok", at + 5, at + 6);
    let found = |at, faults: &[Fault]| handover(&assemble(&story(&[FIRST, &waiter(at)]), faults), faults, &LIMITS);
    let quick = found(70, &[]);
    assert_eq!((quick.violations.count, quick.took), (0, vec![10]));
    assert_eq!(found(161, &[]).violations.count, 1);
    let killed = found(161, &[fault(40, 41, Kind::KillSubscribers)]);
    assert_eq!((killed.violations.count, killed.took_killed), (1, vec![101]), "a killed subscriber is no excuse");
    assert_eq!(found(161, &[fault(40, 41, Kind::Network)]).violations.count, 0);
    assert_eq!(found(1000, &[fault(0, 1, Kind::Network)]).violations.count, 0);
    assert_eq!(found(1000, &[fault(200, 201, Kind::Network)]).violations.count, 1, "it was late before");
    let no_waiter = "155 1 1 a 7 1 - - 1; 161 1 1 h 160 9000; 170 1 1 r 1; 171 1 1 e ok";
    assert_eq!(
        handover(&assemble(&story(&[FIRST, no_waiter]), &[]), &[], &LIMITS).violations.count,
        0,
        "no acquire waited"
    );
}

#[test]
fn an_inner_release_frees_nothing() {
    let nested = "10 1 1 a 7 1 - - 1; 20 1 1 h 19 1000; 25 1 2 a 7 1 - - 1; 30 1 2 h 29 1000; 40 1 2 r -; 41 1 2 e ok; 500 1 1 r -; 501 1 1 e ok";
    let next = "15 1 1 a 7 1 - - 1; 510 1 1 h 509 9000; 520 1 1 r 1; 521 1 1 e ok";
    let found = handover(&assemble(&story(&[nested, next]), &[]), &[], &LIMITS);
    assert_eq!((found.violations.count, found.took), (0, vec![9]));
}

#[test]
fn a_writer_that_goes_on_reading_lets_readers_in_and_no_writer() {
    let downgraded = "10 1 1 a 30 1 - - 1; 20 1 1 h 19 9000; 30 1 2 a 30 1 - - 0; 31 1 2 h 30 9000; 50 1 1 r 0; 60 1 1 e ok; \
                      500 1 2 r -; 501 1 2 e ok";
    let waiter = |takes: u64| format!("15 1 1 a 30 1 - - {takes}; 505 1 1 h 504 9000; 520 1 1 r -; 521 1 1 e ok");
    let found = |takes| handover(&assemble(&story(&[downgraded, &waiter(takes)]), &[]), &[], &LIMITS).violations;
    assert_eq!(found(1).count, 0, "{:?}", found(1));
    assert_eq!(found(0).count, 1, "a reader was not let in");
}

#[test]
fn a_count_that_the_server_does_not_have_is_found() {
    let asked = |count: u64, faults: &[Fault]| {
        let text = format!("10 1 1 a 7 1 - - 1; 20 1 1 h 19 90; 30 1 1 c {count} 1; 50 1 1 r -; 60 1 1 e ok");
        counts(&assemble(&story(&[&text]), faults), faults)
    };
    assert_eq!((asked(1, &[]).violations.count, asked(1, &[]).asked), (0, 1));
    assert_eq!((asked(2, &[]).violations.count, asked(0, &[]).violations.count), (1, 1));
    let flushed = asked(0, &[fault(25, 26, Kind::Flush)]);
    assert_eq!((flushed.violations.count, flushed.behind_the_back), (0, 1));
    assert_eq!(asked(0, &[fault(31, 32, Kind::Flush)]).violations.count, 1, "it came later");
}

#[test]
fn a_loss_without_a_cause_is_found() {
    let lost = |lease: &str, faults: &[Fault]| {
        let text = format!("1000 1 1 a 7 1 - {lease} 1; 1010 1 1 h 1009 5000; 2000 1 1 l 1990 deleted -");
        losses(&assemble(&story(&[&text]), faults), faults, &LIMITS)
    };
    let found = lost("-", &[]);
    assert_eq!((found.violations.count, found.reasons.get("deleted")), (1, Some(&1)));
    assert_eq!(lost("500", &[]).violations.count, 0, "a lease of its own ends");
    for cause in [Kind::Delete { key: 7 }, Kind::Flush, Kind::Network, Kind::Stop { process: 0 }] {
        assert_eq!(lost("-", &[fault(1500, 1600, cause)]).violations.count, 0, "{cause:?}");
    }
    for other in [Kind::Delete { key: 8 }, Kind::KillSubscribers, Kind::Stop { process: 1 }, Kind::Kill { process: 1 }]
    {
        assert_eq!(lost("-", &[fault(1500, 1600, other)]).violations.count, 1, "{other:?}");
    }
}

#[test]
fn a_token_that_does_not_rise_is_found() {
    let drawn = |token: i64, faults: &[Fault]| {
        let first = "10 1 1 a 7 1 - - 1; 20 1 1 h 19 1000; 20 1 1 t 5; 50 1 1 r -; 60 1 1 e ok";
        let second = format!("15 1 1 a 7 1 - - 1; 70 1 1 h 65 1000; 70 1 1 t {token}; 80 1 1 r -; 90 1 1 e ok");
        tokens(&assemble(&story(&[first, &second]), faults), faults)
    };
    assert_eq!((drawn(6, &[]).violations.count, drawn(6, &[]).drawn), (0, 2));
    assert_eq!((drawn(5, &[]).violations.count, drawn(4, &[]).violations.count), (1, 1));
    let flushed = drawn(1, &[fault(62, 63, Kind::Flush)]);
    assert_eq!((flushed.violations.count, flushed.behind_the_back), (0, 1));
    assert_eq!(drawn(1, &[fault(71, 72, Kind::Flush)]).violations.count, 1, "it came later");
    assert_eq!(drawn(1, &[fault(62, 63, Kind::Network)]).violations.count, 1);
}

#[test]
fn a_release_that_fails_without_a_cause_is_found() {
    let ended = |lease: &str, code: &str, faults: &[Fault]| {
        let text = format!("1000 1 1 a 7 1 - {lease} 1; 1010 1 1 h 1009 5000; 2000 1 1 r -; 2010 1 1 e {code}");
        releases(&assemble(&story(&[&text]), faults), faults, &LIMITS)
    };
    for code in ["lost", "unavailable", "not_held", "refused", "closed"] {
        let found = ended("-", code, &[]);
        assert_eq!((found.violations.count, found.codes.get(code)), (1, Some(&1)), "{code}");
    }
    assert_eq!((ended("-", "ok", &[]).violations.count, ended("-", "dropped", &[]).violations.count), (0, 0));
    assert_eq!(ended("500", "lost", &[]).violations.count, 0, "a lease of its own ends");
    let network = fault(1500, 1600, Kind::Network);
    assert_eq!(
        ended("-", "unavailable", std::slice::from_ref(&network)).violations.count,
        1,
        "it was over long before"
    );
    assert_eq!(ended("-", "unavailable", &[fault(1900, 1950, Kind::Network)]).violations.count, 0);
    assert_eq!(ended("-", "lost", std::slice::from_ref(&network)).violations.count, 0);
    assert_eq!(ended("-", "lost", &[fault(1500, 1600, Kind::Delete { key: 8 })]).violations.count, 1);
    assert_eq!(ended("-", "not_held", &[network]).violations.count, 1, "nothing explains that");
}

#[test]
fn a_holder_that_believes_long_after_a_delete_is_found() {
    let untold = |until: u64, faults: &[Fault]| {
        let delete = fault(1000, 1001, Kind::Delete { key: 7 });
        let text = format!("500 1 1 a 7 1 - - 1; 510 1 1 h 509 9000; {until} 1 1 r -; {} 1 1 e lost", until + 5);
        overlaps(&[&text], &[&[delete], faults].concat()).untold.count
    };
    assert_eq!((untold(1025, &[]), untold(1026, &[])), (0, 1));
    assert_eq!(untold(1200, &[fault(1010, 1020, Kind::Network)]), 0, "the server could not say so");
    assert_eq!(untold(1200, &[fault(1010, 1020, Kind::Stop { process: 1 })]), 1, "another process");
    assert_eq!(untold(1200, &[fault(1100, 1120, Kind::Network)]), 1, "it came later");
}

#[test]
fn a_broken_section_explains_one_step_and_no_more() {
    let broken = "10 1 1 a 7 1 - - 1; 20 1 1 h 19 1000; 400 1 1 l 390 deleted 9";
    let next = |number: u64, at: u64, read: u64| {
        format!(
            "{at} 2 {number} a 7 {number} - - 1; {} 2 {number} h {} 9000; {} 2 {number} r {read}; {} 2 {number} e ok",
            at + 10,
            at + 9,
            at + 20,
            at + 30
        )
    };
    let steps = |reads: [u64; 2]| {
        let whole = format!("{}; {}", next(1, 100, reads[0]), next(2, 200, reads[1]));
        let last = reads[1] + 1;
        counter(&assemble(&story(&[broken, &whole]), &[]), &[], |_| last).violations.count
    };
    assert_eq!((steps([0, 1]), steps([5, 6]), steps([0, 5])), (0, 0, 0));
    assert_eq!(steps([5, 9]), 1, "it wrote once");
}
