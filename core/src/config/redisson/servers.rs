//! The addresses of the servers, in each of Redisson's modes.

use super::section::Section;
use crate::config::Config;
use crate::config::servers::Servers;
use crate::request::error::{Error, Result};
use crate::request::shown;

/// For each mode: its setting, the part behind the scheme in a URL, and the setting with the addresses.
const MODES: [(&str, &str, &str); 5] = [
    ("singleServerConfig", "", "address"),
    ("clusterServersConfig", "+cluster", "nodeAddresses"),
    ("sentinelServersConfig", "+sentinel", "sentinelAddresses"),
    ("replicatedServersConfig", "+replicated", "nodeAddresses"),
    // Locks are on the master; nothing here reads from its replicas.
    ("masterSlaveServersConfig", "", "masterAddress"),
];

pub struct Mode<'a> {
    pub section: Section<'a>,
    name: &'static str,
    plus: &'static str,
    /// At least one address.
    addresses: Vec<String>,
}

impl<'a> Mode<'a> {
    /// The mode that the file has.
    pub fn of(top: &Section<'a>) -> Result<Self> {
        let mut found: Option<Mode> = None;
        for (name, plus, setting) in MODES {
            let Some(section) = top.within(name)? else { continue };
            if let Some(other) = found {
                return Err(Error::config(format!(
                    "the configuration has both {} and {name}; leave one of them out",
                    other.name
                )));
            }
            let addresses = section.texts(setting)?;
            if addresses.is_empty() {
                return Err(Error::config(format!(
                    "{name}.{setting} is missing; write one such as \"redis://host:6379\""
                )));
            }
            let addresses = addresses.into_iter().map(place).collect();
            found = Some(Mode { section, name, plus, addresses });
        }
        found.ok_or_else(|| {
            Error::config(
                "the configuration names no servers; write `singleServerConfig: {address: \"redis://host:6379\"}`",
            )
        })
    }

    pub fn is_single(&self) -> bool {
        self.name == "singleServerConfig"
    }

    pub fn is_tls(&self) -> bool {
        ["rediss://", "valkeys://"].iter().any(|scheme| self.addresses[0].starts_with(scheme))
    }

    /// A configuration with the addresses, and with the credentials that they contain.
    pub fn config(&self) -> Result<Config> {
        let mut path = String::new();
        if self.plus == "+sentinel" {
            let missing = || {
                Error::config(format!("{}masterName is missing; write the name that sentinels use", self.section.path))
            };
            path = format!("/{}", self.section.text("masterName")?.ok_or_else(missing)?);
        }
        let mut config = Config::from_url(&format!("{}{path}", self.joined()?))?;
        let database = self.section.number("database", 0)?;
        // An option of the address must not choose another one.
        if database != 0 || self.addresses[0].contains('?') {
            config.set("database", &database.to_string())?;
        }
        for (option, name) in [("sentinel_username", "sentinelUsername"), ("sentinel_password", "sentinelPassword")] {
            if let Some(value) = self.section.text(name)? {
                config.set(option, &value)?;
            }
        }
        config.set("nat", &self.nat()?)?;
        if let Some(word) =
            self.section.word("shardedSubscriptionMode", &["AUTO", "ON", "OFF"])?.filter(|_| self.plus == "+cluster")
        {
            config.set("sharded", &word.to_lowercase())?;
        }
        Ok(config)
    }

    /// Redisson's own mappers are lists, and so is the older setting before them.
    fn nat(&self) -> Result<String> {
        let mapper = match self.section.class("natMapper").map(|class| class.rsplit('.').next().unwrap_or(class)) {
            Some("HostPortNatMapper") => self.section.within("natMapper")?.map(|mapper| (mapper, "hostsPortMap")),
            Some("HostNatMapper") => self.section.within("natMapper")?.map(|mapper| (mapper, "hostsMap")),
            _ => None,
        };
        let (list, places) = match &mapper {
            Some((mapper, name)) => (mapper, *name),
            None => {
                let remedy = "use a HostPortNatMapper or a HostNatMapper, which are lists";
                self.section.no_class_of_its_own("natMapper", remedy)?;
                (&self.section, "natMap")
            }
        };
        let Some(map) = list.within(places)? else { return Ok(String::new()) };
        let pairs = map.names().map(|told| Ok(format!("{told}={}", map.text(told)?.unwrap_or_default())));
        Ok(pairs.collect::<Result<Vec<_>>>()?.join(","))
    }

    /// Joins `redis://a:1` and `redis://b:2` into `redis+mode://a:1,b:2`, with the login of the first.
    fn joined(&self) -> Result<String> {
        if self.plus.is_empty() {
            return Ok(self.addresses[0].clone());
        }
        let bad = |address: &str| {
            let shown = shown::url(address);
            Error::config(format!(
                "the address `{shown}` has no scheme, or another one than the first; write redis://host:6379, or rediss:// for all"
            ))
        };
        let (scheme, first) = self.addresses[0].split_once("://").ok_or_else(|| bad(&self.addresses[0]))?;
        let mut url = format!("{scheme}{}://{}", self.plus, first.trim_end_matches('/'));
        for address in &self.addresses[1..] {
            let place =
                address.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://")).ok_or_else(|| bad(address))?;
            let host = place.rsplit('@').next().unwrap_or_default().trim_end_matches('/');
            if place.trim_end_matches('/').contains(['/', '?', '#']) {
                let shown = shown::url(address);
                return Err(Error::config(format!(
                    "the address `{shown}` has more than a host and a port; options are settings of their own"
                )));
            }
            url.push(',');
            url.push_str(host);
        }
        Ok(url)
    }
}

/// The address without a path. As in Redisson, a path says nothing: a client that took `/3` for a database would share
/// no lock with Redisson's clients of that file. The path of a Unix socket is its place.
fn place(address: String) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address };
    let Some(path) = rest.find('/').filter(|_| !Servers::is_socket(scheme)) else { return address };
    // An `@` behind the path may be that of a login with a bare slash: such an address is refused, with the remedy.
    if rest[..path].contains('?') || rest[path..].contains('@') {
        return address;
    }
    let query = rest[path..].find('?').map_or(rest.len(), |query| path + query);
    if &rest[path..query] != "/" {
        tracing::warn!(
            target: "redlatch::config",
            "the path of the address {} says nothing, as in Redisson; name a database by the setting `database`, and \
             leave the path out",
            shown::url(&address)
        );
    }
    format!("{scheme}://{}{}", &rest[..path], &rest[query..])
}
