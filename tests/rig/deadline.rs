//! No test hangs.

use std::time::Duration;

use redlatch_tests::deadline;

#[test]
#[ignore = "it hangs, for the test of that"]
fn a_test_that_hangs() {
    deadline::within(Duration::from_millis(200));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                std::thread::park();
            }
        });
        panic!("no thread unparks it");
    });
}

#[test]
fn a_test_that_hangs_is_named_with_what_panicked() {
    let this = std::env::current_exe().expect("the system knows");
    let hung = std::process::Command::new(this)
        .args(["--ignored", "--exact", "deadline::a_test_that_hangs"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&hung.stderr);
    assert!(!hung.status.success());
    assert!(
        said.contains("deadline::a_test_that_hangs has not ended within 200ms")
            && said.contains("no thread unparks it"),
        "{said}"
    );
}
