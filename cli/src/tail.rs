//! `redlatch tail`: prints what happens to locks, a line for each event.

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, SystemTime};

use redlatch::Client;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::oneshot;

use crate::arguments::Tail;
use crate::clock;
use crate::ending::Failure;
use crate::list::ended;
use crate::lock::client;
use crate::reports::{Style, one_line};
use crate::signals::Signals;
use crate::table::in_one_line;
use crate::times;
use crate::watch::{Event, Feed, Watch, reach};

/// A lock is looked at so often.
const INTERVAL: Duration = Duration::from_secs(1);
/// A reader that has gone is noticed so often.
const GLANCE: Duration = Duration::from_millis(500);
/// While more lines wait for a reader that stands still, no lock is looked at.
const MOST: usize = 1000;

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
    let (lines, ended) = Lines::begin();
    let mut ended = pin!(ended);
    let told = || {
        let events = watch.lock().expect("nothing panics while it is held").take_events();
        events.iter().for_each(|event| lines.add(line(event, arguments.json)));
    };
    let feed = Feed { client, pattern: &arguments.pattern, interval: INTERVAL, watch: &watch, told };
    let refused = {
        let mut feed = pin!(feed.run());
        // The glances poll it again.
        let paced = poll_fn(|cx| if lines.are_many() { Poll::Pending } else { feed.as_mut().poll(cx) });
        tokio::select! {
            refused = paced => refused,
            _ = signals.next() => return Ok(0),
            error = &mut ended => return stopped(error.ok()),
            () = reader_goes() => return Ok(0),
        }
    };
    // Its thread writes what is left, and ends.
    drop(lines);
    tokio::select! {
        _ = ended => {}
        _ = signals.next() => {}
        () = reader_goes() => {}
    }
    Err(refused)
}

/// Lines on their way to the reader. A thread of its own writes them, because a write ends when the reader reads, and no signal ends it.
struct Lines {
    sender: Sender<String>,
    waiting: Arc<AtomicUsize>,
}

impl Lines {
    /// The receiver hears of the end of the thread: of an error, or that all is written.
    fn begin() -> (Self, oneshot::Receiver<io::Error>) {
        let (sender, lines) = channel::<String>();
        let (failed, ended) = oneshot::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let written = waiting.clone();
        thread::spawn(move || {
            for line in lines {
                if let Err(error) = writeln!(io::stdout(), "{line}") {
                    let _ = failed.send(error);
                    return;
                }
                written.fetch_sub(1, Ordering::Relaxed);
            }
        });
        (Lines { sender, waiting }, ended)
    }

    fn add(&self, line: String) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Without its thread, the end is near.
        let _ = self.sender.send(line);
    }

    fn are_many(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST
    }
}

/// The end, if nothing can be written any more.
fn stopped(error: Option<io::Error>) -> Result<u8, Failure> {
    Failure::unless_heard("an event", error.map_or(Ok(()), Err)).map(|_| 0)
}

fn line(event: &Event, is_object: bool) -> String {
    let time = times::utc(SystemTime::now() - clock::now().saturating_sub(event.at));
    if is_object {
        return one_line(&event.object(&time));
    }
    let sentence = in_one_line(&event.sentence());
    match event.name.is_empty() {
        true => format!("{time}  {sentence}"),
        false => format!("{time}  {}  {sentence}", in_one_line(&event.name)),
    }
}

async fn reader_goes() {
    while !is_broken() {
        tokio::time::sleep(GLANCE).await;
    }
}

/// Whether the reader of the pipe on standard output has gone.
fn is_broken() -> bool {
    let out = io::stdout();
    let mut looked = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut looked, Some(&now)).is_ok() && looked[0].revents().contains(PollFlags::ERR)
}
