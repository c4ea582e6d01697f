//! The name of a client's connections if the program gives none: it tells the machine and the process of a holder.

/// `redlatch@<host>:<process>:<uuid of the client>`.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientName {
    pub host: String,
    pub process: u32,
    pub uuid: String,
}

const MARK: &str = "redlatch@";

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Windows tells each process by a variable.
#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

impl ClientName {
    /// The name of a client of this process.
    pub fn of(uuid: &str) -> Self {
        // Redis takes no other characters.
        let host = host().chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect();
        ClientName { host, process: std::process::id(), uuid: uuid.to_owned() }
    }

    /// Reads a name; `None`: it is that of another program.
    pub fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(MARK)?.rsplitn(3, ':');
        let uuid = parts.next()?.to_owned();
        let process = parts.next()?.parse().ok()?;
        let host = parts.next()?.to_owned();
        Some(ClientName { host, process, uuid })
    }

    pub fn text(&self) -> String {
        format!("{MARK}{}:{}:{}", self.host, self.process, self.uuid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let name = ClientName::of("3f1c");
        assert_eq!(ClientName::read(&name.text()), Some(name));
        for other in ["", "worker", "redlatch@host", "redlatch@host:pid:uuid"] {
            assert_eq!(ClientName::read(other), None, "{other}");
        }
    }
}
