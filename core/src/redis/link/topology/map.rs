//! The server that answers for each slot.

use std::collections::HashSet;
use std::sync::Arc;

use crate::base::clock::Instant;
use crate::config::servers::Address;
use crate::redis::link::node::Node;

#[derive(Default)]
pub struct Map {
    /// The last slot of each range, in order.
    pub ranges: Vec<(u16, Arc<Node>)>,
    /// The time of that knowledge; `None`: calls must not rely on it.
    pub said: Option<Instant>,
    /// Servers of a cluster whose slots may have moved: a call to them has failed, or they say so. The knowledge of the
    /// others still counts.
    pub doubted: Vec<Address>,
}

impl Map {
    /// One slot of each server, in order.
    pub fn parts(&self) -> Vec<u16> {
        let mut seen = HashSet::new();
        self.ranges.iter().filter(|(_, node)| seen.insert(&node.address)).map(|(last, _)| *last).collect()
    }

    /// The slot that stands in [`Map::parts`] for the server of this one.
    pub fn part_of(&self, slot: u16) -> u16 {
        let Some(owner) = self.owner(slot) else { return slot };
        self.ranges.iter().find(|(_, node)| node.address == owner.address).map_or(slot, |(last, _)| *last)
    }

    pub fn doubts(&self, address: &Address) -> bool {
        self.doubted.contains(address)
    }

    pub fn has(&self, node: &Arc<Node>) -> bool {
        self.ranges.iter().any(|(_, other)| Arc::ptr_eq(node, other))
    }

    pub fn owner(&self, slot: u16) -> Option<&Arc<Node>> {
        self.ranges.get(self.ranges.partition_point(|(last, _)| *last < slot)).map(|(_, node)| node)
    }
}
