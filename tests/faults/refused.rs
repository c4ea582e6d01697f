//! Refused commands for every kind: a script that is refused any one command has changed nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use redlatch::ffi::kinds::{ALL, KindRow, Traits};

use super::*;
use crate::calls::{again, carried_out, in_time};
use crate::changes;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/scripts");
const HEIR: &str = "00000000-0000-4000-8000-000000000000:2:write";

/// The name for a lack of memory, on a full server.
const MEMORY: &str = "memory";

/// Changes that a refused script may leave behind: a part of the key, and the difference. Each is harmless.
const HARMLESS: &[(&str, &str)] = &[
    // A token of the counter is used up, and no owner has it.
    ("`redisson_lock_token:", "has other contents"),
    ("`redisson_lock_token:", "is new"),
    // The key of a reader's hold has an end, and means nothing without the reader's field.
    (":rwlock_timeout:", "is new"),
    // A waiter that may not leave the queue shows no sign of life any more, so that others pass it over.
    ("`redlatch_lock_seen:", "is gone"),
    ("`redlatch_lock_seen:", "has other contents"),
    // Others wait a little longer for a waiter that may not show a sign of life.
    ("`redisson_lock_timeout:", "has other contents"),
];

/// The commands that a script carries out on these contents; none: it changes nothing.
fn commands_of(server: &Server, there: &Contents, call: &Seen) -> BTreeSet<String> {
    let mut view = server.view();
    there.put_back(&mut view);
    let before = Contents::of(&mut view);
    let mut monitor = server.monitor();
    let call = in_time(&mut view, call);
    again(&mut view, &call);
    view.command::<()>(&["ECHO", "carried out"]);
    let seen = monitor.seen_until("carried out");
    if before.changed(&Contents::of(&mut view)).is_empty() {
        return BTreeSet::new();
    }
    seen.iter().filter(|one| one.by_script).map(Seen::name).collect()
}

/// Carries out one call on these contents: as a user that lacks one command or may publish nothing, or on a full
/// server. Returns the defects of the result.
fn without(server: &Server, user: &mut View, there: &Contents, call: &Seen, missing: &str) -> Option<String> {
    let mut view = server.view();
    there.put_back(&mut view);
    let before = Contents::of(&mut view);
    view.command::<()>(&[
        "ACL",
        "SETUSER",
        "some",
        "+@all",
        "allchannels",
        if missing == MEMORY { "+@all" } else { missing },
    ]);
    view.command::<()>(&["CONFIG", "SET", "maxmemory", if missing == MEMORY { "1" } else { "0" }]);
    let reply = again(user, &in_time(&mut view, call));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    let after = Contents::of(&mut view);
    let redis::Value::SimpleString(refusal) = &reply else { return None };
    let is_harmless = |what: &String| HARMLESS.iter().any(|(key, how)| what.contains(key) && what.ends_with(how));
    let changed: Vec<String> =
        before.changed_but_for_later_ends(&after).into_iter().filter(|what| !is_harmless(what)).collect();
    (!changed.is_empty()).then(|| format!("with {missing}: {changed:?} after `{refusal}`"))
}

/// The scripts that pass a lock on.
const PASSING: &[&str] = &["plain/release", "read_write/write_release", "token/release"];

/// The release `call`, changed to pass the lock on for less time than its owner had; `None`: its script passes nothing
/// on.
fn passing_on(call: &Seen, texts: &[String]) -> Option<Seen> {
    let file = |name: &&&str| std::fs::read_to_string(format!("{SCRIPTS}/{name}.lua")).expect("a script");
    let text =
        texts.iter().find(|text| [text.as_str(), redis::Script::new(text).get_hash()].contains(&&*call.text(1)))?;
    let script = PASSING.iter().map(|name| file(&name)).find(|file| text.ends_with(file.as_str()))?;
    let inputs: Vec<&str> = script.lines().filter(|line| line.contains(" = ARGV[")).flat_map(names_of).collect();
    let at = |name: &str| 4 + inputs.iter().position(|input| *input == name).expect("it has that input");
    let mut words = call.words.clone();
    words[at(if inputs.contains(&"next_owner") { "next_owner" } else { "next_token" })] = HEIR.into();
    words[at("next_lease")] = b"30000".into();
    Some(Seen { words, ..call.clone() })
}

fn names_of(line: &str) -> impl Iterator<Item = &str> {
    let left = line.trim_start_matches("local ").split(" = ").next().unwrap_or_default();
    left.split(", ")
}

/// All defects of the scripts of a kind.
fn halves_of(kind: &'static Traits) -> Vec<String> {
    let server = Arc::new(Server::start());
    server.view().command::<()>(&["ACL", "SETUSER", "some", "on", ">secret", "~*"]);
    let mut user = server.view();
    user.command::<()>(&["AUTH", "some", "secret"]);
    let all: Vec<_> = changes::of(kind).map(|change| carried_out(kind, &server, change)).collect();
    let texts: Vec<String> = all.iter().flat_map(|sent| sent.texts.clone()).collect();
    let mut wrong = Vec::new();
    let mut passes = 0;
    for sent in &all {
        let passing: Vec<Seen> = sent.calls.iter().filter_map(|call| passing_on(call, &texts)).collect();
        passes += passing.len();
        for call in sent.calls.iter().chain(&passing) {
            for (which, there) in [("", &sent.before), ("a repeat of ", &sent.after)] {
                let commands = commands_of(&server, there, call);
                let others = ["resetchannels", MEMORY].iter().filter(|_| !commands.is_empty());
                let missing =
                    commands.iter().map(|command| format!("-{command}")).chain(others.map(|other| other.to_string()));
                let left = missing.filter_map(|missing| without(&server, &mut user, there, call, &missing));
                wrong.extend(left.map(|left| format!("{which}{} {left}", sent.change.name)));
            }
        }
    }
    assert_eq!(passes > 0, kind.queue.passes(), "{}: {passes} calls that pass it on", kind.name);
    wrong.into_iter().map(|wrong| format!("{}: {wrong}", kind.name)).collect()
}

#[test]
fn a_script_of_any_kind_that_is_refused_a_command_has_changed_nothing() {
    let all = std::sync::Mutex::new(Vec::new());
    all_at_once(ALL.iter().map(|KindRow { traits: kind, .. }| {
        let all = &all;
        (kind.name.to_owned(), move || all.lock().expect("nothing panics while it is held").extend(halves_of(kind)))
    }));
    let all = all.into_inner().expect("nothing panicked");
    assert!(all.is_empty(), "{} scripts stopped half way:\n{}", all.len(), all.join("\n"));
}
