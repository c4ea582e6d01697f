//! Takes a lock away from its holder.

use crate::base::clock::Instant;
use crate::redis::kinds::Inputs;
use crate::redis::kinds::reply::Code;
use crate::redis::kinds::script::Call;
use crate::redis::settle::{Settled, settle};
use crate::redis::target::Target;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op};

impl Target {
    pub async fn force_release(&self) -> Result<Answer> {
        let retry = self.retry_limits(None);
        let meant = self.texts.first().map(|holder| String::from_utf8_lossy(holder).into_owned());
        let mut holder = meant.clone().unwrap_or_default();
        loop {
            let call = self.call(Op::ForceRelease, &Inputs { holder: &holder, ..self.inputs() })?;
            // This comes before the sending: the watchdog may find the holds gone before the answer is here.
            self.redis.holds(|holds| holds.force(&self.claim.name, true));
            let settled = settle(&self.redis, &call, retry, None).await;
            // A hold that the client has taken meanwhile is none of those that this takes away.
            if !settled.as_ref().is_ok_and(|settled| settled.reply.code == Code::Done) {
                self.redis.holds(|holds| holds.force(&self.claim.name, false));
            }
            self.suspect(&call);
            let Settled { reply, repeated, .. } = settled.map_err(|unsettled| unsettled.error)?;
            match (reply.code, reply.text()) {
                (Code::Done, _) => return Ok(Answer::done(1)),
                // An earlier copy may have evicted the holder that it names: this call must not evict the next one as
                // well.
                (Code::NotNow, Some(_)) if repeated && !holder.is_empty() => return Ok(Answer::done(1)),
                (Code::NotNow, Some(_)) if meant.is_some() => return Ok(Answer::done(0)),
                (Code::NotNow, Some(_)) if !holder.is_empty() && Instant::now() >= retry.give_up => {
                    let cause = format!("had another holder of `{}` each time; try again", self.plain_name());
                    return Err(Error::unavailable(self.redis.config.server(), cause, true));
                }
                (Code::NotNow, Some(other)) => holder = other,
                (Code::WrongKind, _) => return Err(self.wrong_kind(&reply)),
                _ => return Ok(Answer::done(i64::from(repeated && !holder.is_empty()))),
            }
        }
    }

    /// Makes the watchdog look at the holds that a call may have ended: the server does not report a client's own
    /// changes to it.
    pub fn suspect(&self, call: &Call) {
        if call.keys.iter().next().is_none() {
            self.redis.wakes.suspect(None);
        }
        for key in call.keys.iter() {
            self.redis.wakes.suspect(Some(String::from_utf8_lossy(key).into_owned()));
        }
    }
}
