//! Acquires whose callers give up while their owner holds the lock already.

use std::time::Instant;

use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Proxy, given_up};

use super::promises;
use super::row::Row;
use crate::{eventually, ms};

/// Releases the latest hold while one more acquire of the owner is given up, at a moment that depends on the round.
fn give_beside_an_acquire_that_is_given_up(row: &Row, client: &Client, round: u32) {
    let wait = [None, Some(ms(0)), Some(ms(1_000))][round as usize % 3];
    // A request with a time limit of its own does not go out together with others.
    let response_timeout = (round / 3).is_multiple_of(2).then_some(ms(5_000));
    let acquire = Request { wait, response_timeout, ..row.request(Op::Acquire, 1) };
    given_up(client, acquire, ms(1) * (round / 6) / 10, (round / 6).is_multiple_of(2), || row.give(client, 1));
}

promises! {
    fn a_release_beside_an_acquire_that_is_given_up_frees_the_lock(row) of |kind| kind.reentrant; {
        for round in 0..150 {
            row.take(&row.a, 1);
            give_beside_an_acquire_that_is_given_up(row, &row.a, round);
            eventually(|| !row.is_taken(&row.b));
        }
        eventually(|| row.is_clean());
    }

    fn an_acquire_that_is_given_up_ends_no_hold_that_its_owner_has(row) of |kind| kind.reentrant; {
        let outer = row.take(&row.a, 1).number as u64;
        for round in 0..150 {
            row.take(&row.a, 1);
            give_beside_an_acquire_that_is_given_up(row, &row.a, round);
            eventually(|| row.count(&row.a, 1) == 1);
            assert!(matches!(row.a.look(outer), Look::Held { .. }), "round {round}");
        }
        row.a.run_blocking(Request { hold: outer, ..row.request(Op::Release, 1) }).expect("held");
        eventually(|| row.is_clean());
    }

    /// The server refuses the second try, and its answer is lost.
    fn a_second_try_without_an_answer_ends_no_hold_that_its_owner_has(row) of |kind| !kind.reentrant; {
        let proxy = Proxy::start(&row.server);
        let options = "response_timeout=0.3&retry_for=0";
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        // The server knows the scripts: the answer that is lost is not that it does not.
        row.take(&client, 1);
        row.give(&client, 1);
        let number = row.take(&client, 1).number as u64;
        proxy.lose_reply_to(&format!("{}:1", client.id()));
        let second = client.run_blocking(row.request(Op::Acquire, 1));
        assert!(matches!(second, Err(Error::Unavailable { .. })), "{second:?}");
        let end = Instant::now() + ms(1_000);
        while Instant::now() < end {
            assert!(row.try_for(&row.b, 9, ms(0)).is_none(), "two clients hold it");
            assert!(matches!(client.look(number), Look::Held { .. }));
        }
        row.give(&client, 1);
        eventually(|| row.is_clean());
    }
}
