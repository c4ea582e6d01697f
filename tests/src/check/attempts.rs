//! Puts the events of each process together: what was asked, what came of it, and how long it was believed to be held.

use std::collections::HashMap;

use super::fault::{Fault, Kind};
use crate::history::{Entry, Event, Section};

/// One acquire and what came of it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The number of its process's history.
    pub process: usize,
    pub lane: u32,
    pub number: u64,
    pub key: u32,
    pub owner: u64,
    /// ns; `None`: for ever.
    pub wait: Option<u64>,
    /// ms; `None`: it is renewed.
    pub lease: Option<u64>,
    /// How many permits; 0: it shares with others who share.
    pub takes: u64,
    pub called: u64,
    /// When it returned and with what; `None`: its process ended before.
    pub end: Option<(u64, End)>,
    /// When its process ended.
    pub gone: u64,
    pub hold: Option<Hold>,
    /// What the server counted of this owner, and what was expected.
    pub counted: Vec<(u64, u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Held,
    NotNow,
    Failed { code: String, text: String },
    Dropped,
}

/// A hold, for as long as it was believed in.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The server gave it after this.
    pub asked: u64,
    pub from: u64,
    pub until: u64,
    pub close: Close,
    pub section: Section,
    /// Of a lock that draws one.
    pub token: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// It was still sure when release was called; when that returned, and with what.
    Released { returned: Option<(u64, String)> },
    /// Its holder was told.
    Lost { told: u64, reason: String },
    /// Its process ended, then.
    Died { at: u64 },
}

impl Attempt {
    pub fn who(&self) -> String {
        format!("process {} lane {} attempt {} (owner {})", self.process, self.lane, self.number, self.owner)
    }

    /// The last moment that it can have been waiting for the lock.
    pub fn waited_until(&self) -> u64 {
        self.end.as_ref().map_or(self.gone, |(at, _)| *at)
    }
}

/// The attempts of all processes. A process's number is the place of its history.
pub fn assemble(histories: &[Vec<Entry>], faults: &[Fault]) -> Vec<Attempt> {
    let mut all = Vec::new();
    for (process, entries) in histories.iter().enumerate() {
        let killed = faults.iter().find(|fault| fault.kind == Kind::Kill { process }).map(|fault| fault.until);
        let ended = killed.or(entries.last().map(|entry| entry.at)).unwrap_or_default();
        let mut places = HashMap::new();
        let first = all.len();
        for entry in entries {
            if let Event::Acquire { key, owner, wait, lease, takes } = entry.event {
                places.insert((entry.lane, entry.attempt), all.len());
                let wait = wait.map(|ms| ms * 1_000_000);
                let (lane, number, called) = (entry.lane, entry.attempt, entry.at);
                let (end, hold, counted) = (None, None, Vec::new());
                all.push(Attempt { process, lane, number, key, owner, wait, lease, takes, called, end, gone: ended, hold, counted });
            } else if let Some(place) = places.get(&(entry.lane, entry.attempt)) {
                all[*place].on(entry, ended);
            }
        }
        for hold in all[first..].iter_mut().filter_map(|attempt: &mut Attempt| attempt.hold.as_mut()) {
            if let Close::Died { at } = &mut hold.close {
                (*at, hold.until) = (ended, hold.until.min(ended));
            }
        }
    }
    all
}

impl Attempt {
    fn on(&mut self, entry: &Entry, ended: u64) {
        let at = entry.at;
        match &entry.event {
            Event::Acquire { .. } => {}
            Event::Held { asked, deadline } => {
                self.end = Some((at, End::Held));
                let (asked, from, until, close) = (at.min(*asked), at, *deadline, Close::Died { at });
                self.hold = Some(Hold { asked, from, until, close, section: Section::None, token: None });
            }
            Event::NotNow => self.end = Some((at, End::NotNow)),
            Event::Failed { code, text } => self.end = Some((at, End::Failed { code: code.clone(), text: text.clone() })),
            Event::Dropped if self.hold.is_none() => self.end = Some((at, End::Dropped)),
            Event::Counted { count, expected } => self.counted.push((at, *count, *expected)),
            held => {
                let Some(hold) = &mut self.hold else { return };
                match held {
                    Event::Token { token } => hold.token = Some(*token),
                    Event::Deadline { deadline } => hold.until = *deadline,
                    Event::Lost { since, reason, section } => {
                        // The deadline that was seen last may be an earlier one than the one that ended it: never later than told.
                        (hold.until, hold.section) = (hold.until.min(*since), *section);
                        hold.close = Close::Lost { told: at.min(ended), reason: reason.clone() };
                    }
                    Event::Release { section } => {
                        (hold.until, hold.section) = (at, *section);
                        hold.close = Close::Released { returned: None };
                    }
                    Event::Released { code } => {
                        if let Close::Released { returned } = &mut hold.close {
                            *returned = Some((at, code.clone()));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
