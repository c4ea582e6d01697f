//! The calls with which a client carries out a change, recorded so that a test can send them again.

use std::sync::Arc;

use redlatch::ffi::kinds::Traits;

use super::*;
use crate::changes::{Change, Stage};

/// A client's calls for one change, and the server's contents before and after it.
pub struct Sent {
    pub change: &'static Change,
    pub before: Contents,
    pub after: Contents,
    pub calls: Vec<Seen>,
    /// The texts of the scripts that the client sent, in this change and before.
    pub texts: Vec<String>,
}

/// Carries out a change on an empty server, and records the calls.
pub fn carried_out(kind: &'static Traits, server: &Arc<Server>, change: &'static Change) -> Sent {
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let stage = Stage::new(kind, server);
    let mut monitor = server.monitor();
    (change.before)(&stage);
    // An undo is about the client's remembered requests, so they stay.
    if change.name != "undo" {
        stage.settled(&mut view);
    }
    let before = Contents::of(&mut view);
    let earlier = seen_so_far(&mut view, &mut monitor);
    (change.change)(&stage);
    let after = Contents::of(&mut view);
    assert!(!before.changed(&after).is_empty(), "{}: {} changes nothing", kind.name, change.name);
    stage.client.close_blocking(Holds::Keep);
    let calls = seen_so_far(&mut view, &mut monitor);
    let texts = earlier.iter().chain(&calls).filter(|call| call.name() == "eval").map(|call| call.text(1)).collect();
    Sent { change, before, after, calls, texts }
}

/// The script calls that the server has carried out since the last question.
pub fn seen_so_far(view: &mut View, monitor: &mut Monitor) -> Vec<Seen> {
    view.command::<()>(&["ECHO", "so far"]);
    let seen = monitor.seen_until("so far");
    seen.into_iter().filter(|one| ["eval", "evalsha"].contains(&one.name().as_str())).collect()
}

/// Sends a call again unchanged, over a connection of its own, and returns the server's reply.
pub fn again(view: &mut View, call: &Seen) -> redis::Value {
    let mut command = redis::Cmd::new();
    command.arg(&call.words);
    view.run(&command)
}

/// The same call as if it were sent now: every time in it that lies near its sending moves on by as much.
pub fn in_time(view: &mut View, call: &Seen) -> Seen {
    let (seconds, micros): (i64, i64) = view.command(&["TIME"]);
    let now = seconds * 1000 + micros / 1000;
    let sent = call.at.as_millis() as i64;
    let is_of_then = |time: &i64| (sent - 1_000..sent + 30_000).contains(time);
    let later = |word: &Vec<u8>| {
        let time = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).filter(is_of_then);
        time.map_or_else(|| word.clone(), |time| (time - sent + now).to_string().into_bytes())
    };
    Seen { words: call.words.iter().map(later).collect(), ..call.clone() }
}
