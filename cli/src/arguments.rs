//! The words of the command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, ValueEnum};
use redlatch::PermitId;

use crate::ending::{Failure, NOT_ACQUIRED};
use crate::reports::Style;
use crate::times;
use crate::watch::SHORTEST_INTERVAL;

/// The shortest lease. A shorter one would leave no time to end the command in.
const SHORTEST: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_secs(5);

/// Distributed locks from a shell: of Redis, Valkey, MySQL, MariaDB and ZooKeeper
#[derive(Parser)]
#[command(name = "redlatch", version)]
pub struct Redlatch {
    #[command(subcommand)]
    pub subcommand: Subcommand,
}

#[derive(clap::Subcommand)]
pub enum Subcommand {
    Run(Box<Run>),
    Elect(Box<Elect>),
    Ls(Ls),
    Who(Who),
    Release(Release),
    Tail(Tail),
    Top(Top),
    Serve(Serve),
    Doctor(Doctor),
    Server(Server),
    Bench(Bench),
    Completions(Completions),
    #[command(name = "man")]
    Manual(Manual),
}

/// Lists the locks that are held, of every client and of Redisson
///
/// Locks that are waited for are found at once. The rest takes a look at all keys, with a tenth of the server's time at most: a million
/// keys take about half a minute. Redis does not know for how long a lock has been held. A question mark behind a kind says that the
/// key may be something else.
#[derive(Args)]
pub struct Ls {
    /// The server, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// The names: `*` stands for any text, `?` for a character, `[ab]` for one of these
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = pattern)]
    pub pattern: String,
}

/// Tells who holds a lock, and who waits for it
#[derive(Args)]
#[command(after_help = "Exit codes: 0 held; 1 free; 69 server unreachable; 77 not allowed; 64 usage.")]
pub struct Who {
    /// The server, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    /// Print nothing: the exit code tells
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// The name of the lock
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// Takes a lock away from its holder, which is told
///
/// Shows the holder and asks. The lock is taken from that holder alone: if another one has it by the time of the answer, it stays. Readers
/// lose a lock together. A holder that does not listen may go on with its work.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 released; 1 it was free; 75 not released: the answer was no, or another holder has it by now; \
                        69 server unreachable; 77 not allowed; 64 usage."
)]
pub struct Release {
    /// The server, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Give back one permit of a semaphore: `redlatch who` shows the ids of those that are out
    #[arg(long, value_name = "ID", value_parser = PermitId::from_str)]
    pub permit: Option<PermitId>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    /// Print nothing: the exit code tells
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// The name of the lock
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// Runs a private Redis, for trying out and for tests
///
/// Prints the URL of the server, and ends it at INT or TERM. With a command, runs that with the URL in REDLATCH_URL, and ends the server after it. The
/// server listens on this machine alone, keeps no data, and dies with redlatch. It takes redis-server or valkey-server from PATH.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0, or that of the command; 69 no server; 64 usage; 126, 127 the command cannot be run."
)]
pub struct Server {
    /// Its port; without this option a free one
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Print a JSON object instead of the URL
    #[arg(long)]
    pub json: bool,
    /// The command, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Prints a script that has a shell complete the words of redlatch
///
/// For bash: `redlatch completions bash > /etc/bash_completion.d/redlatch`. The script of another shell goes where that one looks for it.
#[derive(Args)]
pub struct Completions {
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Writes the manual pages of redlatch into a folder
///
/// A page for redlatch and one for each subcommand: `redlatch man /usr/local/share/man/man1`, then `man redlatch-run`.
#[derive(Args)]
pub struct Manual {
    /// The folder, which is made if it is not there
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Measures the locks of a server, beside its bare answer
///
/// Five figures, a second for each: an answer of the server; a free lock; a lock that goes from one client to another; one lock of 16 tasks; 64 locks of
/// 64 tasks. It loads the server, and leaves nothing behind.
#[derive(Args)]
#[command(after_help = "Exit codes: 0 measured; 69 server unreachable; 77 not allowed; 64 usage.")]
pub struct Bench {
    /// The server, as of `redlatch run`
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The beginning of the names of its locks, for a user that may not use all names
    #[arg(long, value_name = "NAME", default_value = "redlatch-bench")]
    pub name: String,
    /// The time for each figure
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = times::read)]
    pub time: Duration,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Prints what happens to locks, a line for each event
///
/// Goes on until INT or TERM, or until the reader of its output has gone. It sees locks by looking again and again: what happens between two
/// looks, a second apart at best, it does not see, and a released lock looks like a deleted one.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 ended by INT, TERM or its reader; 69 server unreachable at the start; 77 not allowed; 64 usage."
)]
pub struct Tail {
    /// The server, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// The names, as of `redlatch ls`
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = pattern)]
    pub pattern: String,
}

/// Shows the locks that are held on a screen, and what happens to them
///
/// The key `?` shows all keys. It sees locks by looking again and again, and spares the server: of many locks it looks at each less often.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 ended by q, INT or TERM; 69 server unreachable at the start; 77 not allowed; 64 usage, no terminal."
)]
pub struct Top {
    /// The server, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Release no locks: the key R does nothing
    #[arg(long)]
    pub readonly: bool,
    /// The time between two looks at a lock, 20ms or more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,
    /// The names, as of `redlatch ls`
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = pattern)]
    pub pattern: String,
}

/// Serves a web page of the locks that are held, and of what happens to them
///
/// Prints the address of the page. The same is there for programs: /locks as JSON, /metrics for Prometheus, /health. It sees locks as
/// `redlatch top` does, and however many pages are open, the server of the locks has the work of one. Every machine that reaches the address
/// sees names and holders: that is this one alone, unless --listen says otherwise.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 ended by INT or TERM; 69 server unreachable at the start; 77 not allowed; 64 usage; 71 the address cannot be \
                  listened on.\n\
                  With --allow-release the token is that of REDLATCH_SERVE_TOKEN, or a new one, which the printed address has."
)]
pub struct Serve {
    /// The server of the locks, as of `redlatch run`; only Redis
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The address of the page, and no name; port 0 is a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8379", value_parser = address)]
    pub listen: SocketAddr,
    /// A name by which browsers call this machine, besides its own: that of a proxy, say
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    pub hosts: Vec<String>,
    /// Let pages release locks, if they have the token
    #[arg(long)]
    pub allow_release: bool,
    /// The time between two looks at a lock, at new locks, and at whether the server answers: 20ms or more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,
    /// Print a JSON object instead of the address
    #[arg(long)]
    pub json: bool,
    /// The names, as of `redlatch ls`
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = pattern)]
    pub pattern: String,
}

/// A pattern that a name can match.
fn pattern(text: &str) -> Result<String, &'static str> {
    match text.is_empty() {
        true => Err("no name is empty; leave it out for all locks, or write a name or a pattern: orders:*"),
        false => Ok(text.to_owned()),
    }
}

/// The time between two looks at a lock.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = times::read(text)?;
    match interval < SHORTEST_INTERVAL {
        true => Err(format!("a lock is looked at no more often; write {}ms or more", SHORTEST_INTERVAL.as_millis())),
        false => Ok(interval),
    }
}

/// An address and a port of this machine.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    // A name may have several addresses.
    text.parse().map_err(|_| "write an address with a port and no name: 127.0.0.1:8379, [::1]:8379, 0.0.0.0:8379")
}

/// A name as browsers have it in front of a port.
fn host(name: &str) -> Result<String, &'static str> {
    let is_name = !name.is_empty()
        && !name.ends_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
    if is_name {
        Ok(name.to_owned())
    } else {
        Err("write a name alone, without scheme, port and path: locks.example.com")
    }
}

/// Looks for what would hurt locks, at the servers and by locks of its own
///
/// Takes, hands over, renews and loses locks of its own, and reads the settings of a Redis. It asks the replicas of a Redis for one of its locks,
/// and the servers of a ZooKeeper for their version and role. It changes no setting, and leaves nothing behind but the latest tokens of its fenced
/// lock and its leader. With --scan it also looks for orphans: locks without an end, and the queues of dead waiters.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 nothing is bad; 1 something is (✗); 69 server unreachable; 77 not allowed; 64 usage."
)]
pub struct Doctor {
    /// The server, as of `redlatch run`
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The beginning of the names of its locks, for a user that may not use all names
    #[arg(long, value_name = "NAME", default_value = "redlatch-doctor")]
    pub name: String,
    /// Look through all keys of a Redis for locks and queues that dead programs have left, with a tenth of the server's time at most
    #[arg(long)]
    pub scan: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Print nothing: the exit code tells
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
}

/// Takes a lock, runs a command, and releases the lock when the command has ended
///
/// The lock is renewed while the command runs. If it is lost, the command is ended: before another client can have the lock if the
/// server stays silent. Everything behind NAME is the command's.
#[derive(Args)]
#[command(
    override_usage = "redlatch run [OPTIONS] NAME COMMAND [ARGUMENT]...",
    group = ArgGroup::new("kind"),
    after_help = "Exit codes: that of the command, 128+n if signal n ended it; 75 not acquired; 76 lost; 69 server unreachable; \
                  77 not allowed; 64 usage; 126, 127 the command cannot be run, is not found.\n\
                  The command has REDLATCH_NAME, REDLATCH_OWNER and, where the lock has a fencing token, REDLATCH_TOKEN."
)]
pub struct Run {
    /// Do not wait for the lock
    #[arg(short = 'n', long, conflicts_with = "wait")]
    pub no_wait: bool,
    /// Wait at most this long: 10, 2.5, 500ms, 3m, 1h. By default the wait has no end
    #[arg(short = 'w', long, value_name = "TIME", value_parser = times::read)]
    pub wait: Option<Duration>,
    /// Share the lock with others that say --shared; it excludes those that say --exclusive
    #[arg(long, group = "kind")]
    pub shared: bool,
    /// Exclude those that say --shared or --exclusive
    #[arg(long, group = "kind")]
    pub exclusive: bool,
    /// Let up to N commands run at once
    #[arg(long, value_name = "N", group = "kind", value_parser = clap::value_parser!(u64).range(1..))]
    pub permits: Option<u64>,
    /// Serve waiters in the order in which they came
    #[arg(long, group = "kind")]
    pub fair: bool,
    /// Keep the lock for at least this long, even if the command has ended before
    #[arg(long, value_name = "TIME", value_parser = times::read)]
    pub at_least: Option<Duration>,
    /// The exit code if the lock was not acquired in time [default: 75]
    #[arg(short = 'E', long, value_name = "CODE")]
    pub conflict_exit_code: Option<u8>,
    #[command(flatten)]
    pub care: Care,
}

/// Runs a command in one process among all, and in the next one when that is gone
///
/// All processes that stand for the same name elect one leader, which runs its command. When the command ends, the process resigns and
/// ends with it. When a process is no leader any more, its command is ended and the process stands again.
#[derive(Args)]
#[command(
    override_usage = "redlatch elect [OPTIONS] NAME COMMAND [ARGUMENT]...",
    after_help = "Exit codes: that of the command, 128+n if signal n ended it or the process while it stood; 76 a signal came when the \
                  election was lost; 69 server unreachable at the start; 77 not allowed; 64 usage; 126, 127 the command cannot be run, \
                  is not found.\n\
                  The command has REDLATCH_NAME, REDLATCH_OWNER and REDLATCH_TOKEN, which grows from leader to leader."
)]
pub struct Elect {
    /// The text by which others see the leader [default: <host>:<process>]
    #[arg(long, value_name = "TEXT")]
    pub value: Option<String>,
    #[command(flatten)]
    pub care: Care,
}

/// The care for a command: its server, its lock and its reports.
#[derive(Args)]
pub struct Care {
    /// The server: redis://host:6379, mysql://user@host/schema, zookeeper://host1,host2, … [default: REDLATCH_URL, REDIS_URL, or
    /// redis://localhost:6379]. Other users of this machine see the words of a command line: put a password into REDLATCH_URL
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The time for which the lock outlives a redlatch that has died [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = times::read)]
    pub lease: Option<Duration>,
    /// End the command when the lock is lost: ask it first, kill it at once, or leave it alone
    #[arg(long, value_name = "HOW", value_enum, default_value_t = OnLost::Term)]
    pub on_lost: OnLost,
    /// The time from TERM to KILL after a loss that the server reported [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = times::read)]
    pub grace: Option<Duration>,
    /// Report every event on standard error, one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Report nothing: the exit code tells
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// The name of the lock, the command and its arguments
    #[arg(value_name = "NAME COMMAND", required = true, trailing_var_arg = true)]
    pub words: Vec<OsString>,
}

/// The fate of the command when the lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLost {
    /// KILL at once
    Kill,
    /// TERM, and KILL after the grace
    Term,
    /// Only with `redlatch run`: the command lives on; the exit code is 76 all the same
    Keep,
}

/// The name of a lock, and the command to run under it.
#[derive(Debug, PartialEq, Eq)]
pub struct Task {
    pub name: String,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

impl Run {
    /// Refuses what makes no sense, and reads the name and the command.
    pub fn check(&self) -> Result<Task, Failure> {
        let task = self.care.check("run")?;
        if self.conflict_exit_code.is_some() && !self.no_wait && self.wait.is_none() {
            return Err(Failure::usage(
                "-E is the exit code of a wait that has ended, and this wait has no end; add -n or -w, or leave -E out",
            ));
        }
        Ok(task)
    }

    pub fn not_acquired(&self) -> u8 {
        self.conflict_exit_code.unwrap_or(NOT_ACQUIRED)
    }

    /// The longest wait; `None`: without end.
    pub fn wait(&self) -> Option<Duration> {
        if self.no_wait { Some(Duration::ZERO) } else { self.wait }
    }
}

impl Elect {
    /// As [`Run::check`].
    pub fn check(&self) -> Result<Task, Failure> {
        let task = self.care.check("elect")?;
        if self.care.on_lost == OnLost::Keep {
            return Err(Failure::usage(
                "--on-lost keep would let the commands of two leaders run; leave it out, or say --on-lost kill",
            ));
        }
        Ok(task)
    }
}

impl Care {
    fn check(&self, subcommand: &str) -> Result<Task, Failure> {
        if let Some(lease) = self.lease.filter(|lease| *lease < SHORTEST) {
            return Err(Failure::usage(format!(
                "--lease {} is too short to end a command in; give it 1s or more",
                times::shown(lease)
            )));
        }
        if self.grace.is_some() && self.on_lost != OnLost::Term {
            return Err(Failure::usage(
                "--grace is the time from TERM to KILL, and --on-lost kill and keep send no TERM; leave one of the two out",
            ));
        }
        let mut words = self.words.iter().cloned();
        let name = words.next().unwrap_or_default();
        let name = name.into_string().map_err(|name| {
            Failure::usage(format!("the name `{}` is not UTF-8; use a name that is", name.to_string_lossy()))
        })?;
        let mut words = words.peekable();
        // `NAME -- COMMAND` is as good.
        words.next_if(|word| word == "--");
        let Some(program) = words.next() else {
            return Err(Failure::usage(format!(
                "there is no command to run under `{name}`; write: redlatch {subcommand} NAME COMMAND [ARGUMENT]..."
            )));
        };
        Ok(Task { name, program, arguments: words.collect() })
    }

    pub fn grace(&self) -> Duration {
        self.grace.unwrap_or(GRACE)
    }

    pub fn style(&self) -> Style {
        Style::of(self.json, self.quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Run, String> {
        let words = ["redlatch", "run"].iter().chain(words);
        match Redlatch::try_parse_from(words) {
            Ok(Redlatch { subcommand: Subcommand::Run(run) }) => Ok(*run),
            Ok(_) => panic!("another subcommand"),
            Err(error) => Err(error.to_string()),
        }
    }

    fn task(words: &[&str]) -> Task {
        let run = parsed(words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
        run.check().unwrap_or_else(|failure| panic!("{words:?}: {}", failure.text))
    }

    #[test]
    fn everything_behind_the_name_is_the_commands() {
        let shell = task(&["-n", "n", "sh", "-c", "echo \"$1\"", "-n", "--wait", "--json", "--", "--help"]);
        assert_eq!(shell.name, "n");
        assert_eq!(shell.program, "sh");
        assert_eq!(shell.arguments, ["-c", "echo \"$1\"", "-n", "--wait", "--json", "--", "--help"]);

        let odd = task(&["n", "-n", "x"]);
        assert_eq!((odd.program.to_str(), odd.arguments), (Some("-n"), vec!["x".into()]));
    }

    #[test]
    fn two_dashes_are_allowed_before_the_name_and_behind_it() {
        let plain = task(&["n", "true", "--"]);
        assert_eq!(plain.arguments, ["--"]);
        assert_eq!(task(&["--", "n", "true", "--"]), plain);
        assert_eq!(task(&["n", "--", "true", "--"]), plain);
    }

    #[test]
    fn an_option_that_does_not_exist_is_not_taken_for_the_name() {
        let refused = parsed(&["--wat", "10s", "n", "true"]).err().expect("there is no such option");
        assert!(refused.contains("--wat"), "{refused}");
    }

    #[test]
    fn an_interval_that_no_look_keeps_an_address_without_a_number_and_an_empty_pattern_are_refused() {
        for (words, value, remedy) in [
            (["top", "--interval", "19ms"], "19ms", "write 20ms or more"),
            (["serve", "--interval", "0"], "'0'", "write 20ms or more"),
            (["serve", "--listen", "localhost:8379"], "localhost:8379", "127.0.0.1:8379"),
            (["serve", "--listen", "127.0.0.1"], "127.0.0.1", "127.0.0.1:8379"),
            (["ls", "--json", ""], "PATTERN", "leave it out for all locks"),
            (["tail", "--json", ""], "PATTERN", "leave it out for all locks"),
        ] {
            let refused = Redlatch::try_parse_from(["redlatch"].iter().chain(&words)).err();
            let told = refused.unwrap_or_else(|| panic!("{words:?} passes")).to_string();
            assert!(told.contains(value) && told.contains(remedy), "{words:?}: {told}");
        }
        for words in [["top", "--interval", "20ms"], ["serve", "--listen", "[::1]:0"]] {
            assert!(Redlatch::try_parse_from(["redlatch"].iter().chain(&words)).is_ok(), "{words:?}");
        }
    }

    #[test]
    fn combinations_without_sense_are_refused_with_a_sentence() {
        for (words, told) in [
            (vec!["-n", "-w", "3", "n", "true"], "--wait"),
            (vec!["--shared", "--fair", "n", "true"], "--fair"),
            (vec!["--permits", "0", "n", "true"], "0"),
            (vec!["--json", "--quiet", "n", "true"], "--quiet"),
            (vec!["-E", "600", "-n", "n", "true"], "600"),
            (vec!["-E", "-1", "-n", "n", "true"], "-1"),
            (vec!["-w", "soon", "n", "true"], "write seconds"),
            (vec!["-n"], "NAME"),
        ] {
            let refused = parsed(&words).err().unwrap_or_else(|| panic!("{words:?} passes"));
            assert!(refused.contains(told), "{words:?}: {refused}");
        }
        for (words, told) in [
            (vec!["--lease", "999ms", "n", "true"], "too short"),
            (vec!["--grace", "1s", "--on-lost", "kill", "n", "true"], "--on-lost"),
            (vec!["-E", "3", "n", "true"], "add -n or -w"),
            (vec!["n"], "no command to run under `n`"),
            (vec!["n", "--"], "no command to run under `n`"),
        ] {
            let refused = parsed(&words).expect("clap takes it").check().expect_err("it makes no sense");
            assert_eq!(refused.code, 64, "{words:?}");
            assert!(refused.text.contains(told), "{words:?}: {}", refused.text);
        }
    }
}
