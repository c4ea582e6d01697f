//! The core's warnings to a log.

use std::sync::Mutex;

use redlatch_tests::oracle;
use tracing::Level;

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn hear() {
    oracle::hear(|heard| {
        if heard.level <= Level::WARN {
            HEARD.lock().expect("nothing panics while it is held").push(heard.message.clone());
        }
    });
}

/// All warnings that name this lock.
pub fn about(name: &str) -> Vec<String> {
    HEARD.lock().expect("nothing panics while it is held").iter().filter(|text| text.contains(name)).cloned().collect()
}
