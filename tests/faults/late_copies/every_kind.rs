//! Late copies for every kind: each call of a client arrives once more, at a server in the same state as before.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use redlatch::ffi::kinds::{KindRow, Traits};

use super::*;
use crate::calls::{Sent, again, carried_out, seen_so_far};
use crate::changes::{self, Stage};

/// Whether the reply says that the call came too late.
fn is_refused(reply: &redis::Value) -> bool {
    matches!(reply, redis::Value::Array(items) if items.first() == Some(&redis::Value::Int(-2)))
}

/// Sends all copies when they are late: nothing may change, and no message may be published.
fn come_late(kind: &Traits, server: &Server, sent: &Sent) {
    let mut view = server.view();
    let because = format!("{}: {}", kind.name, sent.change.name);
    let mut refused = 0;
    for call in &sent.calls {
        sent.before.put_back(&mut view);
        let before = Contents::of(&mut view);
        view.forget_calls();
        let reply = again(&mut view, call);
        let told = view.calls().keys().filter(|name| name.ends_with("publish")).cloned().collect::<Vec<_>>();
        let changed = before.changed(&Contents::of(&mut view));
        assert!(
            changed.is_empty() && told.is_empty(),
            "{because}: a late copy is answered {reply:?}; {changed:?}, {told:?}"
        );
        refused += usize::from(is_refused(&reply));
    }
    assert!(refused > 0, "{because}: none of {} calls was refused", sent.calls.len());
}

/// The scripts that change something: those with an end to their validity. The end is their own, or that of all
/// renewals.
fn changing_scripts(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let is_fragment = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'));
        if entry.is_dir() {
            all.extend(changing_scripts(&entry));
        } else if !is_fragment && entry.extension().is_some_and(|end| end == "lua") {
            let text = std::fs::read_to_string(&entry).expect("a text");
            all.extend((text.contains("not_after") || text.contains("return renew(")).then_some(entry));
        }
    }
    all
}

#[test]
fn a_late_copy_of_any_change_of_any_kind_changes_nothing_and_tells_no_waiter() {
    let texts = Mutex::new(BTreeSet::new());
    all_at_once(changes::kinds().map(|KindRow { traits: kind, .. }| {
        let texts = &texts;
        let job = move || {
            let server = Arc::new(Server::start());
            let sent: Vec<_> = changes::of(kind).map(|change| carried_out(kind, &server, change)).collect();
            texts
                .lock()
                .expect("nothing panics while it is held")
                .extend(sent.iter().flat_map(|sent| sent.texts.clone()));
            let mut view = server.view();
            let last = clock_of(&mut view);
            // No call is valid for longer than its client's response timeout, which is 1 s.
            eventually("the end of their validity", || (clock_of(&mut view) > last + ms(1_100)).then_some(()));
            sent.iter().for_each(|sent| come_late(kind, &server, sent));
        };
        (kind.name.to_owned(), job)
    }));
    let texts = texts.into_inner().expect("nothing panicked");
    let scripts = changing_scripts(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../core/scripts")));
    assert!(scripts.len() > 30, "only {} scripts change something", scripts.len());
    for script in scripts {
        let file = std::fs::read_to_string(&script).expect("a text");
        assert!(texts.iter().any(|text| text.ends_with(&file)), "no change of the table sends {}", script.display());
    }
}

/// The time on the server's clock.
fn clock_of(view: &mut View) -> Duration {
    let (seconds, micros): (u64, u64) = view.command(&["TIME"]);
    secs(seconds) + Duration::from_micros(micros)
}

#[test]
fn a_second_copy_of_a_forced_release_of_any_kind_evicts_no_other_holder() {
    let forced = changes::kinds()
        .filter(|KindRow { traits: kind, .. }| changes::of(kind).any(|change| change.name == "forced release"));
    all_at_once(forced.map(|KindRow { traits: kind, .. }| {
        let job = move || {
            let server = Arc::new(Server::start());
            // On a busy machine the copy may come too late to change anything.
            eventually("a copy in time", || evicts_no_other(kind, &server).then_some(()));
        };
        (kind.name.to_owned(), job)
    }));
}

/// False: the copy came too late.
fn evicts_no_other(kind: &'static Traits, server: &Arc<Server>) -> bool {
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let one = Stage::new(kind, server);
    let other = Stage::new(kind, server);
    one.take();
    let mut monitor = server.monitor();
    one.force();
    let calls = seen_so_far(&mut view, &mut monitor);
    other.take();
    let mut in_time = true;
    for call in calls {
        let before = Contents::of(&mut view);
        let reply = again(&mut view, &call);
        let changed = before.changed(&Contents::of(&mut view));
        assert!(changed.is_empty(), "{}: a second copy is answered {reply:?}; {changed:?}", kind.name);
        in_time &= !is_refused(&reply);
    }
    other.give(0);
    in_time
}

#[test]
fn a_forced_release_whose_reply_is_lost_evicts_no_waiter_that_came_in_meanwhile() {
    let exclusive = changes::kinds().filter(|KindRow { traits: kind, .. }| kind.exclusive);
    all_at_once(exclusive.map(|KindRow { traits: kind, .. }| {
        let job = move || {
            let server = Arc::new(Server::start());
            // Without that right the repeat comes 1 s after the first copy, long after a waiter that is awake has
            // tried.
            server.view().command::<()>(&["ACL", "SETUSER", "default", "-client|kill"]);
            let [holder, other, third] = [(); 3].map(|()| Stage::new(kind, &server));
            // With this call the server knows the script.
            holder.take();
            third.force();
            holder.take();
            let waiter = other.heir();
            eventually("a waiter", || other.waits().then_some(()));
            third.lose_second_reply();
            third.force();
            assert!(waiter.recv_timeout(PATIENCE).expect("it is free").expect("no error").done);
            assert!(server.view().exists("n"), "{}: the waiter was evicted as well", kind.name);
        };
        (kind.name.to_owned(), job)
    }));
}
