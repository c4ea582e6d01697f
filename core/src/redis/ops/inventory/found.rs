//! Reads the locks that the scripts of the inventory describe; `scripts/inventory/_found.lua` has the form.

use std::time::Duration;

use crate::redis::kinds::reply::Reply;
use crate::request::inventory::{HeldLock, Holder};

type Numbers = std::vec::IntoIter<i64>;
type Texts = std::vec::IntoIter<Vec<u8>>;

/// The length of a uuid in text.
const UUID: usize = 36;

/// The locks in a reply; `None`: no script of ours gives it.
pub fn locks(reply: Reply) -> Option<Vec<HeldLock>> {
    let mut numbers = reply.numbers.into_iter();
    let mut texts = reply.texts.into_iter();
    let mut locks = Vec::new();
    while let Some(name) = texts.next() {
        let name = text(&name);
        let lock = match texts.next()?.as_slice() {
            b"h" => hash(name, &mut numbers, &mut texts)?,
            b"z" => permits(name, &mut numbers, &mut texts)?,
            b"s" => value(name, &mut numbers, &mut texts)?,
            _ => return None,
        };
        locks.push(lock);
    }
    Some(locks)
}

fn hash(name: String, numbers: &mut Numbers, texts: &mut Texts) -> Option<HeldLock> {
    // The fields that follow may be some of many.
    let mode = text(&texts.next()?);
    let remaining = time(numbers.next()?);
    let fields = numbers.next()?;
    let shown = numbers.next()?;
    let listening = numbers.next()?;
    let token = numbers.next()?;
    let leads = numbers.next()? == 1;
    let queued = numbers.next()?;
    let queue = numbers.next()?;
    let pairs: Vec<(String, String)> =
        (0..shown).map(|_| Some((text(&texts.next()?), text(&texts.next()?)))).collect::<Option<_>>()?;
    let queue: Vec<Holder> = (0..queue).map(|_| Some(owner(&text(&texts.next()?)))).collect::<Option<_>>()?;
    let is_multi = pairs.iter().any(|(field, _)| field.ends_with(":lock_count"));
    let kind = match mode.as_str() {
        "write" => "write",
        "" if is_multi => "multi",
        "" if queued > 0 => "fair",
        "" if leads => "leader",
        "" if token > 0 => "fenced",
        "" => "plain",
        _ => "read",
    };
    let mut holders = Vec::new();
    let mut holder_count = fields;
    if is_multi {
        // Three fields a value.
        holder_count = fields / 3;
        holders.extend(pairs.iter().filter_map(value_holder));
    } else {
        holder_count -= i64::from(!mode.is_empty());
        holders.extend(pairs.iter().filter(|(field, _)| field != "mode").map(|(field, count)| {
            let (field, writes) = match field.strip_suffix(":write") {
                Some(field) => (field, true),
                None => (field.as_str(), false),
            };
            Holder { holds: count.parse().unwrap_or_default(), writes, ..owner(field) }
        }));
    }
    let waiting = if queued > 0 { queued } else { listening };
    Some(HeldLock {
        holders,
        holder_count: holder_count.max(0) as u64,
        remaining,
        waiting: u64::try_from(waiting).ok(),
        queue,
        token: Some(token).filter(|token| *token > 0),
        ..HeldLock::new(name, kind)
    })
}

/// The owner of a value, `<value>:<owner>:lock_count`.
fn value_holder((field, count): &(String, String)) -> Option<Holder> {
    let (_, of_owner) = field.strip_suffix(":lock_count")?.split_once(':')?;
    Some(Holder { holds: count.parse().unwrap_or_default(), ..owner(of_owner) })
}

fn permits(name: String, numbers: &mut Numbers, texts: &mut Texts) -> Option<HeldLock> {
    let remaining = time(numbers.next()?);
    let out = numbers.next()?;
    let shown = numbers.next()?;
    let listening = numbers.next()?;
    let holders = (0..shown)
        .map(|_| {
            let id = texts.next()?.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(Holder { client: id, holds: 1, remaining: time(numbers.next()?), ..Holder::default() })
        })
        .collect::<Option<_>>()?;
    Some(HeldLock {
        holders,
        holder_count: out.max(0) as u64,
        remaining,
        waiting: u64::try_from(listening).ok(),
        ..HeldLock::new(name, "permits")
    })
}

/// A text or a number: the listeners tell what it may be.
fn value(name: String, numbers: &mut Numbers, texts: &mut Texts) -> Option<HeldLock> {
    let remaining = time(numbers.next()?);
    let for_token = numbers.next()?;
    let for_permits = numbers.next()?;
    let for_latch = numbers.next()?;
    let value = text(&texts.next()?);
    let is_number = value.parse::<i64>().is_ok();
    let (kind, waiting) = match is_number {
        true if for_latch > 0 => ("latch", for_latch),
        true => ("semaphore", for_permits),
        false => ("token", for_token),
    };
    let holders = if is_number || value.is_empty() { Vec::new() } else { vec![owner(&value)] };
    Some(HeldLock {
        holder_count: u64::from(!is_number),
        holders,
        remaining,
        waiting: u64::try_from(waiting).ok(),
        is_certain: false,
        ..HeldLock::new(name, kind)
    })
}

/// An owner, `<client uuid>:<number>`.
fn owner(field: &str) -> Holder {
    let (client, owner) = match field.split_once(':') {
        Some((client, owner)) if client.len() == UUID => (client, owner),
        _ => (field, ""),
    };
    Holder { client: client.to_owned(), owner: owner.to_owned(), holds: 1, ..Holder::default() }
}

/// The time of some ms; below 0: there is none.
fn time(ms: i64) -> Option<Duration> {
    u64::try_from(ms).ok().map(Duration::from_millis)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
