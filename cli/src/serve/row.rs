//! A lock as a page shows it in one line.

use serde_json::{Value, json};

use super::board::Moment;
use crate::table::holders;
use crate::watch::{Known, Sight, party};

/// Two looks tell the same end, but for the time that they took.
const NEAR: u64 = 300;

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    name: String,
    kind: &'static str,
    is_certain: bool,
    holder: String,
    may_be_redisson: bool,
    /// It was first seen with its holders then; `None`: it has none. As all times here, in milliseconds since 1970.
    since: Option<u64>,
    /// `None`: never.
    ends: Option<u64>,
    waiting: Option<u64>,
    is_in_line: bool,
    /// The server shows each holder.
    is_whole: bool,
    /// Ten times the acquires in a second.
    rate: u64,
    pub is_old: bool,
    stamp: String,
}

impl Row {
    pub fn of(sight: &Sight, known: &Known, moment: Moment) -> Self {
        Row {
            name: sight.name.clone(),
            kind: sight.kind,
            is_certain: sight.is_certain,
            holder: holders(sight.kind, sight.holder_count, &sight.holders, party),
            may_be_redisson: sight.holders.iter().any(|holder| holder.may_be_redisson),
            since: sight.is_held().then(|| moment.date(known.since)),
            ends: known.ends().map(|end| moment.date(end)),
            waiting: sight.waiting,
            is_in_line: !sight.queue.is_empty(),
            is_whole: sight.is_whole(),
            rate: (known.rate(moment.clock) * 10.0).round() as u64,
            is_old: known.is_old(moment.clock),
            stamp: sight.stamp(),
        }
    }

    /// Whether a page that has the other one need not hear of this one.
    pub fn is_like(&self, other: &Row) -> bool {
        let is_near = |times: (Option<u64>, Option<u64>)| match times {
            (Some(one), Some(two)) => one.abs_diff(two) <= NEAR,
            (one, two) => one == two,
        };
        // The calendar may be set while the clock of looks goes on.
        is_near((self.ends, other.ends))
            && is_near((self.since, other.since))
            && *self == Row { ends: self.ends, since: self.since, ..other.clone() }
    }

    pub fn object(&self) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind,
            "certain": self.is_certain,
            "holder": self.holder,
            "redisson": self.may_be_redisson,
            "since": self.since,
            "ends": self.ends,
            "waiting": self.waiting,
            "in_line": self.is_in_line,
            "whole": self.is_whole,
            "rate": self.rate as f64 / 10.0,
            "old": self.is_old,
            "stamp": self.stamp,
        })
    }
}
