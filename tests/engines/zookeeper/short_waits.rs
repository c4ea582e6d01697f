//! Waits that are shorter than an answer of the server takes.

use std::time::{Duration, Instant};

use redlatch::{Client, Error};
use redlatch_tests::{Direction, Mariadb, Proxy, Zookeeper, ms};

use crate::zookeeper::client;

type Tries = Vec<(&'static str, Box<dyn Fn(Duration) -> Result<bool, Error>>)>;

/// Takes a lock of each kind for a moment; false: another owner has it.
fn tries(client: &Client) -> Tries {
    let read_write = client.read_write_lock("read-write");
    let permits = client.permit_semaphore("permits");
    let locks = [
        ("plain", client.lock("plain")),
        ("fenced", client.fenced_lock("fenced")),
        ("fair", client.fair_lock("fair")),
        ("read", read_write.read()),
        ("write", read_write.write()),
    ];
    let mut all: Tries = Vec::new();
    for (kind, lock) in locks {
        all.push((
            kind,
            Box::new(move |wait| match lock.clone().wait(wait).blocking().acquire() {
                Ok(guard) => guard.release().map(|()| true),
                Err(Error::NotAcquired { .. }) => Ok(false),
                Err(error) => Err(error),
            }),
        ));
    }
    all.push((
        "permit",
        Box::new(move |wait| match permits.try_acquire_renewed().wait(wait).blocking()? {
            Some(permit) => permit.release_blocking().map(|()| true),
            None => Ok(false),
        }),
    ));
    all
}

/// A call under way has some time for its answer, however short the wait is.
#[test]
fn a_wait_that_is_shorter_than_the_answer_of_the_server_ends_with_that_answer() {
    let server = Zookeeper::start();
    let far = Proxy::to(server.port());
    let ours = Client::connect(&server.url_at(far.port())).expect("a good URL");
    let other = client(&server, "");
    other.permit_semaphore("permits").try_set_permits(1).blocking().expect("answered");
    ours.lock("warm").blocking().acquire().expect("free").release().expect("held");
    far.delay(ms(4));
    for (kind, take) in tries(&ours) {
        each_is_told(true, kind, &*take);
    }
    let read_write = other.read_write_lock("read-write");
    let _held = [
        other.lock("plain").blocking().acquire().expect("free"),
        other.fenced_lock("fenced").blocking().acquire().expect("free"),
        other.fair_lock("fair").blocking().acquire().expect("free"),
        read_write.write().blocking().acquire().expect("free"),
    ];
    let _out = other.permit_semaphore("permits").acquire_renewed().blocking().expect("free");
    for (kind, take) in tries(&ours) {
        each_is_told(false, kind, &*take);
    }
}

/// Tries with short waits. A server on a busy machine may need more time than it has: then it has not answered.
fn each_is_told(is_free: bool, kind: &str, take: &dyn Fn(Duration) -> Result<bool, Error>) {
    let waits = [1, 2, 5, 10, 20, 50].map(ms);
    let mut answered = 0;
    for wait in waits.into_iter().cycle().take(60) {
        let begun = Instant::now();
        let told = take(wait);
        let took = begun.elapsed();
        match told {
            Ok(got) if got == is_free => answered += 1,
            Err(Error::Unavailable { .. }) if took >= wait + ms(250) => {}
            told => panic!("{kind}: free is {is_free}, and {told:?} after {took:?} for {wait:?}"),
        }
    }
    assert!(answered > 30, "{kind}: free is {is_free}, and {answered} of 60 tries were told so");
}

#[test]
fn a_limited_wait_beside_a_server_that_falls_silent_ends_half_a_second_late_at_most() {
    let (zookeeper, mariadb) = (Zookeeper::start(), Mariadb::shared());
    for (port, url) in [(zookeeper.port(), zookeeper.url()), (mariadb.port(), mariadb.url())] {
        let proxy = Proxy::to(port);
        let url = url.replace(&port.to_string(), &proxy.port().to_string());
        for wait in [ms(200), ms(1000)] {
            let ours = Client::connect(&url).expect("a good URL");
            ours.lock("warm").blocking().acquire().expect("free").release().expect("held");
            proxy.stall(Direction::ToServer);
            let begun = Instant::now();
            let error = ours.lock("silent").wait(wait).blocking().acquire().map(drop).expect_err("it is silent");
            let took = begun.elapsed();
            proxy.flow();
            assert!(matches!(error, Error::Unavailable { .. }), "{error}");
            // A busy machine takes some more. Without the end of the wait it would take the three seconds of an answer.
            assert!(took >= wait && took < wait + ms(1900), "{took:?} for {wait:?} at {url}");
        }
    }
}
