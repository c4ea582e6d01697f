//! The measuring program for the locks of MariaDB without a lock library: `mysql-async <url>` carries out orders, one a line, see
//! bench/README.md. It is what our clients are measured against: one connection of the crate mysql_async, and one thread.

mod orders;

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

use orders::{Order, Pairs, list, now, paired, sleep_until};

fn main() {
    let url = std::env::args().nth(1).expect("usage: mysql-async <url>");
    // Over loopback as all peers, not by the socket that the server names.
    let options = OptsBuilder::from_opts(Opts::from_url(&url).expect("the URL is good")).prefer_socket(false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let mut session = Session(runtime.block_on(Conn::new(options)).expect("the server lets it in"));
    orders::carry_out_all(|what, order| runtime.block_on(session.carry_out(what, order)));
}

struct Session(Conn);

impl Session {
    async fn carry_out(&mut self, what: &str, order: &Order) -> String {
        let name = order.name();
        match what {
            "first" => {
                self.lock(&name).await;
                self.unlock(&name).await;
                "pairs=1".to_owned()
            }
            "solo" => {
                sleep_until(order.number("from")).await;
                let mut pairs = Pairs::new(order.number("until"));
                while pairs.go_on() {
                    self.lock(&name).await;
                    self.unlock(&name).await;
                }
                paired(vec![pairs.took])
            }
            "handover" => self.handover(&name, order).await,
            _ => "cannot=1".to_owned(), // a session can wait for one lock at a time
        }
    }

    async fn handover(&mut self, name: &str, order: &Order) -> String {
        let mut taken = Vec::new();
        let mut released = Vec::new();
        for _ in 0..order.number("times") {
            self.lock(name).await;
            taken.push(now());
            tokio::time::sleep(Duration::from_millis(order.number("hold"))).await;
            released.push(now());
            self.unlock(name).await;
            tokio::time::sleep(Duration::from_millis(order.number("gap"))).await;
        }
        format!("taken={} released={}", list(&taken), list(&released))
    }

    /// The server wants a limit: a day.
    async fn lock(&mut self, name: &str) {
        self.must(format!("SELECT GET_LOCK('{name}', 86400)")).await;
    }

    async fn unlock(&mut self, name: &str) {
        self.must(format!("SELECT RELEASE_LOCK('{name}')")).await;
    }

    async fn must(&mut self, statement: String) {
        let answer: Option<i64> = self.0.query_first(&statement).await.expect("the server answers");
        assert_eq!(answer, Some(1), "{statement}");
    }
}
