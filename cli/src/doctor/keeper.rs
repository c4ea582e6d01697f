//! Asks the servers of a ZooKeeper about themselves, by words of four letters on connections of their own, and by a session.

use std::io::{Error, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use redlatch::ffi::Border;
use redlatch::{Client, Holds};
use tokio::task::spawn_blocking;

use super::PATIENCE;
use super::finding::Finding;
use super::servers::shown;
use crate::ending::Failure;
use crate::lock::client as connect;

/// A server that takes longer for one word is told as silent.
const WORD: Duration = Duration::from_secs(2);
/// The longest answer that is read.
const LONGEST: u64 = 64 * 1024;
const PORT: &str = "2181";
/// The first version that is supported.
const LEAST: [u64; 3] = [3, 5, 3];
/// The part of a session in which the client does not believe, and the rest.
const SPARE: f64 = 0.01;
const MOMENT: Duration = Duration::from_millis(2);

pub async fn examine(
    client: &Client,
    url: Option<&str>,
    name: &str,
    mut add: impl FnMut(Finding),
) -> Result<(), Failure> {
    let server = client.server();
    let hosts = hosts(&server);
    let is_alone = hosts.len() == 1;
    let mut longest_least = None;
    for host in &hosts {
        let shown = format!("zookeeper://{host}");
        add(match word(host, "srvr").await {
            Ok(said) => Srvr(&said).finding(&shown, is_alone),
            Err(why) => Finding::doubtful(
                "server",
                format!("{shown} does not answer: {why}"),
                "start it, or look at the network in between: clients go to the others meanwhile",
            ),
        });
        let conf = word(host, "conf").await.unwrap_or_default();
        longest_least = longest_least.max(field(&conf, "minSessionTimeout=").and_then(|ms| ms.parse::<u64>().ok()));
    }
    // A port for TLS knows no words.
    if hosts.is_empty() {
        add(Finding::good("server", format!("{server} lets clients in; by TLS it is not asked for its version")));
    }
    add(session(url, name, client.watchdog(), longest_least.map(Duration::from_millis)).await?);
    Ok(())
}

/// The hosts of the URL, each with its port; none: they speak TLS.
fn hosts(server: &str) -> Vec<String> {
    let Some(rest) = server.strip_prefix("zookeeper://") else { return Vec::new() };
    let hosts = rest.split('/').next().unwrap_or_default().split(',').filter(|host| !host.is_empty());
    hosts
        .map(|host| match host.rsplit_once(':') {
            // An address in brackets has colons of its own.
            Some((_, port)) if !port.ends_with(']') => host.to_owned(),
            _ => format!("{host}:{PORT}"),
        })
        .collect()
}

/// The answer to a word of four letters.
async fn word(host: &str, word: &'static str) -> Result<String, Error> {
    let host = host.to_owned();
    let asked = spawn_blocking(move || {
        // The client tries each of them as well.
        let mut dialled = Err(Error::other("its name has no address"));
        for address in host.to_socket_addrs()? {
            dialled = TcpStream::connect_timeout(&address, WORD);
            if dialled.is_ok() {
                break;
            }
        }
        let mut stream = dialled?;
        stream.set_read_timeout(Some(WORD))?;
        stream.write_all(word.as_bytes())?;
        let mut said = Vec::new();
        stream.take(LONGEST).read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    });
    asked.await.expect("the task does not panic")
}

/// The text behind `name` in its line.
fn field<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    said.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The answer to `srvr`.
struct Srvr<'a>(&'a str);

impl Srvr<'_> {
    fn finding(&self, server: &str, is_alone: bool) -> Finding {
        let about = "server";
        let Some(version) = field(self.0, "Zookeeper version: ") else {
            return match self.0.contains("not currently serving requests") {
                true => Finding::bad(
                    about,
                    format!("{server} serves no client: it has no majority of its ensemble"),
                    "start the other servers, or look at the network between them",
                ),
                false => Finding::good(about, format!("{server} does not tell its version (4lw.commands.whitelist)")),
            };
        };
        let version = version.split(['-', ',']).next().unwrap_or_default();
        let parts: Vec<u64> = version.split('.').filter_map(|part| part.parse().ok()).collect();
        let mode = field(self.0, "Mode: ").unwrap_or("of an unknown role");
        let text = format!("ZooKeeper {version} at {server}, {mode}");
        match (parts.as_slice() < LEAST.as_slice(), mode) {
            (true, _) => Finding::doubtful(
                about,
                format!("{text}; it does not know all that locks need"),
                format!("use {} or later", LEAST.map(|part| part.to_string()).join(".")),
            ),
            (false, "standalone") => {
                Finding::good(about, format!("{text}: locks outlast its restart, and no other server takes over"))
            }
            (false, _) if is_alone => Finding::doubtful(
                about,
                format!("{text}: the URL names this server alone, and its clients find no other one when it dies"),
                "name all servers of the ensemble: zookeeper://host1,host2,host3",
            ),
            (false, _) => Finding::good(about, text),
        }
    }
}

/// Begins a session, and sees by the belief in a lock of it for how long the server keeps it. `least`: the shortest one that a server
/// keeps, if it tells.
async fn session(url: Option<&str>, name: &str, asked: Duration, least: Option<Duration>) -> Result<Finding, Failure> {
    let begun = Instant::now();
    let client = connect(url, None)?;
    let name = format!("{name}:{}:session", client.id());
    let taken = client.lock(&name).wait(PATIENCE).acquire().await;
    // The belief counts from a moment of this time.
    let until = taken.as_ref().ok().and_then(|guard| guard.deadline());
    let granted = until.map(|until| (until.saturating_duration_since(begun) + MOMENT).div_f64(1.0 - SPARE));
    client.close(Holds::Release).await;
    Ok(judged(asked, granted, least))
}

/// `granted`: at most so much was granted.
fn judged(asked: Duration, granted: Option<Duration>, least: Option<Duration>) -> Finding {
    let about = "session";
    let watchdog = shown(asked);
    if let Some(least) = least.filter(|least| *least > asked) {
        return Finding::doubtful(
            about,
            format!(
                "a dead client keeps its locks for {}, and not for the {watchdog} of the option watchdog",
                shown(least)
            ),
            "lower minSessionTimeout of the servers, or set watchdog as high",
        );
    }
    match granted {
        Some(granted) if granted < asked.mul_f64(0.99) => Finding::doubtful(
            about,
            format!(
                "the server keeps a session for about {}, and not for the {watchdog} of the option watchdog",
                shown(granted)
            ),
            format!("set maxSessionTimeout of the servers to {} or more, or watchdog as low", asked.as_millis()),
        ),
        _ => Finding::good(about, format!("a dead client keeps its locks for {watchdog} and a tick of the server")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn the_hosts_of_a_url_have_ports() {
        assert_eq!(hosts("zookeeper://a,b:2182/app"), ["a:2181", "b:2182"]);
        assert_eq!(hosts("zookeeper://[::1],[::1]:2182"), ["[::1]:2181", "[::1]:2182"]);
        assert!(hosts("zookeepers://a").is_empty());
    }

    #[test]
    fn a_server_is_judged_by_its_word() {
        let said = |version: &str, mode: &str| format!("Zookeeper version: {version}-abc, built on 1\nMode: {mode}\n");
        let level = |said: &str, is_alone| Srvr(said).finding("s", is_alone).level;
        assert_eq!(level(&said("3.8.0", "standalone"), true), Level::Good);
        assert_eq!(level(&said("3.8.0", "follower"), true), Level::Doubtful);
        assert_eq!(level(&said("3.8.0", "follower"), false), Level::Good);
        assert_eq!(level(&said("3.4.14", "leader"), false), Level::Doubtful);
        assert_eq!(level("This ZooKeeper instance is not currently serving requests\n", false), Level::Bad);
        assert_eq!(level("srvr is not executed because it is not in the whitelist.\n", false), Level::Good);
    }

    #[test]
    fn a_session_that_is_shorter_or_longer_than_it_was_asked_for_is_told() {
        let seconds = |seconds| Duration::from_secs(seconds);
        let level = |granted, least| judged(seconds(30), Some(seconds(granted)), least).level;
        assert_eq!(level(30, Some(seconds(4))), Level::Good);
        assert_eq!(level(20, None), Level::Doubtful);
        assert_eq!(level(30, Some(seconds(40))), Level::Doubtful);
        assert_eq!(judged(seconds(30), None, None).level, Level::Good, "a lock that was not had is told elsewhere");
    }
}
