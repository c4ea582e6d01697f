//! What every engine shares: the state of lines, waits and holds. Nothing here has a socket, a clock or a runtime of its own.

use std::time::Duration;

use crate::request::error::{Loss, Result};
use crate::request::{Answer, Done, Look, Request};

pub mod claim;
pub mod gate;
pub mod holds;
pub mod line;
pub mod loss_listeners;
pub mod pace;
pub mod word;

/// How long after its sending a changing call may still be carried out.
pub const WINDOW: Duration = Duration::from_secs(1);

/// Carries out what a client asks. The client knows no more of any server.
pub trait Engine {
    /// Carries a request out on the caller's thread if that is possible, and an acquire for no longer than about `inside`. `None`: `done` will
    /// be called.
    fn start(&self, inside: Duration, ticket: u64, request: Request, done: Done) -> Option<Result<Answer>>;
    /// Carries a request out on the I/O thread.
    fn submit(&self, ticket: u64, request: Request, done: Done);
    /// Asks a request to end. Its `done` still comes.
    fn cancel(&self, ticket: u64);
    /// What is known of a hold. Neither this nor what follows asks a server.
    fn look(&self, hold: u64) -> Look;
    /// How a hold was lost, also where its release was told of that.
    fn loss_of(&self, hold: u64) -> Option<Loss>;
    /// No caller can release the hold any more. False: it is not held, or is not renewed anyway.
    fn abandon(&self, hold: u64) -> bool;
    /// The fencing token of a hold; `None`: it has none, or was released.
    fn token(&self, hold: u64) -> Option<i64>;
    /// The number of the latest hold of an owner, unless it was released or its loss was told.
    fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64>;
    /// The owners of this client that hold a lock of that name now.
    fn owners(&self, name: &str) -> Vec<i64>;
    /// Whether the server of that name grants nothing new just now.
    fn is_held_back(&self, name: &str) -> bool;
}
