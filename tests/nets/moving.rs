//! A slot that moves from one node of the cluster to the next. Meanwhile its keys are split between the two.

use std::sync::Mutex;

use redlatch_tests::View;

use crate::grounds::{Grounds, slot};

pub struct Move {
    slot: String,
    /// The place of the receiving node in the cluster, and its port.
    to: usize,
    port: String,
    ids: [String; 2],
    /// Views of the present node and of the receiving one. A hold is passed on within 10 ms or not at all, so that no
    /// time may go into connecting once the move begins.
    views: Mutex<[View; 2]>,
}

impl Move {
    pub fn prepare(grounds: &Grounds, key: &str) -> Self {
        let cluster = grounds.cluster();
        let from = cluster.owner(key);
        let to = (from + 1) % cluster.servers.len();
        let mut views = [from, to].map(|place| cluster.servers[place].view());
        let slot = slot(&mut views[0], key).to_string();
        Move {
            slot,
            to,
            port: cluster.servers[to].port().to_string(),
            ids: [from, to].map(|place| cluster.id(place)),
            views: Mutex::new(views),
        }
    }

    /// Begins the move: with the lock's own key, or with all other keys.
    pub fn begin(&self, lock: &str, with_lock: bool, grounds: &Grounds) {
        let _alone = grounds.moving();
        let [source, target] = &mut *self.views.lock().expect("no command panics");
        target.command::<()>(&["CLUSTER", "SETSLOT", &self.slot, "IMPORTING", &self.ids[0]]);
        source.command::<()>(&["CLUSTER", "SETSLOT", &self.slot, "MIGRATING", &self.ids[1]]);
        let keys: Vec<Vec<u8>> = source.command(&["CLUSTER", "GETKEYSINSLOT", &self.slot, "100"]);
        for key in
            keys.into_iter().filter_map(|key| String::from_utf8(key).ok()).filter(|key| (key == lock) == with_lock)
        {
            source.command::<String>(&["MIGRATE", "127.0.0.1", &self.port, &key, "0", "5000"]);
        }
    }

    /// Moves the other keys too. A key that a script has written at the new place meanwhile is not overwritten from the
    /// old one, as an operator decides that finds both.
    pub fn end(&self, lock: &str, grounds: &Grounds) {
        let _alone = grounds.moving();
        {
            let [source, target] = &mut *self.views.lock().expect("no command panics");
            for key in source.command::<Vec<String>>(&["CLUSTER", "GETKEYSINSLOT", &self.slot, "100"]) {
                target.command::<()>(&["ASKING"]);
                if target.try_command::<bool>(&["EXISTS", &key]).unwrap_or_default() {
                    source.command::<()>(&["DEL", &key]);
                }
            }
        }
        grounds.cluster().migrate(lock, self.to);
    }
}
