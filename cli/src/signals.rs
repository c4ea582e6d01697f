//! The signals that go on to the command.

use std::future::{pending, poll_fn};
use std::io;
use std::task::Poll;
use std::thread;

use rustix::process::Signal;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::bell::Bell;

const FORWARDED: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// INT, TERM, HUP and QUIT, as far as this process did not ignore them when it began: under `nohup` and in the background of a shell
/// script some are ignored, and the command inherits that.
pub struct Signals(Vec<(Signal, Bell)>);

impl Signals {
    pub fn listen() -> io::Result<Self> {
        let listen = |signal: Signal| Ok((signal, Bell::of(signal)?));
        Ok(Signals(heard().map(listen).collect::<io::Result<_>>()?))
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|cx| {
            let came = self.0.iter().find_map(|(signal, bell)| bell.poll_rung(cx).is_ready().then_some(*signal));
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// The same signals, and whether the keyboard of the terminal sent them: such a signal comes to each process of the job.
pub struct SignalsOfJob(UnboundedReceiver<(Signal, bool)>);

impl SignalsOfJob {
    pub fn listen() -> io::Result<Self> {
        let mut signals = SignalsInfo::<WithOrigin>::new(heard().map(Signal::as_raw))?;
        let (sender, receiver) = unbounded_channel();
        thread::spawn(move || {
            for origin in signals.forever() {
                let Some(signal) = Signal::from_named_raw(origin.signal) else { continue };
                // The system also sends HUP, but not to each process.
                let is_typed = matches!(origin.cause, Cause::Kernel) && [Signal::INT, Signal::QUIT].contains(&signal);
                if sender.send((signal, is_typed)).is_err() {
                    return;
                }
            }
        });
        Ok(SignalsOfJob(receiver))
    }

    /// Waits for the next signal. `true`: the keyboard sent it.
    pub async fn next(&mut self) -> (Signal, bool) {
        match self.0.recv().await {
            Some(received) => received,
            // The thread goes on as long as this.
            None => pending().await,
        }
    }
}

/// The signals that this process did not ignore when it began.
fn heard() -> impl Iterator<Item = Signal> {
    let ignored = set("SigIgn:");
    FORWARDED.into_iter().filter(move |signal| ignored & mask(*signal) == 0)
}

fn mask(signal: Signal) -> u64 {
    1 << (signal.as_raw() - 1)
}

/// Whether this process has blocked the signal, from its beginning.
pub fn is_blocked(signal: Signal) -> bool {
    set("SigBlk:") & mask(signal) != 0
}

/// A set of signals of this process, a bit each.
fn set(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix(name));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
