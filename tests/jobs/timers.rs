//! Four processes that run a job by timers of their own, all at once and in real time. A busy machine delays them, so the test judges what
//! happened by the times at which it did.

use std::ops::Range;
use std::time::Instant;

use redlatch_tests::{clock, deadline, eventually, ms, secs};

use super::*;

const NODES: u64 = 4;
/// A minute in small: the clocks are apart by 3 s of 60 s. The rest is shared by the two errors that a delay may cause: a period that runs twice,
/// and one that all nodes skip.
const PERIOD: Duration = ms(100);
const APART: Duration = ms(5);
const AT_LEAST: Duration = ms(52);
const AT_MOST: Duration = secs(1);
/// The periods that the nodes play in one go.
const LAP: u64 = 25;
/// A key ends with a whole ms, and the client's clock is another one than the server's.
const ROUNDING: u64 = 2_000_000;

/// One call of a node's timer. Times are those of [`clock::now`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Call {
    period: u64,
    called: u64,
    /// 0: the work was not begun.
    begun: u64,
    answered: u64,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Ran,
    Skipped,
    Lost,
    Killed,
}

impl Call {
    fn read(period: u64, line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let time = |place: usize| words[place].parse().unwrap_or_else(|e| panic!("`{line}`: {e}"));
        let end = match words[3] {
            "ran" => End::Ran,
            "skipped" => End::Skipped,
            "lost" => End::Lost,
            "dying" => End::Killed,
            _ => panic!("period {period}: {line}"),
        };
        Call { period, called: time(0), begun: time(1), answered: time(2), end }
    }

    fn is_run(&self) -> bool {
        self.begun > 0
    }

    /// The time before which no other run begins.
    fn keeps_from(&self) -> u64 {
        match self.end {
            End::Skipped | End::Lost => 0,
            End::Ran => self.called + clock::ns(AT_LEAST) - ROUNDING,
            End::Killed => self.called + clock::ns(AT_MOST) - ROUNDING,
        }
    }

    /// The time from which the job is free again.
    fn frees_at(&self) -> u64 {
        let time = if self.end == End::Killed { AT_MOST } else { AT_LEAST };
        self.answered + clock::ns(time) + ROUNDING
    }
}

/// Has the nodes play some periods. In the first one the node that runs it may be killed in the middle of its work; the others go on.
fn lap(
    server: &Server,
    notes: &Notes,
    nodes: &mut [Process],
    periods: Range<u64>,
    apart: Duration,
    kills: bool,
) -> Vec<Call> {
    let Range { start, end } = periods;
    let deadly = if kills { start } else { u64::MAX };
    // The nodes begin a little later, so that all have heard.
    let origin = clock::now() + clock::ns(ms(50)) - start * clock::ns(PERIOD);
    for (number, node) in nodes.iter_mut().enumerate() {
        let behind = apart * number as u32 / (NODES as u32 - 1);
        let times = format!("{} {}", PERIOD.as_millis(), behind.as_millis());
        node.tell(&format!("tick {origin} {times} {start} {end} {deadly}"));
    }
    let mut calls = Vec::new();
    let mut killed = None;
    for period in start..end {
        for (number, node) in nodes.iter_mut().enumerate() {
            if killed == Some(number) {
                continue;
            }
            let mut call = Call::read(period, &node.hear());
            if call.end == End::Killed {
                node.signal("KILL");
                call.answered = clock::now();
                killed = Some(number);
            }
            calls.push(call);
        }
    }
    if let Some(number) = killed {
        nodes[number] = node(server, AT_MOST, AT_LEAST, notes);
    }
    calls
}

/// Checks the rules that hold at any pace. Returns the sorted runs.
fn judge(calls: &[Call]) -> Vec<Call> {
    let mut runs: Vec<Call> = calls.iter().filter(|call| call.is_run()).copied().collect();
    runs.sort_by_key(|run| run.begun);
    for pair in runs.windows(2) {
        assert!(pair[1].begun >= pair[0].keeps_from(), "the first of these runs kept no time for itself: {pair:#?}");
    }
    for call in calls {
        match call.end {
            End::Ran | End::Killed => {}
            End::Lost => {
                assert!(call.answered - call.called > clock::ns(AT_MOST) / 2, "lost without a cause: {call:?}")
            }
            End::Skipped => {
                let is_cause = |run: &Call| run.called <= call.answered && call.called <= run.frees_at();
                assert!(runs.iter().any(is_cause), "no other node had the job, and yet it was skipped: {call:?}");
            }
        }
    }
    runs
}

/// The periods that no delay has disturbed: the timers of all nodes went off before the least time of the run was over, and when that of the
/// run before was.
fn on_time(calls: &[Call], runs: &[Call]) -> Vec<u64> {
    let periods = calls.iter().map(|call| call.period);
    let of = |period| calls.iter().filter(move |call: &&Call| call.period == period);
    let is_on_time = |period: u64| {
        let first = of(period).map(|call| call.called).min().expect("it has calls");
        let last =
            of(period).map(|call| if call.is_run() { call.begun } else { call.answered }).max().expect("it has calls");
        let before = runs.iter().filter(|run| run.period < period).map(Call::frees_at).max().unwrap_or_default();
        last < first + clock::ns(AT_LEAST) - ROUNDING && first > before
    };
    let mut periods: Vec<u64> = periods.filter(|period| is_on_time(*period)).collect();
    periods.sort_unstable();
    periods.dedup();
    periods
}

/// `REDLATCH_PERIODS=1000` plays so many; without it the test plays a tenth. A period that the machine has delayed is judged as well, but does not
/// count.
#[test]
fn each_period_runs_once_by_the_timers_of_four_nodes_of_which_some_are_killed() {
    deadline::within(secs(1800));
    let wanted = std::env::var("REDLATCH_PERIODS").map_or(100, |count| count.parse().expect("a number of periods"));
    let server = Server::start();
    let notes = Notes::new();
    let mut nodes: Vec<Process> = (0..NODES).map(|_| node(&server, AT_MOST, AT_LEAST, &notes)).collect();
    let mut played = 0;
    let mut good = 0;
    let mut all = Vec::new();
    let began = Instant::now();
    for number in 0.. {
        if good >= wanted {
            break;
        }
        let apart = if number % 2 == 0 { APART } else { Duration::ZERO };
        let calls = lap(&server, &notes, &mut nodes, played..played + LAP, apart, number % 4 == 1);
        played += LAP;
        let runs = judge(&calls);
        for period in on_time(&calls, &runs) {
            let runs: Vec<&Call> = runs.iter().filter(|run| run.period == period).collect();
            assert_eq!(runs.len(), 1, "period {period}: {runs:#?}");
            good += 1;
        }
        all.extend(runs);
        // The next lap finds the job free.
        let mut view = server.view();
        eventually("the end of the last run", || (!view.exists(KEY)).then_some(()));
    }
    // The nodes note what they answer.
    let sorted = |mut periods: Vec<u64>| {
        periods.sort_unstable();
        periods
    };
    let of = |is_it: fn(&Call) -> bool| sorted(all.iter().filter(|run| is_it(run)).map(|run| run.period).collect());
    assert_eq!(sorted(notes.periods("begun")), of(|_| true));
    assert_eq!(sorted(notes.periods("ended")), of(|run| run.end != End::Killed));
    let kills = of(|run| run.end == End::Killed).len();
    let lost = of(|run| run.end == End::Lost).len();
    let again = all.windows(2).filter(|pair| pair[0].period == pair[1].period);
    let apart = |from: u64, to: u64| Duration::from_nanos(to - from);
    let again: Vec<[Duration; 2]> =
        again.map(|pair| [apart(pair[0].called, pair[1].called), apart(pair[0].begun, pair[1].begun)]).collect();
    println!(
        "{good} periods were on time and ran once each, {} of {played} were late or in the time of a dead node; {} runs in {:?}, {kills} kills, \
         {lost} lost; the times between the calls of a period that ran twice, and between its works: {again:?}",
        played - good,
        all.len(),
        began.elapsed(),
    );
}
