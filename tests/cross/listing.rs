//! The listing of locks names the holders and the waiters of every language, Redisson's among them.

use std::sync::LazyLock;
use std::time::Duration;

use redlatch::{Client, HeldLock, Holder};

use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair};
use crate::waiting::wait_for;

static OPERATOR: LazyLock<Client> = LazyLock::new(|| Client::connect(&STAGE.server.url()).expect("a good URL"));

/// The lock of that name; `None`: none is listed.
fn listed(name: &str) -> Option<HeldLock> {
    let mut locks = OPERATOR.locks(name);
    let lock = locks.next_blocking().expect("answered");
    assert!(locks.next_blocking().expect("answered").is_none(), "more than {name}");
    lock
}

/// The holder or waiter is this party, and the listing tells the process of one of ours alone.
fn is(shown: &Holder, party: &Party) {
    assert_eq!((&shown.client, shown.owner.as_str()), (&party.client().to_owned(), "7"), "{shown:?}");
    assert_eq!(shown.may_be_redisson, party.is_redisson(), "{shown:?}");
    assert_eq!(shown.host.is_some() && shown.process.is_some(), !party.is_redisson(), "{shown:?}");
}

/// The kind that the listing tells of a lock of this kind, which has a waiter.
fn kind_of(party: &Party) -> &'static str {
    match party.kind.traits {
        traits if traits.fair => "fair",
        traits if ["fenced", "read", "write"].contains(&traits.name) => traits.name,
        _ => "plain",
    }
}

fn is_held_by(lock: &HeldLock, holder: &Party) {
    assert!(lock.is_certain && lock.holder_count == 1, "{lock:?}");
    assert_eq!(lock.holders[0].writes, holder.kind.traits.name == "write", "{lock:?}");
    assert_eq!(lock.holders[0].holds, 1, "{lock:?}");
    assert!(lock.remaining.is_some_and(|left| left <= Duration::from_secs(30)), "{lock:?}");
    is(&lock.holders[0], holder);
}

#[test]
fn a_lock_is_listed_with_its_holder_and_its_waiter() {
    every_pair(
        "listing",
        |kind| kind.held && !["token", "multi", "permit"].contains(&kind.name),
        |holder, waiter| {
            let mut view = STAGE.server.view();
            // Readers share, so a writer waits for them.
            let waiter = if holder.kind.traits.name == "read" { &waiter.of_kind("write") } else { waiter };
            holder.lock(None);
            let pending = wait_for(waiter, &mut view);
            let lock = listed(holder.name()).expect("it is held");
            assert_eq!(lock.kind, kind_of(holder), "{lock:?}");
            is_held_by(&lock, holder);
            if holder.kind.traits.fair {
                assert_eq!((lock.waiting, lock.queue.len()), (Some(1), 1), "{lock:?}");
                is(&lock.queue[0], waiter);
            } else {
                let listens = u64::from(redlatch_tests::kinds::listens(waiter.kind.traits.name));
                assert_eq!((lock.waiting, lock.queue.len()), (Some(listens), 0), "{lock:?}");
            }
            holder.unlock();
            pending.within(SOON).expect("it is free");
            is_held_by(&listed(holder.name()).expect("it is held"), waiter);
            waiter.unlock();
            assert_eq!(listed(holder.name()), None);
        },
    );
}

#[test]
fn the_readers_and_the_writer_of_a_lock_are_listed() {
    every_pair(
        "listing of sides",
        |kind| kind.name == "read",
        |one, two| {
            one.lock(None);
            one.lock(None);
            two.lock(None);
            let lock = listed(one.name()).expect("it is held");
            assert_eq!((lock.kind, lock.holder_count, lock.holders.len()), ("read", 2, 2), "{lock:?}");
            for (party, holds) in [(one, 2), (two, 1)] {
                let shown = lock.holders.iter().find(|holder| holder.client == party.client());
                let shown = shown.unwrap_or_else(|| panic!("{} is none of {lock:?}", party.field()));
                is(shown, party);
                assert_eq!((shown.holds, shown.writes), (holds, false), "{lock:?}");
            }
            for holder in [one, one, two] {
                holder.unlock();
            }
            let write = one.of_kind("write");
            write.lock(None);
            one.lock(None);
            let lock = listed(one.name()).expect("it is held");
            assert_eq!((lock.kind, lock.holder_count), ("write", 2), "{lock:?}");
            for writes in [true, false] {
                is(lock.holders.iter().find(|holder| holder.writes == writes).expect("both sides"), one);
            }
            one.unlock();
            write.unlock();
            assert_eq!(listed(one.name()), None);
        },
    );
}

#[test]
fn the_permits_that_are_out_are_listed_by_their_ids() {
    every_pair(
        "listing of permits",
        |kind| kind.name == "permit_semaphore",
        |one, two| {
            assert!(one.does("try_set", 5));
            let mut ids = [one.take(2, None), two.take(1, Some(Duration::from_secs(60)))].concat();
            let lock = listed(one.name()).expect("permits are out");
            assert_eq!((lock.kind, lock.holder_count, lock.is_certain), ("permits", 3, true), "{lock:?}");
            let mut shown: Vec<_> = lock.holders.iter().map(|permit| permit.client.clone()).collect();
            shown.sort();
            ids.sort();
            assert_eq!(shown, ids);
            assert!(one.give(&ids));
        },
    );
}
