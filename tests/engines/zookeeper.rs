//! The locks of ZooKeeper, on a real server.

use redlatch::Client;
use redlatch_tests::{Nodes, Zookeeper};

mod bad_input;
mod begins_and_ends;
mod cancelling;
mod ensembles;
mod faults;
mod interop;
mod leader;
mod order;
mod permits;
mod read_write;
mod reconnects;
mod secured;
mod short_waits;

/// A client of the server, with these options.
pub fn client(server: &Zookeeper, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url())).expect("a good URL")
}

/// Ends a session, as the server does when its time is over. Its client may enter it again meanwhile.
fn expire(server: &Zookeeper, session: i64) {
    crate::eventually(|| {
        // Its drop ends the session, unless the client comes before that.
        drop(Nodes::enter(server.port(), session));
        !server.sessions().contains(&session)
    });
}

/// The session by which clients have the first node of a queue.
fn holder(nodes: &mut Nodes, path: &str) -> Option<i64> {
    nodes.in_order(path).first().and_then(|(_, node)| node.owner)
}
