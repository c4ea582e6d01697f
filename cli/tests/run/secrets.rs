//! The password of a URL is in no text, and no process but `redlatch` has it.

use redlatch_tests::{Options, Server};

use crate::process::{STAYS, warden};
use crate::{Running, run};

const SECRET: &str = "hunter2-is-the-word";

#[test]
fn no_report_has_the_password() {
    let server = Server::with(Options { password: Some("another".into()), ..Options::default() });
    let port = server.port();
    for (url, code) in [
        (format!("redis://:{SECRET}@127.0.0.1:{port}"), 77),
        (format!("redis://:{SECRET}@127.0.0.1:1"), 69),
        (format!("redis://:{SECRET}@no-such-host.invalid"), 69),
        (format!("redis://:{SECRET}@127.0.0.1:{port}?wat=1"), 64),
        (format!("nonsense://:{SECRET}@127.0.0.1:{port}"), 64),
        (format!("mysql://app:{SECRET}@127.0.0.1:1/app"), 69),
        (format!("zookeeper://app:{SECRET}@127.0.0.1:1"), 69),
    ] {
        for words in [vec!["n", "true"], vec!["--json", "n", "true"], vec!["--at-least", "1s", "n", "true"]] {
            let ended = run(&url, &words);
            assert!(ended.code == code || words.len() == 4, "{}: {}", ended.code, ended.told);
            assert!(!ended.told.is_empty() && !ended.told.contains(SECRET), "{}", ended.told);
            let ended = run("redis://127.0.0.1:1", &[&["--url", &url], &words[..]].concat());
            assert!(!ended.told.is_empty() && !ended.told.contains(SECRET), "{}", ended.told);
        }
    }
}

#[test]
fn neither_the_command_nor_the_warden_has_the_url() {
    let server = Server::with(Options { password: Some(SECRET.into()), ..Options::default() });
    let running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    for process in [running.number("pid"), warden(&running)] {
        for file in ["environ", "cmdline"] {
            let bytes = std::fs::read(format!("/proc/{process}/{file}")).expect("it lives");
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET) && !text.contains("REDLATCH_URL"), "{file}: {text}");
        }
    }
}
