//! The token lock beside libraries that take and free the same key by hand.

use std::time::Duration;

use redlatch::Error;

use super::{eventually, pair, secs};

#[test]
fn a_program_that_sets_the_key_is_excluded_and_excludes() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let mut set = |token: &str| view.command::<Option<String>>(&["SET", "n", token, "NX", "PX", "9000"]).is_some();
    let guard = a.token_lock("n").owner(1).blocking().acquire().expect("free");
    assert!(!set("theirs"));
    assert_eq!(server.view().command::<String>(&["GET", "n"]), format!("{}:1", a.id()));
    guard.release().expect("held");
    assert!(set("theirs"));
    assert!(a.token_lock("n").blocking().try_acquire().expect("answered").is_none());
}

#[test]
fn a_release_that_publishes_nothing_is_noticed_soon() {
    let (server, a, _) = pair();
    let mut view = server.view();
    view.command::<()>(&["SET", "n", "theirs", "PX", "60000"]);
    let waiting = std::thread::spawn(move || {
        a.token_lock("n").wait(secs(20)).blocking().acquire().expect("it is free").release()
    });
    eventually(|| view.listeners("redlatch_token_lock:{n}") == 1);
    view.command::<()>(&["DEL", "n"]);
    waiting.join().expect("no panic").expect("held");
}

#[test]
fn a_token_of_any_bytes_can_be_taken_away() {
    let (server, a, _) = pair();
    let bytes = [0u8, 255, 13, 10];
    redis::cmd("SET")
        .arg("n")
        .arg(&bytes[..])
        .exec(&mut redis::Client::open(server.direct_url()).and_then(|c| c.get_connection()).expect("it runs"))
        .expect("set");
    assert!(a.token_lock("n").blocking().force_release().expect("answered"));
    assert!(!a.token_lock("n").blocking().force_release().expect("answered"));
    assert!(a.token_lock("n").blocking().try_acquire().expect("answered").is_some());
}

#[test]
fn an_overwritten_hold_is_lost_and_its_release_takes_nothing_away() {
    let (server, a, _) = pair();
    let guard = a.token_lock("n").lease(Duration::from_secs(30)).blocking().acquire().expect("free");
    server.view().command::<()>(&["SET", "n", "theirs"]);
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    assert_eq!(server.view().command::<String>(&["GET", "n"]), "theirs");
}
