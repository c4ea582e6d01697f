//! The parts that every engine shares: the state of lines, waits and holds. Nothing here has a socket, a clock or a
//! runtime of its own.

use std::sync::Arc;
use std::time::Duration;

use crate::base::scope::UnkeptScope;
use crate::base::tasks::Work;
use crate::engine::claim::Claim;
use crate::engine::departures::Departure;
use crate::engine::gate::Gates;
use crate::engine::stats::Stats;
use crate::request::error::{Error, Loss, Result};
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Look, Request};

pub mod claim;
pub mod departures;
pub mod gate;
pub mod holds;
pub mod line;
pub mod loss_listeners;
pub mod pace;
pub mod reports;
pub mod stats;
pub mod traits;
pub mod word;

/// The time after its sending during which the server may still carry out a changing call.
pub const WINDOW: Duration = Duration::from_secs(1);

/// Carries out the requests of a client. The client itself knows no server.
pub trait Engine {
    /// Carries a request out on the caller's thread if that is possible, an acquire for about `inside` at most. `None`:
    /// the outcome will come into the seat.
    fn start(&self, inside: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>>;
    /// Carries a request out on the I/O thread.
    fn submit(&self, ticket: u64, request: Request, done: Done);
    /// Asks a request to end. The engine still calls its `done`.
    fn cancel(&self, ticket: u64);
    /// Tells what the client knows of a hold. Neither this nor the following methods ask a server.
    fn look(&self, hold: u64) -> Look;
    /// Tells whether another client has asked for the release of a hold.
    fn is_wanted(&self, hold: u64) -> bool;
    /// The loss of a hold, even if the engine reported it to the release.
    fn loss_of(&self, hold: u64) -> Option<Loss>;
    /// Notes that no caller can release the hold any more. False: it is not held, or the engine does not renew it
    /// anyway.
    fn abandon(&self, hold: u64) -> bool;
    /// Notes that the program lets the hold end with its lease.
    fn keep(&self, hold: u64);
    /// Has the reports about a hold come in this scope.
    fn trace(&self, hold: u64, scope: UnkeptScope);
    /// The fencing token of a hold; `None`: it has none, or was released.
    fn token(&self, hold: u64) -> Option<i64>;
    /// The number of an owner's latest hold, unless the owner released it or heard of its loss at the release.
    fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64>;
    /// The owners of this client that hold a lock of that name now.
    fn owners(&self, name: &str) -> Vec<i64>;
    /// Tells whether the server of that name is in quarantine and grants nothing new.
    fn is_held_back(&self, name: &str) -> bool;
}

/// An engine that has the connections of a client in one process, from the first call to the end.
pub trait Serving: Engine {
    /// The client's identity at the servers.
    fn id(&self) -> &str;
    /// Refuses a kind of lock that the servers do not have, with a sentence that names those that they have.
    fn supports(&self, kind: &str) -> Result<()>;
    /// Tells whether the client holds nothing.
    fn is_idle(&self) -> bool;
    fn stats(&self) -> Stats;
    /// The number of times that a server was started anew, or another one took its place, since the client first met it: locks may have
    /// gone with it.
    fn restarts(&self) -> u64;
    /// Notes that a hold of this name is on its way back although its caller is gone, until the drop of the result.
    fn depart(&self, name: &Arc<str>) -> Departure;
    /// The changing calls that are under way.
    fn gates(&self) -> Arc<Gates>;
    /// The engine's own work on the I/O thread. It does not keep the engine alive.
    fn run(&self) -> Work;
    /// Answers all that is left and refuses all that comes: the I/O thread has ended.
    fn end(&self);
    /// Ends the waiting acquires, and lets no other begin.
    fn end_waits(&self);
    /// Tells every holder that the client is closed. Gives the claims that were held.
    fn tell_closed(&self) -> Vec<Claim>;
    /// Frees `held`, and lets all calls in flight end.
    fn wind_up(&self, held: Vec<Claim>) -> Work;
    /// Ends the connections.
    fn cut(&self);
    /// The error of a client that has ended.
    fn closed_error(&self) -> Error;
}
