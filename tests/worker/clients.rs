//! The clients of the lanes: one of the server, and one of each server that only red locks use.

use redlatch::ffi::Border;
use redlatch::{Client, Holds, Latch, LockBuilder, PermitSemaphore, RedLock, Semaphore};
use redlatch_tests::kinds;
use redlatch_tests::traffic::{Kind, LONGEST_RED_LEASE, covers, name, value};

use crate::plan::Plan;

#[derive(Clone)]
pub struct Clients {
    main: Client,
    red: RedLock,
}

impl Clients {
    /// Connects; `red`: the URLs of the servers of red locks.
    pub fn connect(url: &str, red: &[&str]) -> Self {
        let main = Client::connect(url).expect("the URL is good");
        Clients { main, red: RedLock::connect(red).expect("the URLs are good") }
    }

    /// The client's id: the first half of its owners' names.
    pub fn id(&self) -> String {
        self.main.id()
    }

    /// The lock of a plan.
    pub fn lock(&self, plan: &Plan) -> LockBuilder {
        let mut lock = self.plainly(plan.key, plan.takes).owner(plan.owner);
        lock = plan.lease.map_or(lock.clone(), |lease| lock.lease(lease));
        plan.wait.map_or(lock.clone(), |wait| lock.wait(wait))
    }

    fn plainly(&self, key: u32, takes: u64) -> LockBuilder {
        let name = name(key);
        match Kind::of(key) {
            Kind::Multi => self.main.multi_lock(covers(key).into_iter().map(|part| self.plainly(part, 1))),
            Kind::Red => self.red.lock(&name),
            Kind::Values => self.main.multi_lock_group(&name, &covers(key).into_iter().map(value).collect::<Vec<_>>()),
            kind => kinds::row(kind.of_core(takes)).lock.expect("it is a lock")(&self.main, &name),
        }
    }

    pub fn semaphore(&self, plan: &Plan) -> Semaphore {
        self.main.semaphore(&plan.name())
    }

    pub fn permits(&self, plan: &Plan) -> PermitSemaphore {
        self.main.permit_semaphore(&plan.name())
    }

    /// A latch for one attempt of a lane.
    pub fn latch(&self, plan: &Plan, attempt: (u32, u64)) -> Latch {
        self.main.latch(&format!("{}-{}-{}-{}", plan.name(), self.id(), attempt.0, attempt.1))
    }

    /// The lease of a plan's hold.
    pub fn lease(&self, plan: &Plan) -> std::time::Duration {
        let watchdog = if plan.kind() == Kind::Red { LONGEST_RED_LEASE } else { self.main.watchdog() };
        plan.lease.unwrap_or(watchdog)
    }

    pub fn close(&self) {
        self.main.close_blocking(Holds::Release);
        self.red.close_blocking(Holds::Release);
    }
}
