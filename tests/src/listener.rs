//! A witness of the messages that are published on one channel.

use redis::{Connection, Value};

use crate::view::View;

/// Receives every message from its creation on.
pub struct Listener {
    connection: Connection,
    channel: String,
}

impl Listener {
    pub(crate) fn start(url: &str, channel: &str) -> Self {
        let mut view = View::connect(url).unwrap_or_else(|e| panic!("no connection to listen on {channel}: {e}"));
        let word = if view.shards() { "ssubscribe" } else { "subscribe" };
        let mut listener = Listener { connection: view.connection, channel: channel.to_owned() };
        listener.send(&[word, channel]);
        while listener.receive()[0] != word {}
        listener
    }

    /// Waits for the next message.
    ///
    /// # Panics
    /// When none comes within [`crate::PATIENCE`].
    pub fn hear(&mut self) -> String {
        loop {
            if let [kind, _, payload] = &self.receive()[..]
                && kind.ends_with("message")
            {
                return payload.clone();
            }
        }
    }

    /// All messages that the server published before this call, and that no earlier call returned.
    pub fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        self.send(&["PING"]);
        loop {
            match &self.receive()[..] {
                [kind, _, payload] if kind.ends_with("message") => heard.push(payload.clone()),
                [kind, ..] if kind == "pong" => return heard,
                _ => {}
            }
        }
    }

    fn send(&mut self, words: &[&str]) {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        self.connection
            .send_packed_command(&command.get_packed_command())
            .unwrap_or_else(|e| panic!("{}: {e}", self.channel));
    }

    fn receive(&mut self) -> Vec<String> {
        match self.connection.recv_response().unwrap_or_else(|e| panic!("nothing on {}: {e}", self.channel)) {
            Value::Array(parts) => {
                parts.into_iter().map(|part| redis::from_redis_value(part).expect("a word or a number")).collect()
            }
            other => panic!("{} answers {other:?}", self.channel),
        }
    }
}
