//! Free ports from 20000 to 29999. Each process starts at a place of its own, so that suites beside each other rarely
//! meet.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Listens on a free port.
pub fn listen() -> TcpListener {
    for _ in 0..10_000 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (std::process::id().wrapping_mul(37).wrapping_add(step) % 10_000) as u16;
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener;
        }
    }
    panic!("no port from 20000 to 29999 is free");
}

/// A port that is free now. Another process may take it before the caller does.
pub fn free() -> u16 {
    listen().local_addr().expect("a bound socket has an address").port()
}
