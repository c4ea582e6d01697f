//! Permits that are renewed, and whose holders are told of a loss.

use redlatch::{Client, Error, Holds, LostReason};
use redlatch_tests::{View, secs};

use super::super::{eventually, pair};
use super::{counts, only_the_count, out, set};

#[test]
fn a_renewed_permit_lasts_as_long_as_it_is_held_and_no_longer() {
    let (server, a, _) = pair();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let one = set(&a, 2);
    let mut view = server.view();
    let permit = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    let end = |view: &mut View| out(view).first().map_or(0.0, |(_, score)| score.parse::<f64>().expect("a number"));
    let first = end(&mut view);
    eventually(|| end(&mut view) > first + 1500.0);
    permit.ensure().expect("it is held");
    assert_eq!(counts(&one), [1, 1, 2]);
    permit.release_blocking().expect("it is held");
    assert!(only_the_count(&mut view));
    let dies = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    client.close_blocking(Holds::Keep);
    assert!(matches!(dies.ensure(), Err(Error::Lost(loss)) if loss.reason == LostReason::Closed));
    eventually(|| counts(&one) == [2, 0, 2]);
}

#[test]
fn the_holder_of_a_renewed_permit_that_another_client_returns_is_told_of_the_loss() {
    let (server, a, client) = pair();
    let one = set(&a, 2);
    let mut view = server.view();
    let permit = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    eventually(|| view.tells());
    one.release(permit.id()).blocking().expect("it is out");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let loss = runtime.block_on(async { tokio::time::timeout(secs(8), permit.lost()).await });
    let loss = loss.expect("long before the next renewal");
    assert_eq!(loss.map(|loss| loss.reason), Some(LostReason::Deleted));
    assert!(matches!(permit.release_blocking(), Err(Error::Lost(_))));
    assert_eq!(counts(&one), [2, 0, 2], "its own release took nothing away");
    a.close_blocking(Holds::Release);
}
