//! The subscriptions to the ends and deletions of keys. Each counts the keyspace events of the server that its listener
//! has not heard of yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::oneshot;

use crate::request::error::{Error, Result};
use crate::request::{Answer, Done, Op};

#[derive(Default)]
pub struct Events(Mutex<State>);

#[derive(Default)]
struct State {
    last: u64,
    by_number: HashMap<u64, Subscription>,
    by_channel: HashMap<String, Vec<u64>>,
    /// The client has ended: no listener hears of anything any more.
    ended: bool,
}

pub struct Subscription {
    source: Source,
    /// Dropping it ends the task that renews the subscription.
    _kept: oneshot::Sender<()>,
    /// Events that its listener has not heard of.
    pub heard: i64,
    pub waiting: Option<(u64, Done)>,
}

/// The place where the server announces an event: every message on this channel with this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub channel: String,
    text: String,
}

pub fn unknown(number: u64) -> Error {
    Error::config(format!("no listener has the number {number} any more; listen anew"))
}

impl Events {
    pub fn add(&self, source: Source, kept: oneshot::Sender<()>) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.by_channel.entry(source.channel.clone()).or_default().push(number);
        state.by_number.insert(number, Subscription { source, _kept: kept, heard: 0, waiting: None });
        number
    }

    pub fn remove(&self, number: u64) -> Option<Subscription> {
        let mut state = self.state();
        let subscription = state.by_number.remove(&number)?;
        if let Some(numbers) = state.by_channel.get_mut(&subscription.source.channel) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                state.by_channel.remove(&subscription.source.channel);
            }
        }
        Some(subscription)
    }

    /// Notes a message on a channel.
    pub fn message(&self, channel: &str, text: &[u8]) {
        let mut told = Vec::new();
        {
            let mut state = self.state();
            let Some(numbers) = state.by_channel.get(channel).cloned() else { return };
            for number in numbers {
                let subscription = state.by_number.get_mut(&number).expect("both maps have it");
                if subscription.source.text.as_bytes() == text {
                    subscription.heard += 1;
                    told.extend(
                        subscription.waiting.take().map(|(_, done)| (done, std::mem::take(&mut subscription.heard))),
                    );
                }
            }
        }
        told.into_iter().for_each(|(done, heard)| done(Ok(Answer::done(heard))));
    }

    /// Waits for the next event. Gives `done` back with its answer if there is one already.
    pub fn next(
        &self,
        number: u64,
        ticket: u64,
        done: Done,
        closed: impl Fn() -> Error,
    ) -> Option<(Done, Result<Answer>)> {
        let mut state = self.state();
        if state.ended {
            return Some((done, Err(closed())));
        }
        match state.by_number.get_mut(&number) {
            None => Some((done, Err(unknown(number)))),
            Some(Subscription { heard, .. }) if *heard > 0 => Some((done, Ok(Answer::done(std::mem::take(heard))))),
            Some(subscription) => {
                let other = subscription.waiting.replace((ticket, done));
                other.map(|(_, done)| (done, Err(Error::Cancelled)))
            }
        }
    }

    pub fn find(&self, ticket: u64) -> Option<u64> {
        let waits =
            |subscription: &Subscription| subscription.waiting.as_ref().is_some_and(|(other, _)| *other == ticket);
        self.state().by_number.iter().find(|(_, subscription)| waits(subscription)).map(|(number, _)| *number)
    }

    /// Tells all listeners that the client has ended, and those that come later.
    pub fn close(&self, error: impl Fn() -> Error) {
        let all = std::mem::replace(&mut *self.state(), State { ended: true, ..State::default() });
        all.by_number
            .into_values()
            .filter_map(|subscription| subscription.waiting)
            .for_each(|(_, done)| done(Err(error())));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it is held")
    }
}

impl Source {
    /// Chooses the channel for an event. `flags`: the server's `notify-keyspace-events`, if it tells. This is the key's
    /// own channel if there is one; else, as with Redisson, the channel with the events of all keys.
    pub fn choose(op: Op, flags: Option<&str>, database: i64, name: &str) -> Result<Source> {
        let (event, class) = if op == Op::Expiry { ("expired", 'x') } else { ("del", 'g') };
        let has = |flag| flags.is_none_or(|flags| flags.contains(flag));
        let told = has(class) || has('A');
        match flags {
            Some(_) if told && has('K') => {
                Ok(Source { channel: format!("__keyspace@{database}__:{name}"), text: event.into() })
            }
            _ if told && has('E') => {
                Ok(Source { channel: format!("__keyevent@{database}__:{event}"), text: name.into() })
            }
            flags => Err(Error::Unsupported(format!(
                "the server does not report that `{name}` is {}: its notify-keyspace-events is `{}`; run CONFIG SET notify-keyspace-events Kgx",
                if op == Op::Expiry { "expired" } else { "deleted" },
                flags.unwrap_or_default()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(op: Op, flags: Option<&str>) -> Option<String> {
        Source::choose(op, flags, 3, "n").ok().map(|source| format!("{} {}", source.channel, source.text))
    }

    #[test]
    fn the_keys_own_channel_is_taken_where_there_is_one() {
        for flags in ["Kx", "gxKE", "AKE"] {
            assert_eq!(channel(Op::Expiry, Some(flags)).as_deref(), Some("__keyspace@3__:n expired"));
        }
        for flags in [Some("Eg"), Some("AE"), None] {
            assert_eq!(channel(Op::Deletion, flags).as_deref(), Some("__keyevent@3__:del n"));
        }
    }

    #[test]
    fn a_server_that_tells_of_nothing_or_of_something_else_is_named_with_the_remedy() {
        for flags in ["", "x", "Eg", "Kg"] {
            let error = Source::choose(Op::Expiry, Some(flags), 0, "n").expect_err(flags).to_string();
            assert!(error.contains(&format!("`{flags}`")) && error.contains("CONFIG SET"), "{error}");
        }
    }
}
