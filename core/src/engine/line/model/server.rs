//! The server of the model: the calls on their way to it and back, and its work.

use super::world::World;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    Listen,
    Try { id: u64 },
    Release { id: u64, heir: Option<u64>, heard: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    Listening,
    Taken,
    Busy,
    Freed(u64),
    Passed,
}

#[derive(Debug)]
pub struct Flying {
    pub client: usize,
    pub call: Call,
    pub reply: Option<Reply>,
}

impl World {
    /// The server carries a call out as the scripts do, even if it is a repeat.
    pub fn run(&mut self, at: usize) {
        let Flying { client, call, .. } = self.flying[at];
        let reply = match call {
            Call::Listen => {
                self.clients[client].subscribed = true;
                Reply::Listening
            }
            Call::Try { id } if self.field.is_none_or(|field| field == id) => {
                self.field = Some(id);
                Reply::Taken
            }
            Call::Try { .. } => Reply::Busy,
            Call::Release { id, heir: Some(heir), .. } if self.field == Some(id) || self.field == Some(heir) => {
                self.field = Some(heir);
                Reply::Passed
            }
            Call::Release { id, .. } if self.field == Some(id) => {
                self.field = None;
                let listeners = self.clients.iter_mut().filter(|client| client.subscribed);
                Reply::Freed(listeners.map(|client| client.unheard += 1).count() as u64)
            }
            // A repeat finds its work done.
            Call::Release { .. } => Reply::Freed(0),
        };
        self.flying[at].reply = Some(reply);
    }
}
