//! More than half of several locks, on servers that fail independently. A round asks all members at once, each for a
//! short time only; while the group is held, a task asks again for the missing ones.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{Group, GroupHold, Member, give_back, release};
use crate::base::scope::Scope;
use crate::base::tasks::{self, boxed};
use crate::client::hold::Hold;
use crate::client::state::ClientState;
use crate::engine::holds::SHORT;
use crate::request::error::{Error, Result};
use crate::request::{Op, Request};

/// The bounds of the time that one member may take to answer; between them it is a hundredth of the lease.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(500);

type Asked = JoinSet<(usize, Result<Option<Hold>>)>;

impl Group {
    /// Takes enough members in one round, or none. It fails only if so many members fail that the others cannot be
    /// enough.
    pub(super) async fn take_majority(&self, state: &ClientState, request: &Request) -> Result<Option<Arc<GroupHold>>> {
        let need = self.members.len() - self.spare();
        let mut asked = Asked::new();
        let (mut first, mut later): (Vec<_>, Vec<_>) =
            (0..self.members.len()).partition(|i| !self.members[*i].is_silent());
        if first.len() < need {
            first.append(&mut later);
        }
        first.into_iter().for_each(|i| ask(&self.members, &mut asked, i, request));
        later.iter().for_each(|i| self.members[*i].look_after(limit(&self.members[*i], request)));
        let mut parts: Vec<Option<Hold>> = self.members.iter().map(|_| None).collect();
        let mut held = 0;
        let mut busy = 0;
        let mut failed = 0;
        let mut failure = None;
        while let Some(Ok((i, taken))) = asked.join_next().await {
            match taken {
                Ok(Some(guard)) => {
                    parts[i] = Some(guard);
                    held += 1;
                }
                Ok(None) => busy += 1,
                Err(error) => {
                    // A wait goes on after an error that is for now, in whatever order the answers come.
                    failure = failure.filter(Error::is_for_now).or(Some(error));
                    failed += 1;
                }
            }
            if held == need {
                let held = Arc::new(GroupHold::new(parts, self.spare()));
                // A lease as short as that may be over when the answers come, as of a single lock.
                if !held.look().is_held() && request.lease.is_none_or(|lease| lease > SHORT) {
                    let Request { response_timeout, retry_for, .. } = *request;
                    give_back(state, async move { held.release(Op::GiveBack, response_timeout, retry_for).await })
                        .await;
                    return Ok(None);
                }
                tasks::spawn(keep(self.members.clone(), request.clone(), held.clone(), asked));
                return Ok(Some(held));
            }
            let open = held + asked.len();
            if open >= need {
                continue;
            }
            if later.is_empty() || open + busy >= need {
                break;
            }
            // Too few members answer: the round asks the silent ones too.
            later.drain(..).for_each(|i| ask(&self.members, &mut asked, i, request));
        }
        // Members that the round still asks give back the locks that they take.
        drop(asked);
        give_back(state, release(parts.into_iter().flatten().collect())).await;
        failure.filter(|_| failed > self.spare()).map_or(Ok(None), Err)
    }
}

fn ask(members: &[Member], asked: &mut Asked, i: usize, request: &Request) {
    let member = members[i].clone();
    let limit = limit(&member, request);
    let request = Request { response_timeout: Some(limit), retry_for: Some(limit), ..request.clone() };
    // The end of the member's client waits for the task: one that is ended early gives back as well.
    let present = member.client.state().ok().map(|state| state.io.presence.accompany());
    let scope = Scope::current();
    asked.spawn(boxed(async move {
        let _present = present;
        let taken = scope.around(member.take(&request, Duration::ZERO, request.lease)).await;
        member.responsiveness().inspect(|responsiveness| responsiveness.heard(&taken));
        (i, taken)
    }));
}

/// The time that a member may take to answer.
fn limit(member: &Member, request: &Request) -> Duration {
    let lease = request.lease.unwrap_or(member.client.watchdog());
    request.response_timeout.unwrap_or((lease / 100).clamp(SHORTEST, LONGEST))
}

/// Keeps a majority until the group is released or lost: adds parts that come late, and asks again for missing ones,
/// unless the hold has a lease that ends anyway.
async fn keep(members: Vec<Member>, request: Request, held: Arc<GroupHold>, mut asked: Asked) {
    let between = request.lease.unwrap_or(members[0].client.watchdog()) / 3;
    while !asked.is_empty() || request.lease.is_none() {
        tokio::select! {
            () = held.left() => return,
            Some(came) = asked.join_next(), if !asked.is_empty() => {
                if let Ok((i, Ok(Some(part)))) = came {
                    held.add(i, part);
                }
            }
            () = sleep(between), if asked.is_empty() => {
                if !held.look().is_held() {
                    return;
                }
                let missing = held.missing().into_iter();
                held.scope().enter(|| missing.for_each(|i| ask(&members, &mut asked, i, &request)));
            }
        }
    }
}
