//! The groups of lock names in metrics: `orders:42` and `orders:43` are one, `orders:*`. A metric must not have a series for each name.

use std::collections::BTreeSet;

use crate::table::in_one_line;

/// So many groups are kept apart.
const MOST: usize = 200;
/// The group of all other names.
const OTHERS: &str = "(others)";
/// A longer name is cut.
const LONGEST: usize = 100;

/// The groups that have been told. A group that is told once stays, since a series must not change its meaning.
#[derive(Default)]
pub struct Groups(BTreeSet<String>);

impl Groups {
    pub fn of(&mut self, name: &str) -> String {
        let group = group(&in_one_line(name));
        if self.0.contains(&group) {
            return group;
        }
        if self.0.len() >= MOST {
            return OTHERS.to_owned();
        }
        self.0.insert(group.clone());
        group
    }
}

/// The name with a star for each number and each id in it.
fn group(name: &str) -> String {
    let mut group = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| letter.is_alphanumeric() != first.is_alphanumeric()).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        rest = behind;
        match first.is_alphanumeric() {
            true => group.push_str(&shown(run)),
            false => group.push_str(run),
        }
    }
    // The parts of a UUID are one id.
    while group.contains("*-*") {
        group = group.replace("*-*", "*");
    }
    match group.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &group[..end]),
        None => group,
    }
}

/// `job7` is one of many jobs; any other word with a digit is an id.
fn shown(word: &str) -> String {
    let letters = word.trim_end_matches(|letter: char| letter.is_numeric());
    match letters.contains(char::is_numeric) {
        true => "*".to_owned(),
        false if letters.len() == word.len() => word.to_owned(),
        false => format!("{letters}*"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_number_or_an_id_belongs_to_the_group_of_such_names() {
        for (name, shown) in [
            ("orders:42", "orders:*"),
            ("orders", "orders"),
            ("", ""),
            ("job7/eu-west-1", "job*/eu-west-*"),
            ("cart:0a5d2c4e-0000-4000-8000-00000000000f:pay", "cart:*:pay"),
            ("blob:5f3a9c", "blob:*"),
            ("{user}:2026-11-28", "{user}:*"),
            ("größe:７", "größe:*"),
        ] {
            assert_eq!(group(name), shown);
        }
        assert_eq!(group(&"n".repeat(65_536)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn there_are_never_more_groups_than_a_metric_may_have() {
        let mut groups = Groups::default();
        let name = |number: u32| char::from_u32(0x4e00 + number).expect("a letter").to_string();
        let told: BTreeSet<_> = (0..300).map(|number| groups.of(&name(number))).collect();
        assert_eq!(told.len(), MOST + 1);
        assert_eq!(groups.of(&name(1)), name(1), "a group that was told stays");
        assert_eq!(groups.of(&name(299)), OTHERS);
    }
}
