//! The server's own reports: a message, which means only "try again"; and a changed key, which means only "look again".

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};

use super::key_events::Events;

#[derive(Default)]
pub struct Wakes {
    channels: Mutex<HashMap<String, Arc<Channel>>>,
    /// The first count for the messages of the next channel: a channel that is listened to anew shares no count with
    /// its earlier self.
    start: AtomicU64,
    suspects: Mutex<Option<Suspects>>,
    /// Signals each new suspect.
    pub suspicion: Notify,
    /// Signals that a channel cannot be heard any more.
    pub deafness: Notify,
    pub events: Events,
}

/// Keys that other connections may have changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Suspects {
    All,
    Names(Vec<String>),
}

struct Channel {
    /// The count of messages. It stays until the listener looks, so no message is lost between a try and a sleep.
    messages: watch::Sender<u64>,
    /// The server has confirmed the subscription, on the present connection.
    proven: AtomicBool,
}

/// A listener of a channel; the drop of the last one ends the subscription.
pub struct Listener {
    channel: Arc<Channel>,
    messages: watch::Receiver<u64>,
}

impl Wakes {
    /// Adds a listener. The link subscribes.
    pub fn join(&self, channel: &str) -> Listener {
        let mut channels = self.channels();
        let start = || self.start.fetch_add(1 << 32, SeqCst);
        let fresh = || Arc::new(Channel { messages: watch::Sender::new(start()), proven: AtomicBool::new(false) });
        let channel = channels.entry(channel.to_owned()).or_insert_with(fresh).clone();
        Listener { messages: channel.messages.subscribe(), channel }
    }

    /// Removes a listener; true: it was the last of the channel.
    pub fn leave(&self, channel: &str, listener: Listener) -> bool {
        let mut channels = self.channels();
        drop(listener);
        let last = channels.get(channel).is_some_and(|channel| channel.messages.receiver_count() == 0);
        if last {
            channels.remove(channel);
        }
        last
    }

    pub fn is_wanted(&self, channel: &str) -> bool {
        self.channels().contains_key(channel)
    }

    pub fn anybody_listens(&self) -> bool {
        !self.channels().is_empty()
    }

    pub fn wanted(&self) -> Vec<String> {
        self.channels().keys().cloned().collect()
    }

    pub fn message(&self, channel: &str) {
        if let Some(channel) = self.channels().get(channel) {
            channel.messages.send_modify(|count| *count += 1);
        }
    }

    /// The number of messages of a channel, from an arbitrary start.
    pub fn count(&self, channel: &str) -> u64 {
        self.channels().get(channel).map_or(0, |channel| *channel.messages.borrow())
    }

    /// As [`Wakes::count`], if the server has confirmed the subscription.
    pub fn proven_count(&self, channel: &str) -> Option<u64> {
        self.channels()
            .get(channel)
            .filter(|channel| channel.proven.load(SeqCst))
            .map(|channel| *channel.messages.borrow())
    }

    /// Notes that another connection has changed a key; `None`: that may be so for all keys.
    pub fn suspect(&self, name: Option<String>) {
        let mut suspects = self.suspects.lock().expect("nothing panics while it is held");
        match (&mut *suspects, name) {
            (Some(Suspects::All), _) => {}
            (all, None) => *all = Some(Suspects::All),
            (Some(Suspects::Names(names)), Some(name)) => names.push(name),
            (none, Some(name)) => *none = Some(Suspects::Names(vec![name])),
        }
        self.suspicion.notify_one();
    }

    /// Tells whether a change of this key has not been looked into.
    pub fn is_suspect(&self, name: &str) -> bool {
        match &*self.suspects.lock().expect("nothing panics while it is held") {
            Some(Suspects::All) => true,
            Some(Suspects::Names(names)) => names.iter().any(|other| other == name),
            None => false,
        }
    }

    pub fn take_suspects(&self) -> Option<Suspects> {
        self.suspects.lock().expect("nothing panics while it is held").take()
    }

    pub fn proven(&self, channel: &str) {
        if let Some(channel) = self.channels().get(channel) {
            channel.proven.store(true, SeqCst);
        }
    }

    /// Notes that the connection is lost and no message can come. So every waiter tries again and every holder looks,
    /// which opens the connection anew.
    pub fn disconnected(&self) {
        for channel in self.channels().values() {
            channel.proven.store(false, SeqCst);
            channel.messages.send_modify(|count| *count += 1);
        }
        self.suspect(None);
        self.deafness.notify_one();
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Channel>>> {
        self.channels.lock().expect("nothing panics while it is held")
    }
}

impl Listener {
    pub fn is_proven(&self) -> bool {
        self.channel.proven.load(SeqCst)
    }

    /// Forgets the messages that came before a try.
    pub fn mark(&mut self) {
        self.messages.mark_unchanged();
    }

    /// Waits for the next message. Returns at once if one came since the last look. Gives the number of messages so
    /// far.
    pub async fn heard(&mut self) -> u64 {
        // The sender lives as long as `channel`, so there is no error.
        let _ = self.messages.changed().await;
        *self.messages.borrow_and_update()
    }
}
