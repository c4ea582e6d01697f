//! A process that locks on command, so that a test can stop and kill it: `redlatch-worker URL --control PORT`.
//!
//! | command | answer |
//! |---|---|
//! | `acquire NAME [LEASE_MS]` | `ok`, or an error's code and text |
//! | `wait NAME WAIT_MS` | the same, with a wait of so many ms |
//! | `task NAME` | the same, of an acquire by a task of a runtime of its own |
//! | `fenced NAME` | the same, of a fenced lock |
//! | `ensure` | the same, about the latest hold |
//! | `lost` | the error, once the latest hold is lost |
//! | `release` | the same as of `acquire`; the worker forgets the latest hold |
//! | `traffic URL DIR HISTORY FIRST SEED KINDS RED` | the ids of its clients: lanes are ready, record to the file HISTORY and count in DIR |
//! | `go SHARE` | none: the lanes run, and take a lock of their own in SHARE of a hundred attempts |
//! | `rest MS` | the number of lanes that have not finished after so many ms |
//! | `close` | `ok`: the clients of the lanes are closed |
//! | `calls PORT` | the id of its client, which carries out the calls that come over a connection to PORT, see [`calls`] |
//! | `clients URL COUNT` | `ok`: so many clients were dropped, each with its hold of a `dropped:N` |
//! | `names FIRST COUNT` | `ok`: so many names were locked and unlocked, see [`names`] |
//! | `job NAME AT_MOST_MS AT_LEAST_MS NOTES` | `ok`: the job of the commands that follow, whose work notes its periods in the file NOTES |
//! | `run PERIOD` | `ran`, `skipped`, `lost` with its reason, or an error's code and text |
//! | `begin PERIOD` | the same; a run answers `begun` before, and then lasts until the next line |
//! | `wait-job PERIOD` | the same; a run answers `begun` before, and then lasts until its loss |
//! | `tick ORIGIN_NS PERIOD_MS BEHIND_MS FIRST END DEADLY` | a line for each period, see [`job::Node::tick`] |
//! | `stats` | the counts of the answers of the job |
//!
//! `KINDS` are the kinds of locks that the lanes take, and `RED` the URLs of the servers of red locks, separated by
//! commas.

mod asynchronous;
mod blocking;
mod calls;
mod clients;
mod job;
mod latch;
mod log;
mod names;
mod permits;
mod plan;
mod section;
mod stage;
mod traffic;

use std::path::Path;
use std::time::Duration;

use job::{Node, Timer};
use names::Names;
use redlatch::{BlockingGuard, Client, Error, Result};
use redlatch_tests::process::Control;
use redlatch_tests::traffic::Kind;
use stage::Stage;
use traffic::Traffic;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, url, .., port] = &args[..] else { panic!("the arguments are URL --control PORT") };
    redlatch_tests::oracle::tell_the_rig();
    let mut control = Control::connect(port.parse().expect("the port is a number")).expect("the test listens");
    let mut hand = Hand { client: Client::connect(url).expect("the URL is good"), guards: Vec::new() };
    let mut traffic = None;
    let mut names = None;
    let mut job = None;
    while let Some(command) = control.hear() {
        let words: Vec<&str> = command.split_whitespace().collect();
        let lanes = || traffic.as_ref().expect("traffic comes first");
        let node = || job.as_ref().expect("the job comes first");
        match words[..] {
            ["traffic", direct, dir, history, first, seed, kinds, red] => {
                let red: Vec<&str> = red.split(',').collect();
                let stage = Stage::new(Path::new(history), Path::new(dir), direct, Kind::named(kinds));
                let started = Traffic::start(url, &red, stage, number(first) as u32, number(seed));
                control.answer(&started.ids().join(" "));
                traffic = Some(started);
            }
            ["go", share] => lanes().go(number(share)),
            ["rest", ms] => control.answer(&lanes().rest(Duration::from_millis(number(ms))).to_string()),
            ["close"] => {
                lanes().close();
                control.answer("ok");
            }
            ["calls", port] => {
                calls::serve(&hand.client, number(port));
                control.answer(&hand.client.id());
            }
            ["clients", url, count] => {
                control.answer(&said((0..number(count)).try_for_each(|each| use_and_drop(url, each))))
            }
            ["names", first, count] => {
                let names = names.get_or_insert_with(|| Names::new(url));
                control.answer(&said(names.use_up(number(first), number(count))));
            }
            ["job", name, at_most, at_least, notes] => {
                let [at_most, at_least] = [at_most, at_least].map(|ms| Duration::from_millis(number(ms)));
                job = Some(Node::new(&hand.client, name, at_most, at_least, notes));
                control.answer("ok");
            }
            ["run", period] => control.answer(&node().run(period)),
            ["begin", period] => {
                let answer = node().begin(period, &mut control);
                control.answer(&answer);
            }
            ["wait-job", period] => {
                let answer = node().wait(period, &mut control);
                control.answer(&answer);
            }
            ["tick", origin, period, behind, first, end, deadly] => {
                let [period, behind] = [period, behind].map(|ms| Duration::from_millis(number(ms)));
                let [origin, first, end, deadly] = [origin, first, end, deadly].map(number);
                node().tick(&Timer { origin, period, behind, first, end, deadly }, &mut control);
            }
            ["stats"] => control.answer(&node().stats()),
            _ => control.answer(&said(hand.carry_out(&words))),
        }
    }
}

/// The answer in the table above.
fn said(outcome: Result<()>) -> String {
    outcome.map_or_else(|error| format!("{} {error}", error.code()), |()| "ok".to_owned())
}

/// Drops a client with its holds, without closing it.
fn use_and_drop(url: &str, number: u64) -> Result<()> {
    let client = Client::connect(url)?;
    client.lock("free").blocking().acquire()?.release()?;
    let guard = client.fenced_lock(&format!("dropped:{number}")).blocking().acquire()?;
    drop(client);
    guard.ensure()
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|e| panic!("`{word}`: {e}"))
}

/// Holds taken one by one.
struct Hand {
    client: Client,
    guards: Vec<BlockingGuard>,
}

impl Hand {
    fn carry_out(&mut self, words: &[&str]) -> Result<()> {
        match words {
            ["acquire", name] => self.guards.push(self.client.lock(name).blocking().acquire()?),
            ["acquire", name, lease] => {
                let lease = Duration::from_millis(number(lease));
                self.guards.push(self.client.lock(name).lease(lease).blocking().acquire()?);
            }
            ["wait", name, wait] => {
                let wait = Duration::from_millis(number(wait));
                self.guards.push(self.client.lock(name).wait(wait).blocking().acquire()?);
            }
            ["task", name] => {
                let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime is to be had");
                runtime.block_on(async { self.client.lock(name).acquire().await?.release().await })?;
            }
            ["fenced", name] => self.guards.push(self.client.fenced_lock(name).blocking().acquire()?),
            ["ensure"] => self.guards.last().expect("something is held").ensure()?,
            ["lost"] => {
                let guard = self.guards.last().expect("something is held");
                let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime is to be had");
                if let Some(loss) = runtime.block_on(guard.lost()) {
                    return Err(Error::Lost(Box::new(loss)));
                }
            }
            ["release"] => self.guards.pop().expect("something is held").release()?,
            _ => panic!("there is no command `{words:?}`"),
        }
        Ok(())
    }
}
