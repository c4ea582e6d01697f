//! Waiters of one process for one lock form a line; only its head talks to Redis. A state machine without I/O.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

pub struct Queue<K> {
    lines: HashMap<K, VecDeque<u64>>,
}

impl<K: Hash + Eq + Clone> Queue<K> {
    pub fn new() -> Self {
        Queue { lines: HashMap::new() }
    }

    /// Joins at the end; true: it is the head.
    pub fn join(&mut self, key: &K, waiter: u64) -> bool {
        let line = self.lines.entry(key.clone()).or_default();
        line.push_back(waiter);
        line.len() == 1
    }

    /// Leaves from wherever it stands. Gives the new head, if that changed.
    pub fn leave(&mut self, key: &K, waiter: u64) -> Option<u64> {
        let line = self.lines.get_mut(key)?;
        let was_head = line.front() == Some(&waiter);
        line.retain(|other| *other != waiter);
        let head = line.front().copied();
        if line.is_empty() {
            self.lines.remove(key);
        }
        head.filter(|_| was_head)
    }

    pub fn is_waited_for(&self, key: &K) -> bool {
        self.lines.contains_key(key)
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn the_first_is_head_and_the_next_follows_when_it_leaves() {
        let mut queue = Queue::new();
        assert!(queue.join(&"k", 1) && !queue.join(&"k", 2) && !queue.join(&"k", 3));
        assert_eq!(queue.leave(&"k", 2), None);
        assert_eq!(queue.leave(&"k", 1), Some(3));
        assert_eq!(queue.leave(&"k", 3), None);
        assert!(!queue.is_waited_for(&"k"));
    }
}
