//! How long a server keeps an owner's holds: the reads of each kind that show it, and the meaning of their replies.

use redis::{Cmd, Value};

use super::book::{Belief, Client, Key};

/// The server's word on a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The server has nothing of this owner.
    Gone,
    /// The server keeps the owner's hold for so many ms.
    Lives(i64),
    /// The server's answer decides nothing: the key is elsewhere, or a right is missing.
    Unknown,
    /// The reader has so many holds on the server, and not all were read.
    More(usize),
}

/// The score of a permit without an end.
const NEVER: i64 = 922_337_203_685_477;
/// How many more holds of a reader than believed the server may have: it has not heard of their releases. If it has
/// even more, the next look counts them.
const UNHEARD: usize = 8;

/// The reads that show how long the server keeps the believed holds. `known`: the server's count of a reader's holds at
/// the last look.
pub fn reads(belief: &Belief, known: usize) -> Vec<Cmd> {
    let client = &*belief.client;
    let key = &*belief.key;
    let name = name(key);
    let owner = format!("{}:{}", client.uuid, belief.grip);
    let of = |words: &[&str]| words[1..].iter().fold(redis::cmd(words[0]), |mut cmd, word| cmd.arg(*word).clone());
    match key.kind.as_str() {
        "write" => vec![of(&["PTTL", name]), of(&["HEXISTS", name, &format!("{owner}:write")])],
        "read" => {
            let stem = if name.contains('{') { name.to_owned() } else { format!("{{{name}}}") };
            let hold = |number| of(&["PTTL", &format!("{stem}:{owner}:rwlock_timeout:{number}")]);
            let holds = (1..=belief.holds.max(known) + UNHEARD).map(hold);
            [of(&["PTTL", name]), of(&["HGET", name, &owner])].into_iter().chain(holds).collect()
        }
        "token" => vec![of(&["PTTL", name]), of(&["GET", name])],
        "multi" => vec![of(&["PTTL", name]), of(&["TIME"]), of(&["HGETALL", name])],
        "permit" => {
            let leases = if name.contains('{') { format!("{name}:timeout") } else { format!("{{{name}}}:timeout") };
            vec![
                of(&["PTTL", &leases]),
                of(&["TIME"]),
                redis::cmd("ZSCORE").arg(&leases).arg(&permit(client, key)[..]).clone(),
            ]
        }
        _ => vec![of(&["PTTL", name]), of(&["HEXISTS", name, &owner])],
    }
}

/// The meaning of the replies to [`reads`].
pub fn found(belief: &Belief, replies: &[Value]) -> Found {
    if replies.iter().any(|reply| matches!(reply, Value::ServerError(error) if error.code() != "WRONGTYPE")) {
        return Found::Unknown;
    }
    let ttl = match number(&replies[0]) {
        Some(-2) => return Found::Gone,
        Some(-1) => i64::MAX,
        Some(ms) => ms,
        None => return Found::Unknown,
    };
    let left = match belief.key.kind.as_str() {
        "read" => {
            let count = text(&replies[1]).and_then(|count| count.parse().ok()).unwrap_or(0);
            if count > replies.len() - 2 {
                return Found::More(count);
            }
            let longest =
                replies[2..].iter().take(count).filter_map(number).map(|ms| if ms == -1 { i64::MAX } else { ms }).max();
            longest.filter(|ms| *ms >= 0)
        }
        "token" => {
            let owner = format!("{}:{}", belief.client.uuid, belief.key.owner);
            (text(&replies[1]).as_deref() == Some(owner.as_str())).then_some(i64::MAX)
        }
        "multi" => millis(&replies[1]).and_then(|now| of_values(belief, &replies[2], now)),
        "permit" => {
            let score = text(&replies[2]).and_then(|score| score.parse::<f64>().ok()).map(|score| score as i64);
            let left = |score: i64| {
                if score >= NEVER {
                    Some(i64::MAX)
                } else {
                    Some(score - millis(&replies[1])?).filter(|left| *left > 0)
                }
            };
            score.and_then(left)
        }
        _ => (number(&replies[1]) == Some(1)).then_some(i64::MAX),
    };
    left.map_or(Found::Gone, |left| Found::Lives(left.min(ttl)))
}

/// How long the owner keeps all values of its lock: until the first of them ends.
fn of_values(belief: &Belief, hash: &Value, now: i64) -> Option<i64> {
    let Value::Array(words) = hash else { return of_map(belief, hash, now) };
    ends_of_values(belief, words.chunks(2).filter_map(|pair| Some((text(&pair[0])?, text(&pair[1])?))), now)
}

fn of_map(belief: &Belief, hash: &Value, now: i64) -> Option<i64> {
    let Value::Map(pairs) = hash else { return None };
    ends_of_values(belief, pairs.iter().filter_map(|(field, value)| Some((text(field)?, text(value)?))), now)
}

fn ends_of_values(belief: &Belief, fields: impl Iterator<Item = (String, String)>, now: i64) -> Option<i64> {
    let stem = format!("{}:{}:", belief.client.uuid, belief.key.owner);
    let values: std::collections::BTreeSet<&str> = belief.key.name.split('\0').skip(1).collect();
    let mut ends = std::collections::BTreeMap::<String, Vec<i64>>::new();
    for (field, value) in fields {
        let Some(rest) = field.strip_suffix(":expire_time") else { continue };
        let Some((_, owner)) = rest.split_once(':').filter(|(_, owner)| owner.starts_with(&stem)) else { continue };
        ends.entry(owner.to_owned()).or_default().extend(value.parse::<i64>().ok().filter(|end| *end > now));
    }
    // Two locks of one owner that have as many values are not told apart: the longer one counts.
    ends.into_values()
        .filter(|ends| ends.len() == values.len())
        .filter_map(|ends| ends.into_iter().min())
        .max()
        .map(|end| end - now)
}

/// The key of a name.
fn name(key: &Key) -> &str {
    key.name.split('\0').next().unwrap_or_default()
}

fn permit(client: &Client, key: &Key) -> [u8; 16] {
    let id = u128::from_str_radix(&client.uuid.replace('-', ""), 16).expect("a uuid has 32 digits");
    id.wrapping_add(key.owner as u128).to_be_bytes()
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Boolean(is) => Some((*is).into()),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    redis::from_redis_value(value.clone()).ok()
}

fn millis(value: &Value) -> Option<i64> {
    let (seconds, micros): (i64, i64) = redis::from_redis_value(value.clone()).ok()?;
    Some(seconds * 1000 + micros / 1000)
}
