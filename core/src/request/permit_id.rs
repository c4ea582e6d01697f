//! The ids of permits: 16 bytes as they are on the wire, 32 hexadecimal digits in the APIs.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::request::error::{Error, Result};

/// The id of a permit, by which any client can give it back. Its text is 32 hexadecimal digits.
///
/// ```
/// let id: redlatch::PermitId = "0f1e2d3c4b5a69788796a5b4c3d2e1f0".parse().unwrap();
/// assert_eq!(id.to_string(), "0f1e2d3c4b5a69788796a5b4c3d2e1f0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PermitId(u128);

impl PermitId {
    /// The id for a number of a client. It is unique, because the client's uuid is random; and a repeat has the same
    /// one.
    pub(crate) fn new(client: &str, number: i64) -> Self {
        let digits = client.bytes().filter_map(|byte| char::from(byte).to_digit(16));
        PermitId(digits.fold(0u128, |id, digit| id << 4 | u128::from(digit)).wrapping_add(number as u128))
    }

    /// The id for an owner as text, `<client uuid>:<number>`.
    pub(crate) fn of(owner: &str) -> Self {
        let (client, number) = owner.split_once(':').unwrap_or((owner, ""));
        PermitId::new(client, number.parse().unwrap_or_default())
    }

    /// The id that is `count` after this one: an acquire of several permits has ids in a row.
    pub(crate) fn after(self, count: i64) -> Self {
        PermitId(self.0.wrapping_add(count as u128))
    }

    /// The id as it crosses a language border: the upper half, the lower half.
    pub(crate) fn halves(self) -> [i64; 2] {
        [(self.0 >> 64) as i64, self.0 as i64]
    }

    /// The reverse of [`PermitId::halves`].
    pub(crate) fn from_halves(upper: i64, lower: i64) -> Self {
        PermitId((upper as u64 as u128) << 64 | lower as u64 as u128)
    }

    pub(crate) fn all(halves: &[i64]) -> impl Iterator<Item = PermitId> {
        halves.chunks_exact(2).map(|both| PermitId::from_halves(both[0], both[1]))
    }

    pub(crate) fn first(halves: &[i64]) -> Self {
        PermitId::all(halves).next().unwrap_or(PermitId(0))
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl Display for PermitId {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for PermitId {
    type Err = Error;

    /// # Errors
    /// `Config` unless the text is 32 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self> {
        let digits = (text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| u128::from_str_radix(text, 16));
        match digits {
            Some(Ok(id)) => Ok(PermitId(id)),
            _ => Err(Error::config(format!(
                "the permit id `{text}` is not valid; give the 32 hexadecimal digits that the acquire gave"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_clients_uuid_and_the_number() {
        let id = PermitId::of("01234567-89ab-4cde-8f01-23456789abcd:258");
        assert_eq!(id.to_string(), "0123456789ab4cde8f0123456789accf");
        assert_eq!(id, PermitId::new("01234567-89ab-4cde-8f01-23456789abcd", 258));
    }

    #[test]
    fn an_id_survives_its_way_over_a_border() {
        for text in
            ["00000000000000000000000000000001", "ffffffffffffffffffffffffffffffff", "80000000000000008000000000000000"]
        {
            let id: PermitId = text.parse().expect("an id");
            let [upper, lower] = id.halves();
            assert_eq!(PermitId::from_halves(upper, lower).to_string(), text);
        }
        assert!("g".repeat(32).parse::<PermitId>().is_err() && "00".parse::<PermitId>().is_err());
    }
}
