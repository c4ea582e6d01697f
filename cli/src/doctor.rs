//! `redlatch doctor`: looks for what would hurt locks, at the servers and by real locks.

use std::io::IsTerminal;
use std::process::ExitCode;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Holds};
use serde_json::json;

use crate::arguments::Doctor;
use crate::attend::system;
use crate::ending::Failure;
use crate::list::{answer, ended};
use crate::lock::{client, given};
use crate::reports::Style;

mod finding;
mod info;
mod probes;
mod rights;
mod servers;

use finding::{Finding, Level};
use info::Wanted;

/// A finding says that locks are in danger or do not work.
const BAD: u8 = 1;

pub fn doctor(arguments: &Doctor) -> ExitCode {
    let style = Style::of(arguments.json, arguments.quiet);
    ended(examine(arguments, style), &arguments.name, style)
}

fn examine(arguments: &Doctor, style: Style) -> Result<u8, Failure> {
    let url = arguments.url.as_deref();
    let wanted = Wanted::by(&given(url).unwrap_or_default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    let mut report = Report { style, colours: std::io::stdout().is_terminal(), worst: Level::Good };
    runtime.block_on(async {
        let [first, second] = [client(url, None)?, client(url, None)?];
        let site = servers::examine(&first, wanted, |finding| report.add(&finding)).await?;
        if site.is_none() {
            // Without an answer there is nothing to tell.
            first.run(Request::new(Op::Ping, "plain", arguments.name.as_str(), 0)).await?;
        }
        probes::examine(&first, &second, &arguments.name, site.as_ref(), |finding| report.add(&finding)).await;
        close([first, second]).await;
        Ok::<(), Failure>(())
    })?;
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
}

impl Report {
    fn add(&mut self, finding: &Finding) {
        self.worst = self.worst.max(finding.level);
        answer(self.style, &finding.lines(self.colours), &finding.object());
    }
}

impl Finding {
    fn object(&self) -> serde_json::Value {
        json!({ "level": self.level.word(), "about": self.about, "text": self.text, "remedy": self.remedy })
    }
}
