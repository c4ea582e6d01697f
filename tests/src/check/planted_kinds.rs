//! As [`super::planted`], for the kinds beside the ordinary lock.

use super::planted::{LIMITS, fault, overlaps, story};
use super::*;

#[test]
fn readers_share_and_a_writer_does_not() {
    let reader = "10 1 1 a 30 1 - - 0; 20 1 1 h 19 1000; 50 1 1 r -; 60 1 1 e ok";
    let other = |takes: &str| format!("15 1 1 a 30 2 - - {takes}; 30 1 1 h 29 1000; 80 1 1 r -; 90 1 1 e ok");
    assert_eq!(overlaps(&[reader, &other("0")], &[]).violations.count, 0);
    assert_eq!(overlaps(&[reader, &other("1")], &[]).violations.count, 1);
}

#[test]
fn the_holder_of_several_locks_has_each_of_them() {
    let several = "10 1 1 a 50 1 - - 1; 20 1 1 h 19 1000; 50 1 1 r -; 60 1 1 e ok";
    let one = |key: u32| format!("15 1 1 a {key} 2 - - 1; 30 1 1 h 29 1000; 80 1 1 r -; 90 1 1 e ok");
    assert_eq!(overlaps(&[several, &one(53)], &[]).violations.count, 1);
    assert_eq!(overlaps(&[several, &one(54)], &[]).violations.count, 0);
    assert_eq!(overlaps(&[several, &one(51)], &[]).violations.count, 1, "53 belongs to both");
    assert_eq!(overlaps(&[several, &one(53)], &[fault(25, 26, Kind::Delete { key: 53 })]).behind_the_back, 1);
}

#[test]
fn a_fault_of_one_server_excuses_nothing_on_the_others() {
    let two = |key: u32| {
        [7, 8].map(|owner| format!("10 1 1 a {key} {owner} - - 1; 20 1 1 h 19 1000; 50 1 1 r -; 60 1 1 e ok"))
    };
    let count = |key: u32, kind: Kind| {
        let [one, other] = two(key);
        overlaps(&[&one, &other], &[fault(19, 19, kind)]).violations.count
    };
    assert_eq!(count(60, Kind::Flush), 1);
    assert_eq!(count(60, Kind::Minority), 1, "a minority explains no second holder");
    assert_eq!(count(0, Kind::Flush), 0);
}

#[test]
fn a_much_later_owner_that_has_a_fair_lock_first_is_found() {
    let count = |first: &str, faults: &[Fault]| {
        let later = "100 1 1 a 20 2 - - 1; 200 1 1 h 199 1000; 210 1 1 r -; 220 1 1 e ok";
        let found = order(&assemble(&story(&[first, later]), faults), faults, &LIMITS);
        assert!(found.holds > 0);
        found.violations.count
    };
    let overtaken = "10 1 1 a 20 1 - - 1; 300 1 1 h 299 1000; 310 1 1 r -; 320 1 1 e ok";
    assert_eq!(count(overtaken, &[]), 1);
    assert_eq!(count(&overtaken.replace("10 1 1 a", "95 1 1 a"), &[]), 0, "nearly at the same time");
    assert_eq!(count(&overtaken.replace("a 20", "a 21"), &[]), 0, "another lock");
    assert_eq!(count("10 1 1 a 20 1 - - 1; 205 1 1 d", &[]), 0, "it has just gone");
    assert_eq!(count(overtaken, &[fault(50, 60, Kind::Stop { process: 0 })]), 0);
    assert_eq!(count(overtaken, &[fault(50, 60, Kind::Kill { process: 7 })]), 1);
}

fn count_permits(histories: &[&str], faults: &[Fault], available: i64) -> Permits {
    let counts = [Census { at: 1000, key: 41, available }];
    permits(&assemble(&story(histories), faults), faults, &counts, &LIMITS)
}

const TWO: &str = "10 1 1 a 41 1 - - 2; 20 1 1 h 19 99999; 50 1 1 r -; 60 1 1 e ok";

#[test]
fn more_permits_than_there_are_are_found() {
    let other = "15 1 1 a 41 2 - - 2; 30 1 1 h 29 99999; 80 1 1 r -; 90 1 1 e ok";
    let both = count_permits(&[TWO, other], &[], 3);
    assert_eq!((both.violations.count, both.taken), (1, 4));
    assert_eq!(count_permits(&[TWO, &other.replace("- - 2", "- - 1")], &[], 3).violations.count, 0);
    assert_eq!(count_permits(&[TWO, &other.replace("30 1 1 h", "50 1 1 h")], &[], 3).violations.count, 0);
    let flush = fault(25, 26, Kind::Flush);
    assert_eq!(count_permits(&[TWO, other], &[flush], 3).behind_the_back, 1);
}

#[test]
fn permits_that_are_missing_or_too_many_at_rest_are_found() {
    for (available, violations) in [(3, 0), (2, 1), (4, 1)] {
        assert_eq!(count_permits(&[TWO], &[], available).violations.count, violations, "{available}");
    }
    for open in [
        "10 1 1 a 41 1 10 - 2; 60 1 1 n",
        "10 1 1 a 41 1 10 - 2; 60 1 1 f unavailable",
        "10 1 1 a 41 1 10 - 2; 60 1 1 d",
    ] {
        assert_eq!(count_permits(&[open], &[], 3).violations.count, 0, "{open}");
        assert_eq!(count_permits(&[open], &[], 1).violations.count, 1, "{open}");
    }
}

#[test]
fn a_failed_release_may_give_permits_back_after_the_next_count() {
    for (code, violations) in [("CLUSTERDOWN", [0, 0]), ("ok", [0, 1])] {
        let history = TWO.replace("e ok", &format!("e {code}"));
        let counts = [(100, 3), (1000, 5)].map(|(at, available)| Census { at, key: 41, available });
        let judged =
            |counts: &[Census]| permits(&assemble(&story(&[&history]), &[]), &[], counts, &LIMITS).violations.count;
        assert_eq!([judged(&counts[..1]), judged(&counts)], violations, "{code}");
    }
}

#[test]
fn the_permits_of_a_killed_process_are_gone_and_its_last_call_is_open() {
    let kill = [fault(40, 41, Kind::Kill { process: 0 })];
    let count = |history: &str, available| count_permits(&[history], &kill, available).violations.count;
    let held = "10 1 1 a 41 1 - - 2; 20 1 1 h 19 99999";
    assert_eq!((count(held, 1), count(held, 3), count(held, 0)), (0, 1, 1));
    for open in ["10 1 1 a 41 1 - - 2", "10 1 1 a 41 1 - - 2; 20 1 1 h 19 99999; 30 1 1 r -"] {
        assert_eq!((count(open, 1), count(open, 3), count(open, 0)), (0, 0, 1), "{open}");
    }
    let of_the_dead = "10 1 1 a 41 1 - - 2; 20 1 1 h 19 99999";
    let next = "50 1 1 a 41 2 - - 2; 60 1 1 h 59 99999; 80 1 1 r -; 90 1 1 e ok";
    assert_eq!(count_permits(&[of_the_dead, next], &kill, 1).violations.count, 1, "no other owner can have had them");
}

#[test]
fn a_red_lock_whose_servers_took_too_long_is_counted_and_other_errors_are_found() {
    let count = |text: &str| {
        let found = waits(&assemble(&story(&[text]), &[]), &[], &LIMITS);
        (found.violations.count, found.unheard)
    };
    assert_eq!(count("10 1 1 a 60 1 - - 1; 20 1 1 f unavailable"), (0, 1));
    assert_eq!(count("10 1 1 a 60 1 - - 1; 20 1 1 f refused"), (1, 0));
    assert_eq!(count("10 1 1 a 7 1 - - 1; 20 1 1 f unavailable"), (1, 0));
}
