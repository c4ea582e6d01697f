//! Puts the events of each process together: the requests, their results, and how long each holder believed in its
//! hold.

use std::collections::HashMap;

use super::fault::{Fault, Kind};
use crate::history::{Entry, Event, Section};

/// One acquire and its result.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The number of the process's history.
    pub process: usize,
    pub lane: u32,
    pub number: u64,
    pub key: u32,
    pub owner: u64,
    /// In ns; `None`: without a limit.
    pub wait: Option<u64>,
    /// In ms; `None`: the hold is renewed.
    pub lease: Option<u64>,
    /// How many permits; 0: a reader, which shares the lock with other readers.
    pub takes: u64,
    pub called: u64,
    /// When the acquire returned, and its result; `None`: the process ended before.
    pub end: Option<(u64, End)>,
    /// When the process ended.
    pub gone: u64,
    pub hold: Option<Hold>,
    /// Rows of: when, the server's count of the owner's holds, and the expected count.
    pub counted: Vec<(u64, u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Held,
    NotNow,
    Failed { code: String, text: String },
    Dropped,
}

/// A hold, for as long as its holder believed in it.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The server granted the hold after this time.
    pub asked: u64,
    pub from: u64,
    pub until: u64,
    pub close: Close,
    pub section: Section,
    /// For locks that draw a token.
    pub token: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// The holder was still sure when it called release. `returned`: when release returned, and with which code.
    Released { returned: Option<(u64, String)> },
    /// The holder was told of its loss.
    Lost { told: u64, reason: String },
    /// The holder's process ended at this time.
    Died { at: u64 },
}

impl Attempt {
    pub fn caller(&self) -> String {
        format!("process {} lane {} attempt {} (owner {})", self.process, self.lane, self.number, self.owner)
    }

    /// The last moment at which the attempt can have been waiting for the lock.
    pub fn waited_until(&self) -> u64 {
        self.end.as_ref().map_or(self.gone, |(at, _)| *at)
    }
}

/// The attempts of all processes. The number of a process is the place of its history.
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
                all.push(Attempt {
                    process,
                    lane: entry.lane,
                    number: entry.attempt,
                    key,
                    owner,
                    wait,
                    lease,
                    takes,
                    called: entry.at,
                    end: None,
                    gone: ended,
                    hold: None,
                    counted: Vec::new(),
                });
            } else if let Some(place) = places.get(&(entry.lane, entry.attempt)) {
                all[*place].on(entry, ended);
            }
        }
        for hold in all[first..].iter_mut().filter_map(|attempt: &mut Attempt| attempt.hold.as_mut()) {
            if let Close::Died { at } = &mut hold.close {
                *at = ended;
                hold.until = hold.until.min(ended);
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
                self.hold = Some(Hold {
                    asked: at.min(*asked),
                    from: at,
                    until: *deadline,
                    close: Close::Died { at },
                    section: Section::None,
                    token: None,
                });
            }
            Event::NotNow => self.end = Some((at, End::NotNow)),
            Event::Failed { code, text } => {
                self.end = Some((at, End::Failed { code: code.clone(), text: text.clone() }))
            }
            Event::Dropped if self.hold.is_none() => self.end = Some((at, End::Dropped)),
            Event::Counted { count, expected } => self.counted.push((at, *count, *expected)),
            held => {
                let Some(hold) = &mut self.hold else { return };
                match held {
                    Event::Token { token } => hold.token = Some(*token),
                    Event::Deadline { deadline } => hold.until = *deadline,
                    Event::Lost { since, reason, section } => {
                        // The deadline in the history may be earlier than the one that ended the hold. The belief never
                        // lasts longer than the history says.
                        hold.until = hold.until.min(*since);
                        hold.section = *section;
                        hold.close = Close::Lost { told: at.min(ended), reason: reason.clone() };
                    }
                    Event::Release { section } => {
                        hold.until = at;
                        hold.section = *section;
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
