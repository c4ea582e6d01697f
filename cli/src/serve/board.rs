//! All that pages show, and the changes from moment to moment. It has neither a clock nor a connection.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::groups::Groups;
use super::row::Row;
use crate::clock;
use crate::watch::{Event, Known, Watch};

/// A page that has missed some still has these latest events.
const EVENTS: usize = 200;
/// The points of the lines that a page draws, and the time from one to the next. A page hears each of them, and takes a longer silence for a
/// broken connection.
const POINTS: usize = 150;
const STEP: Duration = Duration::from_secs(2);

/// A moment by the clock of looks and by the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub clock: Duration,
    /// The time since 1970.
    pub date: Duration,
}

impl Moment {
    pub fn now() -> Self {
        Moment { clock: clock::now(), date: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() }
    }

    /// A time of the clock, in milliseconds since 1970.
    pub fn date(self, time: Duration) -> u64 {
        let date = (self.date + time).saturating_sub(self.clock);
        u64::try_from(date.as_millis()).unwrap_or(u64::MAX)
    }
}

pub struct Board {
    server: String,
    pattern: String,
    can_release: bool,
    /// The rows as pages have them, with the version of the lock that each shows.
    rows: BTreeMap<String, (u64, Row)>,
    state: State,
    history: VecDeque<Value>,
    events: VecDeque<Value>,
    /// The last point of the history.
    drawn: Option<Duration>,
    pub tally: Tally,
}

/// What has happened since the beginning, for metrics.
#[derive(Default)]
pub struct Tally {
    /// The holds that have ended, by the word of the event that told it.
    pub ended: BTreeMap<&'static str, u64>,
    pub groups: Groups,
}

#[derive(Clone, Debug, Default)]
struct State {
    held: usize,
    waited_for: usize,
    waiting: u64,
    expired: usize,
    is_reading: bool,
    /// The calls to a server fail since then, for that reason.
    silence: Option<(u64, String)>,
    changes: f64,
    server_ms: Option<f64>,
}

impl Board {
    pub fn new(server: String, pattern: &str, can_release: bool) -> Self {
        Board {
            server,
            pattern: pattern.to_owned(),
            can_release,
            rows: BTreeMap::new(),
            state: State { is_reading: true, ..State::default() },
            history: VecDeque::new(),
            events: VecDeque::new(),
            drawn: None,
            tally: Tally::default(),
        }
    }

    /// Takes the looks and events since the last call, and gives the change that pages are to hear.
    pub fn look(&mut self, watch: &mut Watch, moment: Moment) -> Option<Value> {
        let state = State::of(watch, moment);
        let events: Vec<_> = watch.take_events().iter().map(|event| self.happened(event, moment)).collect();
        let (rows, gone) = self.compare(watch, moment);
        let is_quiet = rows.is_empty() && gone.is_empty() && events.is_empty() && state.is_like(&self.state);
        self.state = state;
        let point = self.draw(moment);
        if is_quiet && point.is_none() {
            return None;
        }
        Some(json!({
            "now": moment.date(moment.clock),
            "locks": rows,
            "gone": gone,
            "state": self.state.object(),
            "point": point,
            "events": events,
        }))
    }

    /// All that a page shows that has heard nothing yet.
    pub fn all(&self, moment: Moment) -> Value {
        json!({
            "server": self.server,
            "pattern": self.pattern,
            "can_release": self.can_release,
            "now": moment.date(moment.clock),
            "locks": self.rows.values().map(|(_, row)| row.object()).collect::<Vec<_>>(),
            "state": self.state.object(),
            "history": self.history,
            "events": self.events,
        })
    }

    /// The locks of now as `redlatch ls --json` gives them; `name`: that one alone.
    pub fn locks(&self, watch: &Watch, name: Option<&str>, moment: Moment) -> Value {
        let object = |known: &Known| {
            let sight = known.sight.as_ref()?;
            let held_for = sight.is_held().then(|| known.held_for());
            Some(sight.later(moment.clock.saturating_sub(known.seen)).object(held_for))
        };
        let locks: Vec<_> = match name {
            Some(name) => watch.known(name).and_then(object).into_iter().collect(),
            None => watch.locks().filter_map(|(_, known)| object(known)).collect(),
        };
        json!({
            "server": self.server,
            "pattern": self.pattern,
            "reading": !watch.is_settled(),
            "silent_ms": watch.silence().map(|(since, _)| moment.clock.saturating_sub(since).as_millis() as u64),
            "locks": locks,
        })
    }

    fn happened(&mut self, event: &Event, moment: Moment) -> Value {
        let object = json!({
            "time": moment.date(event.at),
            "name": event.name,
            "event": event.word(),
            "text": event.sentence(),
        });
        *self.tally.ended.entry(event.word()).or_default() += event.ended() as u64;
        push(&mut self.events, object.clone(), EVENTS);
        object
    }

    /// The rows that pages do not have as they are, and the names of those that are gone.
    fn compare(&mut self, watch: &Watch, moment: Moment) -> (Vec<Value>, Vec<String>) {
        let mut changed = Vec::new();
        let is_gone = |name: &&String| watch.known(name).is_none_or(|known| known.sight.is_none());
        let gone: Vec<String> = self.rows.keys().filter(is_gone).cloned().collect();
        for name in &gone {
            self.rows.remove(name);
        }
        for (name, known) in watch.locks() {
            let Some(sight) = &known.sight else { continue };
            let shown = self.rows.get(name);
            if shown.is_some_and(|(version, row)| *version == known.version && row.is_old == known.is_old(moment.clock))
            {
                continue;
            }
            let row = Row::of(sight, known, moment);
            // A row that a page has stays as it was told: many small steps would be a long one.
            let row = match shown {
                Some((_, shown)) if row.is_like(shown) => shown.clone(),
                _ => {
                    changed.push(row.object());
                    row
                }
            };
            self.rows.insert(name.clone(), (known.version, row));
        }
        (changed, gone)
    }

    /// The next point of the lines, if its time has come.
    fn draw(&mut self, moment: Moment) -> Option<Value> {
        if self.drawn.is_some_and(|last| moment.clock.saturating_sub(last) < STEP) {
            return None;
        }
        self.drawn = Some(moment.clock);
        let point = json!({
            "time": moment.date(moment.clock),
            "waiting": self.state.waiting,
            "changes": self.state.changes,
            "server_ms": self.state.server_ms,
        });
        push(&mut self.history, point.clone(), POINTS);
        Some(point)
    }
}

impl State {
    fn of(watch: &mut Watch, moment: Moment) -> Self {
        let mut state = State {
            expired: watch.expired(moment.clock),
            is_reading: !watch.is_settled(),
            silence: watch.silence().map(|(since, why)| (moment.date(since), why.to_owned())),
            server_ms: watch.answer().map(|took| (took.as_secs_f64() * 10_000.0).round() / 10.0),
            ..State::default()
        };
        for (_, known) in watch.locks() {
            state.changes += known.rate(moment.clock);
            let Some(sight) = &known.sight else { continue };
            state.held += usize::from(sight.is_held());
            state.waited_for += usize::from(sight.has_waiters());
            state.waiting += sight.waiting.unwrap_or(0);
        }
        state.changes = (state.changes * 10.0).round() / 10.0;
        state
    }

    /// Whether a page that has the other one can wait for the next step.
    fn is_like(&self, other: &State) -> bool {
        let shown = |state: &State| {
            let is_silent = state.silence.is_some();
            (state.held, state.waited_for, state.waiting, state.expired, state.is_reading, is_silent)
        };
        shown(self) == shown(other)
    }

    fn object(&self) -> Value {
        json!({
            "held": self.held,
            "waited_for": self.waited_for,
            "waiting": self.waiting,
            "expired": self.expired,
            "reading": self.is_reading,
            "silence": self.silence.as_ref().map(|(since, why)| json!({ "since": since, "why": why })),
            "changes": self.changes,
            "server_ms": self.server_ms,
        })
    }
}

fn push(queue: &mut VecDeque<Value>, value: Value, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(value);
}
