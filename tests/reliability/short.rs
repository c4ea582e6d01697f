//! Some failovers of each row that promises exclusion, and of one that promises to tell the holder.

use std::process::Command;

fn keeps_its_promise(row: &[&str]) {
    let run =
        Command::new(env!("CARGO_BIN_EXE_redlatch-failovers")).args(row).output().expect("it is built with the tests");
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}

#[test]
fn replicas_that_confirm_keep_two_holders_apart() {
    keeps_its_promise(&["sentinel", "2", "healthy", "wait(replicas=1)"]);
}

#[test]
fn a_quarantine_keeps_two_holders_apart_where_nothing_was_replicated() {
    keeps_its_promise(&["sentinel", "2", "cut", "none", "quarantine"]);
}

#[test]
fn a_holder_is_told_soon_where_nothing_was_replicated() {
    keeps_its_promise(&["sentinel", "2", "cut", "none"]);
}
