//! The measuring program for locks of ZooKeeper without a lock library: `zookeeper-client <url>` carries out orders, one a line, see
//! bench/README.md. It is what our clients are measured against: one session of the crate zookeeper-client, and one thread. A lock is
//! the node of a session behind all others of its folder.

mod orders;
mod session;

use std::time::Duration;

use session::Session;
use zookeeper_client::{Acls, Client, CreateMode, Error};

fn main() {
    let url = std::env::args().nth(1).expect("usage: zookeeper-client <url>");
    let server = url.trim_start_matches("zookeeper://").to_owned();
    session::carry_out_all(async move {
        // No thread gives signs of life between two orders.
        let connector = Client::connector().with_session_timeout(Duration::from_secs(300));
        let client = connector.connect(&server).await.expect("the server lets it in");
        Zookeeper { client, node: String::new() }
    });
}

struct Zookeeper {
    client: Client,
    node: String,
}

impl Session for Zookeeper {
    async fn lock(&mut self, name: &str) {
        let place = self.place(name).await;
        self.node = format!("/{name}/{place}");
        while let Some(before) = self.before(name, &place).await {
            let (is_there, watcher) = self.client.check_and_watch_stat(&before).await.expect("the server answers");
            if is_there.is_some() {
                watcher.changed().await;
            }
        }
    }

    async fn unlock(&mut self, _: &str) {
        self.client.delete(&self.node, None).await.expect("the node is there");
    }
}

impl Zookeeper {
    /// A node of this session at the end of the queue.
    async fn place(&self, name: &str) -> String {
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        let queue = format!("/{name}");
        let path = format!("{queue}/lock-");
        loop {
            match self.client.create(&path, b"", &options).await {
                Ok((_, number)) => return format!("lock-{number}"),
                Err(Error::NoNode) => {
                    let queues = CreateMode::Persistent.with_acls(Acls::anyone_all());
                    self.client.mkdir(&queue, &queues).await.expect("the server makes it");
                }
                Err(error) => panic!("{path}: {error}"),
            }
        }
    }

    /// The node that comes before a place.
    async fn before(&self, name: &str, place: &str) -> Option<String> {
        let places = self.client.list_children(&format!("/{name}")).await.expect("the queue is there");
        let before = places.into_iter().filter(|other| other.as_str() < place).max();
        before.map(|before| format!("/{name}/{before}"))
    }
}
