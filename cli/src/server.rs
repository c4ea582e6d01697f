//! `redlatch server`: a private server for trying out and for tests. It has no data of before, keeps none, and dies with this process.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgid, getpgrp, kill_process, kill_process_group};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::arguments::Server;
use crate::attend::system;
use crate::bell::Bell;
use crate::clock;
use crate::command::shown;
use crate::ending::{CANNOT_RUN, Failure, NOT_FOUND, UNREACHABLE, code_of, code_of_signal};
use crate::list::{answer, ended};
use crate::reports::Style;
use crate::signals::SignalsOfJob;
use crate::start::{Mailbox, Obstacle};
use crate::warden::{Warden, itself};

/// The programs of servers, the best first.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
/// All of them say so once they serve.
const READY: &str = "eady to accept connections";
/// The time that the system has to begin a program.
const BEGIN: Duration = Duration::from_secs(600);
/// The tries to find a port that no other program takes meanwhile.
const TRIES: usize = 5;
/// The time from TERM to KILL for a command that has lost its server.
const GRACE: Duration = Duration::from_secs(5);
/// The last lines of a server that an error shows.
const LAST_LINES: usize = 3;

pub fn server(arguments: &Server) -> ExitCode {
    let style = Style::of(arguments.json, false);
    ended(serve(arguments, style), "server", style)
}

fn serve(arguments: &Server, style: Style) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    runtime.block_on(async {
        let mut signals = SignalsOfJob::listen().map_err(system)?;
        let children = Bell::of(Signal::CHILD).map_err(system)?;
        let mut private = tokio::select! {
            biased;
            (signal, _) = signals.next() => return Ok(interrupted(arguments, signal)),
            begun = Private::begin(arguments.port) => begun?,
        };
        let mut command = match arguments.command.as_slice() {
            [] => {
                private.tell(style)?;
                None
            }
            [program, words @ ..] => Some(Task::begin(program, words, &private)?),
        };
        loop {
            if let Some(code) = command.as_mut().and_then(Task::code) {
                return code;
            }
            if let Err(failure) = private.check() {
                if let Some(command) = &mut command {
                    command.end(&children, &mut signals).await;
                }
                return Err(failure);
            }
            tokio::select! {
                biased;
                (signal, is_typed) = signals.next() => match &command {
                    Some(command) => command.signal(signal, is_typed),
                    None => return Ok(0),
                },
                () = children.rung() => {}
            }
        }
    })
}

/// The exit code of a signal before the server serves. A command that has not run must not look like one that has done well.
fn interrupted(arguments: &Server, signal: Signal) -> u8 {
    if arguments.command.is_empty() { 0 } else { code_of_signal(signal) }
}

/// A server that serves. Its drop ends it.
struct Private {
    program: &'static str,
    port: u16,
    process: Child,
    /// It leads the group of the server: a script in the place of `redis-server` may start the server as a process of its own, which
    /// would outlive the script and this process.
    warden: Option<Warden>,
    words: Arc<Mutex<Vec<String>>>,
}

impl Private {
    /// Starts a server, on that port or on a free one, and waits until it serves.
    async fn begin(port: Option<u16>) -> Result<Self, Failure> {
        let tries = if port.is_some() { 1 } else { TRIES };
        let mut last = None;
        for _ in 0..tries {
            let port = port.map_or_else(free_port, Ok).map_err(system)?;
            match Private::start(port).await? {
                Ok(private) => return Ok(private),
                Err(words) => last = Some((port, words)),
            }
        }
        let (port, words) = last.expect("there was a try");
        let remedy = if tries == 1 { "choose another --port, or none" } else { "look at its configuration" };
        Err(Failure::new(
            UNREACHABLE,
            "not_run",
            format!("the server on port {port} ended before it served, and said: {words}; {remedy}"),
        ))
    }

    /// `Err`: the last words of a server that does not serve.
    async fn start(port: u16) -> Result<Result<Self, String>, Failure> {
        for program in PROGRAMS {
            let mailbox = Mailbox::open(&format!("server-{port}")).map_err(system)?;
            let warden = Warden::start().map_err(system)?;
            let spawned = itself()
                .args(mailbox.words(clock::now() + BEGIN))
                .args([program, "-"])
                // Ctrl-C is not for it: it serves until its command has ended.
                .process_group(warden.group().as_raw_pid())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn();
            let mut process = match spawned {
                Ok(process) => process,
                Err(error) => {
                    warden.end();
                    return Err(system(error));
                }
            };
            let configured = configure(&mut process, port);
            let words = Arc::<Mutex<Vec<String>>>::default();
            let (told, ready) = oneshot::channel();
            let out = process.stdout.take().expect("it is a pipe");
            let hears = words.clone();
            std::thread::spawn(move || listen(out, &hears, told));
            let is_ready = configured.is_ok() && ready.await.is_ok();
            let mut private = Private { program, port, process, warden: Some(warden), words };
            if is_ready {
                return Ok(Ok(private));
            }
            private.end();
            let status = private.process.wait().map_err(system)?;
            match mailbox.obstacle(code_of(status)) {
                Some(Obstacle::System(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Some(Obstacle::System(error)) => return Err(cannot_run(program.as_ref(), &error)),
                _ => return Ok(Err(private.last_words())),
            }
        }
        Err(Failure::new(
            UNREACHABLE,
            "not_run",
            format!("no server can be run: neither `{}` is in PATH; install one of them", PROGRAMS.join("` nor `")),
        ))
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn tell(&self, style: Style) -> Result<(), Failure> {
        let url = self.url();
        answer(
            style,
            &url,
            &json!({ "event": "serves", "url": url, "program": self.program, "pid": self.process.id() }),
        )?;
        if style == Style::Text && io::stderr().is_terminal() {
            eprintln!("redlatch: a private {} serves there. Ctrl-C ends it, with all its data", self.program);
        }
        Ok(())
    }

    /// Fails if it has ended.
    fn check(&mut self) -> Result<(), Failure> {
        match self.process.try_wait().map_err(system)? {
            None => Ok(()),
            Some(status) => Err(Failure::new(
                UNREACHABLE,
                "failed",
                format!("the private server has ended by itself ({status}), and said: {}", self.last_words()),
            )),
        }
    }

    fn last_words(&self) -> String {
        let words = self.words.lock().expect("nothing panics while it is held");
        if words.is_empty() { "nothing".to_owned() } else { words.join(" / ") }
    }

    /// Ends it with its group. It has nothing to save.
    fn end(&mut self) {
        let _ = self.process.kill();
        if let Some(warden) = self.warden.take() {
            // The group's number is its own until its warden has been waited for.
            let _ = kill_process_group(warden.group(), Signal::KILL);
            warden.end();
        }
        let _ = self.process.wait();
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.end();
    }
}

/// The command that uses the server. It has `REDLATCH_URL`, and dies with this process.
struct Task {
    program: OsString,
    process: Child,
    mailbox: Mailbox,
}

impl Task {
    fn begin(program: &OsStr, words: &[OsString], private: &Private) -> Result<Self, Failure> {
        // Containers may share a network, and each have a process of this number.
        let mailbox = Mailbox::open(&format!("command-{}", private.port)).map_err(system)?;
        let process = itself()
            .args(mailbox.words(clock::now() + BEGIN))
            .arg(program)
            .args(words)
            .env("REDLATCH_URL", private.url())
            .spawn()
            .map_err(|error| cannot_run(program, &error))?;
        Ok(Task { program: program.to_owned(), process, mailbox })
    }

    /// Its exit code, once it has ended.
    fn code(&mut self) -> Option<Result<u8, Failure>> {
        let code = match self.process.try_wait().map_err(system) {
            Ok(status) => code_of(status?),
            Err(failure) => return Some(Err(failure)),
        };
        Some(match self.mailbox.obstacle(code) {
            Some(Obstacle::System(error)) => Err(cannot_run(&self.program, &error)),
            Some(Obstacle::Late) | None => Ok(code),
        })
    }

    /// Sends it a signal. Those of the keyboard come to it anyway, unless it has left the job.
    fn signal(&self, signal: Signal, is_typed: bool) {
        let pid = Pid::from_child(&self.process);
        if !is_typed || getpgid(Some(pid)) != Ok(getpgrp()) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Asks it to end, and kills it after a grace or at the next signal.
    async fn end(&mut self, children: &Bell, signals: &mut SignalsOfJob) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let ended = async {
            while matches!(self.process.try_wait(), Ok(None)) {
                children.rung().await;
            }
        };
        tokio::select! {
            _ = timeout(GRACE, ended) => {}
            _ = signals.next() => {}
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn cannot_run(program: &OsStr, error: &io::Error) -> Failure {
    let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    let text = format!("{} cannot be run: {error}. Check its name, PATH and its rights", shown(&program.to_owned()));
    Failure::new(code, "not_run", text)
}

/// A port that is free now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The server reads it from its standard input.
fn configure(process: &mut Child, port: u16) -> io::Result<()> {
    let mut input = process.stdin.take().expect("it is a pipe");
    let lines = [
        format!("port {port}"),
        "bind 127.0.0.1".to_owned(),
        "save \"\"".to_owned(),
        "appendonly no".to_owned(),
        // A server reads such a file at its start. No other user can put one there.
        "dir /".to_owned(),
        "dbfilename redlatch-keeps-nothing.rdb".to_owned(),
        "maxmemory-policy noeviction".to_owned(),
    ];
    input.write_all(lines.join("\n").as_bytes())
}

/// Keeps the last lines of a server, and tells once it is ready. It reads to the end: a server whose pipe is full stands still.
fn listen(out: ChildStdout, words: &Mutex<Vec<String>>, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    let mut lines = BufReader::new(out);
    let mut line = Vec::new();
    while lines.by_ref().take(4096).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if text.contains(READY)
            && let Some(ready) = ready.take()
        {
            let _ = ready.send(());
        }
        let mut words = words.lock().expect("nothing panics while it is held");
        words.push(text);
        let surplus = words.len().saturating_sub(LAST_LINES);
        words.drain(..surplus);
    }
}
