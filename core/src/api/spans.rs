//! The spans of a Rust program (crate `tracing`): that of each acquire, and that of each hold. A span that no subscriber
//! wants costs one comparison.

use tracing::{Span, debug_span};

use crate::api::debug::kind;
use crate::base::scope::Scope;
use crate::client::Client;
use crate::client::hold::Hold;
use crate::request::names::shown;
use crate::request::{OWN_OWNERS, Op, Request};

/// The span of an acquire, and of nothing else: other operations do not wait.
pub fn acquire(client: &Client, request: &Request) -> Span {
    if request.op != Op::Acquire {
        return Span::none();
    }
    debug_span!(
        target: "redlatch::span",
        "redlatch.acquire",
        lock = &*shown(&request.name),
        kind = kind(client, request),
        owner = given(request.owner),
        wait = request.wait.map(tracing::field::debug),
    )
}

/// The span of a hold of which the client knows the end: reports about the hold come in it. If no subscriber wants it,
/// they come in the span in which the caller is now.
pub fn hold(hold: &mut Hold, token: Option<i64>) {
    let scope = held(&hold.client, &hold.release, token);
    if !scope.is_none() {
        hold.trace(scope.unkept());
        // The span lasts as long as the hold, and keeps nothing alive.
        hold.told(move |_| drop(scope));
    }
}

/// As [`hold`], for a hold that lasts as long as its caller has the result.
pub fn held(client: &Client, release: &Request, token: Option<i64>) -> Scope {
    let span = debug_span!(
        target: "redlatch::span",
        "redlatch.hold",
        lock = &*shown(&release.name),
        kind = kind(client, release),
        owner = given(release.owner),
        token,
    );
    if span.is_disabled() { Scope::current() } else { Scope::of(span) }
}

/// The owner that the program has given.
fn given(owner: i64) -> Option<i64> {
    (owner < OWN_OWNERS).then_some(owner)
}
