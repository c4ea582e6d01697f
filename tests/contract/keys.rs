//! Objects as keys: everything that belongs to an object moves with it.

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error};

use super::pair;

/// The result of an action on keys. `words`: the action and its arguments.
fn act(client: &Client, kind: &'static str, name: &str, words: &[&str]) -> Result<Answer, Error> {
    let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    client.run_blocking(Request { texts, ..Request::new(Op::Keys, kind, name, 1) })
}

fn permits(client: &Client, words: &[&str]) -> i64 {
    act(client, "permit_semaphore", "n", words).expect("answered").number
}

#[test]
fn permits_that_are_out_go_with_their_semaphore() {
    let (server, client, other) = pair();
    let mut view = server.view();
    for command in ["RENAME", "RENAMENX"] {
        let semaphore = client.permit_semaphore("n");
        let renamed = other.permit_semaphore("a{b}c");
        assert!(semaphore.try_set_permits(3).blocking().expect("answered"));
        let out = semaphore.try_acquire().blocking().expect("answered").expect("available").keep();
        // The rest of an older semaphore whose count was deleted.
        view.command::<i64>(&["ZADD", "a{b}c:timeout", "1", "older"]);
        assert_eq!(permits(&client, &[command, "a{b}c"]), 1);
        assert_eq!(renamed.acquired().blocking().expect("answered"), 1);
        renamed.release(out).blocking().expect("it is out");
        assert_eq!(renamed.available().blocking().expect("answered"), 3);
        assert!(!view.exists("n") && !view.exists("{n}:timeout") && !view.exists("a{b}c:timeout"));
        view.command::<i64>(&["DEL", "a{b}c"]);
    }
    let semaphore = client.permit_semaphore("n");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    semaphore.try_acquire().blocking().expect("answered").expect("available").keep();
    assert_eq!(permits(&client, &["MOVE", "3"]), 1);
    assert_eq!(permits(&client, &["MOVE", "3"]), 0);
    assert_eq!(view.keys("*n*"), [""; 0]);
    view.command::<()>(&["SELECT", "3"]);
    assert!(view.exists("n") && view.exists("{n}:timeout"));
}

/// The names share a slot, so that the test runs in a cluster too.
#[test]
fn a_semaphore_that_is_in_the_way_or_not_there_stays_as_it_is() {
    let (server, client, _) = pair();
    let mut view = server.view();
    let refused = act(&client, "permit_semaphore", "n", &["RENAME", "{n}m"]);
    assert!(
        matches!(&refused, Err(Error::Refused { code, message, .. }) if code == "ERR" && message.contains("no such key"))
    );
    assert!(
        matches!(act(&client, "permit_semaphore", "n", &["RENAME", ""]), Err(Error::Config(why)) if why.contains("empty"))
    );
    for name in ["n", "{n}m"] {
        assert!(client.permit_semaphore(name).try_set_permits(2).blocking().expect("answered"));
        client.permit_semaphore(name).try_acquire().blocking().expect("answered").expect("available").keep();
    }
    assert_eq!(permits(&client, &["RENAMENX", "{n}m"]), 0);
    assert_eq!(client.permit_semaphore("n").acquired().blocking().expect("answered"), 1);
    assert_eq!(client.permit_semaphore("{n}m").acquired().blocking().expect("answered"), 1);
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(
        matches!(act(&client, "semaphore", "n", &["COPY", "{n}o"]), Err(Error::Refused { code, .. }) if code == "OOM")
    );
}

#[test]
fn the_type_of_a_key_is_told_as_it_is() {
    let (_server, client, _) = pair();
    let ask = |words: &[&str]| act(&client, "semaphore", "n", words).expect("answered");
    assert_eq!(ask(&["DUMP"]), Answer { done: true, ..Answer::default() });
    assert_eq!([ask(&["PEXPIRETIME"]).number, ask(&["PTTL"]).number, ask(&["MEMORY USAGE"]).number], [-2, -2, 0]);
    assert!(client.semaphore("n").try_set_permits(7).blocking().expect("answered"));
    let state = ask(&["DUMP"]).texts.remove(0);
    assert_eq!(ask(&["TYPE"]).texts, [b"string"]);
    assert!(client.semaphore("n").delete().blocking().expect("answered"));
    let texts = vec![b"RESTORE".to_vec(), b"0".to_vec(), state];
    let restore =
        || client.run_blocking(Request { texts: texts.clone(), ..Request::new(Op::Keys, "semaphore", "n", 1) });
    assert_eq!(restore().expect("answered").number, 1);
    assert_eq!(client.semaphore("n").available().blocking().expect("answered"), 7);
    assert!(matches!(restore(), Err(Error::Refused { code, .. }) if code == "BUSYKEY"));
    assert_eq!(ask(&["KEYSLOT"]).number, 3_432);
    assert!(matches!(act(&client, "semaphore", "n", &["KEYS"]), Err(Error::Config(why)) if why.contains("`KEYS`")));
}
