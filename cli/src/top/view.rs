//! The choices of the user of `redlatch top`, and the keys that make them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::picture::{Picture, Row};
use crate::table::in_one_line;
use crate::watch::Event;

/// The events that are kept for the screen.
const EVENTS: usize = 100;
/// A question that is longer would not be seen whole.
const READABLE: usize = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Waiting,
    Age,
    End,
    Rate,
    Name,
}

impl Sort {
    fn next(self) -> Self {
        match self {
            Sort::Waiting => Sort::Rate,
            Sort::Rate => Sort::Age,
            Sort::Age => Sort::End,
            Sort::End => Sort::Name,
            Sort::Name => Sort::Waiting,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Sort::Waiting => "waiting",
            Sort::Rate => "acquires",
            Sort::Age => "age",
            Sort::End => "end",
            Sort::Name => "name",
        }
    }

    fn order(self, one: &Row, other: &Row) -> Ordering {
        let by = match self {
            Sort::Waiting => other.waiting.cmp(&one.waiting),
            Sort::Rate => other.rate.total_cmp(&one.rate),
            Sort::Age => other.held_for.cmp(&one.held_for),
            // A lock without an end comes last.
            Sort::End => (one.ends_in.is_none(), one.ends_in).cmp(&(other.ends_in.is_none(), other.ends_in)),
            Sort::Name => Ordering::Equal,
        };
        by.then_with(|| one.name.cmp(&other.name))
    }
}

/// The meaning of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Rows,
    /// The keys are letters of the filter.
    Filter,
    Help,
    /// The lock that is to be released is looked at; the question follows.
    Looking(String),
    Asking(String),
    /// The lock is being released.
    Taking,
}

/// The part of a key that is more than a choice of the view.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    Quit,
    /// Stop the job, for the shell.
    Stop,
    /// Look at this lock, to release it.
    Look(String),
    /// The answer to the question is `y`.
    Take,
    /// It is anything else.
    Leave,
}

pub struct View {
    pub mode: Mode,
    pub filter: String,
    pub sort: Sort,
    pub is_frozen: bool,
    pub is_paused: bool,
    pub chosen: Option<String>,
    pub is_open: bool,
    /// The answer to the last key, if it needs one.
    pub notice: String,
    /// The newest one first.
    pub events: VecDeque<(String, Event)>,
    /// The first row on the screen.
    pub first: usize,
    /// The question stands on the screen, whole.
    pub is_question_shown: bool,
    is_readonly: bool,
    /// All rows, by name.
    order: Vec<String>,
}

impl View {
    pub fn new(is_readonly: bool) -> Self {
        View {
            mode: Mode::Rows,
            filter: String::new(),
            sort: Sort::Waiting,
            is_frozen: false,
            is_paused: false,
            chosen: None,
            is_open: false,
            is_question_shown: false,
            notice: String::new(),
            events: VecDeque::new(),
            first: 0,
            is_readonly,
            order: Vec::new(),
        }
    }

    /// `time`: that of the event, as the screen shows it.
    pub fn add(&mut self, time: String, event: Event) {
        self.events.push_front((time, event));
        self.events.truncate(EVENTS);
    }

    /// Orders the rows of a new picture. While a row is chosen, or the order is frozen, new rows come last.
    pub fn arrange(&mut self, picture: &Picture) {
        let mut rows: Vec<&Row> = picture.rows.iter().collect();
        rows.sort_by(|one, other| self.sort.order(one, other));
        if self.is_frozen || self.chosen.is_some() {
            let there: HashSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
            self.order.retain(|name| there.contains(name.as_str()));
            let placed: HashSet<String> = self.order.iter().cloned().collect();
            self.order.extend(rows.iter().filter(|row| !placed.contains(&row.name)).map(|row| row.name.clone()));
        } else {
            self.order = rows.into_iter().map(|row| row.name.clone()).collect();
        }
    }

    /// The rows of a picture that has been arranged, as far as they match the filter.
    pub fn shown<'a>(&self, picture: &'a Picture) -> Vec<&'a Row> {
        let mut by_name: HashMap<&str, &Row> = picture.rows.iter().map(|row| (row.name.as_str(), row)).collect();
        let rows = self.order.iter().filter_map(|name| by_name.remove(name.as_str()));
        rows.filter(|row| self.matches(row)).collect()
    }

    /// Whether the name, the kind or the holder has the text of the filter.
    fn matches(&self, row: &Row) -> bool {
        [&in_one_line(&row.name), &row.kind, &row.holder].iter().any(|text| text.contains(&self.filter))
    }

    pub fn key(&mut self, key: KeyEvent, picture: &Picture) -> Option<Action> {
        self.notice.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Some(Action::Quit),
                KeyCode::Char('z') => Some(Action::Stop),
                _ => None,
            };
        }
        match &self.mode {
            Mode::Rows => self.key_for_rows(key.code, picture),
            Mode::Filter => {
                self.key_for_filter(key.code);
                None
            }
            Mode::Help => {
                self.mode = Mode::Rows;
                None
            }
            // A key that was typed before the question is no answer to it.
            Mode::Looking(_) => {
                if key.code == KeyCode::Esc {
                    self.mode = Mode::Rows;
                }
                None
            }
            // A key that was typed before the question could be read is no answer to it.
            Mode::Asking(_) if !self.is_question_shown && matches!(key.code, KeyCode::Char('y' | 'Y')) => None,
            Mode::Asking(_) if matches!(key.code, KeyCode::Char('y' | 'Y')) => {
                self.mode = Mode::Taking;
                Some(Action::Take)
            }
            Mode::Asking(_) => {
                self.mode = Mode::Rows;
                self.notice = "nothing was released: the answer was not y".to_owned();
                Some(Action::Leave)
            }
            Mode::Taking => None,
        }
    }

    fn key_for_rows(&mut self, key: KeyCode, picture: &Picture) -> Option<Action> {
        match key {
            KeyCode::Char('q') => return Some(Action::Quit),
            KeyCode::Char('/') => self.mode = Mode::Filter,
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('f') => self.is_frozen = !self.is_frozen,
            KeyCode::Char('s') => {
                self.sort = self.sort.next();
                self.order.clear();
            }
            KeyCode::Up | KeyCode::Char('k') => self.choose(picture, -1),
            KeyCode::Down | KeyCode::Char('j') => self.choose(picture, 1),
            KeyCode::PageUp => self.choose(picture, -10),
            KeyCode::PageDown => self.choose(picture, 10),
            KeyCode::Home => self.choose(picture, isize::MIN),
            KeyCode::End => self.choose(picture, isize::MAX),
            KeyCode::Enter if self.chosen.is_none() => self.choose(picture, 1),
            KeyCode::Enter => self.is_open = !self.is_open,
            KeyCode::Esc if self.chosen.is_some() => {
                self.chosen = None;
                self.is_open = false;
            }
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('R') => return self.release(),
            _ => {}
        }
        None
    }

    fn key_for_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char(letter) => self.filter.push(letter),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Enter => self.mode = Mode::Rows,
            KeyCode::Esc => {
                self.filter.clear();
                self.mode = Mode::Rows;
            }
            _ => {}
        }
    }

    /// Moves so many rows on. The first move chooses the first row, or the last one.
    fn choose(&mut self, picture: &Picture, by: isize) {
        let rows = self.shown(picture);
        let Some(last) = rows.len().checked_sub(1) else { return };
        let at = self.chosen.as_ref().and_then(|name| rows.iter().position(|row| row.name == *name));
        let at = match at {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by == isize::MAX => last,
            None => 0,
        };
        self.chosen = Some(rows[at].name.clone());
    }

    fn release(&mut self) -> Option<Action> {
        if self.is_readonly {
            self.notice = "nothing can be released here: redlatch top was started with --readonly".to_owned();
            return None;
        }
        let Some(name) = self.chosen.clone() else {
            self.notice = "no lock is chosen: choose one with ↓ and ↑, then press R".to_owned();
            return None;
        };
        self.mode = Mode::Looking(name.clone());
        Some(Action::Look(name))
    }

    /// The lock has been looked at; false: the user has gone on meanwhile, or cannot read it.
    pub fn ask(&mut self, name: &str, question: String) -> bool {
        if self.mode != Mode::Looking(name.to_owned()) {
            return false;
        }
        if question.chars().count() > READABLE {
            self.tell("the name is too long to be asked about here; use `redlatch release`".to_owned());
            return false;
        }
        self.mode = Mode::Asking(question);
        self.is_question_shown = false;
        true
    }

    /// The end of a release, or the reason why there is none.
    pub fn tell(&mut self, notice: String) {
        self.notice = in_one_line(&notice);
        if matches!(self.mode, Mode::Looking(_) | Mode::Taking) {
            self.mode = Mode::Rows;
        }
    }
}
