//! Asks the server for a sign of life.

use crate::redis::kinds::script::{Call, Script, script};
use crate::redis::settle::settle;
use crate::redis::target::Target;
use crate::request::Answer;
use crate::request::error::Result;

static PING: Script = script!("ping");

impl Target {
    pub async fn ping(&self) -> Result<Answer> {
        let settled = settle(&self.redis, &Call::new(&PING), self.retry_limits(None), None).await;
        settled.map(|_| Answer::done(1)).map_err(|unsettled| unsettled.error)
    }
}
