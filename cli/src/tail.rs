//! `redlatch tail`: prints what happens to locks, a line for each event.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use redlatch::Client;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::arguments::Tail;
use crate::clock;
use crate::ending::Failure;
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
    let has_reader = Mutex::new(true);
    let told = || {
        let mut watch = watch.lock().expect("nothing panics while it is held");
        let events = watch.take_events();
        drop(watch);
        for event in events {
            let is_written = writeln!(io::stdout(), "{}", line(&event, arguments.json)).is_ok();
            *has_reader.lock().expect("nothing panics while it is held") &= is_written;
        }
    };
    let feed = Feed { client, pattern: &arguments.pattern, interval: INTERVAL, watch: &watch, told };
    let reader_goes = async {
        while *has_reader.lock().expect("nothing panics while it is held") && !is_broken() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    tokio::select! {
        failure = feed.run() => Err(failure),
        _ = signals.next() => Ok(0),
        () = reader_goes => Ok(0),
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
