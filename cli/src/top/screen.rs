//! Draws `redlatch top`.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Style};
use ratatui::widgets::{Clear, Paragraph, Widget, Wrap};

use super::picture::{Picture, Row};
use super::view::{Mode, Sort, View};
use crate::table::{count, cut, in_one_line, width_of};
use crate::times;

/// A screen of so many columns is wide: its columns have gaps, and there is room for bars.
const WIDE: u16 = 100;
/// A narrower one has no column of waiters.
const WAITERS: u16 = 76;
/// The widest names and holders.
const WIDEST: u16 = 48;
/// The most events, and the part of the screen that they have.
const EVENTS: u16 = 8;
const PART: u16 = 4;
const KEYS: &str = "/ filter  s sort  f freeze  ⏎ holders  R release  space pause  ? help  q quit";
const KEYS_TO_LOOK: &str = "/ filter  s sort  f freeze  ⏎ holders  space pause  ? help  q quit";
const HELP: &str = "\
↓ ↑ j k       choose a row; its order stays while one is chosen
⏎             the holders of the chosen lock, and its queue
Esc           choose no row; a second time: clear the filter
/             show only rows whose name, kind or holder has this text
s             sort by waiting, acquires, age, end, name
f             freeze the order, or let it go
space         stop the screen, or let it go on
R             release the chosen lock: shows its holder, and asks
q, Ctrl-C     quit

FOR   the time for which this program has seen the holder: at least so long
WAIT  processes that wait, or owners in the queue of a fair lock
/s    acquires in a second that were seen; of a fenced lock all, by its tokens
! long   held for more than 1 h
! old    not looked at for more than 10 s: there are too many locks";

/// The look of the screen. Colours say nothing that words do not say as well.
#[derive(Clone, Copy)]
pub struct Look {
    /// False: NO_COLOR is set.
    pub has_colours: bool,
    pub is_readonly: bool,
}

impl Look {
    fn coloured(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }
}

/// The head of the screen, which does not change with the locks.
pub struct Title<'a> {
    pub server: &'a str,
    /// The time of day.
    pub time: &'a str,
}

pub fn draw(frame: &mut Frame, title: &Title, picture: &Picture, view: &mut View, look: Look) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    if area.height < 4 || area.width < 20 {
        frame.buffer_mut().set_stringn(0, 0, "too small", usize::from(area.width), Style::new());
        return;
    }
    let events = (area.height / PART).min(EVENTS);
    let line = |y: u16| Rect { y, height: 1, ..area };
    head(frame.buffer_mut(), line(0), title, picture, view, look);
    status(frame.buffer_mut(), line(1), picture, view, look);
    let bottom = area.height - 1;
    let middle = Rect { y: 2, height: bottom - 2, ..area };
    match &view.mode {
        Mode::Help => Paragraph::new(HELP).wrap(Wrap { trim: false }).render(middle, frame.buffer_mut()),
        _ => {
            // The line between rows and events.
            let below = if events > 0 && bottom > 8 { events + 1 } else { 0 };
            let rows = Rect { height: middle.height - below, ..middle };
            table(frame.buffer_mut(), rows, picture, view, look);
            if below > 0 {
                let events = Rect { y: rows.bottom(), height: below, ..area };
                happened(frame.buffer_mut(), events, view, look);
            }
        }
    }
    if let Mode::Asking(question) = view.mode.clone() {
        let style = look.coloured(Color::Yellow).bold();
        let asked = Paragraph::new(question.as_str()).style(style).wrap(Wrap { trim: true });
        let needed = lines_of(&asked, &question, area.width) + 1;
        view.is_question_shown = needed <= middle.height;
        let height = needed.min(middle.height);
        let place = Rect { y: bottom - height, height, ..area };
        Clear.render(place, frame.buffer_mut());
        asked.render(place, frame.buffer_mut());
    }
    foot(frame, line(bottom), view, look);
}

/// The number of lines of a paragraph of this text. It breaks at blanks, so two lines have together more than one can have.
fn lines_of(paragraph: &Paragraph, text: &str, width: u16) -> u16 {
    let most = 2 * width_of(text) / usize::from(width).max(1) + 1;
    let area = Rect { x: 0, y: 0, width, height: u16::try_from(most).unwrap_or(u16::MAX) };
    let mut drawn = Buffer::empty(area);
    paragraph.render(area, &mut drawn);
    let is_blank = |y: &u16| (0..width).all(|x| drawn[(x, *y)].symbol() == " ");
    area.height - (0..area.height).rev().take_while(is_blank).count() as u16
}

fn head(buffer: &mut Buffer, area: Rect, title: &Title, picture: &Picture, view: &View, look: Look) {
    let state = match (view.is_paused, look.is_readonly) {
        (true, _) => "  PAUSED: space goes on",
        (false, true) => "  read-only",
        (false, false) => "",
    };
    let counts = format!(
        "held {}  waited for {}  expired {}/h  {}{state}",
        picture.held, picture.waited_for, picture.expired, title.time
    );
    let width = usize::from(area.width);
    let left = width.saturating_sub(width_of(&counts) + 2);
    let style = Style::new().bold();
    put(buffer, area.x, area.y, &format!("redlatch top  {}", in_one_line(title.server)), left, style);
    right(buffer, area.x, area.y, &counts, width, style);
}

/// The state of the view that is not usual: no answer, a filter, a frozen order.
fn status(buffer: &mut Buffer, area: Rect, picture: &Picture, view: &View, look: Look) {
    let width = usize::from(area.width);
    if let Some((time, why)) = &picture.silence {
        let text = format!("! no answer for {}, trying again: {}", times::shown(*time), in_one_line(why));
        put(buffer, area.x, area.y, &text, width, look.coloured(Color::Red).bold());
        return;
    }
    let mut words = vec![format!("sorted by {}", view.sort.word())];
    if view.is_frozen {
        words.push("order frozen".to_owned());
    } else if view.chosen.is_some() {
        words.push("order frozen while a row is chosen".to_owned());
    }
    if !view.filter.is_empty() && view.mode != Mode::Filter {
        words.push(format!("filter `{}`", in_one_line(&view.filter)));
    }
    if picture.is_reading {
        words.push("reading all keys, more locks may come".to_owned());
    }
    put(buffer, area.x, area.y, &words.join("  "), width, Style::new().dim());
}

/// The columns and their places; a width of 0: there is no room for it.
struct Columns {
    name: (u16, u16),
    kind: (u16, u16),
    holder: (u16, u16),
    age: (u16, u16),
    end: (u16, u16),
    wait: (u16, u16),
    rate: (u16, u16),
    bar: (u16, u16),
    mark: (u16, u16),
}

impl Columns {
    fn of(width: u16) -> Self {
        let is_wide = width >= WIDE;
        let gap = if is_wide { 2 } else { 1 };
        let kind = if is_wide { 10 } else { 7 };
        let wait = if width >= WAITERS { 5 } else { 0 };
        let bar = if is_wide { 12 } else { 0 };
        let (begin, age, end, rate, mark) = (2, 7, 6, 5, 6);
        let gaps = gap * (6 + u16::from(wait > 0) + u16::from(bar > 0));
        let rest = width.saturating_sub(begin + kind + age + end + wait + rate + bar + mark + gaps);
        let name = rest.div_ceil(2).min(WIDEST);
        let holder = (rest - rest.div_ceil(2)).min(WIDEST);
        let mut x = begin;
        let mut place = |width: u16| {
            let at = (x, width);
            if width > 0 {
                x += width + gap;
            }
            at
        };
        Columns {
            name: place(name),
            kind: place(kind),
            holder: place(holder),
            age: place(age),
            end: place(end),
            wait: place(wait),
            rate: place(rate),
            bar: place(bar),
            mark: place(mark),
        }
    }
}

fn table(buffer: &mut Buffer, area: Rect, picture: &Picture, view: &mut View, look: Look) {
    let columns = Columns::of(area.width);
    let style = Style::new().bold();
    let heads = |name: &str, sort: Sort| format!("{name}{}", if view.sort == sort { "▾" } else { "" });
    cell(buffer, area.y, columns.name, &heads("NAME", Sort::Name), style);
    cell(buffer, area.y, columns.kind, "KIND", style);
    cell(buffer, area.y, columns.holder, "HOLDER", style);
    cell_right(buffer, area.y, columns.age, &heads("FOR", Sort::Age), style);
    cell_right(buffer, area.y, columns.end, &heads("ENDS", Sort::End), style);
    cell_right(buffer, area.y, columns.wait, &heads("WAIT", Sort::Waiting), style);
    cell_right(buffer, area.y, columns.rate, &heads("/s", Sort::Rate), style);

    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let rows = view.shown(picture);
    if rows.is_empty() {
        let text = match (view.filter.is_empty(), picture.is_reading) {
            (false, _) => {
                format!("no lock matches the filter; {} without it", count(picture.rows.len() as u64, "lock"))
            }
            (true, true) => "no lock yet".to_owned(),
            (true, false) => "no lock is held".to_owned(),
        };
        if body.height > 0 {
            put(buffer, 2, body.y, &text, usize::from(body.width.saturating_sub(2)), Style::new());
        }
        return;
    }
    let first = first(&rows, view, body.height);
    let most = rows.iter().map(|row| row.rate).fold(0.0, f64::max);
    let mut y = body.y;
    for row in &rows[first..] {
        if y >= body.bottom() {
            break;
        }
        let is_chosen = view.chosen.as_ref() == Some(&row.name);
        let style = if is_chosen { Style::new().reversed() } else { Style::new() };
        buffer.set_style(Rect { y, height: 1, ..area }, style);
        if is_chosen {
            put(buffer, 0, y, "›", 1, style);
        }
        line(buffer, y, &columns, row, most, style, look);
        y += 1;
        for detail in &row.details {
            if y < body.bottom() {
                put(buffer, 4, y, detail, usize::from(area.width.saturating_sub(4)), Style::new());
                y += 1;
            }
        }
    }
    view.first = first;
}

/// The first row on the screen, so that the chosen one is there as well.
fn first(rows: &[&Row], view: &View, height: u16) -> usize {
    let height = usize::from(height).max(1);
    let chosen = view.chosen.as_ref().and_then(|name| rows.iter().position(|row| row.name == *name));
    let Some(chosen) = chosen else { return 0 };
    let lines = (1 + rows[chosen].details.len()).min(height);
    // The rows above it have one line each.
    let earliest = (chosen + lines).saturating_sub(height);
    view.first.clamp(earliest, chosen)
}

fn line(buffer: &mut Buffer, y: u16, columns: &Columns, row: &Row, most: f64, style: Style, look: Look) {
    cell(buffer, y, columns.name, &in_one_line(&row.name), style);
    cell(buffer, y, columns.kind, &row.kind, style);
    cell(buffer, y, columns.holder, &row.holder, style);
    cell_right(buffer, y, columns.age, &row.age(), style);
    cell_right(buffer, y, columns.end, &row.end(), style);
    cell_right(buffer, y, columns.wait, &row.wait(), style);
    cell_right(buffer, y, columns.rate, &row.changes(), style);
    cell(buffer, y, columns.bar, &bar(row.rate, most, columns.bar.1), style.patch(look.coloured(Color::Cyan)));
    cell(buffer, y, columns.mark, row.mark, style.patch(look.coloured(Color::Yellow)));
}

/// A bar as long as this is of the most.
fn bar(rate: f64, most: f64, width: u16) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most <= 0.0 {
        return String::new();
    }
    let eighths = (rate / most * f64::from(width) * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn happened(buffer: &mut Buffer, area: Rect, view: &View, look: Look) {
    let width = usize::from(area.width);
    put(buffer, area.x, area.y, &"─".repeat(width), width, Style::new().dim());
    for ((time, event), y) in view.events.iter().zip(area.y + 1..area.bottom()) {
        let sentence = event.sentence();
        let style = if event.is_trouble() { look.coloured(Color::Red) } else { Style::new() };
        // A long name leaves half of the line to the sentence.
        let name = cut(&in_one_line(&event.name), width / 2);
        let name = if name.is_empty() { name } else { format!("{name}  ") };
        put(buffer, area.x, y, &format!("{time} {name}{}", in_one_line(&sentence)), width, style);
    }
}

fn foot(frame: &mut Frame, area: Rect, view: &View, look: Look) {
    let width = usize::from(area.width);
    let style = Style::new().dim();
    let text = match &view.mode {
        Mode::Filter => format!("filter: {}", in_one_line(&view.filter)),
        Mode::Looking(name) => format!("looking at `{}`; Esc: leave it", in_one_line(name)),
        Mode::Asking(_) => "y: take it away  any other key: leave it".to_owned(),
        Mode::Taking => "releasing it".to_owned(),
        Mode::Help => "any key: back".to_owned(),
        Mode::Rows if !view.notice.is_empty() => view.notice.clone(),
        Mode::Rows if look.is_readonly => KEYS_TO_LOOK.to_owned(),
        Mode::Rows => KEYS.to_owned(),
    };
    let is_usual = matches!(view.mode, Mode::Rows | Mode::Help) && view.notice.is_empty();
    let style = if is_usual { style } else { Style::new().bold() };
    put(frame.buffer_mut(), area.x, area.y, &text, width, style);
    if view.mode == Mode::Filter {
        let end = u16::try_from(width_of(&text)).unwrap_or(u16::MAX).min(area.width - 1);
        let hint = "  ⏎ keeps it, Esc clears it";
        put(frame.buffer_mut(), end + 1, area.y, hint, usize::from(area.width - end - 1), Style::new().dim());
        frame.set_cursor_position(Position { x: end, y: area.y });
    }
}

fn cell(buffer: &mut Buffer, y: u16, (x, width): (u16, u16), text: &str, style: Style) {
    put(buffer, x, y, text, usize::from(width), style);
}

fn cell_right(buffer: &mut Buffer, y: u16, (x, width): (u16, u16), text: &str, style: Style) {
    right(buffer, x, y, text, usize::from(width), style);
}

fn right(buffer: &mut Buffer, x: u16, y: u16, text: &str, width: usize, style: Style) {
    let text = cut(text, width);
    let missing = width - width_of(&text);
    put(buffer, x + missing as u16, y, &text, width - missing, style);
}

fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, width: usize, style: Style) {
    if width > 0 && buffer.area().contains(Position { x, y }) {
        buffer.set_stringn(x, y, cut(text, width), width, style);
    }
}

/// The time of day of a moment in UTC.
pub fn time_of_day(utc: &str) -> String {
    utc.get(11..19).map(|time| format!("{time}Z")).unwrap_or_default()
}
