//! Reads the configuration files of Redisson, YAML or JSON: settings that mean something here become a [`Config`].

mod delays;
mod section;
mod servers;
mod tls;

use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::config::document::{self, Value};
use crate::config::sync_policy::SyncPolicy;
use crate::request::error::{Error, Result};
use crate::request::shown;

use section::Section;
use servers::Mode;

impl Config {
    /// Reads a configuration of Redisson, YAML or JSON: one of `singleServerConfig`, `clusterServersConfig`,
    /// `sentinelServersConfig`, `replicatedServersConfig` and `masterSlaveServersConfig`, and the settings for all of
    /// them. First replaces `${NAME}` and `${NAME:-default}` anywhere in the text by the variable of the environment,
    /// else by the default. The defaults of settings are Redisson's: retries last for the sum of its delays, and an
    /// acquire waits for connected replicas in every mode but that of a single server.
    ///
    /// Some settings mean nothing here (threads, pools, codecs, reading from replicas), and some names are unknown: one
    /// debug message names all of them. Key stores must be PEM files. Needs the feature `redisson-config`, which is on by
    /// default.
    ///
    /// # Errors
    /// `Error::Config` for a text that cannot be read; for a value that a setting cannot take; and for a class that
    /// decides about names, addresses, credentials or trust, since only the JVM has classes.
    /// [`Client::with_config`](crate::Client::with_config) reports key stores that cannot be used and that no option
    /// replaces.
    pub fn from_redisson(text: &str) -> Result<Self> {
        let root = document::read(text, |name| std::env::var(name).ok())?;
        let Value::Map(entries) = &root.value else {
            return Err(Error::config(
                "the configuration has no names and values; write `singleServerConfig: {address: \"redis://host:6379\"}`",
            ));
        };
        let top = Section::new("", entries);
        let mode = Mode::of(&top)?;
        let config = read(&top, &mode)?;
        let idle = [top.unused(), mode.section.unused()].concat();
        if !idle.is_empty() {
            tracing::debug!(target: "redlatch::config", "the configuration has settings that mean nothing here and are ignored: {}", idle.join(", "));
        }
        Ok(config)
    }

    /// As [`Config::from_redisson`], from a file in UTF-8. Needs the same feature.
    ///
    /// # Errors
    /// As there, and `Error::Config` if the file cannot be read.
    pub fn from_redisson_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let shown = shown::value("config", &path.display().to_string());
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::config(format!("the configuration `{shown}` cannot be read: {error}")))?;
        Config::from_redisson(&text).map_err(|error| match error {
            Error::Config(why) => Error::config(format!("in `{shown}`: {why}")),
            other => other,
        })
    }
}

fn read(top: &Section, mode: &Mode) -> Result<Config> {
    let server = &mode.section;
    let mut config = mode.config()?;
    // Older versions of Redisson have these settings among those of the servers.
    for (name, remedy) in [
        ("nameMapper", "leave it out, and set the beginning of all names with the option prefix"),
        (
            "credentialsResolver",
            "leave it out, set username and password, and where they change call set_credentials of the client",
        ),
        ("commandMapper", "scripts name their commands; leave it out"),
    ] {
        top.no_class_of_its_own(name, remedy)?;
        server.no_class_of_its_own(name, remedy)?;
    }
    for option in ["username", "password"] {
        let said = if option == "username" { &config.username } else { &config.password };
        if let (None, Some(value)) = (said, either(top, server, option)?) {
            config.set(option, &value)?;
        }
    }
    for name in ["sslTrustManagerFactory", "sslKeyManagerFactory", "sslProtocols", "sslCiphers"] {
        top.not_here(name, "TLS is decided here, with the protocols and ciphers that are safe; leave it out")?;
        server.not_here(name, "TLS is decided here, with the protocols and ciphers that are safe; leave it out")?;
    }
    if mode.is_tls() {
        tls::read(&mut config, top, server)?;
    }
    if let Some(name) = server.text("clientName")? {
        config.set("client_name", &name)?;
    }
    config.response_timeout = server.millis("timeout", 3000, 1)?;
    config.connect_timeout = server.millis("connectTimeout", 10_000, 1)?;
    config.retry_for = delays::retry_for(server)?;
    config.fair_wait = top.millis("fairLockWaitTimeout", 300_000, 0)?;
    config.watchdog = top.millis("lockWatchdogTimeout", 30_000, 100)?;
    let within = top.millis("slavesSyncTimeout", 1000, 0)?;
    let checked = top.truth("checkLockSyncedSlaves", true)?;
    if !mode.is_single() && within > Duration::ZERO {
        config.sync = SyncPolicy::Connected { replicas: checked.into(), within }.checked()?;
    }
    Ok(config)
}

/// A setting for all servers goes before the same setting in this section.
fn either(top: &Section, server: &Section, name: &str) -> Result<Option<String>> {
    let first = top.text(name)?;
    let second = server.text(name)?;
    Ok(first.or(second))
}

#[cfg(test)]
mod tests;
