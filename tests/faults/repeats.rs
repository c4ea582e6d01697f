//! Repeated calls for every kind: a call whose reply is lost is sent again, and its caller gets the first copy's
//! answer.

use std::sync::Arc;

use redlatch::ffi::kinds::{KindRow, Traits};

use super::*;
use crate::changes::{self, Change, Stage};

/// Excluded: an undo follows on a lost reply, and the deletion of keys by a pattern counts the keys that are there at
/// its repeat.
const OTHERS: [&str; 2] = ["undo", "delete what matches"];

/// Carries out a change; `loses`: the reply to its first call is lost.
fn is_told(kind: &'static Traits, server: &Arc<Server>, change: &Change, loses: bool) {
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let stage = Stage::new(kind, server);
    (change.before)(&stage);
    stage.settled(&mut view);
    if loses {
        stage.lose_next_reply();
    }
    // The change asserts its own answer.
    (change.change)(&stage);
    if loses {
        // The server may carry out the change before the proxy loses its reply.
        eventually("a reply that is lost", || (stage.struck() > 0).then_some(()));
    }
    stage.client.close_blocking(Holds::Keep);
}

#[test]
fn a_caller_whose_reply_is_lost_gets_the_first_copys_answer_for_any_change() {
    all_at_once(
        changes::kinds()
            .flat_map(|KindRow { traits: kind, .. }| changes::of(kind).map(move |change| (kind, change)))
            .filter_map(|(kind, change)| {
                let job = move || {
                    let server = Arc::new(Server::start());
                    // With this call the server knows the scripts.
                    is_told(kind, &server, change, false);
                    is_told(kind, &server, change, true);
                };
                (!OTHERS.contains(&change.name)).then(|| (format!("{}: {}", kind.name, change.name), job))
            }),
    );
}
