//! The addresses of the servers, and the role of each.

use std::fmt::{Display, Formatter};

use crate::config::address_map::AddressMap;
use crate::request::error::{Error, Result};

/// The address of one server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    Tcp { host: String, port: u16, tls: bool },
    Unix(String),
}

/// The servers that a configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    One(Address),
    /// Some servers of a cluster; they tell the client of the others.
    Cluster(Vec<Address>),
    /// The sentinels that know the address of a master, and the master's name.
    Sentinel {
        sentinels: Vec<Address>,
        master: String,
    },
    /// A master and its replicas; each server says its role.
    Replicated(Vec<Address>),
    /// A server of MySQL or MariaDB.
    Sql {
        address: Address,
        scheme: &'static str,
    },
    /// The servers of an ensemble of ZooKeeper.
    Zookeeper {
        addresses: Vec<Address>,
        /// The path above the paths of all locks, without a slash at its end; empty: there is none.
        chroot: String,
    },
}

impl Address {
    /// The address of a server that this server announces by host and port; without a host it announces itself.
    pub(crate) fn near(&self, host: &str, port: u16, nat: &AddressMap) -> Option<Address> {
        let Address::Tcp { host: own, tls, .. } = self else { return None };
        let (host, port) = if host.is_empty() || host == "?" { (&**own, port) } else { nat.meant(host, port) };
        Some(Address::Tcp { host: host.to_owned(), port, tls: *tls })
    }

    /// The address as its URL has it behind the scheme.
    pub(crate) fn endpoint(&self) -> String {
        self.to_string().split("://").skip(1).collect()
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Address::Tcp { tls: true, .. })
    }
}

impl Servers {
    /// The servers that a program names.
    pub fn named(&self) -> &[Address] {
        match self {
            Servers::One(address) | Servers::Sql { address, .. } => std::slice::from_ref(address),
            Servers::Cluster(addresses) | Servers::Replicated(addresses) | Servers::Zookeeper { addresses, .. } => {
                addresses
            }
            Servers::Sentinel { sentinels, .. } => sentinels,
        }
    }

    pub fn is_tls(&self) -> bool {
        self.named().iter().any(Address::is_tls)
    }

    /// The scheme of such servers with TLS.
    pub fn secured_scheme(&self) -> &'static str {
        match self {
            Servers::Sql { scheme, .. } if scheme.starts_with("mariadb") => "mariadbs",
            Servers::Sql { .. } => "mysqls",
            Servers::Zookeeper { .. } => "zookeepers",
            _ => "rediss",
        }
    }

    /// Tells whether it is a server of MySQL or MariaDB.
    pub fn is_sql(&self) -> bool {
        matches!(self, Servers::Sql { .. })
    }

    /// Tells whether they are servers of ZooKeeper.
    #[cfg(feature = "zookeeper")]
    pub fn is_zookeeper(&self) -> bool {
        matches!(self, Servers::Zookeeper { .. })
    }

    /// The path above the paths of all locks of ZooKeeper.
    #[cfg(feature = "zookeeper")]
    pub fn chroot(&self) -> &str {
        match self {
            Servers::Zookeeper { chroot, .. } => chroot,
            _ => "",
        }
    }

    /// The scheme of such servers of ZooKeeper.
    #[cfg(feature = "zookeeper")]
    pub fn scheme(&self) -> &'static str {
        if self.is_tls() { "zookeepers" } else { "zookeeper" }
    }

    /// Tells whether a URL of that scheme names a socket by its path.
    pub fn is_socket(scheme: &str) -> bool {
        matches!(scheme.rsplit('+').next(), Some("unix" | "uds"))
    }

    /// Reads the servers from the parts of a URL: its scheme, its hosts, and the path behind them. Gives the database
    /// too, if the path names one.
    ///
    /// # Errors
    /// `Err(why)`: the mistake in these parts.
    pub fn from_url(scheme: &str, hosts: &[&str], path: &str) -> std::result::Result<(Self, Option<String>), String> {
        let (base, mode) = scheme.split_once('+').unwrap_or((scheme, ""));
        if let Some(scheme) = SQL.into_iter().find(|sql| *sql == scheme) {
            return sql(scheme, hosts, path);
        }
        if base.starts_with("zookeeper") && ["zookeeper", "zookeepers"].contains(&scheme) {
            return zookeeper(scheme, hosts, path);
        }
        let tls = match base {
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            "unix" if mode.is_empty() => false,
            _ => return Err(format!("has the scheme `{scheme}`")),
        };
        let port = if mode == "sentinel" { 26379 } else { 6379 };
        let addresses =
            || hosts.iter().map(|host| address(host, port, tls)).collect::<std::result::Result<Vec<_>, _>>();
        let mut words = path.split('/').filter(|word| !word.is_empty()).map(decode);
        let servers =
            match (base, mode) {
                ("unix", _) | (_, "unix" | "uds") if !tls => {
                    let path = decode(path);
                    return if path.is_empty() {
                        Err("names no socket".into())
                    } else {
                        Ok((Servers::One(Address::Unix(path)), None))
                    };
                }
                (_, "") => match &addresses()?[..] {
                    [one] => Servers::One(one.clone()),
                    _ => return Err(
                        "names several servers; say which they are: redis+cluster, redis+sentinel or redis+replicated"
                            .into(),
                    ),
                },
                (_, "cluster") => Servers::Cluster(addresses()?),
                (_, "replicated") => Servers::Replicated(addresses()?),
                (_, "sentinel") => {
                    let master = words.next().ok_or("names no master; write redis+sentinel://host1,host2/mymaster")?;
                    Servers::Sentinel { sentinels: addresses()?, master }
                }
                _ => return Err(format!("has the scheme `{scheme}`")),
            };
        let database = words.next();
        match words.next() {
            Some(_) => Err("has more behind its hosts than that takes".into()),
            None => Ok((servers, database)),
        }
    }
}

/// The schemes of MySQL and MariaDB, without TLS and with it.
const SQL: [&str; 4] = ["mysql", "mysqls", "mariadb", "mariadbs"];

/// Reads the server and the schema of MySQL or MariaDB.
fn sql(scheme: &'static str, hosts: &[&str], path: &str) -> std::result::Result<(Servers, Option<String>), String> {
    let [host] = hosts else { return Err("names several servers; name the primary".into()) };
    let address = address(host, 3306, scheme.ends_with('s'))?;
    let mut words = path.split('/').filter(|word| !word.is_empty()).map(decode);
    let schema = words.next();
    match words.next() {
        Some(_) => Err("has more behind its host than the name of a schema".into()),
        None => Ok((Servers::Sql { address, scheme }, schema)),
    }
}

/// Reads the servers and the chroot of ZooKeeper.
fn zookeeper(scheme: &str, hosts: &[&str], path: &str) -> std::result::Result<(Servers, Option<String>), String> {
    let tls = scheme.ends_with('s');
    let port = if tls { 2281 } else { 2181 };
    let addresses = hosts.iter().map(|host| address(host, port, tls)).collect::<std::result::Result<Vec<_>, _>>()?;
    let chroot = decode(path.trim_end_matches('/'));
    let words: Vec<_> = chroot.split('/').skip(1).collect();
    let is_word = |word: &&str| {
        !word.is_empty() && ![".", ".."].contains(word) && !word.chars().any(|c| c.is_control() || c >= '\u{e000}')
    };
    if !words.iter().all(is_word) || words.first() == Some(&"zookeeper") {
        return Err("has a path behind its hosts that no node of ZooKeeper can have".into());
    }
    Ok((Servers::Zookeeper { addresses, chroot }, None))
}

/// Reads `host`, `host:port` or `[ip6]:port`, escaped as in a URL.
fn address(text: &str, port: u16, tls: bool) -> std::result::Result<Address, String> {
    let url = url::Url::parse(&format!("redis://{text}")).map_err(|error| format!("cannot be read: {error}"))?;
    let host = match url.host() {
        Some(url::Host::Ipv6(ip)) => ip.to_string(),
        Some(host) if !host.to_string().is_empty() => decode(&host.to_string()),
        _ => return Err("names no host".into()),
    };
    // The URL has options, or part of a password, between its hosts.
    if host.contains(|c: char| "&=?#@/\\;".contains(c) || c.is_whitespace() || c.is_control()) {
        return Err("names a host with a character that no host has".into());
    }
    match url.port() {
        Some(0) => Err("has port 0".into()),
        given => Ok(Address::Tcp { host, port: given.unwrap_or(port), tls }),
    }
}

pub(crate) fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The path behind the hosts as it is written: the parser of URLs goes back at each `..` in it.
pub(crate) fn written_path(text: &str) -> &str {
    let rest = text.trim().split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Splits a URL: gives the URL with its first host alone, and all its hosts.
pub(crate) fn split(text: &str) -> Result<(String, Vec<&str>)> {
    let bad = || Error::config("the URL has no `://` in it; write redis://host:6379");
    let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
    let hosts: Vec<&str> = hosts.split(',').collect();
    let user = if authority.contains('@') { format!("{user}@") } else { String::new() };
    Ok((format!("{scheme}://{user}{}{path}", hosts[0]), hosts))
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp { host, port, tls } if host.contains(':') => write!(f, "{}://[{host}]:{port}", scheme(*tls)),
            Address::Tcp { host, port, tls } => write!(f, "{}://{host}:{port}", scheme(*tls)),
            Address::Unix(path) => write!(f, "unix://{path}"),
        }
    }
}

impl Display for Servers {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (mode, master) = match self {
            Servers::One(address) => return address.fmt(f),
            Servers::Sql { address, scheme } => return write!(f, "{scheme}://{}", address.endpoint()),
            Servers::Zookeeper { addresses, chroot } => {
                let hosts: Vec<String> = addresses.iter().map(Address::endpoint).collect();
                let scheme = if self.is_tls() { "zookeepers" } else { "zookeeper" };
                return write!(f, "{scheme}://{}{chroot}", hosts.join(","));
            }
            Servers::Cluster(_) => ("cluster", ""),
            Servers::Replicated(_) => ("replicated", ""),
            Servers::Sentinel { master, .. } => ("sentinel", &**master),
        };
        let hosts: Vec<String> = self.named().iter().map(Address::endpoint).collect();
        let slash = if master.is_empty() { "" } else { "/" };
        write!(f, "{}+{mode}://{}{slash}{master}", scheme(self.is_tls()), hosts.join(","))
    }
}

fn scheme(tls: bool) -> &'static str {
    if tls { "rediss" } else { "redis" }
}
