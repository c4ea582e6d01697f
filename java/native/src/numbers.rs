//! The numbers that Java writes down once more, compared with the core's.

use redlatch::LostReason;
use redlatch::ffi::{ErrorNumber, Op};

const ANSWER: &str = include_str!("../../src/main/java/io/redlatch/internal/Answer.java");
const REASON: &str = include_str!("../../src/main/java/io/redlatch/LostReason.java");
const REQUEST: &str = include_str!("../../src/main/java/io/redlatch/internal/Request.java");

#[test]
fn java_has_the_cores_number_of_every_error_that_reaches_it() {
    for (name, number) in [
        ("NOT_HELD", ErrorNumber::NotHeld),
        ("LOST", ErrorNumber::Lost),
        ("UNAVAILABLE", ErrorNumber::Unreachable),
        ("TIMED_OUT", ErrorNumber::TimedOut),
        ("NOT_SYNCED", ErrorNumber::NotSynced),
        ("REFUSED", ErrorNumber::Refused),
        ("CONFIG", ErrorNumber::Config),
        ("UNSUPPORTED", ErrorNumber::Unsupported),
        ("CLOSED", ErrorNumber::Closed),
        ("CANCELLED", ErrorNumber::Cancelled),
        ("ALREADY_HELD", ErrorNumber::AlreadyHeld),
    ] {
        assert_eq!(constant(ANSWER, name), number as i32, "{name}");
    }
}

#[test]
fn java_has_the_cores_number_of_every_operation() {
    for (name, operation) in [
        ("ACQUIRE", Op::Acquire),
        ("RELEASE", Op::Release),
        ("FORCE_RELEASE", Op::ForceRelease),
        ("INSPECT", Op::Inspect),
        ("PING", Op::Ping),
        ("WATCH", Op::Watch),
        ("EXPIRY", Op::Expiry),
        ("DELETION", Op::Deletion),
        ("EXTEND", Op::Extend),
        ("TRY_SET", Op::TrySet),
        ("ADD", Op::Add),
        ("DRAIN", Op::Drain),
        ("COUNT_DOWN", Op::CountDown),
        ("RELEASE_IF_EXISTS", Op::ReleaseIfExists),
        ("DELETE", Op::Delete),
        ("LIVE_FOR", Op::LiveFor),
        ("SET", Op::Set),
        ("LEASE", Op::Lease),
        ("KEYS", Op::Keys),
        ("GIVE_BACK", Op::GiveBack),
        ("INVENTORY", Op::Inventory),
        ("RENEW", Op::Renew),
        ("LET_GO", Op::LetGo),
    ] {
        assert_eq!(constant(REQUEST, name), operation as i32, "{name}");
    }
}

#[test]
fn java_has_the_cores_reasons_with_their_words_in_the_order_of_their_numbers() {
    let constants = REASON.lines().map(str::trim).filter_map(|line| line.strip_suffix([',', ';'])?.strip_suffix("\")"));
    let words = constants.filter_map(|constant| Some(constant.split_once("(\"")?.1)).collect::<Vec<_>>();
    use LostReason::*;
    let all = [Expired, TakenOver, Deleted, Closed, ServerLostData, Partitioned, Paused, SessionEnded];
    assert_eq!(words, all.map(LostReason::name));
    assert_eq!(all.map(|reason| reason as usize), std::array::from_fn(|index| index + 1));
}

#[test]
fn java_and_rust_have_rows_of_the_same_size() {
    assert_eq!(constant(ANSWER, "NUMBERS"), crate::rows::NUMBERS as i32);
    assert_eq!(constant(ANSWER, "TEXTS"), crate::rows::TEXTS as i32);
    assert_eq!(i64::from(constant(ANSWER, "DONE")), crate::rows::DONE);
    assert_eq!(i64::from(constant(ANSWER, "NOT_NOW")), crate::rows::NOT_NOW);
    assert_eq!(i64::from(constant(ANSWER, "WITH_TEXTS")), crate::rows::WITH_TEXTS);
}

fn constant(source: &str, name: &str) -> i32 {
    let (_, rest) = source.split_once(&format!(" int {name} = ")).unwrap_or_else(|| panic!("Java has no {name}"));
    let (number, _) = rest.split_once(';').expect("a constant ends with a semicolon");
    number.parse().expect("a constant is a number")
}
