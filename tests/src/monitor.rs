//! A witness of all that a server carries out, in its order, commands of scripts too.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::PATIENCE;

pub struct Monitor {
    lines: BufReader<TcpStream>,
}

impl Monitor {
    pub(crate) fn start(address: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.write_all(b"MONITOR\r\n")).expect("it is a socket");
        let mut monitor = Monitor { lines: BufReader::new(stream) };
        assert_eq!(monitor.line(), "+OK");
        monitor
    }

    /// The words of the next command; those with other bytes than plain text are quoted as the server quotes them.
    ///
    /// # Panics
    /// When none comes within [`PATIENCE`].
    pub fn see(&mut self) -> Vec<String> {
        let line = self.line();
        let (_, words) = line.split_once("] ").unwrap_or_else(|| panic!("{line}"));
        words.trim_matches('"').split("\" \"").map(str::to_owned).collect()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the server tells of every command");
        line.trim_end().to_owned()
    }
}
