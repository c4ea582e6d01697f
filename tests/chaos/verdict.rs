//! Compares all histories, and prints a table of the faults, the events, and the violations.

use std::path::Path;
use std::time::Duration;

use redlatch_tests::check::{self, Attempt, End, Fault, Limits, Violations};
use redlatch_tests::clock::ns;
use redlatch_tests::history;
use redlatch_tests::traffic::{Counters, Kind, LONGEST_LEASE, OWN_KEYS};

use crate::fleet::{RESPONSE, RETRY};
use crate::residue::Residue;

/// How much later than promised a call may return on a busy machine.
const GRACE: Duration = Duration::from_millis(1000);
/// How long a waiter may take to enter the queue of a fair lock. Episodes of a short run are hardly longer.
const QUEUE: Duration = Duration::from_millis(500);
/// How long a lock may be free while a waiter waits for it: a call in doubt is repeated after a second.
const IDLE: Duration = Duration::from_millis(2000);
/// How long after a fault of the network or the server calls may still be in doubt.
const SETTLE: Duration = Duration::from_millis(3000);
/// How long after a DEL its holder may still believe. The server reports it within ms; the rest is for a busy machine.
const TOLD: Duration = Duration::from_millis(1000);

pub struct Run<'a> {
    pub dir: &'a Path,
    pub histories: Vec<std::path::PathBuf>,
    pub faults: Vec<Fault>,
    pub done: std::collections::BTreeMap<&'static str, u64>,
    pub residue: Residue,
    /// Violations that were seen during the run.
    pub seen: Vec<String>,
    pub lasted: Duration,
    /// The open files and threads at the first rest and at the last.
    pub burden: [(usize, usize); 2],
    /// How often the machine stood still.
    pub still: usize,
    pub struck: usize,
    pub replies: [usize; 2],
}

impl Run<'_> {
    /// Prints the table; true: nothing is wrong.
    pub fn judge(self) -> bool {
        let limits = Limits {
            grace: ns(GRACE),
            call: ns(RETRY + RESPONSE),
            queue: ns(QUEUE),
            idle: ns(IDLE),
            settle: ns(SETTLE),
            lease: ns(LONGEST_LEASE + GRACE),
            told: ns(TOLD),
        };
        let faults = self.faults.iter().map(|fault| format!("{fault:?}\n")).collect::<String>();
        std::fs::write(self.dir.join("faults"), faults).expect("the disk has room");
        let entries: Vec<_> = self.histories.iter().map(|path| history::read(path)).collect();
        let attempts = check::assemble(&entries, &self.faults);
        drop(entries);
        let counters = Counters::in_dir(self.dir);
        let exclusion = check::exclusion(&attempts, &self.faults, &limits);
        let counted = check::counter(&attempts, &self.faults, |key| counters.read(key));
        let counts = check::counts(&attempts, &self.faults);
        let waits = check::waits(&attempts, &self.faults, &limits);
        let losses = check::losses(&attempts, &self.faults, &limits);
        let releases = check::releases(&attempts, &self.faults, &limits);
        let tokens = check::tokens(&attempts, &self.faults);
        let handover = check::handover(&attempts, &self.faults, &limits);
        let order = check::order(&attempts, &self.faults, &limits);
        let permits = check::permits(&attempts, &self.faults, &self.residue.counts, &limits);

        row("processes", self.histories.len());
        let acquisitions = attempts.iter().filter(|attempt| attempt.hold.is_some()).count();
        row("acquisitions", acquisitions);
        for kind in Kind::all().into_iter().collect::<std::collections::BTreeSet<_>>() {
            let taken = |attempt: &&Attempt| attempt.hold.is_some() && Kind::of(attempt.key) == kind;
            row(&format!("  {kind:?}").to_lowercase(), attempts.iter().filter(taken).count());
        }
        let contended = attempts.iter().filter(|attempt| attempt.key < OWN_KEYS && attempt.hold.is_some()).count();
        row("  of locks that others want too", contended);
        row("  a second", acquisitions as u64 / self.lasted.as_secs().max(1));
        row("waits that ran out, tries in vain", waits.not_now);
        row("acquires cancelled", waits.dropped);
        row("acquires that failed", waits.failed);
        codes(&attempts).iter().for_each(|(code, count)| row(&format!("  {code}"), count));
        row("  of red locks whose servers took too long", waits.unheard);
        row("acquires cut off with their process", waits.cut_off);
        row("releases that returned", releases.codes.values().sum::<u64>());
        releases.codes.iter().for_each(|(code, count)| row(&format!("  {code}"), count));
        for (what, count) in &self.done {
            row(what, count);
        }
        row("times that the machine stood still", self.still);
        row("packets lost one by one", self.struck);
        row("  replies to scripts cut off", self.replies[0]);
        row("replies to scripts later than waited for", self.replies[1]);
        println!();
        row("latest return after the end of a wait", time(waits.latest));
        println!("    {}", waits.latest_one);
        row("hand-over to a waiter, p50", time(at(&handover.took, 50, 100)));
        row("  p99", time(at(&handover.took, 99, 100)));
        row("  max", time(at(&handover.took, 1, 1)));
        println!("    {}", handover.longest);
        row("the same with subscribers killed, p99", time(at(&handover.took_killed, 99, 100)));
        row("  max", time(at(&handover.took_killed, 1, 1)));
        row("holds returned after their deadline", exclusion.stale);
        row("overlaps after DEL, FLUSHALL, restart", exclusion.behind_the_back);
        row("acquires under way while another believed", exclusion.near);
        losses.reasons.iter().for_each(|(reason, count)| row(&format!("holds lost: {reason}"), count));
        row("believed on after a DEL, p50", time(at(&exclusion.believed, 50, 100)));
        row("  max", time(at(&exclusion.believed, 1, 1)));
        row("sections that were whole", counted.whole);
        row("  broken ones, steps that they explain", format!("{}, {}", counted.broken, counted.explained));
        row("  counters in the end", counted.shows);
        row("counts asked of the server", counts.asked);
        row("fencing tokens drawn", tokens.drawn);
        row("  steps back after FLUSHALL, restart", tokens.behind_the_back);
        row("holds of fair locks compared in their order", order.holds);
        row("permits taken", permits.taken);
        row("  gone with killed processes, at least", permits.of_the_dead);
        row("  counts after DEL, FLUSHALL, restart", permits.behind_the_back);
        row("orphans given back late, at most", format!("{}, {:.3?}", self.residue.orphans, self.residue.longest));
        row("holds left by the dead", self.residue.of_the_dead);
        row("  places in queues, remembered calls", self.residue.traces);
        row("open files and threads, first / last", format!("{:?} / {:?}", self.burden[0], self.burden[1]));
        println!();
        let told = [
            ("two held it at once", &exclusion.violations),
            ("updates lost", &counted.violations),
            ("counts that the server has not", &counts.violations),
            ("tokens that do not rise", &tokens.violations),
            ("overtaken before a fair lock", &order.violations),
            ("permits too many or too few", &permits.violations),
            ("holds lost for no reason", &losses.violations),
            ("believed too long after a DEL", &exclusion.untold),
            ("releases that failed", &releases.violations),
            ("calls that returned too late or never", &waits.violations),
            ("locks left free while a waiter waited", &handover.violations),
            ("left in the server", &listed(self.residue.violations)),
            ("the statements of the oracle, and others", &listed(self.seen)),
        ];
        for (what, violations) in told {
            row(&format!("VIOLATIONS: {what}"), violations.count);
            violations.words.iter().for_each(|words| println!("    {words}"));
        }
        told.iter().all(|(_, violations)| violations.count == 0)
    }
}

fn listed(words: Vec<String>) -> Violations {
    Violations { count: words.len() as u64, words }
}

fn row(what: &str, value: impl std::fmt::Display) {
    println!("{what:<44} {value:>14}");
}

fn time(ns: u64) -> String {
    format!("{:.2?}", Duration::from_nanos(ns))
}

/// The value below which this share of a sorted list lies.
fn at(sorted: &[u64], share: usize, of: usize) -> u64 {
    sorted.get((sorted.len() * share / of).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn codes(attempts: &[Attempt]) -> std::collections::BTreeMap<&str, u64> {
    let mut codes = std::collections::BTreeMap::new();
    for attempt in attempts {
        if let Some((_, End::Failed { code, .. })) = &attempt.end {
            *codes.entry(code.as_str()).or_default() += 1;
        }
    }
    codes
}
