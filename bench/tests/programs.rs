//! Each of the measuring programs here carries out its orders of a run. The bare ones send scripts of the core by hand,
//! and must be kept in step with them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use redlatch_tests::Server;

struct Program {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn start(way: &str, server: &Server) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_redlatch-bench"))
            .args([way, &server.url()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let answers = BufReader::new(process.stdout.take().expect("it is piped"));
        Program { process, answers }
    }

    fn tell(&mut self, order: &str) {
        writeln!(self.process.stdin.as_ref().expect("it is piped"), "{order}").expect("it reads");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it writes text");
        line
    }

    /// The name and the first number of its answer.
    fn hear(&mut self) -> (String, u64) {
        let line = self.answer();
        let (name, numbers) = line.split_once('=').expect("it has not ended");
        let digits: String = numbers.chars().take_while(char::is_ascii_digit).collect();
        (name.to_owned(), digits.parse().expect("it is a number"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().expect("it was started");
    }
}

/// Carries an order out for no time at all, which is once.
#[track_caller]
fn carries_out(way: &str, orders: &[&str]) {
    let server = Server::start();
    let mut program = Program::start(way, &server);
    for order in orders {
        program.tell(&format!("{order} name=a from=0 until=0"));
        let (name, count) = program.hear();
        assert!(name == "pairs" && count > 0, "{way} answers `{name}={count}` to `{order}`");
    }
}

/// Nanoseconds of the clock of the orders.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[track_caller]
fn hands_over(way: &str) {
    let server = Server::start();
    let mut both = [0, 1].map(|_| Program::start(way, &server));
    for (starts, program) in both.iter_mut().enumerate() {
        program.tell(&format!("handover name=a times=2 hold=1 gap=1 starts={starts}"));
    }
    for program in &mut both {
        let (name, time) = program.hear();
        assert!(name == "taken" && time > 0, "{way} answers `{name}={time}`");
    }
}

#[test]
fn the_floor() {
    carries_out("floor", &["first", "solo", "own callers=3"]);
    hands_over("floor");
}

#[test]
fn the_ceiling() {
    carries_out("ceiling", &["first", "own callers=3"]);
}

#[test]
fn what_a_lock_cannot_do_without() {
    carries_out("bare", &["first"]);
    hands_over("bare");
}

/// The numbers of the answer to a crowd's order: acquisitions, and changes of the owner.
#[track_caller]
fn crowds(way: &str, workers: u64, hold: u64) -> (u64, u64) {
    let server = Server::start();
    let mut program = Program::start(way, &server);
    let until = now() + 200_000_000;
    program.tell(&format!("crowd name=a workers={workers} hold={hold} from=0 until={until}"));
    let answer = program.answer();
    let numbers = |name: &str| -> Vec<u64> {
        let word = answer.split_whitespace().find_map(|word| word.strip_prefix(&format!("{name}=")));
        let list = word.unwrap_or_else(|| panic!("{way} leaves out `{name}` in `{answer}`"));
        list.split(',').map(|number| number.parse().expect("it is a number")).collect()
    };
    let taken = numbers("taken");
    let changes = numbers("changes");
    assert_eq!(taken.len() as u64, workers, "{way}: {answer}");
    let [p50, p99, longest] = ["p50", "p99", "longest"].map(|name| numbers(name)[0]);
    assert!(p50 <= p99 && p99 <= longest, "{way}: {answer}");
    (taken.iter().sum(), changes[0])
}

#[test]
fn a_crowd() {
    for way in ["blocking", "async"] {
        for hold in [0, 1] {
            let (taken, changes) = crowds(way, 3, hold);
            assert!(changes <= taken, "{way}: {changes} changes in {taken} acquisitions");
            assert_eq!(crowds(way, 1, hold).1, 0, "{way}: one worker is no change");
        }
    }
}

#[test]
fn this_library() {
    for way in ["blocking", "async"] {
        carries_out(way, &["first", "solo", "own callers=3"]);
    }
    hands_over("blocking");
}
