//! The sentinels: how a client learns its master from them, and where calls go while no sentinel answers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::Value;
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use super::Topology;
use super::discovery::{LIMIT, Ranges, text};
use super::hash_slots::SLOTS;
use crate::base::clock::Instant;
use crate::config::Config;
use crate::config::address_map::AddressMap;
use crate::config::servers::Address;
use crate::redis::link::node::Node;
use crate::request::error::{Error, Result};

/// The time for the last sentinels once most have answered, and for those that were silent the last time.
const GRACE: Duration = Duration::from_millis(100);
/// The time in which all sentinels learn of a failover, since they tell each other every two seconds. Until then, an
/// older answer of most of them does not count.
const SPREADS: Duration = Duration::from_secs(10);
/// The longest silence of a replica, in seconds. A replica reports to its master every second; after a longer silence
/// it may be a master itself.
const FOLLOWS: u64 = 3;

/// A client's knowledge of its sentinels.
#[derive(Default)]
pub struct Sentinels {
    /// Sentinels that did not answer in time, and have said nothing since.
    silent: Mutex<HashSet<Address>>,
    last: Mutex<Option<Last>>,
    /// The newest failover for which the client has looked at once. Its master may be out of reach for long.
    hurried: AtomicU64,
}

/// A sentinel's answer: its master, and the epoch of that.
#[derive(Clone, Debug)]
struct Report {
    /// Greater after each failover.
    epoch: u64,
    master: Address,
    /// The number of its replicas that the sentinel knows.
    replicas: u64,
}

/// The last answer that counted, and its time.
#[derive(Clone)]
struct Last {
    report: Report,
    at: Instant,
}

/// An answer of one sentinel.
type Answered = (Address, Result<Option<Report>>);

impl Topology {
    /// Finds the master by the newest answer of most sentinels; the server that it names must confirm that it is a
    /// master. A sentinel that was cut off names an old master, so the first answer is not enough. The client does not
    /// wait for a silent sentinel once most have answered.
    pub async fn by_sentinels(self: &Arc<Self>, master: &str) -> Result<Ranges> {
        let (reports, error) = self.reports(master).await?;
        // Among equal epochs the master of more sentinels counts: a sentinel that watches another fleet by the same
        // name has seen no failovers of it.
        let votes = |report: &Report| reports.iter().filter(|other| other.master == report.master).count();
        let newest = reports.iter().max_by_key(|report| (report.epoch, votes(report)));
        let is_most = reports.len() * 2 > self.config.servers.named().len();
        let Some(newest) = newest.filter(|report| !self.sentinels.is_outdated(report, is_most)) else {
            return self.last_master(error).await;
        };
        // A sentinel that has only just started knows of fewer replicas.
        let replicas =
            reports.iter().filter(|report| report.master == newest.master).map(|report| report.replicas).max();
        let report = Report { replicas: replicas.unwrap_or_default(), ..newest.clone() };
        self.is_master(&report.master).await?;
        self.sentinels.hurried.store(report.epoch, SeqCst);
        *self.sentinels.last() = Some(Last { at: Instant::now(), report: report.clone() });
        Ok(vec![(SLOTS - 1, report.master)])
    }

    /// Collects the answers of most sentinels, or of all that answer, and the error of another one.
    async fn reports(self: &Arc<Self>, master: &str) -> Result<(Vec<Report>, Error)> {
        let (sender, mut answers) = mpsc::unbounded_channel();
        let mut unanswered = self.ask_sentinels(master, &sender)?;
        drop(sender);
        let count = unanswered.len();
        let mut reports = Vec::new();
        let mut unknown = 0;
        let mut error = None;
        let mut grace = None;
        while !unanswered.is_empty() {
            let most = reports.len() * 2 > count;
            let awaits = self.sentinels.awaits(&unanswered);
            if most && !awaits {
                break;
            }
            let late = (most || !awaits).then(|| *grace.get_or_insert_with(|| Instant::now() + GRACE));
            let answer = match late {
                Some(late) => timeout_at(late.into(), answers.recv()).await.unwrap_or_default(),
                None => answers.recv().await,
            };
            let Some((sentinel, said)) = answer else { break };
            unanswered.remove(&sentinel);
            match said {
                Ok(Some(report)) => reports.push(report),
                Ok(None) => unknown += 1,
                Err(said) => error = Some(said),
            }
        }
        self.sentinels.silent().extend(unanswered);
        let servers = &self.config.servers;
        if unknown * 2 > count {
            return Err(Error::config(format!("{servers} know no master `{master}`; check its name")));
        }
        let nothing = || Error::unavailable(self.config.server(), "name no master", true);
        Ok((reports, error.unwrap_or_else(nothing)))
    }

    /// Asks every sentinel, and gives their addresses. Each answer comes through `answers`.
    fn ask_sentinels(
        self: &Arc<Self>,
        master: &str,
        answers: &mpsc::UnboundedSender<Answered>,
    ) -> Result<HashSet<Address>> {
        let mut asked = HashSet::new();
        for node in self.sentinel_nodes()? {
            asked.insert(node.address.clone());
            let topology = self.clone();
            let master = master.to_owned();
            let answers = answers.clone();
            tokio::spawn(async move {
                let said = match node.ask::<Value>(&["SENTINEL", "MASTER", &master], LIMIT).await {
                    Ok(value) => Ok(report(&value, &topology.config.servers.named()[0], &topology.config.nat)),
                    Err(Error::Refused { message, .. }) if message.contains("No such master") => Ok(None),
                    Err(error) => Err(error),
                };
                topology.heard(&node.address, &said);
                let _ = answers.send((node.address.clone(), said));
            });
        }
        Ok(asked)
    }

    /// Notes an answer, even if it comes too late for its question: after a newer failover the client asks again, once.
    fn heard(&self, sentinel: &Address, said: &Result<Option<Report>>) {
        match said {
            Err(Error::Unavailable { timeout: true, .. }) => self.sentinels.silent().insert(sentinel.clone()),
            _ => self.sentinels.silent().remove(sentinel),
        };
        if let Ok(Some(report)) = said
            && self.sentinels.last().as_ref().is_some_and(|last| report.epoch > last.report.epoch)
            && self.sentinels.hurried.fetch_max(report.epoch, SeqCst) < report.epoch
        {
            self.distrust();
            self.keeper.hurry();
        }
    }

    /// Goes on with the last master although no sentinel names one, as long as no failover can have happened. Sentinels
    /// promote a replica that they know, and a promoted replica no longer follows. So the master must have as many
    /// replicas as the sentinels knew, and each must have reported to it lately.
    ///
    /// # Errors
    /// `error`, if a failover may have happened.
    async fn last_master(self: &Arc<Self>, error: Error) -> Result<Ranges> {
        let last = self.sentinels.last().clone();
        let Some(Last { report, .. }) = last else { return Err(error) };
        self.is_master(&report.master).await?;
        let said: String = self.asker(&self.config, &report.master)?.ask(&["INFO", "replication"], LIMIT).await?;
        let followers = followers(&said);
        if followers < report.replicas {
            tracing::debug!(target: "redlatch::link", "{} may be the master no more: {followers} of {} replicas follow", report.master, report.replicas);
            return Err(error);
        }
        Ok(vec![(SLOTS - 1, report.master)])
    }
}

impl Sentinels {
    /// Tells whether an answer with a greater epoch has counted. The only sentinel that knows of a failover may be late
    /// for once, and the others may have been cut off. Sentinels that were set up anew begin at 0, and all of them say
    /// so.
    fn is_outdated(&self, report: &Report, is_most: bool) -> bool {
        self.last()
            .as_ref()
            .is_some_and(|last| last.report.epoch > report.epoch && (!is_most || last.at.elapsed() < SPREADS))
    }

    /// Tells whether a sentinel is missing that was not silent the last time.
    fn awaits(&self, unanswered: &HashSet<Address>) -> bool {
        let silent = self.silent();
        unanswered.iter().any(|sentinel| !silent.contains(sentinel))
    }

    fn silent(&self) -> MutexGuard<'_, HashSet<Address>> {
        self.silent.lock().expect("nothing panics while it is held")
    }

    fn last(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().expect("nothing panics while it is held")
    }
}

impl Topology {
    pub fn sentinel_nodes(&self) -> Result<Vec<Arc<Node>>> {
        let config = self.sentinel_config();
        self.config.servers.named().iter().map(|address| self.asker(&config, address)).collect()
    }

    /// Sentinels have users of their own, and no databases.
    fn sentinel_config(&self) -> Config {
        let username = self.config.sentinel_username.clone();
        let password = self.config.sentinel_password.clone();
        Config { username, password, login: Arc::default(), database: 0, ..self.config.clone() }
    }
}

/// Reads the answer to `SENTINEL MASTER`: a list of names and values.
fn report(value: &Value, sentinel: &Address, nat: &AddressMap) -> Option<Report> {
    let pairs: Vec<(String, String)> = match value {
        Value::Map(pairs) => pairs.iter().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect(),
        Value::Array(words) => {
            words.chunks(2).filter_map(|pair| Some((text(pair.first()?)?, text(pair.get(1)?)?))).collect()
        }
        _ => return None,
    };
    let get = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let number = |name: &str| get(name).and_then(|number| number.parse().ok());
    let master = sentinel.near(get("ip")?, get("port")?.parse().ok()?, nat)?;
    // A sentinel that does not tell the number may know of any number.
    Some(Report {
        epoch: number("config-epoch").unwrap_or_default(),
        master,
        replicas: number("num-slaves").unwrap_or(u64::MAX),
    })
}

/// The number of replicas that have reported to their master lately, by its `INFO replication`.
fn followers(info: &str) -> u64 {
    let lag = |line: &str| line.trim_end().rsplit_once("lag=")?.1.parse().ok();
    let follows = |line: &&str| line.contains("state=online") && lag(line).is_some_and(|lag: u64| lag <= FOLLOWS);
    info.lines().filter(|line| line.starts_with("slave")).filter(follows).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_follows_while_it_tells_its_master_so() {
        let info = "role:master\r\nconnected_slaves:4\r\n\
                    slave0:ip=10.0.0.2,port=6379,state=online,offset=99,lag=0\r\n\
                    slave1:ip=10.0.0.3,port=6379,state=online,offset=99,lag=3\r\n\
                    slave2:ip=10.0.0.4,port=6379,state=online,offset=7,lag=4\r\n\
                    slave3:ip=10.0.0.5,port=6379,state=wait_bgsave,offset=0,lag=0\r\n";
        assert_eq!(followers(info), 2);
    }
}
