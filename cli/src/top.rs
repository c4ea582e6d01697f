//! `redlatch top`: a screen of the locks that are held, and of what happens to them.

mod outlet;
mod picture;
mod screen;
mod stage;
#[cfg(test)]
mod tests;
mod view;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use ratatui::crossterm::event::{self, Event as Input, KeyEvent};
use redlatch::Client;
use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::arguments::Top;
use crate::clock;
use crate::ending::Failure;
use crate::list::{ended, find};
use crate::lock::client;
use crate::release::Chosen;
use crate::reports::Style;
use crate::table::in_one_line;
use crate::times;
use crate::watch::{Feed, Watch, reach};

use picture::Picture;
use screen::{Look, Title, draw, time_of_day};
use stage::Stage;
use view::{Action, View};

/// The screen stays as it is for so long, if nothing happens. Times go on.
const TICK: Duration = Duration::from_millis(250);
/// A terminal that is behind is looked at again so soon.
const SOON: Duration = Duration::from_millis(20);

/// A reason to draw the screen anew.
enum Message {
    Key(KeyEvent),
    Resized,
    /// A signal asks for the end, or the terminal has gone.
    End,
    /// A signal asks this process to stop.
    Stop,
    /// It goes on after a stop.
    Continued,
    /// The server refuses to tell.
    Refused(Failure),
    /// The lock that is to be released, as it is now.
    Found(String, Result<Option<Chosen>, Failure>),
    Released(Chosen, Result<String, Failure>),
}

pub fn top(arguments: &Top) -> ExitCode {
    ended(show(arguments), &arguments.pattern, Style::Text)
}

fn show(arguments: &Top) -> Result<u8, Failure> {
    Stage::check()?;
    let client = client(arguments.url.as_deref(), None)?;
    reach(&client, &arguments.pattern)?;
    let (sender, messages) = mpsc::channel();
    listen(sender.clone())?;
    let watch = Arc::new(Mutex::new(Watch::new(arguments.interval)));
    let mut stage = Stage::open()?;
    read_keys(sender.clone());
    let feed = feed(&client, arguments, &watch, sender.clone());
    let look = Look { has_colours: has_colours(), is_readonly: arguments.readonly };
    let view = View::new(arguments.readonly);
    Show { client, watch, sender, view, look, picture: Picture::default(), chosen: None }
        .run(&mut stage, &messages, feed)
}

/// Whether colours are welcome, see no-color.org.
fn has_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Turns signals into messages: the terminal has to be given back.
fn listen(sender: Sender<Message>) -> Result<(), Failure> {
    let heard = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT];
    let mut signals = Signals::new(heard).map_err(Failure::system)?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let _ = sender.send(match signal {
                SIGTSTP => Message::Stop,
                SIGCONT => Message::Continued,
                _ => Message::End,
            });
        }
    });
    Ok(())
}

/// Whether a shell could continue this process. The system does not let Ctrl-Z stop the first job of a terminal either.
fn can_be_continued() -> bool {
    getsid(None) != Ok(getpgrp())
}

fn read_keys(sender: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let message = match event::read() {
                Ok(Input::Key(key)) if key.is_press() => Message::Key(key),
                Ok(Input::Resize(..)) => Message::Resized,
                Ok(_) => continue,
                Err(_) => Message::End,
            };
            let is_last = matches!(message, Message::End);
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
}

/// Watches the locks on a thread of its own.
fn feed(client: &Client, arguments: &Top, watch: &Arc<Mutex<Watch>>, sender: Sender<Message>) -> JoinHandle<()> {
    let client = client.clone();
    let watch = watch.clone();
    let pattern = arguments.pattern.clone();
    let interval = arguments.interval;
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let failure = match runtime {
            // The screen looks at the watch by itself.
            Ok(runtime) => {
                let feed = Feed { client: &client, pattern: &pattern, interval, watch: &watch, told: || {} };
                runtime.block_on(feed.run())
            }
            Err(error) => Failure::system(error),
        };
        let _ = sender.send(Message::Refused(failure));
    })
}

struct Show {
    client: Client,
    watch: Arc<Mutex<Watch>>,
    sender: Sender<Message>,
    view: View,
    look: Look,
    picture: Picture,
    /// The lock that the question is about.
    chosen: Option<Chosen>,
}

impl Show {
    /// Shows the locks until the user, a signal or the server ends it.
    fn run(&mut self, stage: &mut Stage, messages: &Receiver<Message>, feed: JoinHandle<()>) -> Result<u8, Failure> {
        let server = self.client.server();
        loop {
            self.update();
            let time = time_of_day(&times::utc(SystemTime::now()));
            let title = Title { server: &server, time: &time };
            let drawn = stage.free().map(|terminal| {
                terminal.draw(|frame| draw(frame, &title, &self.picture, &mut self.view, self.look)).map(drop)
            });
            let pause = match drawn {
                Some(Ok(())) => TICK,
                // The terminal has gone.
                Some(Err(_)) => return Ok(0),
                None => SOON,
            };
            let mut message = match messages.recv_timeout(pause) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
            // All that has come meanwhile is one picture.
            while let Some(now) = message {
                if let Some(end) = self.hear(now, stage) {
                    return end;
                }
                message = messages.try_recv().ok();
            }
            if feed.is_finished() {
                while let Ok(message) = messages.try_recv() {
                    if let Some(end) = self.hear(message, stage) {
                        return end;
                    }
                }
                // It has sent no refusal, so it has panicked, and the terminal has been given back.
                return feed.join().map_or_else(|panic| resume_unwind(panic), |()| Ok(0));
            }
        }
    }

    /// Takes what has been watched since. A screen that is stopped keeps its rows, and the events wait.
    fn update(&mut self) {
        if !self.view.is_paused {
            self.look_anew();
        }
        self.view.arrange(&self.picture);
    }

    fn look_anew(&mut self) {
        let mut watch = self.watch.lock().expect("nothing panics while it is held");
        let now = clock::now();
        let events = watch.take_events();
        self.picture = Picture::of(&mut watch, now, self.view.chosen.as_deref(), self.view.is_open);
        drop(watch);
        for event in events {
            let age = now.saturating_sub(event.at);
            self.view.add(time_of_day(&times::utc(SystemTime::now() - age)), event);
        }
    }

    /// The end of the program, if the message asks for it.
    fn hear(&mut self, message: Message, stage: &mut Stage) -> Option<Result<u8, Failure>> {
        match message {
            Message::Key(key) => match self.view.key(key, &self.picture) {
                Some(Action::Quit) => return Some(Ok(0)),
                // All processes of the job stop, and this one hears of it as the others do.
                Some(Action::Stop) if can_be_continued() => drop(kill_current_process_group(Signal::TSTP)),
                Some(Action::Stop) => self.view.tell("no shell could continue redlatch top, so it goes on".to_owned()),
                Some(Action::Look(name)) => self.look_at(name),
                Some(Action::Take) => self.take(),
                Some(Action::Leave) => self.chosen = None,
                None => {}
            },
            Message::Resized => {}
            Message::End => return Some(Ok(0)),
            Message::Stop if can_be_continued() => {
                stage.give();
                let _ = emulate_default_handler(SIGTSTP);
            }
            Message::Stop => {}
            Message::Continued => {
                if stage.take().is_err() {
                    // The terminal has gone.
                    return Some(Ok(0));
                }
            }
            Message::Refused(failure) => return Some(Err(failure)),
            Message::Found(name, found) => self.found(&name, found),
            Message::Released(chosen, released) => self.released(&chosen, released),
        }
        None
    }

    /// Asks the server for the present holder: that one alone is to lose the lock.
    fn look_at(&self, name: String) {
        let client = self.client.clone();
        let sender = self.sender.clone();
        thread::spawn(move || {
            let found = find(&client, &name).and_then(|lock| lock.map(|lock| Chosen::of(lock, None)).transpose());
            let _ = sender.send(Message::Found(name, found));
        });
    }

    fn found(&mut self, name: &str, found: Result<Option<Chosen>, Failure>) {
        match found {
            Ok(Some(chosen)) => {
                if self.view.ask(name, chosen.question()) {
                    self.chosen = Some(chosen);
                }
            }
            Ok(None) => self.view.tell(format!("`{}` is free", in_one_line(name))),
            Err(failure) => self.view.tell(failure.text),
        }
    }

    fn take(&mut self) {
        let Some(chosen) = self.chosen.take() else { return };
        let client = self.client.clone();
        let sender = self.sender.clone();
        thread::spawn(move || {
            let released = chosen.take(&client);
            let _ = sender.send(Message::Released(chosen, released));
        });
    }

    fn released(&mut self, chosen: &Chosen, released: Result<String, Failure>) {
        match released {
            Ok(text) => {
                chosen.note_in(&self.watch);
                self.view.tell(text);
            }
            Err(failure) => self.view.tell(failure.text),
        }
    }
}
