//! `Debug` of the values of the API. It shows no secret, and nothing that only the server knows.

use std::fmt::{DebugStruct, Formatter};
use std::time::Duration;

use crate::client::Client;
use crate::request::Request;
use crate::request::names::shown;

/// Begins with the name of a lock, semaphore or latch, and its kind.
pub fn object<'a, 'b: 'a>(
    f: &'a mut Formatter<'b>,
    of: &str,
    client: &Client,
    request: &Request,
) -> DebugStruct<'a, 'b> {
    let mut all = f.debug_struct(of);
    all.field("name", &shown(&request.name)).field("kind", &kind(client, request));
    all
}

/// The kind of the request's object; several locks are a `group`.
pub fn kind(client: &Client, request: &Request) -> &'static str {
    if client.is_group() { "group" } else { request.kind }
}

/// Adds the times of a request.
pub fn times(all: &mut DebugStruct<'_, '_>, request: &Request) {
    let Request { wait, lease, .. } = request;
    match wait {
        None => all.field("wait", &format_args!("without end")),
        Some(Duration::ZERO) => all,
        Some(wait) => all.field("wait", wait),
    };
    if let Some(lease) = lease {
        all.field("lease", lease);
    }
}
