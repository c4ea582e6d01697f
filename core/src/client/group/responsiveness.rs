//! Members that did not answer the last request: a round does not wait for them while there are enough others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::sleep;

use super::Member;
use crate::base::tasks;
use crate::request::error::{Error, Result};
use crate::request::{Op, Request};

/// The pause after a sign of life that did not come, before the next request for one.
const AGAIN: Duration = Duration::from_millis(100);

/// The silence of one client's server.
#[derive(Default)]
pub struct Responsiveness {
    silent: AtomicBool,
    asked: AtomicBool,
}

impl Responsiveness {
    pub fn is_silent(&self) -> bool {
        self.silent.load(Relaxed)
    }

    /// Notes whether the server answered.
    pub fn heard<T>(&self, said: &Result<T>) {
        self.silent.store(said.as_ref().is_err_and(Error::is_for_now), Relaxed);
    }
}

/// The right to ask for a sign of life. Dropping it lets another task ask.
struct Asking(Arc<Responsiveness>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asked.store(false, Relaxed);
    }
}

impl Member {
    /// The silence of its client's server, in this process.
    pub(super) fn responsiveness(&self) -> Option<Arc<Responsiveness>> {
        Some(self.client.state().ok()?.groups().responsiveness.clone())
    }

    pub(super) fn is_silent(&self) -> bool {
        self.responsiveness().is_some_and(|responsiveness| responsiveness.is_silent())
    }

    /// Asks a silent member for a sign of life, for at most `limit`, unless a task does so already.
    pub(super) fn look_after(&self, limit: Duration) {
        let Some(responsiveness) =
            self.responsiveness().filter(|responsiveness| !responsiveness.asked.swap(true, Relaxed))
        else {
            return;
        };
        let client = self.client.clone();
        let asking = Asking(responsiveness);
        let ping = Request {
            response_timeout: Some(limit),
            retry_for: Some(Duration::ZERO),
            ..Request::new(Op::Ping, "plain", "", 0)
        };
        tasks::spawn(async move {
            let said = client.run(ping).await;
            asking.0.heard(&said);
            if said.is_err() {
                sleep(AGAIN).await;
            }
        });
    }
}
