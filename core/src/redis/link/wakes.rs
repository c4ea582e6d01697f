//! What the server tells unasked: a message, which means only: try again; and a changed key, which means only: look again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};

use super::key_events::Events;

#[derive(Default)]
pub struct Wakes {
    channels: Mutex<HashMap<String, Arc<Channel>>>,
    /// Where the next channel's count of messages starts: one that is listened to anew has none that it had before.
    start: AtomicU64,
    suspects: Mutex<Option<Suspects>>,
    /// Told of every new suspect.
    pub suspicion: Notify,
    /// Told whenever something that was listened to cannot be heard any more.
    pub deafness: Notify,
    pub events: Events,
}

/// Keys that may have been changed by others.
#[derive(Debug, PartialEq, Eq)]
pub enum Suspects {
    All,
    Names(Vec<String>),
}

struct Channel {
    /// Counts messages, and remembers them until the listener looks: none is lost between a try and a sleep.
    messages: watch::Sender<u64>,
    /// The server has confirmed the subscription, on the connection that now is.
    proven: AtomicBool,
}

/// One who listens; the last to be dropped ends the subscription.
pub struct Listener {
    channel: Arc<Channel>,
    messages: watch::Receiver<u64>,
}

impl Wakes {
    /// Counts a listener in. The subscription itself is the link's work.
    pub fn join(&self, channel: &str) -> Listener {
        let mut channels = self.channels();
        let start = || self.start.fetch_add(1 << 32, SeqCst);
        let fresh = || Arc::new(Channel { messages: watch::Sender::new(start()), proven: AtomicBool::new(false) });
        let channel = channels.entry(channel.to_owned()).or_insert_with(fresh).clone();
        Listener { messages: channel.messages.subscribe(), channel }
    }

    /// Counts a listener out; true: it was the channel's last.
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

    /// Counts the messages that have come on a channel, from an arbitrary number on.
    pub fn count(&self, channel: &str) -> u64 {
        self.channels().get(channel).map_or(0, |channel| *channel.messages.borrow())
    }

    /// The same, if the server has confirmed that it listens there.
    pub fn proven_count(&self, channel: &str) -> Option<u64> {
        self.channels().get(channel).filter(|channel| channel.proven.load(SeqCst)).map(|channel| *channel.messages.borrow())
    }

    /// A key has been changed by another connection; `None`: all may have been.
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

    pub fn take_suspects(&self) -> Option<Suspects> {
        self.suspects.lock().expect("nothing panics while it is held").take()
    }

    pub fn proven(&self, channel: &str) {
        if let Some(channel) = self.channels().get(channel) {
            channel.proven.store(true, SeqCst);
        }
    }

    /// Nothing can be heard any more: everybody tries again, and every holder looks, and by that opens the connection anew.
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

    /// Returns at the next message, or at once if one came since the last look, with the count of messages so far.
    pub async fn heard(&mut self) -> u64 {
        // The sender lives as long as `channel`, so there is no error to see.
        let _ = self.messages.changed().await;
        *self.messages.borrow_and_update()
    }
}
