//! `redlatch doctor`: looks for what would hurt locks, at the servers and by real locks.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use redlatch::{Client, Holds};
use serde_json::json;

use crate::arguments::Doctor;
use crate::attend::system;
use crate::ending::Failure;
use crate::list::{answer, ended};
use crate::lock::{client, config, given};
use crate::reports::Style;

mod copies;
mod engines;
mod finding;
mod info;
mod keeper;
mod orphans;
mod probes;
mod rights;
mod servers;

use finding::{Finding, Level};
use info::Wanted;

/// A finding says that locks are in danger or do not work.
const BAD: u8 = 1;
/// The longest wait for a lock that its holder has released, and for the news of a loss.
const PATIENCE: Duration = Duration::from_secs(5);
/// Another doctor that was killed keeps a lock for no longer than this one waits for it.
const LEASE: Duration = Duration::from_secs(4);

pub fn doctor(arguments: &Doctor) -> ExitCode {
    let style = Style::of(arguments.json, arguments.quiet);
    ended(examine(arguments, style), &arguments.name, style)
}

fn examine(arguments: &Doctor, style: Style) -> Result<u8, Failure> {
    let url = arguments.url.as_deref();
    let wanted = Wanted::by(&given(url).unwrap_or_default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    let mut report = Report { style, colours: std::io::stdout().is_terminal(), worst: Level::Good, heard: Ok(()) };
    runtime.block_on(async {
        let [first, second] = [client(url, None)?, client(url, None)?];
        let name = arguments.name.as_str();
        let mut add = |finding: Finding| report.add(&finding);
        let site = servers::examine(&first, wanted, &mut add).await?;
        let keeps_locks = match &site {
            Some(_) => true,
            None => engines::examine(&first, url, name, &mut add).await?,
        };
        let answers = keeps_locks && probes::examine(&first, &second, name, site.as_ref(), &mut add).await;
        if let Some(site) = site.filter(|_| answers) {
            copies::examine(url, name, &site).await?.into_iter().for_each(&mut add);
            if arguments.scan {
                let whole = Client::with_config(config(url)?.prefix(""))?;
                orphans::examine(&whole, wanted.prefix, &site, &mut add).await;
                whole.close(Holds::Release).await;
            }
        } else if answers && arguments.scan {
            add(Finding::good("orphans", "none: the server ends each lock with the session of its client"));
        }
        close([first, second]).await;
        Ok::<(), Failure>(())
    })?;
    report.heard?;
    Ok(if report.worst == Level::Bad { BAD } else { 0 })
}

async fn close(clients: [Client; 2]) {
    for client in clients {
        client.close(Holds::Release).await;
    }
}

struct Report {
    style: Style,
    colours: bool,
    worst: Level,
    heard: Result<(), Failure>,
}

impl Report {
    fn add(&mut self, finding: &Finding) {
        self.worst = self.worst.max(finding.level);
        if self.heard.is_ok() {
            self.heard = answer(self.style, &finding.lines(self.colours), &finding.object());
        }
    }
}

impl Finding {
    fn object(&self) -> serde_json::Value {
        json!({ "level": self.level.word(), "about": self.about, "text": self.text, "remedy": self.remedy })
    }
}
