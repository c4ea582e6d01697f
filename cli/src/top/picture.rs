//! The locks that are known at one moment, in the words of the screen.

use std::time::Duration;

use crate::list::identity;
use crate::table::{count, count_with, ends, holders};
use crate::watch::{Known, Sight, Watch, party};

/// A lock that is held for longer is marked.
const LONG: Duration = Duration::from_secs(3600);
/// The holders and the waiters that are shown of the open row.
const HOLDERS: usize = 5;
const WAITERS: usize = 10;

/// All that the screen shows, but for events and the choices of the user.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub rows: Vec<Row>,
    pub held: usize,
    pub waited_for: usize,
    /// The locks that have expired in the last hour.
    pub expired: usize,
    /// The first listing is not over: more locks may come.
    pub is_reading: bool,
    /// The calls to a server fail, for so long and for that reason.
    pub silence: Option<(Duration, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub kind: String,
    pub holder: String,
    /// The time for which the holder has had the lock, at least; `None`: it is free.
    pub held_for: Option<Duration>,
    /// `None`: never.
    pub ends_in: Option<Duration>,
    /// `None`: the server does not tell.
    pub waiting: Option<u64>,
    pub rate: f64,
    /// A mark as a word.
    pub mark: &'static str,
    /// Holders and waiters, if the row is open.
    pub details: Vec<String>,
}

impl Picture {
    /// `chosen`: the lock that has a row even if it is free; `is_open`: that row shows its holders.
    pub fn of(watch: &mut Watch, now: Duration, chosen: Option<&str>, is_open: bool) -> Self {
        let mut picture = Picture {
            expired: watch.expired(now),
            is_reading: !watch.is_settled(),
            silence: watch.silence().map(|(since, why)| (now.saturating_sub(since), why.to_owned())),
            ..Picture::default()
        };
        let mut has_chosen = false;
        for (name, known) in watch.locks() {
            let is_chosen = chosen == Some(name);
            has_chosen |= is_chosen;
            if let Some(sight) = &known.sight {
                picture.held += usize::from(sight.is_held());
                picture.waited_for += usize::from(sight.has_waiters());
                picture.rows.push(Row::of(sight, known, now, is_chosen && is_open));
            } else if is_chosen {
                picture.rows.push(Row::free(name, known.rate(now)));
            }
        }
        if let Some(name) = chosen.filter(|_| !has_chosen) {
            picture.rows.push(Row::free(name, 0.0));
        }
        picture
    }
}

impl Row {
    fn of(sight: &Sight, known: &Known, now: Duration, is_open: bool) -> Self {
        let held_for = now.saturating_sub(known.since);
        let mark = if known.is_old(now) {
            "! old"
        } else if held_for > LONG {
            "! long"
        } else {
            ""
        };
        Row {
            name: sight.name.clone(),
            kind: format!("{}{}", sight.kind, if sight.is_certain { "" } else { "?" }),
            holder: holders(sight.kind, sight.holder_count, &sight.holders, party),
            held_for: Some(held_for).filter(|_| sight.is_held()),
            ends_in: known.ends().map(|end| end.saturating_sub(now)),
            waiting: sight.waiting,
            rate: known.rate(now),
            mark,
            details: if is_open { details(sight) } else { Vec::new() },
        }
    }

    fn free(name: &str, rate: f64) -> Self {
        Row {
            name: name.to_owned(),
            kind: "free".to_owned(),
            holder: "–".to_owned(),
            held_for: None,
            ends_in: None,
            waiting: Some(0),
            rate,
            mark: "",
            details: Vec::new(),
        }
    }

    pub fn age(&self) -> String {
        match self.held_for {
            None => "–".to_owned(),
            Some(time) if time < Duration::from_secs(1) => "≥0s".to_owned(),
            Some(time) => format!("≥{}", ends(Some(time))),
        }
    }

    pub fn end(&self) -> String {
        if self.kind == "free" { "–".to_owned() } else { ends(self.ends_in) }
    }

    pub fn wait(&self) -> String {
        match self.waiting {
            None => "?".to_owned(),
            Some(0) => "–".to_owned(),
            Some(count) => count.to_string(),
        }
    }

    /// The acquires in a second, in few letters.
    pub fn changes(&self) -> String {
        match self.rate {
            rate if rate < 0.05 => "0".to_owned(),
            rate if rate < 9.95 => format!("{rate:.1}"),
            rate => format!("{rate:.0}"),
        }
    }
}

fn details(sight: &Sight) -> Vec<String> {
    let mut lines: Vec<_> = sight
        .holders
        .iter()
        .take(HOLDERS)
        .map(|holder| {
            let own_end = holder.remaining.map_or(String::new(), |left| format!(", ends in {}", ends(Some(left))));
            format!("held by  {}{own_end}", identity(holder))
        })
        .collect();
    let more = sight.holder_count.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("         and {} more", count(more, "holder")));
    }
    if let Some(token) = sight.token {
        lines.push(format!("token    {token}, the latest"));
    }
    match sight.waiting {
        None => lines.push("waits    unknown: the server does not tell".to_owned()),
        Some(0) => lines.push("waits    none".to_owned()),
        Some(waiting) if sight.queue.is_empty() => {
            lines.push(format!("waits    {}; which, Redis does not know", count_with(waiting, "process", "processes")));
        }
        Some(waiting) => {
            lines.push(format!("waits    {}, in this order", count(waiting, "owner")));
            let waiters = sight.queue.iter().take(WAITERS).enumerate();
            lines.extend(waiters.map(|(at, waiter)| format!("  {:>5}  {}", at + 1, identity(waiter))));
            let more = waiting.saturating_sub(sight.queue.len().min(WAITERS) as u64);
            if more > 0 {
                lines.push(format!("         and {more} more"));
            }
        }
    }
    lines
}
