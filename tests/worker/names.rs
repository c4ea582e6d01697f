//! Names without end. Each is locked and unlocked once, or twice if a second client waits for it meanwhile.

use std::time::Duration;

use redlatch::{Client, Result};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const AT_A_TIME: usize = 64;
/// A second client waits for one of so many names.
const WAITED_FOR: u64 = 7;
/// Long enough for the waiter to try, and to listen.
const WORK: Duration = Duration::from_millis(5);

pub struct Names {
    runtime: Runtime,
    clients: [Client; 2],
}

impl Names {
    pub fn new(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let clients = [(); 2].map(|()| Client::connect(url).expect("the URL is good"));
        Names { runtime: runtime.expect("the system gives threads"), clients }
    }

    pub fn use_up(&self, first: u64, count: u64) -> Result<()> {
        self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for number in first..first + count {
                tasks.spawn(use_one(self.clients.clone(), number));
                if tasks.len() == AT_A_TIME {
                    tasks.join_next().await.expect("there are some").expect("no panic")?;
                }
            }
            tasks.join_all().await.into_iter().collect()
        })
    }
}

async fn use_one(mut clients: [Client; 2], number: u64) -> Result<()> {
    if number.is_multiple_of(2) {
        clients.reverse();
    }
    let [one, other] = clients;
    let name = format!("name{number}");
    let guard = one.lock(&name).acquire().await?;
    if !number.is_multiple_of(WAITED_FOR) {
        return guard.release().await;
    }
    let waiting = tokio::spawn(other.lock(&name).acquire());
    tokio::time::sleep(WORK).await;
    guard.release().await?;
    waiting.await.expect("no panic")?.release().await
}
