//! A witness of every command that a server carries out, in the server's order; commands of scripts too.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::PATIENCE;
use crate::oracle::watch;

pub struct Monitor {
    lines: BufReader<TcpStream>,
    /// The server's port.
    port: u16,
}

/// One command that the server carried out.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When it was carried out, by the server's clock, since 1970.
    pub at: Duration,
    /// Whether a script sent the command, not a client.
    pub by_script: bool,
    pub words: Vec<Vec<u8>>,
}

impl Seen {
    /// The command's name in lower case.
    pub fn name(&self) -> String {
        self.text(0).to_lowercase()
    }

    /// One word of the command; empty if it has fewer words.
    pub fn text(&self, at: usize) -> String {
        self.words.get(at).map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default()
    }
}

impl Monitor {
    pub(crate) fn start(address: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
        stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.write_all(b"MONITOR\r\n"))
            .expect("it is a socket");
        let port = stream.peer_addr().expect("it is connected").port();
        let mut monitor = Monitor { lines: BufReader::new(stream), port };
        assert_eq!(monitor.line(), "+OK");
        monitor
    }

    /// Waits for the words of the next command. Words with bytes other than plain text are quoted as the server quotes
    /// them.
    ///
    /// # Panics
    /// When none comes within [`PATIENCE`].
    pub fn see(&mut self) -> Vec<String> {
        let line = self.line_of_others();
        let (_, words) = line.split_once("] ").unwrap_or_else(|| panic!("{line}"));
        words.trim_matches('"').split("\" \"").map(str::to_owned).collect()
    }

    /// Waits for the next command, with the bytes that its client sent.
    ///
    /// # Panics
    /// When none comes within [`PATIENCE`].
    pub fn next_seen(&mut self) -> Seen {
        let line = self.line_of_others();
        let read = || {
            let (head, words) = line.strip_prefix('+')?.split_once("] ")?;
            let (seconds, client) = head.split_once(" [")?;
            let at = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            Some(Seen { at, by_script: client.ends_with(" lua"), words: unquoted(words) })
        };
        read().unwrap_or_else(|| panic!("no line of MONITOR: {line}"))
    }

    /// All commands up to and with the first that contains this word. A test sends such a command after those that it
    /// wants to see.
    pub fn seen_until(&mut self, word: &str) -> Vec<Seen> {
        let mut seen = Vec::new();
        loop {
            let next = self.next_seen();
            let is_last = next.words.iter().any(|other| other == word.as_bytes());
            seen.push(next);
            if is_last {
                return seen;
            }
        }
    }

    /// The next line that is not of the rig's own commands.
    fn line_of_others(&mut self) -> String {
        loop {
            let line = self.line();
            let address = line
                .split_once('[')
                .and_then(|(_, rest)| rest.split_once(']'))
                .and_then(|(from, _)| from.split(' ').nth(1));
            if !address.is_some_and(|address| watch::is_one(self.port, address)) {
                return line;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the server tells of every command");
        line.trim_end().to_owned()
    }
}

/// The words of a line in which the server has quoted each word and escaped the bytes that are no plain text.
fn unquoted(line: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word = None::<Vec<u8>>;
    let mut bytes = line.bytes();
    while let Some(byte) = bytes.next() {
        match (&mut word, byte) {
            (None, b'"') => word = Some(Vec::new()),
            (None, _) => {}
            (Some(_), b'"') => words.extend(word.take()),
            (Some(word), b'\\') => word.push(match bytes.next().expect("the server ends no word with a backslash") {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'a' => 7,
                b'b' => 8,
                b'x' => {
                    let digits = [bytes.next(), bytes.next()].map(|digit| digit.expect("two digits follow"));
                    let digits = std::str::from_utf8(&digits).expect("digits are text");
                    u8::from_str_radix(digits, 16).expect("they are hexadecimal")
                }
                other => other,
            }),
            (Some(word), _) => word.push(byte),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_their_client_sent_them() {
        let words = unquoted(r#""eval" "a \"b\" c\n\x00\xff\\" "" "d""#);
        assert_eq!(words, [b"eval".to_vec(), b"a \"b\" c\n\x00\xff\\".to_vec(), Vec::new(), b"d".to_vec()]);
    }
}
