//! The keyspace events that the server publishes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Multiplexed;
use crate::request::error::Error;

const SETTING: &str = "notify-keyspace-events";

impl Multiplexed {
    /// The server's `notify-keyspace-events`; `None`: it does not tell.
    pub async fn notifications(self: &Arc<Self>, limit: Duration) -> Result<Option<String>, Error> {
        let wire = self.reached(limit).await?;
        let mut con = wire.con.clone();
        let question = redis::cmd("CONFIG").arg("GET").arg(SETTING).to_owned();
        let answer = wire.ask(question.query_async::<HashMap<String, String>>(&mut con), limit).await;
        Ok(answer.ok().and_then(Result::ok).and_then(|mut settings| settings.remove(SETTING)))
    }
}
