//! Maps the addresses that servers announce to the addresses where the client reaches them: behind a translation of
//! addresses (NAT), in containers, through tunnels.

use std::str::FromStr;

use crate::request::error::{Error, Result};
use crate::request::shown;

/// Where the client reaches servers that announce other addresses, see [`crate::Config::nat`]. Made of a text: pairs such
/// as `10.0.0.1:7000=host:17000,10.0.0.2=other`, by host and port or by host alone.
///
/// ```
/// # fn example() -> redlatch::Result<()> {
/// let inside_out = "10.0.0.1:7000=localhost:17000,10.0.0.2=other".parse()?;
/// let config = redlatch::Config::from_url("redis+cluster://localhost:17000")?.nat(inside_out);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// Its `Debug` text is the number of pairs: a text in the wrong place may be a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AddressMap(Vec<Pair>);

/// Both addresses have a port, or neither has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    announced: Endpoint,
    real: Endpoint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Endpoint {
    host: String,
    port: Option<u16>,
}

impl std::fmt::Debug for AddressMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AddressMap({})", self.0.len())
    }
}

impl FromStr for AddressMap {
    type Err = Error;

    /// # Errors
    /// `Config` for a text that is no list of pairs, and for a pair of which only one address has a port.
    fn from_str(value: &str) -> Result<Self> {
        let bad = |pair: &str| {
            Error::config(format!(
                "the nat `{}` is not a pair of addresses; write told=meant, as in 10.0.0.1:7000=host:17000 or 10.0.0.1=host",
                shown::value("nat", pair)
            ))
        };
        let mut nat = AddressMap::default();
        for pair in value.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (told, meant) = pair.split_once('=').ok_or_else(|| bad(pair))?;
            let announced = endpoint(told.trim()).ok_or_else(|| bad(pair))?;
            let real = endpoint(meant.trim()).ok_or_else(|| bad(pair))?;
            if announced.port.is_some() != real.port.is_some() {
                return Err(bad(pair));
            }
            nat.0.push(Pair { announced, real });
        }
        Ok(nat)
    }
}

impl AddressMap {
    /// The address where the client reaches a server that announces this one; a pair with this port goes before a pair
    /// without a port.
    pub(crate) fn meant<'a>(&'a self, host: &'a str, port: u16) -> (&'a str, u16) {
        let by = |wanted: Option<u16>| {
            self.0.iter().find(|pair| pair.announced.host == host && pair.announced.port == wanted)
        };
        by(Some(port))
            .or_else(|| by(None))
            .map_or((host, port), |pair| (&pair.real.host, pair.real.port.unwrap_or(port)))
    }
}

/// Reads `host`, `host:port`, `[ip6]:port` or a bare IPv6 address.
fn endpoint(text: &str) -> Option<Endpoint> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':')?)),
        None if text.matches(':').count() == 1 => text.split_once(':').map(|(host, port)| (host, Some(port)))?,
        None => (text, None),
    };
    let port =
        port.map(|port| port.parse().ok().filter(|port| *port != 0)).map_or(Some(None), |port| port.map(Some))?;
    (!host.is_empty() && !host.contains(['/', '@', ' ', '[', ']'])).then(|| Endpoint { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_with_a_port_goes_before_a_pair_with_a_host_only() {
        let nat = "a:1=b:2, a=c,[::1]:5=d:6,::2=::3".parse::<AddressMap>().expect("pairs");
        for (told, meant) in [
            (("a", 1), ("b", 2)),
            (("a", 9), ("c", 9)),
            (("::1", 5), ("d", 6)),
            (("::2", 7), ("::3", 7)),
            (("b", 2), ("b", 2)),
        ] {
            let (host, port) = told;
            assert_eq!(nat.meant(host, port), meant);
        }
    }

    #[test]
    fn a_text_without_pairs_is_refused() {
        for value in ["a", "a:1=b", "a=b:1", "=b", "a:0=b:1", "a:x=b:1", "[::1=b", "a:1=redis://b:1"] {
            let said = value.parse::<AddressMap>().expect_err("it is none").to_string();
            assert!(said.contains(value) && said.contains("told=meant"), "{said}");
        }
    }
}
