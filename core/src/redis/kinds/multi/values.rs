//! The names of a group's locks, and the fields that Redisson gives to their values.

use std::collections::BTreeSet;

use highway::{HighwayHash, HighwayHasher, Key};

use crate::request::error::{Error, Result};
use crate::request::names::{KRYO, check_name};

/// Redisson's key for the hash.
const KEY: Key = Key([0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c834, 0x1082_276b_f3a2_7251, 0xf86c_6a11_d0c1_8e95]);

/// The name of such a lock: its group and its values, in order and each once, behind NULs. The Java binding makes such
/// names too, with a U+0001 in front of each value that Redisson's `Kryo5Codec` encodes.
///
/// # Errors
/// `Config` if there are no values, and for one of those two characters in a text.
pub fn name(group: &str, values: &[impl AsRef<str>]) -> Result<String> {
    if values.is_empty() {
        return Err(no_values(group));
    }
    check_name(group)?;
    if let Some(bad) =
        std::iter::once(group).chain(values.iter().map(AsRef::as_ref)).find(|text| text.contains(['\0', KRYO]))
    {
        let bad = bad.escape_debug();
        return Err(Error::config(format!(
            "`{bad}` has U+0000 or U+0001 in it; a group and its values are texts without them"
        )));
    }
    let values: BTreeSet<&str> = values.iter().map(AsRef::as_ref).collect();
    Ok(values.into_iter().fold(group.to_owned(), |name, value| name + "\0" + value))
}

pub(super) fn no_values(group: &str) -> Error {
    Error::config(format!("the multi lock of `{group}` has no values; give it at least one"))
}

/// The group, which is the key and the short name of such a lock.
pub fn group(name: &str) -> &str {
    name.split('\0').next().unwrap_or_default()
}

/// The group, and the fields of its values: each once, in the same order everywhere.
pub(super) fn fields(name: &str) -> (&str, Vec<String>) {
    let values = name.split('\0').skip(1);
    let mut fields: Vec<_> = values
        .map(|value| value.strip_prefix(KRYO).map_or_else(|| field(value.as_bytes()), |value| field(&kryo(value))))
        .collect();
    fields.sort_unstable();
    fields.dedup();
    (group(name), fields)
}

/// The field of a value: Redisson hashes the bytes that its codec makes. The `StringCodec` makes UTF-8, as here.
pub(super) fn field(value: &[u8]) -> String {
    let halves = HighwayHasher::new(KEY).hash128(value);
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_be_bytes()).collect();
    data_encoding::BASE64_NOPAD.encode(&bytes)
}

/// The bytes that Redisson's default codec writes for a text. First comes its class. A short ASCII text follows with a
/// mark on its last byte; any other text as the number of its UTF-16 units and each of them in one to three bytes.
fn kryo(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut bytes = vec![3];
    if (2..=32).contains(&units.len()) && text.is_ascii() {
        bytes.extend(text.bytes());
        *bytes.last_mut().expect("it is not empty") |= 0x80;
        return bytes;
    }
    let mut count = units.len() + 1;
    let more = |left: usize, mark: u8| if left > 0 { mark } else { 0 };
    bytes.push((count & 0x3f) as u8 | 0x80 | more(count >> 6, 0x40));
    count >>= 6;
    while count > 0 {
        bytes.push((count & 0x7f) as u8 | more(count >> 7, 0x80));
        count >>= 7;
    }
    for unit in units {
        match unit {
            0..=0x7f => bytes.push(unit as u8),
            0x80..=0x7ff => bytes.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => bytes.extend([0xe0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8]),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_field_that_redisson_gives_it() {
        let known =
            [("", "t6rZwibGo2uy1OSmNVe8pg"), ("x", "Bt/D4wylKYCgzX0jVwjowg"), ("Jack_001", "7pNoDdizVy2xY792MaFv+w")];
        for (value, expected) in known {
            assert_eq!(field(value.as_bytes()), expected, "of `{value}`");
        }
        assert_eq!(fields("g\0\u{1}x").1, ["UAtNwcfhLzLiIyViPu3ySw"], "of what Kryo makes of `x`");
    }

    #[test]
    fn a_name_is_its_values_in_any_order_once_each() {
        let of = |values: &[&str]| name("g", values).map(|name| fields(&name).1).expect("a good name");
        assert_eq!(of(&["a", "b", "a"]), of(&["b", "a"]));
        assert_eq!(fields("g\0a").0, "g");
        assert!(name("g", &[] as &[&str]).is_err() && name("g", &["a\0b"]).is_err());
    }
}
