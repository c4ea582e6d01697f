//! The signals that go on to the command.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use rustix::process::Signal;

use crate::bell::Bell;

const FORWARDED: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// INT, TERM, HUP and QUIT, as far as this process did not ignore them when it began: under `nohup` and in the background of a shell
/// script some are ignored, and the command inherits that.
pub struct Signals(Vec<(Signal, Bell)>);

impl Signals {
    pub fn listen() -> io::Result<Self> {
        let ignored = set("SigIgn:");
        let heard = FORWARDED.into_iter().filter(|signal| ignored & mask(*signal) == 0);
        let listen = |signal: Signal| Ok((signal, Bell::of(signal)?));
        Ok(Signals(heard.map(listen).collect::<io::Result<_>>()?))
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
