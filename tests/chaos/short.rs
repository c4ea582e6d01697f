//! Every family of faults once, always with the same seed.

use std::process::Command;

#[test]
fn a_short_run_under_every_fault_finds_nothing_wrong() {
    let run = Command::new(env!("CARGO_BIN_EXE_redlatch-chaos"))
        .args(["40", "1"])
        .output()
        .expect("it is built with the tests");
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}
