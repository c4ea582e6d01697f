//! The reports of acquires and releases for the log of the program. `lock` is the name that the program gave.

use std::fmt::Display;

use tracing::Level;

use crate::base::scope::Scope;
use crate::request::Answer;
use crate::request::error::Error;
use crate::request::names::shown;

/// Logs the result of an acquire.
pub fn acquired(scope: &Scope, lock: &str, owner: &dyn Display, came: Result<&Answer, &Error>) {
    scope.report(|| {
        if !tracing::enabled!(target: "redlatch::acquire", Level::DEBUG) {
            return;
        }
        let name = shown(lock);
        let owner = &*owner.to_string();
        match came {
            Ok(Answer { done: true, .. }) => {
                tracing::debug!(target: "redlatch::acquire", lock, owner, "`{name}` is acquired for {owner}")
            }
            Ok(_) => tracing::debug!(target: "redlatch::acquire", lock, owner, "`{name}` is not acquired for {owner}"),
            Err(error) => {
                tracing::debug!(target: "redlatch::acquire", lock, owner, "`{name}` is not acquired for {owner}: {error}")
            }
        }
    });
}

/// Logs a release. `leave`: the number of holds that the owner keeps.
pub fn released(scope: &Scope, lock: &str, owner: &dyn Display, leave: u32) {
    scope.report(|| {
        if !tracing::enabled!(target: "redlatch::release", Level::DEBUG) {
            return;
        }
        let name = shown(lock);
        let owner = &*owner.to_string();
        match leave {
            0 => tracing::debug!(target: "redlatch::release", lock, owner, "`{name}` is released by {owner}"),
            _ => tracing::debug!(target: "redlatch::release", lock, owner, "`{name}` is released by {owner}, which holds it {leave} more times"),
        }
    });
}
