//! Operations on keys that several servers share.

use std::collections::BTreeSet;

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::Cluster;

use super::client;

fn act(client: &Client, name: &str, words: &[&str]) -> Result<Answer, Error> {
    let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    client.run_blocking(Request { texts, ..Request::new(Op::Keys, "plain", name, 1) })
}

/// Reads page after page, until there are no more.
fn listed(client: &Client, words: &[&str]) -> BTreeSet<String> {
    let mut next = String::new();
    let mut names = BTreeSet::new();
    while next != "0" {
        let page = act(client, "", &[&["SCAN", &next], words].concat()).expect("answered");
        let mut texts = page.texts.into_iter().map(|text| String::from_utf8(text).expect("they are UTF-8"));
        next = texts.next().expect("it says how to go on");
        names.extend(texts);
    }
    names
}

#[test]
fn a_cluster_counts_lists_and_deletes_the_keys_of_all_its_masters() {
    let cluster = Cluster::start(3, 0);
    let client = client(&cluster.url());
    let names: BTreeSet<String> = (0..300).map(|number| format!("key:{number}")).collect();
    for name in &names {
        assert!(client.semaphore(name).try_set_permits(1).blocking().expect("answered"));
    }
    let of_keys = listed(&client, &["MATCH", "key:*", "COUNT", "20"]);
    assert_eq!(of_keys, names);
    let owners: BTreeSet<_> = names.iter().map(|name| cluster.owner(name)).collect();
    assert_eq!(owners.len(), 3);
    let count = |words: &[&str], name: &str| act(&client, name, words).expect("answered").number;
    assert!(count(&["DBSIZE"], "") >= 300);
    assert_eq!(count(&["DEL MATCHING"], "key:1??"), 100);
    assert_eq!(listed(&client, &["MATCH", "key:*"]).len(), 200);
    assert_eq!(count(&["UNLINK MATCHING"], "key:*"), 200);
    assert!(listed(&client, &["MATCH", "key:*"]).is_empty());
}

#[test]
fn a_name_in_another_slot_is_refused_and_one_with_the_same_tag_is_not() {
    let cluster = Cluster::start(3, 0);
    let client = client(&cluster.url());
    assert!(client.semaphore("a{t}").try_set_permits(1).blocking().expect("answered"));
    assert_eq!(act(&client, "a{t}", &["RENAME", "b{t}"]).expect("answered").number, 1);
    let refused = act(&client, "b{t}", &["RENAME", "c"]);
    assert!(
        matches!(refused, Err(Error::Config(why)) if why.contains("`b{t}`") && why.contains("`c`") && why.contains("slots"))
    );
    assert_eq!(client.semaphore("b{t}").available().blocking().expect("answered"), 1);
}
