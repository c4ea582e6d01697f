//! The border of languages: all that the bindings, the tests and the benchmark need besides the API of a Rust program.
//! It is no part of that API, and each release may change it.
//!
//! A caller of the border numbers holds and owners itself, so it can release a hold that it does not have. The guards of
//! the API exist to rule that out.

use std::sync::Arc;
use std::time::Duration;

use crate::client::Client;
use crate::request::error::{Error, Loss, Result};

pub use crate::base::process::PerProcess;
pub use crate::base::together::{at_the_end, together};
pub use crate::client::group::{Member, Rule};
#[cfg(feature = "redisson-config")]
pub use crate::config::document;
pub use crate::engine::holds::belief::report_beliefs;
pub use crate::redis::kinds;
pub use crate::request::completions::Completions;
pub use crate::request::error::ErrorNumber;
pub use crate::request::inventory::evictee;
pub use crate::request::names::NAME_MAX;
pub use crate::request::seat::{Seat, WaitEnd};
pub use crate::request::{Answer, LEASE_MAX, Look, OWN_OWNERS, Op, Request};

/// The methods of a client that take or give the values of the border. Inside the crate [`Client`] has a method of each
/// of these names, with its documentation.
pub trait Border {
    /// The client itself.
    fn client(&self) -> &Client;

    fn group(rule: Rule, members: Vec<Member>) -> Result<Client> {
        Client::group(rule, members)
    }

    fn group_name(&self) -> String {
        self.client().group_name()
    }

    fn is_held_back(&self, name: &str) -> bool {
        self.client().is_held_back(name)
    }

    /// Refuses a kind of lock that the client's servers do not have, with a sentence that names those that they have.
    fn supports(&self, kind: &str) -> Result<()> {
        self.client().supports(kind)
    }

    fn watchdog(&self) -> Duration {
        self.client().watchdog()
    }

    fn ticket(&self) -> u64 {
        self.client().ticket()
    }

    fn start(&self, inside: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        self.client().start(inside, seat, request)
    }

    fn submit(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) {
        self.client().submit(ticket, request, done);
    }

    fn submit_in(
        &self,
        process: u32,
        ticket: u64,
        request: Request,
        done: impl FnOnce(Result<Answer>) + Send + 'static,
    ) {
        self.client().submit_in(process, ticket, request, done);
    }

    fn cancel(&self, ticket: u64) {
        self.client().cancel(ticket);
    }

    fn run_blocking(&self, request: Request) -> Result<Answer> {
        self.client().run_blocking(request)
    }

    fn run(&self, request: Request) -> impl Future<Output = Result<Answer>> + Send {
        self.client().run(request)
    }

    /// The numbers of [`Client::stats`] in the order of its fields, the times in µs and the losses in the order of the reasons'
    /// numbers.
    fn stats_numbers(&self) -> Vec<u64> {
        self.client().stats().numbers()
    }

    fn restarts(&self) -> u64 {
        self.client().restarts()
    }

    fn look(&self, hold: u64) -> Look {
        self.client().look(hold)
    }

    fn is_wanted(&self, hold: u64) -> bool {
        self.client().is_wanted(hold)
    }

    fn loss_of(&self, hold: u64) -> Option<Loss> {
        self.client().loss_of(hold)
    }

    fn abandon(&self, hold: u64) -> bool {
        self.client().abandon(hold)
    }

    fn owners(&self, name: &str) -> Vec<i64> {
        self.client().owners(name)
    }

    fn token(&self, hold: u64) -> Option<i64> {
        self.client().token(hold)
    }

    fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64> {
        self.client().latest(kind, name, owner)
    }

    fn is_idle(&self) -> bool {
        self.client().is_idle()
    }
}

impl Border for Client {
    fn client(&self) -> &Client {
        self
    }
}

/// The number of an error, which a binding hands over instead of the variant.
pub fn number(error: &Error) -> i32 {
    error.number() as i32
}

/// The error of a client that the binding does not have any more.
pub fn closed(server: String) -> Error {
    Error::Closed { server }
}

/// The error of a hold that belongs to the process that forked this one.
pub fn inherited(lock: String) -> Error {
    Error::Inherited { lock }
}

/// The error of a request that never reached the client.
pub fn unavailable(server: &str, cause: String) -> Error {
    Error::unavailable(server, cause, false)
}
