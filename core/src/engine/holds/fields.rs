//! The fields of the server in the ledger: that of each owner, and those through which an owner holds.

use std::time::Duration;

use super::grip::HandOn;
use super::{Holds, Lapsed, Meant, REMEMBER};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::Look;

const WATCHDOG: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

fn claim(kind: &'static str, owner: i64) -> Claim {
    Claim::new(kind, "n".into(), owner)
}

fn take(holds: &mut Holds, claim: &Claim, lease: Option<Duration>, now: Instant) -> u64 {
    holds.taken(claim, || None, lease, 0, now, now)
}

/// Owner 2 holds the lock through the grip of owner 1. Gives the number of its hold.
fn through(holds: &mut Holds, kind: &'static str, now: Instant) -> u64 {
    let [lender, holder] = [1, 2].map(|owner| claim(kind, owner));
    let number = take(holds, &lender, None, now);
    let hand_on = HandOn { from: &lender, number, to: &holder, fenced: false, incarnation: 0 };
    holds.hand_on(&hand_on, now, |_| true).expect("nothing speaks against it").number
}

/// The lock is held through the field of owner 1: by that owner, or by owner 2. Gives the claim of the holder.
fn held_in_field_1(holds: &mut Holds, is_through: bool, now: Instant) -> Claim {
    match is_through {
        true => drop(through(holds, "plain", now)),
        false => drop(take(holds, &claim("plain", 1), None, now)),
    }
    claim("plain", if is_through { 2 } else { 1 })
}

/// The server carries out a renewal of owner 1's field shortly before the end of the belief; no answer comes.
fn renewed_without_an_answer(holds: &mut Holds, start: Instant) {
    let mut asked = 0;
    holds.due(start + WATCHDOG - 2 * SECOND, 10, |grip, ask| {
        assert_eq!(grip.owner, 1);
        asked += usize::from(ask.lease > Duration::ZERO);
        true
    });
    assert_eq!(asked, 1);
}

/// The release of a hold that has ended by itself, and the watchdog has looked.
fn lapsed(holds: &mut Holds, claim: &Claim, number: u64, now: Instant) -> Lapsed {
    assert!(!holds.look(number, now).is_held());
    holds.leaving(claim, Meant::Given(number), now).expect_err("it has ended by itself")
}

/// After a pause of the whole client an acquire that asks once may come before the watchdog. These are its steps in their order.
#[test]
fn an_acquire_after_a_pause_revives_no_hold_that_was_over() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let old = through(&mut holds, "plain", start);
    let holder = claim("plain", 2);
    // Meanwhile another client has had the lock, and has released it.
    let later = start + 3 * WATCHDOG;
    assert!(holds.tangle("n", 2, later).is_none());
    assert_eq!(holds.count_in(&holder, holder.owner, later), 0, "the call asks for a first hold, under the own field");
    let new = take(&mut holds, &holder, None, later);
    let look = holds.look(old, later);
    assert!(matches!(look, Look::Lost(_)), "the old hold, over for {:?}: {look:?}", later - start - WATCHDOG);
    assert!(holds.look(new, later).is_held());
    assert_eq!(holds.field(&holder), 2, "the server has the own field");
}

#[test]
fn an_acquire_after_a_pause_is_kept_under_the_own_field() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    through(&mut holds, "plain", start);
    let holder = claim("plain", 2);
    let later = start + 3 * WATCHDOG;
    assert_eq!(holds.count_in(&holder, holder.owner, later), 0);
    take(&mut holds, &holder, None, later);
    assert_eq!(holds.field(&holder), 2, "the server has the own field");
}

/// A read hold of the lender says nothing about the lender's writing field.
#[test]
fn the_release_of_a_read_hold_does_not_forget_that_the_writing_field_is_lent() {
    for is_missing in [false, true] {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        through(&mut holds, "write", start);
        let [lender, holder, reader] = [claim("write", 1), claim("write", 2), claim("read", 1)];
        // As `Target::extend` does without an answer.
        holds.outlasts_in(&holder, 1, start + 3600 * SECOND);
        // The belief of the holder ends, and it does not release: say its guard has been forgotten.
        let over = start + 2 * WATCHDOG;
        assert_eq!(holds.count(&holder, over), 0);
        // The server lets the lender read beside its own writing field.
        let read = take(&mut holds, &reader, None, over);
        match is_missing {
            false => holds.released(&reader, read, true, over),
            true => holds.missing(&reader, 1, false, 0, over, over),
        }
        let again = take(&mut holds, &lender, Some(SECOND), over);
        let lapsed = lapsed(&mut holds, &lender, again, over + 2 * SECOND);
        assert!(lapsed.outlasts.is_some(), "missing: {is_missing}: the server keeps the field for an hour");
    }
}

/// A renewal may have no answer, through the own field or through a lent one.
#[test]
fn the_lender_knows_of_an_unanswered_renewal_through_its_field() {
    for is_through in [false, true] {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        let lender = claim("plain", 1);
        let holder = held_in_field_1(&mut holds, is_through, start);
        renewed_without_an_answer(&mut holds, start);
        let over = start + WATCHDOG;
        assert_eq!(holds.count(&holder, over), 0);
        let again = take(&mut holds, &lender, Some(SECOND), over);
        let lapsed = lapsed(&mut holds, &lender, again, over + 2 * SECOND);
        assert!(lapsed.outlasts.is_some(), "through: {is_through}: the server keeps the field for 26 s more");
    }
}

/// After ten minutes a lost hold is forgotten, but not while the server may keep its key.
#[test]
fn what_is_lent_is_known_for_as_long_as_it_is_lent() {
    for is_through in [false, true] {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        let lender = claim("plain", 1);
        let holder = held_in_field_1(&mut holds, is_through, start);
        holds.outlasts_in(&holder, 1, start + 3600 * SECOND);
        let over = start + 2 * WATCHDOG;
        assert_eq!(holds.count(&holder, over), 0);
        let later = over + REMEMBER + SECOND;
        holds.due(later, 10, |_, _| true);
        let again = take(&mut holds, &lender, Some(SECOND), later);
        let lapsed = lapsed(&mut holds, &lender, again, later + 2 * SECOND);
        assert!(lapsed.outlasts.is_some(), "through: {is_through}: the server keeps the field for 48 min more");
    }
}

/// The extension of a hold through another owner's field, which ends meanwhile; its owner takes the lock anew under the own
/// field. Then the call turns out never to have been sent.
#[test]
fn an_extension_that_was_never_sent_does_not_lengthen_a_later_hold() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let old = through(&mut holds, "plain", start);
    let holder = claim("plain", 2);
    // The server has refused its release.
    holds.stop_renewing(&holder, old);
    assert!(holds.may_shorten(&holder));
    let before = holds.shorten(&holder, SECOND, start).expect("held");
    holds.outlasts(&holder, before);
    let over = start + SECOND;
    assert_eq!(holds.count(&holder, over), 0);
    let new = take(&mut holds, &holder, Some(SECOND), over);
    assert_eq!(holds.field(&holder), 2);
    holds.restore(&holder, 1, before);
    assert!(!holds.look(new, over + 2 * SECOND).is_held(), "its lease of a second is over for a second");
}

/// Two kinds of one owner in one field; the renewal of one has no answer.
#[test]
fn both_kinds_of_a_field_know_of_an_unanswered_renewal() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let [plain, fenced] = ["plain", "fenced"].map(|kind| claim(kind, 1));
    take(&mut holds, &plain, None, start);
    let other = take(&mut holds, &fenced, Some(SECOND), start);
    renewed_without_an_answer(&mut holds, start);
    let over = start + WATCHDOG;
    let lapsed = lapsed(&mut holds, &fenced, other, over);
    assert!(lapsed.outlasts.is_some(), "the server keeps the field for 28 s more");
}

/// It is released by its number after ten minutes, through the field of another owner.
#[test]
fn a_forgotten_loss_knows_its_field() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let old = through(&mut holds, "plain", start);
    let holder = claim("plain", 2);
    holds.outlasts_in(&holder, 1, start + 3600 * SECOND);
    let over = start + 2 * WATCHDOG;
    assert_eq!(holds.count(&holder, over), 0);
    let later = over + REMEMBER + SECOND;
    holds.due(later, 10, |_, _| true);
    // The give-back goes out under this field.
    let field = holds.field(&holder);
    let lapsed = lapsed(&mut holds, &holder, old, later);
    assert!(lapsed.outlasts.is_some());
    assert_eq!(field, 1, "the give-back goes to a field that the server does not have");
}

/// The server may keep the key for less than the client believes in the hold, which is lost then. The watchdog looks at it once more
/// after ten minutes, and must come to an end.
#[test]
fn a_lost_hold_that_its_key_would_have_outlasted_holds_the_watchdog_up_no_longer_than_any() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let owner = claim("plain", 1);
    take(&mut holds, &owner, Some(3600 * SECOND), start);
    // As `Target::reduce_to` does after a nested acquire of 30 s that the server has refused, with its give-back.
    holds.outlasts_under(&owner, start + WATCHDOG);
    holds.lost(&owner, crate::request::error::LostReason::Deleted, start + SECOND);
    let (told, over) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        holds.due(start + SECOND + REMEMBER, 10, |_, _| true);
        let _ = told.send(());
    });
    over.recv_timeout(5 * SECOND).expect("the watchdog never ends, and has the ledger locked");
}
