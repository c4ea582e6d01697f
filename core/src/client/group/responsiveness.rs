//! Members that did not answer when they were asked last: nobody waits for them while there are enough others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::sleep;

use super::Member;
use crate::base::tasks;
use crate::request::error::{Error, Result};
use crate::request::{Op, Request};

/// Between two signs of life that are asked for.
const AGAIN: Duration = Duration::from_millis(100);

/// Of one client.
#[derive(Default)]
pub struct Responsiveness {
    silent: AtomicBool,
    asked: AtomicBool,
}

impl Responsiveness {
    pub fn is_silent(&self) -> bool {
        self.silent.load(Relaxed)
    }

    /// What its server said, or did not.
    pub fn heard<T>(&self, said: &Result<T>) {
        self.silent.store(said.as_ref().is_err_and(Error::is_transient), Relaxed);
    }
}

/// Somebody asks for a sign of life; whatever becomes of that, another one may ask after it.
struct Asking(Arc<Responsiveness>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asked.store(false, Relaxed);
    }
}

impl Member {
    /// Of its client in this process.
    pub(super) fn responsiveness(&self) -> Option<Arc<Responsiveness>> {
        Some(self.client.state().ok()?.groups().responsiveness.clone())
    }

    pub(super) fn is_silent(&self) -> bool {
        self.responsiveness().is_some_and(|responsiveness| responsiveness.is_silent())
    }

    /// Asks a silent one for a sign of life of at most `limit`, unless that is done already.
    pub(super) fn look_after(&self, limit: Duration) {
        let Some(responsiveness) = self.responsiveness().filter(|responsiveness| !responsiveness.asked.swap(true, Relaxed)) else { return };
        let (client, asking) = (self.client.clone(), Asking(responsiveness));
        let ping = Request { response_timeout: Some(limit), retry_for: Some(Duration::ZERO), ..Request::new(Op::Ping, "plain", "", 0) };
        tasks::spawn(async move {
            let said = client.run(ping).await;
            asking.0.heard(&said);
            if said.is_err() {
                sleep(AGAIN).await;
            }
        });
    }
}
