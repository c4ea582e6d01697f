//! The connections of browsers and other programs. One that stands still is closed, so that it keeps no place from others.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_user_timeout};
use tokio::net::{TcpListener, TcpStream};

/// A connection has so long for its next request, and a reader of a full connection for a next piece of the answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The bytes that the system keeps for a reader. By itself it keeps megabytes, which a silent reader would take hours to fill.
const KEPT: usize = 64 * 1024;

/// Serves until the future is dropped.
pub async fn serve(mut listener: TcpListener, router: Router) -> Infallible {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    loop {
        let (stream, _) = Listener::accept(&mut listener).await;
        limit(&stream);
        let service = TowerToHyperService::new(router.clone());
        // A connection that breaks is the business of the other side.
        tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
    }
}

/// Has the system close the connection when its reader has taken nothing for too long.
fn limit(stream: &TcpStream) {
    let patience = u32::try_from(PATIENCE.as_millis()).unwrap_or(u32::MAX);
    // A system without them serves all the same.
    let _ = set_tcp_user_timeout(stream, patience);
    let _ = set_socket_send_buffer_size(stream, KEPT);
}
