//! Four processes with their timers a minute apart and their clocks three seconds. The server's clock is set to each time, so that no test
//! waits for it: times, leases and least times are those of real jobs.

use std::collections::BTreeMap;
use std::time::Instant;

use redlatch_tests::dice::Dice;
use redlatch_tests::{Clocks, Options, ms, secs};

use super::*;

const PERIODS: u64 = 1000;
const PERIOD: Duration = secs(60);
const AT_MOST: Duration = secs(600);
const AT_LEAST: Duration = secs(50);
/// How far the clocks of the nodes are behind.
const BEHIND: [u64; 4] = [0, 1, 2, 3];

/// The nodes and their server, whose clock the test sets.
struct Site {
    clocks: Clocks,
    server: Server,
    notes: Notes,
    at_least: Duration,
    nodes: Vec<Process>,
    began: Instant,
    ahead: Duration,
}

/// The answer of each node, in a period in which no node died.
type Answers = Vec<String>;

impl Site {
    fn new(at_least: Duration) -> Self {
        let clocks = Clocks::new();
        let server = Server::with(Options { program: Some(clocks.program("redis-server")), ..Options::default() });
        let notes = Notes::new();
        let nodes = BEHIND.map(|_| node(&server, AT_MOST, at_least, &notes)).into();
        Site { clocks, server, notes, at_least, nodes, began: Instant::now(), ahead: Duration::ZERO }
    }

    /// Sets the server's clock to a time since the beginning. It never goes back: a slow machine is a little late.
    fn set_time(&mut self, time: Duration) {
        self.ahead = self.ahead.max(time.saturating_sub(self.began.elapsed()));
        self.clocks.ahead(self.ahead);
    }

    /// Has the timer of each node go off when its own clock shows the period. Those of equal clocks go off at once.
    fn trigger(&mut self, period: u64, verb: &str, behind: &[u64], mut at_each_time: impl FnMut(&mut Self)) -> Answers {
        let mut answers = vec![String::new(); self.nodes.len()];
        let mut times: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        behind.iter().enumerate().for_each(|(node, behind)| times.entry(*behind).or_default().push(node));
        for (behind, nodes) in times {
            self.set_time(PERIOD * period as u32 + secs(behind));
            nodes.iter().for_each(|node| self.nodes[*node].tell(&format!("{verb} {period}")));
            nodes.iter().for_each(|node| answers[*node] = self.nodes[*node].hear());
            at_each_time(self);
        }
        answers
    }

    /// Runs a period whose work is over before the next clock shows it.
    fn run(&mut self, period: u64, behind: &[u64]) -> Answers {
        self.trigger(period, "run", behind, |_| {})
    }

    /// Runs a period whose work lasts until all clocks have shown it.
    fn run_long(&mut self, period: u64, behind: &[u64]) -> Answers {
        let mut answers = self.trigger(period, "begin", behind, |_| {});
        for (node, answer) in answers.iter_mut().enumerate().filter(|(_, answer)| *answer == "begun") {
            *answer = self.nodes[node].ask("end");
        }
        answers
    }

    /// Kills the node that runs a period in the middle of its work, and starts another one in its place.
    fn kill(&mut self, period: u64, behind: &[u64]) {
        let answers = self.trigger(period, "begin", behind, |_| {});
        assert_eq!(count(&answers), ["begun", "skipped", "skipped", "skipped"], "period {period}");
        let killed = answers.iter().position(|answer| answer == "begun").expect("it is one of them");
        // Its drop is a `kill -9`.
        self.nodes[killed] = node(&self.server, AT_MOST, self.at_least, &self.notes);
    }
}

fn count(answers: &Answers) -> Vec<&str> {
    let mut answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    answers.sort_unstable();
    answers
}

#[test]
fn each_of_a_thousand_periods_runs_once_on_four_nodes_whose_clocks_are_three_seconds_apart() {
    let mut site = Site::new(AT_LEAST);
    let mut dice = Dice::new(1, 0);
    for period in 0..PERIODS {
        // At first the clocks keep their distance, and then they drift.
        let behind = if period < PERIODS / 2 { BEHIND } else { BEHIND.map(|_| dice.below(4)) };
        let answers = match period % 10 {
            0 => site.run_long(period, &behind),
            _ => site.run(period, &behind),
        };
        assert_eq!(count(&answers), ["ran", "skipped", "skipped", "skipped"], "period {period}, {behind:?} s behind");
    }
    let all: Vec<u64> = (0..PERIODS).collect();
    assert_eq!((site.notes.periods("begun"), site.notes.periods("ended")), (all.clone(), all));
    let stats: Vec<String> = site.nodes.iter_mut().map(|node| node.ask("stats")).collect();
    let sum = |place| -> u64 {
        stats.iter().map(|stats| number(stats.split(' ').nth(place).expect("there are three"))).sum()
    };
    assert_eq!([0, 1, 2].map(sum), [PERIODS, 3 * PERIODS, 0], "{stats:?}");
    let server = site.ahead + site.began.elapsed();
    println!("{PERIODS} periods ran once each: {server:?} by the server's clock, {:?} by ours", site.began.elapsed());
}

/// A time of 600 s ends in the tenth period after the death.
#[test]
fn after_the_death_of_a_node_in_the_middle_the_job_runs_when_at_most_is_over_and_then_each_period() {
    let mut site = Site::new(AT_LEAST);
    let mut period = 0;
    for _ in 0..10 {
        site.kill(period, &BEHIND);
        for next in period + 1..period + 10 {
            assert_eq!(count(&site.run(next, &BEHIND)), ["skipped"; 4], "period {next}");
        }
        for next in period + 10..period + 15 {
            assert_eq!(count(&site.run(next, &BEHIND)), ["ran", "skipped", "skipped", "skipped"], "period {next}");
        }
        period += 15;
    }
    let is_run = |period: &u64| period % 15 >= 10;
    assert_eq!(site.notes.periods("ended"), (0..period).filter(is_run).collect::<Vec<_>>());
    let is_begun = |period: &u64| is_run(period) || period.is_multiple_of(15);
    assert_eq!(site.notes.periods("begun"), (0..period).filter(is_begun).collect::<Vec<_>>());
}

/// The times of these tests say something: with less of them a period runs twice.
#[test]
fn a_period_runs_twice_if_the_clocks_are_further_apart_than_at_least() {
    let mut site = Site::new(secs(2) - ms(500));
    assert_eq!(count(&site.run(0, &BEHIND)), ["ran", "ran", "skipped", "skipped"]);
    assert_eq!(count(&site.run(1, &[0, 1, 1, 1])), ["ran", "skipped", "skipped", "skipped"]);
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|e| panic!("`{word}`: {e}"))
}
