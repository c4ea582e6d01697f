//! The servers on which cells are played. Most cells share one of a few servers, under names of their own.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use redlatch_tests::{Cluster, Server, View};

/// How many cells one server's watch can tell apart without its looks becoming rare.
const SHARED: usize = 4;
/// The place of the silent cluster's silent node.
const SILENT: usize = 2;

pub struct Grounds {
    pub shared: Vec<Server>,
    cluster: OnceLock<Cluster>,
    silent: OnceLock<Cluster>,
    /// The slots of the present cells: a slot that moves must move under one cell only.
    slots: Mutex<BTreeSet<i64>>,
    moving: Mutex<()>,
}

impl Grounds {
    pub fn new() -> Self {
        let shared = (0..SHARED).map(|_| Server::start()).collect();
        Grounds {
            shared,
            cluster: OnceLock::new(),
            silent: OnceLock::new(),
            slots: Mutex::default(),
            moving: Mutex::default(),
        }
    }

    pub fn cluster(&self) -> &Cluster {
        self.cluster.get_or_init(|| Cluster::start(3, 0))
    }

    pub fn silent(&self) -> &Cluster {
        self.silent.get_or_init(|| {
            let cluster = Cluster::start(3, 0);
            cluster.servers[SILENT].pause();
            cluster
        })
    }

    /// A name with this beginning, in a slot that no other cell has.
    pub fn name_in_cluster(&self, stem: &str) -> String {
        let mut view = self.cluster().servers[0].view();
        (0..)
            .map(|turn| format!("{stem}{turn}"))
            .find(|name| self.enter(slot(&mut view, name)))
            .expect("there are enough slots")
    }

    /// Lets one slot move at a time: the nodes must agree on each.
    pub fn moving(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, slot: i64) -> bool {
        self.slots.lock().expect("nothing panics while it is held").insert(slot)
    }

    /// A name with this beginning, on a node that answers.
    pub fn name_beside_silence(&self, stem: &str) -> String {
        let mut view = self.silent().servers[0].view();
        let last = 16384 * SILENT as i64 / 3;
        (0..)
            .map(|turn| format!("{stem}{turn}"))
            .find(|name| slot(&mut view, name) < last)
            .expect("two of three answer")
    }

    /// Every server with a watch.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        let clusters = [self.cluster.get(), self.silent.get()].into_iter().flatten();
        self.shared.iter().chain(clusters.flat_map(|cluster| &cluster.servers))
    }

    /// The nodes of the silent cluster that answer.
    pub fn speaking(&self) -> &[Server] {
        &self.silent().servers[..SILENT]
    }
}

pub fn slot(view: &mut View, name: &str) -> i64 {
    view.command(&["CLUSTER", "KEYSLOT", name])
}
