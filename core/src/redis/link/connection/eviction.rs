//! Warns once about a server that may evict locks to make room.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use redis::{InfoDict, RedisResult};

/// Whether the warning about one server was given.
#[derive(Default)]
pub struct Eviction(AtomicBool);

impl Eviction {
    /// Warns if the server may evict locks. `memory`: the answer of `server` to `INFO memory`, if it gave one.
    pub fn look(&self, server: &str, memory: RedisResult<InfoDict>) {
        let Some(policy) = memory.ok().and_then(|memory| evicts(&memory)) else { return };
        if !self.0.swap(true, Relaxed) {
            let risk = format!(
                "may evict locks when its memory is full (maxmemory-policy {policy}), and another owner has them at once"
            );
            tracing::warn!(target: "redlatch::link", "{server} {risk}; set maxmemory-policy to noeviction, or use a server for locks alone");
        }
    }
}

/// The policy by which the server may evict locks. Locks have an end, so a policy for volatile keys can take them.
fn evicts(memory: &InfoDict) -> Option<String> {
    let is_limited = memory.get::<u64>("maxmemory")? > 0;
    memory.get::<String>("maxmemory_policy").filter(|policy| is_limited && policy != "noeviction")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_with_a_limit_and_a_policy_that_takes_keys_evicts() {
        let said =
            |limit, policy| InfoDict::new(&format!("# Memory\r\nmaxmemory:{limit}\r\nmaxmemory_policy:{policy}\r\n"));
        assert_eq!(evicts(&said(1, "allkeys-lru")).as_deref(), Some("allkeys-lru"));
        assert_eq!(evicts(&said(1, "volatile-ttl")).as_deref(), Some("volatile-ttl"));
        assert_eq!(evicts(&said(1, "noeviction")), None);
        assert_eq!(evicts(&said(0, "allkeys-lru")), None, "there is no limit");
        assert_eq!(evicts(&InfoDict::new("")), None, "a sentinel does not say");
    }
}
