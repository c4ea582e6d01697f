//! Holders of a lock: one owner at a time, as often as it took the lock; and forced releases.

use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Error, LostReason};
use redlatch_tests::Proxy;

use super::promises;
use crate::{eventually, ms};

promises! {
    fn no_other_owner_gets_the_lock_while_it_is_held(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        assert!(row.is_taken(&row.b) && row.count(&row.b, 1) == 0);
        for (client, owner) in [(&row.b, 1), (&row.b, 2), (&row.a, 2)] {
            assert!(row.try_for(client, owner, ms(0)).is_none());
            assert!(matches!(row.try_give(client, owner), Err(Error::NotHeld { .. })));
        }
        assert_eq!(row.count(&row.a, 1), 1);
        row.give(&row.a, 1);
        assert!(!row.is_taken(&row.b) && row.is_clean());
        row.take(&row.b, 2);
        row.give(&row.b, 2);
    }

    fn any_number_of_owners_hold_it_at_once(row) of |kind| kind.held && !kind.exclusive; {
        for owner in 1..=20 {
            row.take(&row.a, owner);
            row.take(&row.b, owner);
        }
        for owner in 1..=20 {
            assert_eq!((row.count(&row.a, owner), row.count(&row.b, owner)), (1, 1));
            row.give(&row.a, owner);
            assert!(row.is_taken(&row.a));
            row.give(&row.b, owner);
        }
        assert!(row.is_clean());
    }

    fn an_owner_holds_it_as_often_as_it_took_it(row) of |kind| kind.reentrant; {
        for count in 1..=3 {
            row.take(&row.a, 1);
            assert_eq!(row.count(&row.b, 1), 0);
            assert_eq!(row.count(&row.a, 1), count);
        }
        for left in [2, 1] {
            row.give(&row.a, 1);
            assert_eq!(row.count(&row.a, 1), left);
            assert!(row.is_taken(&row.b));
        }
        row.give(&row.a, 1);
        assert!(row.is_clean());
    }

    fn an_owner_that_takes_it_twice_is_told_and_keeps_it(row) of |kind| kind.exclusive && !kind.reentrant; {
        row.take(&row.a, 1);
        for wait in [Some(ms(0)), Some(ms(5_000)), None] {
            let again = row.a.run_blocking(Request { wait, ..row.request(Op::Acquire, 1) });
            let Err(Error::AlreadyHeld { lock, owner, .. }) = again else { panic!("{again:?}") };
            assert_eq!((lock.as_str(), owner), (row.key(), format!("{}:1", row.a.id())));
        }
        assert_eq!(row.count(&row.a, 1), 1);
        row.give(&row.a, 1);
        assert!(row.is_clean());
        row.take(&row.a, 1);
    }

    fn a_call_whose_reply_is_lost_counts_once(row) of |kind| kind.held; {
        let proxy = Proxy::start(&row.server);
        let client = redlatch::Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
        row.take(&client, 1);
        row.give(&client, 1);
        proxy.lose_reply_to("EVALSHA");
        let first = row.take(&client, 2);
        assert_eq!(row.count(&client, 2), 1);
        proxy.lose_reply_to("EVALSHA");
        row.give(&client, 2);
        let next = row.take(&client, 3);
        if row.traits.fenced {
            assert_eq!(next.items[0], first.items[0] + 1, "a repeat draws no token of its own");
        }
        row.give(&client, 3);
        assert!(row.is_clean());
    }

    fn a_forced_release_frees_it_and_its_holder_is_told(row) of |kind| kind.held; {
        let held = row.take(&row.a, 1);
        let force = || row.b.run_blocking(row.request(Op::ForceRelease, 9)).expect("answered").number;
        assert_eq!((force(), force()), (1, 0));
        row.take(&row.b, 2);
        let Err(Error::Lost(_)) = row.try_give(&row.a, 1) else { panic!("it holds it no more") };
        assert!(matches!(row.a.look(held.number as u64), Look::Gone));
        assert_eq!(row.count(&row.b, 2), 1);
        row.give(&row.b, 2);
    }

    fn a_deleted_key_is_told_to_its_holder_as_lost(row) of |kind| kind.held; {
        let held = row.take(&row.a, 1);
        let mut view = row.view();
        eventually(|| view.tells());
        view.command::<()>(&["DEL", row.key()]);
        let watch = Request { hold: held.number as u64, ..row.request(Op::Watch, 1) };
        let Err(Error::Lost(loss)) = row.a.run_blocking(watch) else { panic!("it is lost") };
        assert_eq!(loss.reason, LostReason::Deleted);
    }

    fn a_full_server_refuses_an_acquire_and_takes_a_release(row) of |kind| kind.held; {
        let mut view = row.view();
        let mut limit = |bytes: &str| view.command::<()>(&["CONFIG", "SET", "maxmemory", bytes]);
        row.take(&row.b, 9);
        row.give(&row.b, 9);
        row.take(&row.a, 1);
        limit("1");
        row.give(&row.a, 1);
        let refused = row.a.run_blocking(row.request(Op::Acquire, 1));
        assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "OOM"), "{refused:?}");
        assert!(row.is_clean());
        limit("0");
        row.take(&row.a, 1);
    }

    fn each_hold_has_a_number_greater_than_all_before(row) of |kind| kind.fenced; {
        let mut last = 0;
        let mut grows = |answer: Answer| {
            let token = answer.items[0];
            assert!(token > last, "{token} after {last}");
            last = token;
        };
        for client in [&row.a, &row.b, &row.a] {
            let holds = if row.traits.reentrant { 2 } else { 1 };
            for _ in 0..holds {
                grows(row.take(client, 1));
            }
            for _ in 0..holds {
                row.give(client, 1);
            }
        }
        row.take(&row.a, 1);
        let heirs: Vec<_> = (2..20).map(|owner| (owner, row.wait(&row.a, owner, None))).collect();
        row.give(&row.a, 1);
        for (owner, heir) in heirs {
            grows(heir.within(ms(10_000)).expect("passed on"));
            row.give(&row.a, owner);
        }
        let seen = row.b.run_blocking(row.request(Op::Inspect, 0)).expect("answered").items[1];
        assert_eq!(seen, last);
    }

    fn an_owner_that_comes_back_before_the_server_has_forgotten_it_gets_another_number(row) of |kind| kind.fenced; {
        let held = row.lease(&row.a, 1, ms(3_000));
        let watch = Request { hold: held.number as u64, ..row.request(Op::Watch, 1) };
        let Err(Error::Lost(_)) = row.a.run_blocking(watch) else { panic!("its lease has ended") };
        let next = row.try_for(&row.a, 1, ms(10_000)).expect("it is free, or its own");
        assert!(next.items[0] > held.items[0], "{} after {}", next.items[0], held.items[0]);
        row.give(&row.a, 1);
    }

    fn a_key_of_another_type_is_an_error_that_names_it(row) of |kind| kind.held; {
        row.view().command::<()>(&["RPUSH", row.key(), "x"]);
        let refused = row.a.run_blocking(row.request(Op::Acquire, 1));
        assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"), "{refused:?}");
        assert!(refused.expect_err("refused").to_string().contains(&format!("`{}", row.key())));
    }
}
