//! The same for every kind: a call whose reply is lost is sent again, and its caller is told what the first copy was answered.

use std::sync::Arc;

use redlatch::kinds::{ALL, Traits};

use super::*;
use crate::changes::{self, Change, Stage};

/// An undo is what follows on a reply that was lost; and nobody names the keys that match a pattern: a repeat counts those that are there then.
const OTHERS: [&str; 2] = ["undo", "delete what matches"];

/// Carries out a change; `loses`: the reply to the first call of it does not come.
fn is_told(kind: &'static Traits, server: &Arc<Server>, change: &Change, loses: bool) {
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let stage = Stage::new(kind, server);
    (change.before)(&stage);
    stage.settled(&mut view);
    if loses {
        stage.lose_next_reply();
    }
    // It asserts what it is answered.
    (change.change)(&stage);
    if loses {
        // The server may have carried it out before its reply is lost.
        eventually("a reply that is lost", || (stage.struck() > 0).then_some(()));
    }
    stage.client.close(false);
}

#[test]
fn a_caller_of_any_change_of_any_kind_whose_reply_is_lost_is_told_what_the_first_copy_did() {
    all_at_once(ALL.iter().flat_map(|(kind, _)| changes::of(kind).map(move |change| (kind, change))).filter_map(|(kind, change)| {
        let job = move || {
            let server = Arc::new(Server::start());
            // Now the server knows the scripts.
            is_told(kind, &server, change, false);
            is_told(kind, &server, change, true);
        };
        (!OTHERS.contains(&change.name)).then(|| (format!("{}: {}", kind.name, change.name), job))
    }));
}
