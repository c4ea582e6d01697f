//! Asks the servers of a Redis about themselves.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error};

use super::finding::Finding;
use super::info::{Info, Settings, Wanted};
use crate::clock;
use crate::ending::Failure;
use crate::table::count;

/// The longest distance of a server's clock that does not matter.
const CLOCK: Duration = Duration::from_secs(1);
/// A server that takes longer for one answer out of a hundred delays each lock.
const SLOW: Duration = Duration::from_millis(50);
/// The least time between the signs of life of a client that waits: a shorter `timeout` of the server ends its connections.
const PULSE: u64 = 60;
const PINGS: usize = 200;

/// The answer of a server.
enum Said {
    Told(Vec<String>),
    /// The reason.
    Refused(String),
    Silent(String),
}

impl Said {
    fn told(&self) -> Option<&[String]> {
        match self {
            Said::Told(texts) => Some(texts),
            Said::Refused(_) | Said::Silent(_) => None,
        }
    }

    /// The value of a setting, as `CONFIG GET` gives it.
    fn setting(&self) -> Option<&str> {
        self.told()?.get(1).map(String::as_str)
    }
}

/// The servers, as far as the rights of their user depend on them.
pub struct Site {
    pub user: String,
    /// Empty: unknown.
    pub version: Vec<u64>,
    pub is_cluster: bool,
    /// The replicas in step of the server that has the fewest.
    pub replicas: u64,
}

/// `None`: the client's system is no Redis.
pub async fn examine(client: &Client, wanted: Wanted, mut add: impl FnMut(Finding)) -> Result<Option<Site>, Failure> {
    let infos = match ask(client, &["INFO"]).await {
        Ok(infos) => infos,
        Err(Error::Unsupported(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Not even one server has told: the user may have no right to that, or none can be reached.
    if infos.iter().all(|(_, said)| said.told().is_none()) {
        client.run(Request::new(Op::Ping, "plain", "", 0)).await?;
    }
    let all_answer = infos.iter().all(|(_, said)| !matches!(said, Said::Silent(_)));
    let mut site = Site { user: "USER".to_owned(), version: Vec::new(), is_cluster: false, replicas: u64::MAX };
    let setting = async |name| match all_answer {
        true => ask(client, &["CONFIG", "GET", name]).await,
        false => Ok(Vec::new()),
    };
    let [fsyncs, least] = [setting("appendfsync").await?, setting("min-replicas-to-write").await?];
    for (server, said) in &infos {
        match said {
            Said::Told(texts) => {
                let info = Info::read(&texts.concat());
                site.version = info.version().1;
                site.is_cluster = info.number("cluster_enabled") == 1;
                site.replicas = site.replicas.min(info.in_step());
                let settings = Settings {
                    fsync: setting_of(server, &fsyncs),
                    least_replicas: setting_of(server, &least).and_then(|number| number.parse().ok()),
                };
                info.findings(server, settings, wanted).into_iter().for_each(&mut add);
            }
            Said::Refused(why) => add(Finding::doubtful(
                "server",
                format!("{server} does not tell of itself: {why}"),
                "allow INFO: without it nothing is known of the server's memory, and losses are told late",
            )),
            Said::Silent(why) => add(Finding::bad(
                "server",
                format!("{server} does not answer: {why}"),
                "start it, or look at the network in between: no lock of its part of the names can be had",
            )),
        }
    }
    // Each further question would wait for the silent ones.
    if all_answer {
        let users = ask(client, &["ACL", "WHOAMI"]).await?;
        users.iter().find_map(|(_, said)| said.told()).into_iter().for_each(|user| site.user = user.concat());
        add(answers(client).await);
        settings(client, &mut add).await?;
        clocks(client).await?.into_iter().for_each(&mut add);
    }
    Ok(Some(site))
}

/// The value that this server has told.
fn setting_of<'a>(server: &str, told: &'a [(String, Said)]) -> Option<&'a str> {
    told.iter().find(|(other, _)| other == server).and_then(|(_, said)| said.setting())
}

/// Asks every server.
async fn ask(client: &Client, words: &[&str]) -> Result<Vec<(String, Said)>, Error> {
    let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let answer = client.run(Request { texts, ..Request::new(Op::Ask, "plain", "servers", 0) }).await?;
    let mut texts = answer.texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned());
    let mut told = Vec::new();
    while let (Some(server), Some(state), Some(number)) = (texts.next(), texts.next(), texts.next()) {
        let said: Vec<String> = texts.by_ref().take(number.parse().unwrap_or_default()).collect();
        told.push((
            server,
            match state.as_str() {
                "1" => Said::Told(said),
                "0" => Said::Refused(said.concat()),
                _ => Said::Silent(said.concat()),
            },
        ));
    }
    Ok(told)
}

/// How long the servers take for an answer.
async fn answers(client: &Client) -> Finding {
    let mut times = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let asked = clock::now();
        let failed = match ask(client, &["PING"]).await {
            Ok(said) => said.into_iter().find_map(|(server, said)| match said {
                Said::Told(_) => None,
                Said::Refused(why) | Said::Silent(why) => Some(format!("{server} does not answer a ping: {why}")),
            }),
            Err(error) => Some(error.to_string()),
        };
        if let Some(text) = failed {
            return Finding::bad("answers", text, "look at the network, and at the server's load");
        }
        times.push(clock::now().saturating_sub(asked));
    }
    times.sort();
    let late = times[PINGS * 99 / 100];
    let text = format!("{} in the median, {} for one of a hundred", shown(times[PINGS / 2]), shown(late));
    match late > SLOW {
        true => Finding::doubtful(
            "answers",
            text,
            "each lock waits for that: look at SLOWLOG, the server's load and the network",
        ),
        false => Finding::good("answers", text),
    }
}

async fn clocks(client: &Client) -> Result<Option<Finding>, Error> {
    let asked = clock::now();
    let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let told = ask(client, &["TIME"]).await?;
    // The server's answer may be from any moment of the call.
    let doubt = clock::now().saturating_sub(asked);
    let far = told.iter().filter_map(|(server, said)| {
        let parts: Vec<u64> = said.told()?.iter().filter_map(|part| part.parse().ok()).collect();
        let there = Duration::from_secs(*parts.first()?) + Duration::from_micros(*parts.get(1)?);
        Some((server, there.abs_diff(here)))
    });
    let farthest = far.max_by_key(|(_, distance)| *distance);
    Ok(farthest.map(|(server, distance)| match distance > CLOCK + doubt {
        true => Finding::doubtful(
            "clock",
            format!("the clock of {server} is {} away from the one here", shown(distance)),
            "leases do not depend on it; fair queues of Redisson and expirable permits do: set both clocks by NTP",
        ),
        false => Finding::good("clock", format!("at most {} away from the one here", shown(distance + doubt))),
    }))
}

/// Looks at the settings, which takes the right to `CONFIG GET`.
async fn settings(client: &Client, mut add: impl FnMut(Finding)) -> Result<(), Error> {
    let timeouts = ask(client, &["CONFIG", "GET", "timeout"]).await?;
    if let Some((server, Said::Refused(_))) = timeouts.iter().find(|(_, said)| matches!(said, Said::Refused(_))) {
        add(Finding::doubtful(
            "settings",
            format!(
                "{server} does not tell its settings, so timeout, appendfsync, min-replicas-to-write and the slow log were not seen"
            ),
            "allow CONFIG GET, or look at them by hand",
        ));
    }
    let seconds = timeouts.iter().filter_map(|(server, said)| Some((server, said.setting()?.parse::<u64>().ok()?)));
    if let Some((server, timeout)) = seconds.filter(|(_, timeout)| *timeout > 0).min_by_key(|(_, timeout)| *timeout) {
        let text = format!("{server} ends connections that are silent for {timeout} s");
        add(match timeout < PULSE {
            true => Finding::doubtful(
                "idle",
                format!("{text}, of waiting programs as well"),
                format!(
                    "set timeout to 0, or to {PULSE} or more: until a waiter has connected again it hears of no release"
                ),
            ),
            false => Finding::good("idle", text),
        });
    }
    slow(client).await?.into_iter().for_each(add);
    Ok(())
}

/// The calls behind which locks have waited.
async fn slow(client: &Client) -> Result<Option<Finding>, Error> {
    let limits = ask(client, &["CONFIG", "GET", "slowlog-log-slower-than"]).await?;
    let Some(limit) = limits.iter().find_map(|(_, said)| said.setting()?.parse::<u64>().ok()) else { return Ok(None) };
    let told = ask(client, &["SLOWLOG", "LEN"]).await?;
    let noted = told.iter().filter_map(|(server, said)| Some((server, said.told()?.concat().parse::<u64>().ok()?)));
    let Some((server, calls)) = noted.max_by_key(|(_, calls)| *calls) else { return Ok(None) };
    let limit = shown(Duration::from_micros(limit));
    Ok(Some(match calls {
        0 => Finding::good("slow log", format!("no call has taken longer than {limit}")),
        _ => Finding::doubtful(
            "slow log",
            format!("{server} has noted {} of more than {limit}: every lock waited behind it", count(calls, "call")),
            "SLOWLOG GET shows the calls and their clients, and SLOWLOG RESET forgets them",
        ),
    }))
}

/// A time in few letters.
pub fn shown(time: Duration) -> String {
    match time.as_secs() {
        0 if time < Duration::from_millis(10) => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}
