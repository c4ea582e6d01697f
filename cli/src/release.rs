//! `redlatch release`: takes a lock away from the holder that it shows.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;

use redlatch::{Client, HeldLock, PermitId};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::json;

use crate::arguments::Release;
use crate::clock;
use crate::ending::{Failure, NOT_ACQUIRED, UNREACHABLE};
use crate::list::{FREE, answer, described, ended, find, holder_object, identity};
use crate::lock::client;
use crate::reports::Style;
use crate::table::{count, in_one_line};
use crate::watch::{Sight, Watch};

pub fn release(arguments: &Release) -> ExitCode {
    let style = Style::of(arguments.json, arguments.quiet);
    ended(take_away(arguments, style), &arguments.name, style)
}

fn take_away(arguments: &Release, style: Style) -> Result<u8, Failure> {
    let client = client(arguments.url.as_deref(), None)?;
    let name = in_one_line(&arguments.name);
    let Some(lock) = find(&client, &arguments.name)? else {
        let object = json!({ "name": arguments.name, "released": false, "from": [] });
        answer(style, &format!("`{name}` is free"), &object)?;
        return Ok(FREE);
    };
    let chosen = Chosen::of(lock, arguments.permit)?;
    if !arguments.yes && !is_confirmed(&chosen)? {
        return Err(chosen.kept("the answer was not `y`"));
    }
    let done = chosen.take(&client)?;
    answer(style, &done, &chosen.object()).map_err(|unheard| unheard.after(&done))?;
    Ok(0)
}

/// The holder that loses the lock.
pub struct Chosen {
    lock: HeldLock,
    permit: Option<PermitId>,
}

impl Chosen {
    /// `permit`: the one that is given back, of a semaphore.
    pub fn of(mut lock: HeldLock, permit: Option<PermitId>) -> Result<Self, Failure> {
        let name = in_one_line(&lock.name);
        let Some(permit) = permit else {
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
        // Without any permit out it is a mere number.
        if !["permits", "semaphore"].contains(&lock.kind) {
            return Err(Failure::usage(format!(
                "`{name}` is no semaphore with permits out, but {}; leave --permit out",
                lock.kind
            )));
        }
        let id = permit.to_string();
        lock.holders.retain(|holder| holder.client == id);
        Ok(Chosen { lock, permit: Some(permit) })
    }

    /// The question before it, without the lock itself.
    pub fn question(&self) -> String {
        let is_told = match self.lock.holders.iter().any(|holder| holder.may_be_redisson) {
            true => "Redisson does not tell its thread that the lock is lost, and the thread may still be at work.",
            false => "The holder is told that it has lost the lock, and may still be at work.",
        };
        let unseen = match self.permit.is_some() || Sight::from(self.lock.clone()).is_whole() {
            true => String::new(),
            false => format!(
                "The server shows {} of its {}: others that have come in the place of one by then lose it as well. ",
                self.lock.holders.len(),
                count(self.lock.holder_count, "holder")
            ),
        };
        format!("{is_told} {unseen}Take `{}` from {}? [y/N]", in_one_line(&self.lock.name), self.holder())
    }

    /// Takes it away, if the lock is as it was shown, and gives the sentence about that.
    pub fn take(&self, client: &Client) -> Result<String, Failure> {
        match self.is_still_there(client)? {
            true => self.take_at_once(client),
            false => Err(self.changed()),
        }
    }

    /// The same of a lock that has just been looked at.
    pub fn take_at_once(&self, client: &Client) -> Result<String, Failure> {
        if !self.take_from(client)? {
            return Err(self.changed());
        }
        let name = in_one_line(&self.lock.name);
        Ok(match self.permit {
            Some(permit) => format!("permit {permit} of `{name}` was given back"),
            None => format!("`{name}` was taken from {}", self.holder()),
        })
    }

    /// Has a watch know that the holder has lost the lock.
    pub fn note_in(&self, watch: &Mutex<Watch>) {
        let mut watch = watch.lock().expect("nothing panics while it is held");
        watch.evicted(&self.lock.name, self.lock.kind, self.lock.holders.clone(), clock::now());
    }

    fn changed(&self) -> Failure {
        self.kept(&format!("{}; look again with `redlatch who`", self.gone()))
    }

    fn kept(&self, why: &str) -> Failure {
        let text = format!("`{}` was not released: {why}", in_one_line(&self.lock.name));
        Failure::new(NOT_ACQUIRED, "not_released", text)
    }

    /// Whether the lock has the holders and the token with which it was shown. The question may have stood for long.
    fn is_still_there(&self, client: &Client) -> Result<bool, Failure> {
        if self.permit.is_some() {
            return Ok(true);
        }
        let now = find(client, &self.lock.name)?;
        Ok(now.is_some_and(|now| Sight::from(now).is_held_as(&Sight::from(self.lock.clone()))))
    }

    /// False: that holder has it no more.
    fn take_from(&self, client: &Client) -> Result<bool, Failure> {
        let taken = match self.permit {
            Some(permit) => client.permit_semaphore(&self.lock.name).try_release(permit).blocking(),
            None => client.evict(&self.lock).blocking(),
        };
        taken.map_err(|error| match Failure::from(error) {
            Failure { code: UNREACHABLE, event, text } => {
                let name = in_one_line(&self.lock.name);
                let text = format!("whether `{name}` was released is not known: {text}; look with `redlatch who`");
                Failure { code: UNREACHABLE, event, text }
            }
            failure => failure,
        })
    }

    /// The reason why nothing was released.
    fn gone(&self) -> String {
        match self.permit {
            Some(permit) => format!("permit {permit} is not out any more"),
            None if self.lock.kind == "read" => "its holders have changed since".to_owned(),
            None => format!("{} has that hold no more", self.holder()),
        }
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
    let question = format!("{}\n{} ", described(&chosen.lock), chosen.question());
    // An answer that was typed before the question is none to it.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let mut answer = String::new();
    let is_read = screen.write_all(question.as_bytes()).is_ok() && io::stdin().read_line(&mut answer).is_ok();
    Ok(is_read && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
