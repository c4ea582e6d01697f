//! The locks that a listing finds, and their way through an [`Answer`], which every language can read.

use std::str::FromStr;
use std::time::Duration;

use crate::request::Answer;
use crate::request::error::{Error, Result};

/// A lock that is held, as the server knows it. Redis keeps no time of acquisition, so its age is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldLock {
    /// Its name, without the client's prefix. Of a lock of several values it is the group.
    pub name: String,
    /// Its kind: `plain`, `fair`, `fenced`, `leader`, `read`, `write`, `multi`, `permits` for permits that are out, `token`,
    /// `semaphore` or `latch`. A fair lock without waiters looks like a plain one. A lock of the kinds `spin` and
    /// `non_reentrant` is always shown as plain.
    pub kind: &'static str,
    /// Whether the key has the shape of that kind. The kinds `token`, `semaphore` and `latch` are guesses: other
    /// programs keep texts and numbers too.
    pub is_certain: bool,
    /// Its holders: the writer, all readers, the owners of the values, or the permits that are out. At most
    /// a hundred of them, and twenty if a scan has found the lock; [`HeldLock::holder_count`] counts all.
    pub holders: Vec<Holder>,
    /// The number of holders.
    pub holder_count: u64,
    /// The time until the key ends, unless it is renewed. `None`: it does not end by itself.
    pub remaining: Option<Duration>,
    /// The processes that wait, or the owners in the queue of a fair lock. `None`: the server does not tell.
    pub waiting: Option<u64>,
    /// The owners in the queue of a fair lock, the next one first. As many at most as of the holders.
    pub queue: Vec<Holder>,
    /// The latest fencing token of the lock.
    pub token: Option<i64>,
}

/// A holder of a lock, or an owner that waits for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The uuid of its client; of a permit, the permit's id.
    pub client: String,
    /// The number of the owner in that client: the owner that took the lock from the server, which may have handed it on to
    /// another one of its client since. Redisson's is a thread.
    pub owner: String,
    /// The number of its holds; 0: unknown.
    pub holds: u64,
    /// Whether it writes.
    pub writes: bool,
    /// The time until its own hold ends, where holders of one lock end apart.
    pub remaining: Option<Duration>,
    /// The machine of its client. `None`: the client has another `client_name`, has no connection to the server any more,
    /// or is Redisson; or the server does not list its connections.
    pub host: Option<String>,
    /// The process of its client, known where the machine is.
    pub process: Option<u32>,
    /// Whether it may be a thread of Redisson: the server lists its connections, none of them is that of a client of this
    /// library with that uuid, and the owner has a number as threads have. It is a guess: a client with a `client_name` of its
    /// own and a process that has died look the same.
    pub may_be_redisson: bool,
}

/// One page of a listing.
pub struct Page {
    pub locks: Vec<HeldLock>,
    /// Asks for the next page; empty: this was the last one.
    pub next: Vec<u8>,
}

const KINDS: [&str; 11] =
    ["plain", "fair", "fenced", "leader", "read", "write", "multi", "permits", "token", "semaphore", "latch"];

impl Page {
    /// The answer: texts alone, of which each border has any number. The first one asks for the next page. Then come those of
    /// each lock: name, kind, 1 if that is certain, number of holders, remaining ms, waiting, token, and how many holders and owners in
    /// the queue follow. Of each of those: client, owner, holds, 1 if it writes, remaining ms, host, process, 1
    /// if it may be Redisson. An empty text stands for nothing.
    pub fn answer(&self) -> Answer {
        let mut answer = Answer::done(self.locks.len() as i64);
        answer.texts.push(self.next.clone());
        self.locks.iter().for_each(|lock| lock.put(&mut answer.texts));
        answer
    }

    /// The reverse of [`Page::answer`]; `None`: it is the answer of something else.
    pub fn read(answer: Answer) -> Option<Page> {
        let mut texts = answer.texts.into_iter();
        let next = texts.next()?;
        let locks = (0..answer.number).map(|_| HeldLock::take(&mut texts)).collect::<Option<_>>()?;
        Some(Page { locks, next })
    }
}

impl HeldLock {
    pub(crate) fn new(name: String, kind: &'static str) -> Self {
        HeldLock {
            name,
            kind,
            is_certain: true,
            holders: Vec::new(),
            holder_count: 0,
            remaining: None,
            waiting: None,
            queue: Vec::new(),
            token: None,
        }
    }

    fn put(&self, texts: &mut Vec<Vec<u8>>) {
        let fields = [
            self.name.clone(),
            self.kind.to_owned(),
            truth(self.is_certain),
            self.holder_count.to_string(),
            shown(ms(self.remaining)),
            shown(self.waiting),
            shown(self.token),
            self.holders.len().to_string(),
            self.queue.len().to_string(),
        ];
        texts.extend(fields.map(String::into_bytes));
        self.holders.iter().chain(&self.queue).for_each(|holder| holder.put(texts));
    }

    fn take(texts: &mut Texts) -> Option<Self> {
        let name = text(texts)?;
        let kind = text(texts)?;
        let kind = KINDS.into_iter().find(|known| *known == kind)?;
        let is_certain = text(texts)? == truth(true);
        let holder_count = number(texts)?;
        let remaining = time(texts)?;
        let waiting = known(texts)?;
        let token = known(texts)?;
        let held: usize = number(texts)?;
        let queued: usize = number(texts)?;
        let holders = (0..held).map(|_| Holder::take(texts)).collect::<Option<_>>()?;
        let queue = (0..queued).map(|_| Holder::take(texts)).collect::<Option<_>>()?;
        Some(HeldLock { name, kind, is_certain, holders, holder_count, remaining, waiting, queue, token })
    }
}

/// The field of the holder that alone is to lose a lock of a listing, of that kind and with these holders: of each its client, its
/// owner and whether it writes. The error says how a lock is freed that has no such holder.
pub fn evictee<'a>(
    kind: &str,
    name: &str,
    holders: impl IntoIterator<Item = (&'a str, &'a str, bool)>,
) -> Result<String> {
    let remedy = match kind {
        "multi" => "has several values; force the release of a lock of those values",
        "permits" => "has permits that are out; release each of them by its id",
        "token" => "may be a token lock or another program's text; if it is one, force the release of the token lock",
        "semaphore" | "latch" => "is a number without a holder; add permits, or delete it",
        _ => {
            let holders: Vec<_> = holders.into_iter().collect();
            match holders.iter().find(|(.., writes)| *writes).or(holders.first()) {
                Some((client, owner, writes)) => {
                    return Ok(format!("{client}:{owner}{}", if *writes { ":write" } else { "" }));
                }
                None => "has no holder; list it again",
            }
        }
    };
    Err(Error::Unsupported(format!("`{name}` {remedy}")))
}

impl Holder {
    fn put(&self, texts: &mut Vec<Vec<u8>>) {
        let fields = [
            self.client.clone(),
            self.owner.clone(),
            self.holds.to_string(),
            truth(self.writes),
            shown(ms(self.remaining)),
            self.host.clone().unwrap_or_default(),
            shown(self.process),
            truth(self.may_be_redisson),
        ];
        texts.extend(fields.map(String::into_bytes));
    }

    fn take(texts: &mut Texts) -> Option<Self> {
        Some(Holder {
            client: text(texts)?,
            owner: text(texts)?,
            holds: number(texts)?,
            writes: text(texts)? == truth(true),
            remaining: time(texts)?,
            host: Some(text(texts)?).filter(|host| !host.is_empty()),
            process: known(texts)?,
            may_be_redisson: text(texts)? == truth(true),
        })
    }
}

type Texts = std::vec::IntoIter<Vec<u8>>;

fn text(texts: &mut Texts) -> Option<String> {
    texts.next().map(|text| String::from_utf8_lossy(&text).into_owned())
}

fn number<N: FromStr>(texts: &mut Texts) -> Option<N> {
    text(texts)?.parse().ok()
}

/// A number that may be unknown. The outer `None`: it is neither a number nor nothing.
fn known<N: FromStr>(texts: &mut Texts) -> Option<Option<N>> {
    match text(texts)?.as_str() {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    }
}

/// The same of a time in ms.
fn time(texts: &mut Texts) -> Option<Option<Duration>> {
    Some(known(texts)?.map(Duration::from_millis))
}

fn ms(time: Option<Duration>) -> Option<u128> {
    time.map(|time| time.as_millis())
}

fn shown(number: Option<impl ToString>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn truth(is_so: bool) -> String {
    u8::from(is_so).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_survives_its_way_over_a_border() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let thread = Holder { client: "c".into(), owner: "7".into(), holds: 2, writes: true, ..Holder::default() };
        let reader = Holder { may_be_redisson: true, ..thread };
        let named = Holder { host: Some("api-3".into()), process: Some(8121), remaining: ms(9), ..reader.clone() };
        let full = HeldLock {
            is_certain: false,
            holders: vec![reader.clone(), named],
            holder_count: 1000,
            remaining: ms(5),
            waiting: Some(3),
            queue: vec![reader],
            token: Some(0),
            ..HeldLock::new("a".into(), "write")
        };
        let locks = vec![full, HeldLock::new("b".into(), "plain")];
        let page = Page { locks: locks.clone(), next: b"0:7:300".to_vec() };
        let read = Page::read(page.answer()).expect("a page");
        assert_eq!((read.locks, read.next), (locks, page.next));
        assert!(Page::read(Answer::done(1)).is_none());
    }
}
