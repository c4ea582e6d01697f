//! `redlatch release`: takes a lock away from the holder that it shows.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use redlatch::{Client, HeldLock, PermitId};
use serde_json::json;

use crate::arguments::Release;
use crate::ending::{Failure, NOT_ACQUIRED};
use crate::list::{FREE, answer, described, ended, find, holder_object, identity};
use crate::lock::client;
use crate::reports::Style;
use crate::table::{count, in_one_line};

pub fn release(arguments: &Release) -> ExitCode {
    let style = Style::of(arguments.json, arguments.quiet);
    ended(take_away(arguments, style), &arguments.name, style)
}

fn take_away(arguments: &Release, style: Style) -> Result<u8, Failure> {
    let client = client(arguments.url.as_deref(), None)?;
    let name = in_one_line(&arguments.name);
    let Some(lock) = find(&client, &arguments.name)? else {
        let object = json!({ "name": arguments.name, "released": false, "from": [] });
        answer(style, &format!("`{name}` is free"), &object);
        return Ok(FREE);
    };
    let chosen = Chosen::of(arguments, lock)?;
    if !arguments.yes && !is_confirmed(&chosen)? {
        return Err(Failure::new(
            NOT_ACQUIRED,
            "not_released",
            format!("`{name}` was not released: the answer was not `y`"),
        ));
    }
    if !chosen.take_from(&client)? {
        let why = match chosen.permit {
            Some(permit) => format!("permit {permit} is not out any more"),
            None => format!("{} has it no more", chosen.holder()),
        };
        let text = format!("`{name}` was not released: {why}; look again with `redlatch who`");
        return Err(Failure::new(NOT_ACQUIRED, "not_released", text));
    }
    let done = match chosen.permit {
        Some(permit) => format!("permit {permit} of `{name}` was given back"),
        None => format!("`{name}` was taken from {}", chosen.holder()),
    };
    answer(style, &done, &chosen.object());
    Ok(0)
}

/// The holder that loses the lock.
struct Chosen {
    lock: HeldLock,
    permit: Option<PermitId>,
}

impl Chosen {
    fn of(arguments: &Release, mut lock: HeldLock) -> Result<Self, Failure> {
        let name = in_one_line(&lock.name);
        let Some(permit) = arguments.permit else {
            return match lock.kind {
                "permits" => Err(Failure::usage(format!(
                    "`{name}` is a semaphore with {} out; choose one with --permit ID, which `redlatch who` shows",
                    count(lock.holder_count, "permit")
                ))),
                "multi" => Err(Failure::usage(format!(
                    "`{name}` is a lock of several values, which only a lock of the same values releases; call its `force_release`"
                ))),
                "token" | "semaphore" | "latch" => Err(Failure::usage(format!(
                    "the key `{name}` is a text or a number, perhaps another program's, so redlatch leaves it alone; delete it with \
                     `redis-cli DEL` if it is a lock, or add permits to a semaphore in a program"
                ))),
                _ => Ok(Chosen { lock, permit: None }),
            };
        };
        if lock.kind != "permits" {
            return Err(Failure::usage(format!(
                "`{name}` is no semaphore with permits out, but {}; leave --permit out",
                lock.kind
            )));
        }
        let id = permit.to_string();
        lock.holders.retain(|holder| holder.client == id);
        Ok(Chosen { lock, permit: Some(permit) })
    }

    /// False: that holder has it no more.
    fn take_from(&self, client: &Client) -> Result<bool, Failure> {
        Ok(match self.permit {
            Some(permit) => client.permit_semaphore(&self.lock.name).try_release(permit).blocking()?,
            None => client.evict(&self.lock).blocking()?,
        })
    }

    fn holder(&self) -> String {
        let readers = self.lock.holder_count;
        match (self.permit, self.lock.holders.iter().find(|holder| holder.writes).or(self.lock.holders.first())) {
            (Some(permit), _) => format!("permit {permit}"),
            (None, _) if self.lock.kind == "read" && readers > 1 => count(readers, "reader"),
            (None, Some(holder)) => identity(holder),
            (None, None) => "its holder".to_owned(),
        }
    }

    fn object(&self) -> serde_json::Value {
        let from: Vec<_> = self.lock.holders.iter().map(holder_object).collect();
        json!({ "name": self.lock.name, "kind": self.lock.kind, "released": true, "from": from })
    }
}

/// Shows the lock, and asks on the terminal.
fn is_confirmed(chosen: &Chosen) -> Result<bool, Failure> {
    let name = in_one_line(&chosen.lock.name);
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "`{name}` was not released: there is no terminal to ask on. {} has it; say --yes to take it away",
            chosen.holder()
        )));
    }
    let mut screen = io::stderr();
    let question = format!(
        "{}\nThe holder is told that it has lost the lock, and may still be at work. Take `{name}` from {}? [y/N] ",
        described(&chosen.lock),
        chosen.holder()
    );
    let mut answer = String::new();
    let is_read = screen.write_all(question.as_bytes()).is_ok() && io::stdin().read_line(&mut answer).is_ok();
    Ok(is_read && matches!(answer.trim(), "y" | "Y" | "yes"))
}
