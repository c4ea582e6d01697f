//! A bare RESP socket: one write, one read, as little as a client can do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub struct Socket(BufReader<TcpStream>);

impl Socket {
    /// `url`: `redis://host:port`.
    pub fn connect(url: &str) -> Self {
        let stream = TcpStream::connect(url.trim_start_matches("redis://")).unwrap_or_else(|e| panic!("{url}: {e}"));
        stream.set_nodelay(true).expect("it is a socket");
        Socket(BufReader::new(stream))
    }

    /// Sends an encoded command and gives the reply's parts in order, the parts of nested replies too.
    pub fn call(&mut self, command: &[u8]) -> Vec<String> {
        self.send(command);
        self.reply()
    }

    /// Sends commands whose replies are asked for later.
    pub fn send(&mut self, commands: &[u8]) {
        self.0.get_mut().write_all(commands).expect("the server listens");
    }

    /// The next reply or message.
    pub fn reply(&mut self) -> Vec<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("the server answers");
        let line = line.trim_end();
        match line.split_at_checked(1) {
            Some(("*", count)) => (0..count.parse().unwrap_or(0)).flat_map(|_: u32| self.reply()).collect(),
            Some(("$", length)) => {
                let mut text = vec![0; length.parse::<usize>().map_or(0, |length| length + 2)];
                self.0.read_exact(&mut text).expect("the server answers");
                vec![String::from_utf8_lossy(&text).trim_end().to_owned()]
            }
            Some(("+" | ":", text)) => vec![text.to_owned()],
            _ => panic!("the server says `{line}`"),
        }
    }
}

pub fn encoded(words: &[&str]) -> Vec<u8> {
    let words: Vec<String> = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
    format!("*{}\r\n{}", words.len(), words.concat()).into_bytes()
}
