//! Sends many first tries in one pipeline.

use std::sync::Arc;

use super::Multiplexed;
use crate::base::clock::Instant;
use crate::base::together::together;
use crate::redis::link::connection::encoding::{self, Stamp};
use crate::redis::link::connection::first::{Firsts, tell};
use crate::redis::link::{Outcome, Sent, no_script, stays};

impl Multiplexed {
    /// Sends all tries, and hands each its outcome.
    pub async fn run_all(self: &Arc<Self>, firsts: Firsts) {
        let limits = firsts.limits;
        let Ok(wire) = self.wire(limits.response).await else { return firsts.not_sent() };
        if wire.is_over() {
            return firsts.not_sent();
        }
        let Firsts { all, .. } = self.unobjected(firsts);
        if all.is_empty() {
            return;
        }
        let sent = Instant::now();
        let not_after = self.clock.server_ms(limits.window);
        let copy = Sent { connection: wire.id, over: sent + limits.window + self.clock.error() };
        let mut pipe = redis::Pipeline::with_capacity(all.len());
        for first in &all {
            pipe.add_command(encoding::command(first.call(), Stamp::first(not_after, &self.server.sharding)));
        }
        let error = match wire.ask(wire.send_all(&pipe), limits.response).await {
            Ok(Ok(values)) if values.len() == all.len() => {
                // A thread that gets several of them wakes once.
                return together(|| {
                    for (first, value) in all.into_iter().zip(values) {
                        let tried = match value.extract_error() {
                            // An answer behind nonsense may belong to another call than it seems.
                            _ if wire.is_shifted() => {
                                Some((Outcome::Unknown { error: self.server.nonsense(), copy }, sent))
                            }
                            Err(error) if no_script(&error) => None,
                            answer => Some((stays(self.meaning(&wire, first.call(), answer, copy, sent)), sent)),
                        };
                        tell(first, tried);
                    }
                });
            }
            Ok(Ok(_)) => self.nonsense(&["EVALSHA"]),
            Ok(Err(error)) => self.broken(&wire, &error),
            Err(silence) => self.silent(silence),
        };
        for first in all {
            tell(first, Some((Outcome::Unknown { error: error.clone(), copy }, sent)));
        }
    }

    /// The tries that may go out now; the others get their objection.
    fn unobjected(&self, firsts: Firsts) -> Firsts {
        let all = firsts.all.into_iter().filter_map(|first| match self.incarnation.objection(first.call()) {
            Some(objection) => {
                tell(first, Some((objection, Instant::now())));
                None
            }
            None => Some(first),
        });
        Firsts { all: all.collect(), ..firsts }
    }
}
