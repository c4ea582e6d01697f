//! The measuring program for the locks of MariaDB without a lock library: `mysql-async <url>` carries out orders, one a line, see
//! bench/README.md. It is what our clients are measured against: one connection of the crate mysql_async, and one thread.

mod orders;
mod session;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

use session::Session;

fn main() {
    let url = std::env::args().nth(1).expect("usage: mysql-async <url>");
    // Over loopback as all peers, not by the socket that the server names.
    let options = OptsBuilder::from_opts(Opts::from_url(&url).expect("the URL is good")).prefer_socket(false);
    session::carry_out_all(async { Mariadb(Conn::new(options).await.expect("the server lets it in")) });
}

struct Mariadb(Conn);

impl Session for Mariadb {
    /// The server wants a limit: a day.
    async fn lock(&mut self, name: &str) {
        self.must(format!("SELECT GET_LOCK('{name}', 86400)")).await;
    }

    async fn unlock(&mut self, name: &str) {
        self.must(format!("SELECT RELEASE_LOCK('{name}')")).await;
    }
}

impl Mariadb {
    async fn must(&mut self, statement: String) {
        let answer: Option<i64> = self.0.query_first(&statement).await.expect("the server answers");
        assert_eq!(answer, Some(1), "{statement}");
    }
}
