//! A hold of a client; dropping it releases it.

use std::process::id;
use std::time::Duration;

use crate::base::scope::{Scope, UnkeptScope};
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Look, Op, Request};

/// The shortest lease of a key.
const SHORTEST: Duration = Duration::from_millis(1);

/// Dropping it releases the lock later: the I/O thread does it and reports no error.
pub struct Hold {
    pub client: Client,
    pub release: Request,
    /// The scope of reports about it.
    scope: UnkeptScope,
    /// The process that has it: a forked child has a copy of this, and no hold.
    process: u32,
    released: bool,
}

/// All that a look at a hold needs: a caller that has the hold under a lock looks outside of it, because the program's
/// subscriber may be told of a loss then.
pub struct Sight {
    client: Client,
    hold: u64,
    process: u32,
}

impl Sight {
    pub fn look(&self) -> Look {
        if self.process == id() { self.client.look(self.hold) } else { Look::Gone }
    }

    pub fn is_held(&self) -> bool {
        self.look().is_held()
    }

    pub fn is_wanted(&self) -> bool {
        self.process == id() && self.client.is_wanted(self.hold)
    }

    pub fn abandon(&self) -> bool {
        self.process == id() && self.client.abandon(self.hold)
    }
}

impl Hold {
    /// The hold that the acquire `request` has `taken`. `op` gives it back.
    pub fn new(client: Client, op: Op, request: Request, taken: &Answer) -> Self {
        let release = Request { op, hold: taken.number as u64, last: true, ..request };
        Hold { client, release, scope: UnkeptScope::default(), process: id(), released: false }
    }

    /// Has the reports about it come in this scope.
    pub fn trace(&mut self, scope: UnkeptScope) {
        self.client.trace(self.release.hold, scope.clone());
        self.scope = scope;
    }

    pub fn scope(&self) -> Scope {
        self.scope.get()
    }

    /// Fails in a forked child.
    pub fn check(&self) -> Result<()> {
        inherited(self.process, &self.release)
    }

    pub fn look(&self) -> Look {
        self.check().map_or(Look::Gone, |()| self.client.look(self.release.hold))
    }

    pub fn is_wanted(&self) -> bool {
        self.check().is_ok() && self.client.is_wanted(self.release.hold)
    }

    pub fn sight(&self) -> Sight {
        Sight { client: self.client.unattended(), hold: self.release.hold, process: self.process }
    }

    /// Waits for the end of this hold. The future does not need the hold.
    pub fn watched(&self) -> impl Future<Output = Result<Answer>> + Send + 'static + use<> {
        // Nor does it keep the program's last guard from being released at the end.
        self.asked(self.client.unattended(), self.watch())
    }

    /// Calls `told` once, when this hold has ended; as `done` of [`Client::submit`]. It does not keep the client alive.
    pub fn told(&self, told: impl FnOnce(Result<Answer>) + Send + 'static) {
        match self.check() {
            Ok(()) => self.client.submit(self.client.ticket(), self.watch(), told),
            Err(inherited) => told(Err(inherited)),
        }
    }

    /// Lets this hold last for the lease of `extend`, in its time limits. The future does not need the hold.
    pub fn extended(&self, extend: &Request) -> impl Future<Output = Result<Answer>> + Send + 'static + use<> {
        let Request { lease, response_timeout, retry_for, .. } = *extend;
        let extended = self.asked(
            self.client.clone(),
            Request { op: Op::Extend, lease, response_timeout, retry_for, ..self.release.clone() },
        );
        self.scope().around(extended)
    }

    fn watch(&self) -> Request {
        Request { op: Op::Watch, lease: None, ..self.release.clone() }
    }

    fn asked(&self, client: Client, request: Request) -> impl Future<Output = Result<Answer>> + Send + 'static + use<> {
        let own = self.check();
        async move {
            own?;
            client.run(request).await
        }
    }

    /// Lets the hold stay without a release.
    pub fn keep(mut self) {
        self.released = true;
        self.note_kept();
    }

    /// Notes that the program lets the hold end with its lease: that end is then no loss to warn of.
    pub fn note_kept(&self) {
        if self.check().is_ok() {
            self.client.keep(self.release.hold);
        }
    }

    /// Renews this hold, which has a lease of its own, until it has ended.
    pub fn renew(&self) -> impl Future<Output = Result<Answer>> + Send + 'static + use<> {
        self.scope().around(self.asked(self.client.clone(), self.renewing()))
    }

    pub fn renew_blocking(&self) -> Result<Answer> {
        self.check()?;
        self.scope().enter(|| self.client.run_blocking(self.renewing()))
    }

    fn renewing(&self) -> Request {
        Request { op: Op::Renew, ..self.release.clone() }
    }

    /// Ends this hold, see [`Op::LetGo`].
    pub async fn let_go(mut self, at_least: Duration) -> Result<()> {
        self.released = true;
        self.check()?;
        self.scope().around(self.client.run(self.letting_go(at_least))).await.map(drop)
    }

    pub fn let_go_blocking(mut self, at_least: Duration) -> Result<()> {
        self.released = true;
        self.check()?;
        self.scope().enter(|| self.client.run_blocking(self.letting_go(at_least))).map(drop)
    }

    /// As [`Hold::let_go`], and no caller hears of the end.
    pub fn let_go_soon(mut self, at_least: Duration) {
        self.released = true;
        if self.check().is_ok() {
            let request = self.letting_go(at_least);
            self.scope().enter(|| self.client.submit(self.client.ticket(), request, drop));
        }
    }

    fn letting_go(&self, at_least: Duration) -> Request {
        let lease = (!at_least.is_zero()).then(|| at_least.max(SHORTEST));
        Request { op: Op::LetGo, lease, ..self.release.clone() }
    }

    pub async fn release(mut self) -> Result<()> {
        self.released = true;
        self.check()?;
        self.scope().around(self.client.run(self.release.clone())).await.map(drop)
    }

    pub fn release_blocking(mut self) -> Result<()> {
        self.released = true;
        self.check()?;
        self.scope().enter(|| self.client.run_blocking(self.release.clone())).map(drop)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.released && self.check().is_ok() {
            self.scope().enter(|| self.client.give_up(self.release.clone()));
        }
    }
}

/// Fails in a process that has only a copy of what `process` took: its child by a fork.
pub fn inherited(process: u32, release: &Request) -> Result<()> {
    let error = || Error::Inherited { lock: release.name.to_string() };
    (process == id()).then_some(()).ok_or_else(error)
}
