//! Drives a waiter: stands in line, listens, tries, sleeps, and ends held or with nothing left behind.

use std::time::Instant;

use tokio::sync::watch;
use tokio::time::sleep_until;

use crate::command::Answer;
use crate::error::{Error, Result};
use crate::gate::Turn;
use crate::kinds::Wake;
use crate::link::Outcome;
use crate::live::Place;
use crate::script::Call;
use crate::target::{Target, Tried};
use crate::waiter::{Action, End, Event, Patience, Waiter};
use crate::wakes::Listener;

/// Acquires, on the I/O thread. `first` is a try that the caller's thread has made.
pub async fn acquire(
    target: Target,
    watched: bool,
    patience: Patience,
    first: Option<(Turn, Call, Outcome, Instant)>,
    mut cancel: watch::Receiver<bool>,
) -> Result<Answer> {
    let live = target.live.clone();
    let Wake::Lock(channel) = target.kind.wake(&target.slot.name);
    let queues = patience != Patience::Once && live.holds().count(&target.slot, Instant::now()) == 0;
    let mut first = first;
    let mut ear = Ear { target: &target, channel, listener: None };
    let mut place: Option<Place> = None;
    let until_over = async |cancel: &mut watch::Receiver<bool>| {
        let deadline = async {
            match patience {
                Patience::Until(deadline) => sleep_until(deadline.into()).await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! { _ = deadline => None, _ = cancel.wait_for(|asked| *asked) => Some(()) }
    };
    if queues {
        // A try that was already made settles first: its turn must not wait in a line.
        if first.is_none() {
            ear.join();
            let mut mine = live.stand_in_line(&target.slot);
            tokio::select! {
                biased;
                _ = mine.head() => {}
                over = until_over(&mut cancel) => return if over.is_some() { Err(Error::Cancelled) } else { Ok(Answer::not_now()) },
            }
            place = Some(mine);
        }
    }
    let mut waiter = Waiter::new(patience, ear.is_proven());
    let mut action = Action::Try;
    loop {
        let now = Instant::now();
        let retry = now + live.config.retry_for;
        let limit = match patience {
            Patience::Until(deadline) => deadline.min(retry),
            _ => retry,
        };
        let event = match action {
            Action::Try => {
                ear.mark();
                match target.acquire(watched, limit, first.take()).await {
                    Ok(Tried::Taken(number)) if *cancel.borrow() => {
                        let _ = target.release(number, None).await;
                        return Err(Error::Cancelled);
                    }
                    Ok(Tried::Taken(number)) => return Ok(Answer::done(number as i64)),
                    Ok(Tried::Busy(ttl)) => Event::Busy { ttl },
                    Err(error) => Event::Failed(error),
                }
            }
            Action::Listen => {
                ear.join();
                if queues && place.is_none() {
                    let mut mine = live.stand_in_line(&target.slot);
                    tokio::select! {
                        biased;
                        _ = mine.head() => {}
                        over = until_over(&mut cancel) => return if over.is_some() { Err(Error::Cancelled) } else { Ok(Answer::not_now()) },
                    }
                    place = Some(mine);
                }
                tokio::select! {
                    heard = ear.listen() => heard.map_or_else(Event::Failed, |()| Event::Listening),
                    over = until_over(&mut cancel) => if over.is_some() { Event::Cancelled } else { Event::Woken },
                }
            }
            Action::Sleep { until } => tokio::select! {
                _ = ear.heard() => Event::Woken,
                _ = sleep_until(until.into()) => Event::Woken,
                _ = cancel.wait_for(|asked| *asked) => Event::Cancelled,
            },
            Action::Finish(End::NotNow) => return Ok(Answer::not_now()),
            Action::Finish(End::Failed(error)) => return Err(error),
            Action::Finish(End::Cancelled) => return Err(Error::Cancelled),
        };
        let event = if *cancel.borrow() { Event::Cancelled } else { event };
        action = waiter.on(event, ear.is_proven(), Instant::now());
    }
}

/// The waiter's subscription; dropping it lets the I/O thread end it if it was the last.
struct Ear<'a> {
    target: &'a Target,
    channel: String,
    listener: Option<Listener>,
}

impl Ear<'_> {
    fn join(&mut self) {
        if self.listener.is_none() {
            self.listener = Some(self.target.live.wakes.join(&self.channel));
        }
    }

    async fn listen(&self) -> Result<()> {
        if self.is_proven() {
            return Ok(());
        }
        self.target.live.link.listen(&self.channel, self.target.live.config.response_timeout).await
    }

    fn is_proven(&self) -> bool {
        self.listener.as_ref().is_some_and(Listener::is_proven)
    }

    fn mark(&mut self) {
        if let Some(listener) = &mut self.listener {
            listener.mark();
        }
    }

    async fn heard(&mut self) {
        match &mut self.listener {
            Some(listener) => listener.heard().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Ear<'_> {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            let live = self.target.live.clone();
            let channel = std::mem::take(&mut self.channel);
            if live.wakes.leave(&channel, listener) {
                tokio::spawn(async move { live.link.unlisten(&channel).await });
            }
        }
    }
}
