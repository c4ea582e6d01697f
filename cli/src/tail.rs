//! `redlatch tail`: prints what happens to locks, a line for each event.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use redlatch::Client;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::arguments::Tail;
use crate::clock;
use crate::ending::{Failure, SYSTEM};
use crate::list::ended;
use crate::lock::client;
use crate::reports::Style;
use crate::signals::Signals;
use crate::table::in_one_line;
use crate::times;
use crate::watch::{Event, Feed, Watch, reach};

/// A lock is looked at so often.
const INTERVAL: Duration = Duration::from_secs(1);
/// A reader that has gone is noticed so often.
const GLANCE: Duration = Duration::from_millis(500);

pub fn tail(arguments: &Tail) -> ExitCode {
    ended(follow(arguments), &arguments.pattern, Style::of(arguments.json, false))
}

fn follow(arguments: &Tail) -> Result<u8, Failure> {
    let client = client(arguments.url.as_deref(), None)?;
    reach(&client, &arguments.pattern)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::system)?;
    runtime.block_on(print(&client, arguments))
}

/// Prints events until a signal comes or the reader has gone.
async fn print(client: &Client, arguments: &Tail) -> Result<u8, Failure> {
    let mut signals = Signals::listen().map_err(Failure::system)?;
    let watch = Mutex::new(Watch::new(INTERVAL));
    // The reason why nothing can be written any more.
    let stopped = Mutex::new(None::<io::Error>);
    let told = || {
        let mut watch = watch.lock().expect("nothing panics while it is held");
        let events = watch.take_events();
        drop(watch);
        for event in events {
            if let Err(error) = writeln!(io::stdout(), "{}", line(&event, arguments.json)) {
                *stopped.lock().expect("nothing panics while it is held") = Some(error);
            }
        }
    };
    let feed = Feed { client, pattern: &arguments.pattern, interval: INTERVAL, watch: &watch, told };
    let reader_goes = async {
        while stopped.lock().expect("nothing panics while it is held").is_none() && !is_broken() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::select! {
        failure = feed.run() => return Err(failure),
        _ = signals.next() => return Ok(0),
        () = reader_goes => {}
    }
    match stopped.into_inner().expect("nothing panics while it is held") {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let text = format!("an event cannot be written to standard output: {error}; look at where it goes");
            Err(Failure::new(SYSTEM, "failed", text))
        }
        _ => Ok(0),
    }
}

fn line(event: &Event, is_object: bool) -> String {
    let time = times::utc(SystemTime::now() - clock::now().saturating_sub(event.at));
    if is_object {
        return event.object(&time).to_string();
    }
    let sentence = in_one_line(&event.sentence());
    match event.name.is_empty() {
        true => format!("{time}  {sentence}"),
        false => format!("{time}  {}  {sentence}", in_one_line(&event.name)),
    }
}

/// Whether the reader of the pipe on standard output has gone.
fn is_broken() -> bool {
    let out = io::stdout();
    let mut looked = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut looked, Some(&now)).is_ok() && looked[0].revents().contains(PollFlags::ERR)
}
