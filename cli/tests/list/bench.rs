//! `redlatch bench`: its figures, and what it leaves behind.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use redlatch_tests::{Mariadb, Server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{command, redlatch};

fn figures(url: &str) -> Vec<Value> {
    let (code, out, told) = redlatch(url, &["bench", "--json", "--time", "100ms"]);
    assert_eq!((code, told.as_str()), (0, ""), "{out}");
    out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}"))).collect()
}

#[test]
fn five_figures_are_told_and_nothing_is_left() {
    let server = Server::start();
    let figures = figures(&server.url());
    let about: Vec<&str> = figures.iter().filter_map(|figure| figure["about"].as_str()).collect();
    assert_eq!(about, ["answer", "alone", "hand-over", "one lock", "many locks"]);
    for figure in &figures {
        let number = |key: &str| figure[key].as_f64();
        let is_counted = number("acquires_per_second").is_some_and(|rate| rate > 1.0);
        let is_timed =
            number("median_us").zip(number("p99_us")).is_some_and(|(median, p99)| 0.0 < median && median <= p99);
        assert!(is_counted || is_timed, "{figure}");
    }
    assert!(figures[1]["times_answer"].is_number(), "{figures:?}");
    assert_eq!(server.view().keys("*"), Vec::<String>::new());
    let (code, out, _) = redlatch(&server.url(), &["bench", "--time", "50ms"]);
    assert_eq!((code, out.lines().count()), (0, 5), "{out}");
    assert!(out.contains("× an answer") && out.contains("acquires a second"), "{out}");
}

#[test]
fn a_signal_ends_it_and_leaves_no_lock() {
    let server = Server::start();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for figures in 1..5 {
            let mut bench = command(&server.url(), &["bench", "--time", "500ms"]);
            let mut bench = bench.stdout(Stdio::piped()).spawn().expect("it starts");
            let mut out = BufReader::new(bench.stdout.take().expect("it is a pipe"));
            for _ in 0..figures {
                out.read_line(&mut String::new()).expect("it is text");
            }
            kill_process(Pid::from_child(&bench), signal).expect("it runs");
            assert_eq!(bench.wait().expect("it is a child").code(), Some(code), "after {figures} figures");
            assert_eq!(server.view().keys("*"), Vec::<String>::new(), "after {figures} figures");
        }
    }
}

#[test]
fn another_system_is_measured_as_well_and_a_silent_one_is_told() {
    let mariadb = Mariadb::start();
    assert_eq!(figures(&mariadb.url()).len(), 5);
    let (code, out, told) = redlatch("redis://127.0.0.1:1", &["bench"]);
    assert_eq!((code, out.as_str()), (69, ""), "{told}");
    let (code, _, told) = redlatch(&mariadb.url(), &["bench", "--time", "0"]);
    assert!(code == 64 && told.contains("--time") && told.contains("10ms"), "{told}");
}
