//! `redlatch ls` and `redlatch who`: the locks that are held.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use redlatch::{Client, Error, HeldLock, Holder};
use serde_json::{Value, json};

use crate::clock;
use crate::ending::Failure;
use crate::lock::client;
use crate::reports::{Reports, Style, one_line};
use crate::table::{self, ends, in_one_line, process};
use crate::watch::Sight;
use crate::{arguments, times};

/// The lock has no holder.
pub const FREE: u8 = 1;
/// The letter that listings show in the place of bytes that are no UTF-8.
pub const UNREADABLE: char = '\u{fffd}';

pub fn ls(arguments: &arguments::Ls) -> ExitCode {
    let style = Style::of(arguments.json, false);
    let listed = list(arguments);
    ended(listed, &arguments.pattern, style)
}

fn list(arguments: &arguments::Ls) -> Result<u8, Failure> {
    let began = clock::now();
    let mut locks = client(arguments.url.as_deref(), None)?.locks(&arguments.pattern);
    let mut all = Vec::new();
    while let Some(lock) = locks.next_blocking()? {
        match arguments.json {
            true if !is_heard(&one_line(&object(&lock)))? => return Ok(0),
            true => {}
            false => all.push(lock),
        }
    }
    if arguments.json {
        return Ok(0);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let took = times::shown(clock::now().saturating_sub(began));
    let text = match all.len() {
        0 => format!("no lock is held whose name matches `{}`; looked for {took}", in_one_line(&arguments.pattern)),
        count => format!("{}{} in {took}", table::of(&all, width()), table::count(count as u64, "lock")),
    };
    is_heard(&text)?;
    Ok(0)
}

pub fn who(arguments: &arguments::Who) -> ExitCode {
    let style = Style::of(arguments.json, arguments.quiet);
    let told = tell(arguments, style);
    ended(told, &arguments.name, style)
}

fn tell(arguments: &arguments::Who, style: Style) -> Result<u8, Failure> {
    let found = find(&client(arguments.url.as_deref(), None)?, &arguments.name)?;
    match &found {
        Some(lock) => answer(style, &described(lock), &object(lock))?,
        None => {
            let free = format!("`{}` is free", in_one_line(&arguments.name));
            answer(style, &free, &json!({ "name": arguments.name, "holder_count": 0 }))?;
        }
    }
    Ok(if found.is_some() { 0 } else { FREE })
}

/// The lock of that name; `None`: it is free.
pub fn find(client: &Client, name: &str) -> Result<Option<HeldLock>, Failure> {
    let look = || client.locks(&literal(name)).next_blocking();
    if let Some(lock) = look()? {
        return Ok(Some(lock));
    }
    let is_there = match client.lock(name).blocking().is_locked() {
        // A user without the right to ask sees what the listing shows.
        Err(Error::Refused { code, .. }) => code == "WRONGTYPE",
        // A client may have taken the lock in between.
        Ok(true) => return look()?.map(Some).ok_or_else(|| no_lock(name)),
        Ok(false) => false,
        Err(error) => return Err(error.into()),
    };
    match is_there {
        true => Err(no_lock(name)),
        false if name.contains(UNREADABLE) => Err(Failure::usage(format!(
            "`{name}` cannot be asked for: its letter U+FFFD may stand for bytes that are no UTF-8, as in listings; look at the key with \
             `redis-cli --scan`"
        ))),
        false => Ok(None),
    }
}

fn no_lock(name: &str) -> Failure {
    Failure::usage(format!(
        "the key `{name}` is there, and is no lock that redlatch knows: another program keeps something else in it"
    ))
}

/// Tells of a failure, and gives the exit code.
pub fn ended(result: Result<u8, Failure>, name: &str, style: Style) -> ExitCode {
    ExitCode::from(result.unwrap_or_else(|failure| {
        let facts = json!({ "exit": failure.code });
        Reports::new(name, style).trouble(failure.event, &failure.text, facts);
        failure.code
    }))
}

/// The pattern that only this name matches.
pub fn literal(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        if "*?[]\\^".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// The columns of the terminal; `None`: another program reads, so nothing is cut.
fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Says it on standard output. False: the reader has gone, and wants no more.
fn is_heard(text: &str) -> Result<bool, Failure> {
    Failure::unless_heard("the answer", writeln!(io::stdout(), "{text}"))
}

/// Says it on standard output, in the style that was asked for. To a reader that has gone, the exit code tells it all the same.
pub fn answer(style: Style, text: &str, object: &Value) -> Result<(), Failure> {
    match style {
        Style::Text => is_heard(text).map(drop),
        Style::Json => is_heard(&one_line(object)).map(drop),
        Style::Quiet => Ok(()),
    }
}

pub fn described(lock: &HeldLock) -> String {
    let name = in_one_line(&lock.name);
    let kind = lock.kind;
    let mut lines = match (lock.is_certain, kind) {
        (true, "plain") => vec![format!("`{name}` is held, kind plain, spin, non-reentrant, or fair without waiters")],
        (true, _) => vec![format!("`{name}` is held, kind {kind}")],
        (false, _) => vec![format!("`{name}` may be a {kind}: its key is no more than a text or a number")],
    };
    let ends = match ends(lock.remaining).as_str() {
        "never" => "never by itself".to_owned(),
        time => format!("in {time}, unless it is renewed"),
    };
    for holder in &lock.holders {
        lines.push(format!("held by  {}", holder_in_words(lock, holder)));
    }
    let more = lock.holder_count.saturating_sub(lock.holders.len() as u64);
    if more > 0 && lock.holders.is_empty() {
        lines.push(format!("held by  {} of whom the key tells nothing", table::count(more, "holder")));
    } else if more > 0 {
        lines.push(format!("         and {} more", table::count(more, "holder")));
    }
    lines.push("for      an unknown time: Redis does not keep it".to_owned());
    lines.push(format!("ends     {ends}"));
    if let Some(token) = lock.token {
        lines.push(format!("token    {token}, the latest"));
    }
    match lock.waiting {
        None => lines.push("waits    unknown: the server does not tell".to_owned()),
        Some(0) => lines.push("waits    none".to_owned()),
        Some(count) if lock.queue.is_empty() => {
            let listen = if count == 1 { "listens" } else { "listen" };
            let them = if count == 1 { "which one, Redis does not know" } else { "which ones, Redis does not know" };
            lines.push(format!("waits    {} {listen}; {them}", table::count_with(count, "process", "processes")));
        }
        Some(count) => {
            lines.push(format!("waits    {}, in this order", table::count(count, "owner")));
            let waiters = lock.queue.iter().enumerate();
            lines.extend(waiters.map(|(at, waiter)| format!("  {:>5}  {}", at + 1, identity(waiter))));
        }
    }
    lines.join("\n")
}

fn holder_in_words(lock: &HeldLock, holder: &Holder) -> String {
    let writes = match (lock.kind, holder.writes) {
        ("write", true) => ", writes",
        ("read" | "write", false) => ", reads",
        _ => "",
    };
    let count = match holder.holds {
        0 | 1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let own_end = holder.remaining.map_or(String::new(), |left| format!(", ends in {}", ends(Some(left))));
    format!("{}, {count}{writes}{own_end}", identity(holder))
}

/// All that is known of a holder, in one line.
pub fn identity(holder: &Holder) -> String {
    let client = in_one_line(&holder.client);
    let client = match holder.owner.is_empty() {
        true => client,
        false => format!("client {client}, owner {}", in_one_line(&holder.owner)),
    };
    match process(holder) {
        Some(process) => format!("{process} ({client})"),
        None if holder.may_be_redisson => format!("{client} (Redisson?)"),
        None => client,
    }
}

fn object(lock: &HeldLock) -> Value {
    Sight::from(lock.clone()).object(None)
}

pub fn holder_object(holder: &Holder) -> Value {
    json!({
        "client": holder.client,
        "owner": holder.owner,
        "holds": holder.holds,
        "writes": holder.writes,
        "ends_ms": ms(holder.remaining),
        "host": holder.host,
        "process": holder.process,
        "may_be_redisson": holder.may_be_redisson,
    })
}

pub fn ms(time: Option<Duration>) -> Option<u64> {
    time.map(|time| time.as_millis() as u64)
}
