//! The pattern of names that a listing asks for, as patterns of keys and of channels.

use crate::redis::kinds::prefixed;

/// The channels by which waiters hear of a release: the prefix of the name in braces.
const CHANNELS: [&str; 4] = ["redisson_lock__channel", "redisson_rwlock", "redisson_sc", "redlatch_token_lock"];
/// That of latches, whose names have braces in any case.
const LATCHES: &str = "redisson_countdownlatch__channel__";

/// A pattern of names, as `SCAN` understands it.
pub struct Pattern {
    /// With the client's prefix.
    full: String,
    /// The name, if only one matches.
    name: Option<String>,
}

impl Pattern {
    /// `prefix`: that of the client, a text and not a pattern.
    pub fn new(prefix: &str, pattern: &str) -> Self {
        let is_special = |c: char| "*?[]\\^".contains(c);
        let mut full = String::new();
        for c in prefix.chars() {
            if is_special(c) {
                full.push('\\');
            }
            full.push(c);
        }
        full.push_str(pattern);
        Pattern { full, name: literal(pattern).map(|name| format!("{prefix}{name}")) }
    }

    /// The name, if the pattern has no wild card.
    pub fn name(&self) -> Option<String> {
        self.name.clone()
    }

    pub fn names(&self) -> &str {
        &self.full
    }

    /// The keys with permits that are out. A name with braces of its own needs a pattern with braces, or `*`.
    pub fn leases(&self) -> String {
        match self.full.contains('{') || self.full == "*" {
            true => format!("{}:timeout", self.full),
            false => format!("{{{}}}:timeout", self.full),
        }
    }

    /// The channels of those names.
    pub fn channels(&self) -> Vec<String> {
        let mut all = Vec::new();
        for prefix in CHANNELS {
            all.push(prefixed(prefix, &self.full));
            // The name may have braces of its own.
            all.push(format!("{prefix}:{}", self.full));
        }
        // A fair lock has a channel for each waiter.
        all.push(format!("{}:*", prefixed(CHANNELS[0], &self.full)));
        all.push(format!("{LATCHES}{{{}}}", self.full));
        all
    }
}

/// The only name that matches; `None`: the pattern has a wild card. A backslash takes its meaning from the next character.
fn literal(pattern: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' => return None,
            '\\' => name.push(chars.next().unwrap_or('\\')),
            c => name.push(c),
        }
    }
    Some(name)
}

/// The names to which a channel may belong.
pub fn names_of(channel: &str) -> Vec<String> {
    if let Some(name) = channel.strip_prefix(LATCHES) {
        return name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).map(str::to_owned).into_iter().collect();
    }
    let rest = CHANNELS.iter().find_map(|prefix| channel.strip_prefix(prefix)?.strip_prefix(':'));
    let Some(rest) = rest else { return Vec::new() };
    match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((name, behind)) if behind.is_empty() || behind.starts_with(':') => vec![name.to_owned()],
        // It has braces of its own, and a fair lock's has a waiter behind it.
        _ => {
            let fair = rest.len().checked_sub(1).and_then(|_| rest.rsplitn(3, ':').nth(2));
            std::iter::once(rest).chain(fair).map(str::to_owned).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITER: &str = "01234567-89ab-4cde-8f01-23456789abcd:7";

    #[test]
    fn a_name_without_a_wild_card_is_one_name() {
        assert_eq!(Pattern::new("app:", "orders:42").name().as_deref(), Some("app:orders:42"));
        assert_eq!(Pattern::new("", "a\\*\\\\").name().as_deref(), Some("a*\\"));
        for wild in ["*", "orders:?", "orders:[12]", "a\\**"] {
            assert_eq!(Pattern::new("", wild).name(), None, "{wild}");
        }
    }

    #[test]
    fn a_wild_card_in_the_prefix_of_a_client_stands_for_itself() {
        assert_eq!(Pattern::new("a*:", "n*").names(), "a\\*:n*");
    }

    #[test]
    fn the_name_of_a_lock_is_found_in_its_channel() {
        for prefix in CHANNELS {
            assert_eq!(names_of(&prefixed(prefix, "orders:42")), ["orders:42"]);
            assert!(names_of(&prefixed(prefix, "orders:{42}")).contains(&"orders:{42}".to_owned()));
        }
        for name in ["orders:42", "orders:{42}"] {
            let fair = format!("{}:{WAITER}", prefixed(CHANNELS[0], name));
            assert!(names_of(&fair).contains(&name.to_owned()), "{fair}");
        }
        assert_eq!(names_of("redisson_countdownlatch__channel__{ready}"), ["ready"]);
        assert!(names_of("news").is_empty());
    }
}
