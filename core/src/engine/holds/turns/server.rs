//! The server of the model: one lock, kept as the scripts keep it, and its counter of tokens. Another program uses the
//! lock too, and may take it away.

use std::time::Duration;

use crate::base::clock::Instant;

/// The owner of another client.
pub const STRANGER: i64 = 99;

#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub field: i64,
    pub count: u32,
    pub until: Instant,
}

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Acquire(Acquire),
    /// `tokens`: the number to draw behind that of the next owner; `None`: that one gets none either.
    Release {
        field: i64,
        leave: u32,
        lease: Duration,
        next: Option<(i64, Duration)>,
        tokens: Option<u32>,
    },
    /// `lease`: zero for a mere look.
    Renew {
        field: i64,
        lease: Duration,
        exact: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Acquire {
    pub owner: i64,
    pub want: u32,
    pub lease: Duration,
    pub spare: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// Token 0: there is none.
    Taken {
        token: i64,
        spare: i64,
    },
    Busy(Duration),
    /// The owner's field is not there; whether another one is.
    Missing(bool),
    /// So many clients heard of it.
    Freed(u64),
    /// The holds that are left last for so long.
    Left(Duration),
    Passed {
        token: i64,
        spare: i64,
    },
    Held,
    TooLate,
}

pub struct Server {
    key: Option<Key>,
    pub fenced: bool,
    /// The token drawn last.
    pub drawn: i64,
    /// The greatest token that the stranger has had.
    pub strange: i64,
    /// The number of times that another program took the lock away from its holder, or shortened its time.
    pub meddled: u64,
    /// The client listens on the channel of the lock.
    pub listens: bool,
    /// The messages on their way to the client.
    pub unheard: u64,
}

impl Server {
    pub fn new(fenced: bool) -> Self {
        Server { key: None, fenced, drawn: 0, strange: 0, meddled: 0, listens: false, unheard: 0 }
    }

    pub fn key(&self, now: Instant) -> Option<Key> {
        self.key.filter(|key| key.until > now)
    }

    /// Carries a call out.
    pub fn run(&mut self, call: Call, now: Instant) -> Reply {
        self.key = self.key(now);
        match call {
            Call::Acquire(acquire) => self.acquire(acquire, now),
            Call::Release { field, leave, lease, next, tokens } => {
                let Some(key) = self.key.as_mut().filter(|key| key.field == field) else {
                    return self.released_before(next, tokens.is_some(), now);
                };
                if leave > 0 {
                    let left = key.until.duration_since(now).max(lease);
                    (key.until, key.count) = (now + left, leave);
                    return Reply::Left(left);
                }
                let Some((heir, lease)) = next else {
                    let listeners = self.publish();
                    self.key = None;
                    return Reply::Freed(listeners);
                };
                let is_longer = key.until > now + lease;
                *key = Key { field: heir, count: 1, until: now + lease };
                if is_longer {
                    self.publish();
                }
                let (token, spare) = tokens.map_or((0, 0), |spare| self.draw(spare));
                Reply::Passed { token, spare }
            }
            Call::Renew { field, lease, exact } => match &mut self.key {
                Some(key) if key.field == field => {
                    if !lease.is_zero() {
                        key.until = if exact { now + lease } else { key.until.max(now + lease) };
                    }
                    Reply::Held
                }
                other => Reply::Missing(other.is_some()),
            },
        }
    }

    fn acquire(&mut self, acquire: Acquire, now: Instant) -> Reply {
        let Acquire { owner, want, lease, spare } = acquire;
        match self.key {
            None if want > 1 => return Reply::Missing(false),
            Some(key) if key.field != owner && want > 1 => return Reply::Missing(true),
            Some(key) if key.field != owner => return Reply::Busy(key.until - now),
            _ => {}
        }
        let (token, spare) = match self.fenced {
            true => self.draw(spare),
            false => (0, 0),
        };
        let until = self.key.map_or(now, |key| key.until).max(now + lease);
        self.key = Some(Key { field: owner, count: want, until });
        Reply::Taken { token, spare }
    }

    fn released_before(&mut self, next: Option<(i64, Duration)>, draws: bool, now: Instant) -> Reply {
        match (next, &mut self.key) {
            (Some((heir, lease)), Some(key)) if key.field == heir => {
                key.until = now + lease;
                Reply::Passed { token: if draws { self.drawn } else { 0 }, spare: 0 }
            }
            (_, other) => Reply::Missing(other.is_some()),
        }
    }

    fn draw(&mut self, spare: u32) -> (i64, i64) {
        self.drawn += 1 + i64::from(spare);
        (self.drawn - i64::from(spare), i64::from(spare))
    }

    fn publish(&mut self) -> u64 {
        self.unheard += u64::from(self.listens);
        u64::from(self.listens)
    }

    /// The stranger takes the lock if it is free, and releases it if it holds it.
    pub fn trade(&mut self, lease: Duration, now: Instant) {
        match self.key(now) {
            None => self.give_to_stranger(lease, now),
            Some(key) if key.field == STRANGER => {
                self.key = None;
                self.publish();
            }
            Some(_) => {}
        }
    }

    fn give_to_stranger(&mut self, lease: Duration, now: Instant) {
        self.key = Some(Key { field: STRANGER, count: 1, until: now + lease });
        if self.fenced {
            // It draws for waiters of its own, too.
            self.strange = self.draw(3).0;
        }
    }

    /// Another program deletes the key; it does so by force with a message; or it takes the lock away; or it shortens
    /// the time of the key.
    pub fn meddle(&mut self, pick: u8, now: Instant) {
        let Some(key) = self.key(now) else { return };
        self.meddled += u64::from(key.field != STRANGER);
        match pick % 4 {
            0 => self.key = None,
            1 => {
                self.key = None;
                self.publish();
            }
            2 => {
                let lease = Duration::from_millis(u64::from(pick));
                self.give_to_stranger(lease, now);
                self.publish();
            }
            _ => self.key = Some(Key { until: key.until.min(now + Duration::from_millis(u64::from(pick / 4))), ..key }),
        }
    }
}
