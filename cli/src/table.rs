//! The table of `redlatch ls`, as wide as the terminal.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::Span;
use redlatch::{HeldLock, Holder};

const HEADS: [&str; 6] = ["NAME", "KIND", "HOLDER", "FOR", "ENDS", "WAIT"];
/// The columns that are cut where the terminal is too narrow, and their least widths.
const NAME: usize = 0;
const HOLDER: usize = 2;
const LEAST: usize = 12;
const GAP: &str = "  ";
/// A wider cell stands out of its column: one name of 60,000 letters must not widen all lines.
const WIDEST: usize = 120;

/// The table, with a line feed behind each line; `width`: the columns of the terminal, if it is one.
pub fn of(locks: &[HeldLock], width: Option<usize>) -> String {
    let heads = HEADS.map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(heads).chain(locks.iter().map(row)).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    if let Some(width) = width {
        narrow(&mut widths, width);
    }
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| padded(cut(cell, width), width.min(WIDEST)));
        let line = cells.collect::<Vec<_>>().join(GAP);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Takes from the wider one of the two columns until the table fits.
fn narrow(widths: &mut [usize; 6], width: usize) {
    while widths.iter().sum::<usize>() + GAP.len() * (widths.len() - 1) > width {
        let wider = if widths[NAME] > widths[HOLDER] { NAME } else { HOLDER };
        if widths[wider] <= LEAST {
            return;
        }
        widths[wider] -= 1;
    }
}

fn padded(cell: String, width: usize) -> String {
    let missing = width.saturating_sub(width_of(&cell));
    cell + &" ".repeat(missing)
}

/// The columns of a text on a terminal. Wide letters have two.
pub fn width_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// The text, cut to so many columns.
pub fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for letter in Span::raw(text).styled_graphemes(Style::new()) {
        used += width_of(letter.symbol);
        if used > width {
            break;
        }
        cut.push_str(letter.symbol);
    }
    if width > 0 {
        cut.push('…');
    }
    cut
}

fn row(lock: &HeldLock) -> [String; 6] {
    let mark = if lock.is_certain { "" } else { "?" };
    // Redis does not keep the time of an acquire.
    let held_for = "?".to_owned();
    let holder = holders(lock.kind, lock.holder_count, &lock.holders, short);
    [in_one_line(&lock.name), format!("{}{mark}", lock.kind), holder, held_for, ends(lock.remaining), wait(lock)]
}

/// The holders of a lock of that kind in one cell; `one`: the words for a single one.
pub fn holders(kind: &str, count: u64, some: &[Holder], one: fn(&Holder) -> String) -> String {
    if let Some(writer) = some.iter().find(|holder| holder.writes) {
        return one(writer);
    }
    match (kind, count, some) {
        ("permits", count, _) => count_with(count, "permit", "permits"),
        (_, 1, [only]) => one(only),
        ("read", count, _) => count_with(count, "reader", "readers"),
        ("multi", count, _) => count_with(count, "value", "values"),
        (_, 0, _) => "–".to_owned(),
        (_, count, _) => count_with(count, "holder", "holders"),
    }
}

/// A holder in few letters.
pub fn short(holder: &Holder) -> String {
    if let Some(process) = process(holder) {
        return process;
    }
    let client: String = in_one_line(&holder.client).chars().take(8).collect();
    let redisson = if holder.may_be_redisson { " (Redisson?)" } else { "" };
    match holder.owner.is_empty() {
        true => in_one_line(&holder.client),
        false => format!("{client}…:{}{redisson}", in_one_line(&holder.owner)),
    }
}

/// The machine and the process of a holder; `None`: the server does not tell.
pub fn process(holder: &Holder) -> Option<String> {
    let host = holder.host.as_ref()?;
    let process = holder.process?;
    Some(format!("{}:{process}", in_one_line(host)))
}

fn wait(lock: &HeldLock) -> String {
    match lock.waiting {
        None => "?".to_owned(),
        Some(0) => "–".to_owned(),
        Some(count) if !lock.queue.is_empty() => format!("{count} in line"),
        Some(count) => count_with(count, "process", "processes"),
    }
}

/// The time until the end of a lock, in few letters.
pub fn ends(left: Option<Duration>) -> String {
    let Some(left) = left else { return "never".to_owned() };
    let seconds = left.as_secs();
    match seconds {
        0 => format!("{}ms", left.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `1 lock`, `2 locks`.
pub fn count(number: u64, what: &str) -> String {
    count_with(number, what, &format!("{what}s"))
}

pub fn count_with(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Whether a terminal shows the letter. The others change the screen, have no width, or turn the order of the letters around.
pub fn is_shown(c: char) -> bool {
    let is_format = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    !c.is_control() && !is_format
}

/// A text of the server's with no letter that moves the cursor or changes the screen.
pub fn in_one_line(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match is_shown(c) {
            true => shown.push(c),
            false => shown.extend(c.escape_default()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_two_units_at_most() {
        for (ms, shown) in
            [(999, "999ms"), (26_000, "26s"), (252_000, "4m12s"), (4_080_000, "1h08m"), (90_000_000, "1d")]
        {
            assert_eq!(ends(Some(Duration::from_millis(ms))), shown);
        }
        assert_eq!(ends(None), "never");
    }

    #[test]
    fn a_table_is_cut_in_its_names_and_holders_alone() {
        let mut widths = [60, 5, 40, 3, 4, 11];
        narrow(&mut widths, 80);
        assert_eq!((widths.iter().sum::<usize>() + 10, widths[1], widths[5]), (80, 5, 11));
        assert!(widths[NAME].abs_diff(widths[HOLDER]) <= 1);
        assert_eq!(cut("orders:42", 6), "order…");
        assert_eq!(cut("orders", 6), "orders");
    }

    #[test]
    fn wide_letters_have_two_columns() {
        assert_eq!(padded("在庫:1".to_owned(), 8), "在庫:1  ");
        assert_eq!(padded("🔒".to_owned(), 3), "🔒 ");
        assert_eq!(cut("在庫:東京", 6), "在庫:…");
        assert_eq!((cut("在庫", 4), cut("在庫", 3), cut("在庫", 2)), ("在庫".into(), "在…".into(), "…".into()));
    }

    #[test]
    fn a_name_cannot_write_to_the_screen() {
        assert_eq!(in_one_line("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(in_one_line("a\u{202e}b\u{200b}ä"), "a\\u{202e}b\\u{200b}ä");
    }
}
