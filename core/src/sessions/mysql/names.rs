//! The names of locks as a server tells them apart.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use highway::{HighwayHash, HighwayHasher, Key as HashKey};

use crate::sessions::driver::Key;

/// The kind of server, which decides how it compares names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Names have 64 characters at most, of the Basic Multilingual Plane. Their case does not count.
    Mysql,
    /// Names have 192 bytes at most. Their case counts.
    Mariadb,
}

/// The digits of the hash in the key of a long name.
const DIGITS: usize = 32;

impl Flavour {
    /// The key of a name. Of a name that the server does not take it is the beginning with a hash of the whole.
    pub fn key(self, name: &str) -> Key {
        let folded = match self {
            // Each letter by itself, as the server does it: a last sigma is no other letter.
            Flavour::Mysql => name.chars().flat_map(char::to_lowercase).collect(),
            Flavour::Mariadb => name.to_owned(),
        };
        let fits = match self {
            Flavour::Mysql => folded.chars().count() <= 64 && folded.chars().all(|letter| letter <= '\u{ffff}'),
            Flavour::Mariadb => folded.len() <= 192,
        };
        // A server may take a zero for the end of the name.
        if fits && !folded.contains('\0') {
            return folded.into();
        }
        let room = match self {
            Flavour::Mysql => 64 - DIGITS - 1,
            Flavour::Mariadb => 192 - DIGITS - 1,
        };
        let mut beginning = String::new();
        for letter in folded.chars().filter(|letter| *letter <= '\u{ffff}' && *letter != '\0') {
            let length = match self {
                Flavour::Mysql => beginning.chars().count() + 1,
                Flavour::Mariadb => beginning.len() + letter.len_utf8(),
            };
            if length > room {
                break;
            }
            beginning.push(letter);
        }
        let [high, low] = HighwayHasher::new(HashKey([0; 4])).hash128(folded.as_bytes());
        let digits = HEXLOWER.encode(&[high.to_be_bytes(), low.to_be_bytes()].concat());
        Arc::from(format!("{beginning}:{digits}"))
    }
}

/// The key of a candidate, which has a session of its own in the queue for a lock.
pub fn of_candidate(lock: &Key, owner: i64) -> Key {
    Arc::from(format!("{lock}\0{owner}"))
}

pub fn is_candidates(key: &Key) -> bool {
    key.contains('\0')
}

/// A text in a statement: no character of it can end it.
pub fn literal(text: &str) -> String {
    format!("_utf8mb4 0x{}", HEXLOWER.encode(text.as_bytes()))
}

/// A value in a statement.
pub fn bytes(value: &[u8]) -> String {
    format!("x'{}'", HEXLOWER.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_server_takes_for_one_have_one_key() {
        assert_eq!(Flavour::Mysql.key("Orders:Ä"), Flavour::Mysql.key("orders:ä"));
        assert_ne!(Flavour::Mariadb.key("Orders"), Flavour::Mariadb.key("orders"));
        for flavour in [Flavour::Mysql, Flavour::Mariadb] {
            assert_eq!(&*flavour.key("orders:42"), "orders:42", "other clients lock it by that name");
        }
    }

    #[test]
    fn a_name_that_no_server_takes_becomes_one_that_it_does_and_no_other_name_has() {
        for flavour in [Flavour::Mysql, Flavour::Mariadb] {
            for long in ["n".repeat(1_000_000), "ä".repeat(200), "🔒".repeat(70)] {
                let key = flavour.key(&long);
                let other = flavour.key(&format!("{long}."));
                assert!(key.chars().count() <= 64 || flavour == Flavour::Mariadb && key.len() <= 192, "{key}");
                assert_ne!(key, other);
                assert_eq!(key, flavour.key(&long));
            }
        }
        assert_eq!(Flavour::Mariadb.key(&"n".repeat(192)).len(), 192);
        assert!(Flavour::Mysql.key("a🔒").starts_with("a:"), "that letter is not in the server's alphabet of names");
    }

    #[test]
    fn a_candidate_waits_for_the_lock_of_its_name() {
        let lock = Flavour::Mariadb.key("billing");
        let key = of_candidate(&lock, 7);
        assert!(is_candidates(&key) && !is_candidates(&lock) && !is_candidates(&Flavour::Mysql.key("a\0b")));
        assert_eq!(crate::sessions::driver::lock_of(&key), "billing");
        assert_ne!(key, of_candidate(&lock, 8));
    }

    #[test]
    fn no_name_ends_the_statement_that_it_stands_in() {
        assert_eq!(literal("a'b"), "_utf8mb4 0x612762");
    }
}
