//! Replicas of a server.

use crate::oracle::places;
use crate::server::{Options, Server};

impl Server {
    /// Starts a replica of this server, and returns once it has all the data.
    pub fn replica(&self) -> Server {
        self.replica_over(self.port())
    }

    /// The same for a replica that follows over another port, such as a proxy's.
    pub fn replica_over(&self, port: u16) -> Server {
        let args = ["--replicaof", "127.0.0.1", &port.to_string()].map(str::to_owned).into();
        let replica = Server::with(Options { args, program: self.options.program.clone(), ..Options::default() });
        crate::eventually("a replica that has everything", || {
            replica.view().command::<String>(&["INFO", "replication"]).contains("master_link_status:up").then_some(())
        });
        places::share([self.port(), replica.port()].into_iter());
        self.until_in_step();
        replica
    }

    /// Returns once the server sees every replica up to date.
    pub fn until_in_step(&self) {
        let mut view = self.view();
        crate::eventually("replicas that have everything", || {
            let says = view.command::<String>(&["INFO", "replication"]);
            let in_step = says.matches("state=online").count();
            (in_step > 0 && says.contains(&format!("connected_slaves:{in_step}\r"))).then_some(())
        });
    }
}
