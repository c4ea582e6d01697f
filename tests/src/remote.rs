//! A client in a process of its own. Tests use it like a client of this process, and can suspend or fork it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Request};
use serde_json::{Value, json};

use crate::oracle::{self, Key};
use crate::{Clocks, PATIENCE, Process, clock, eventually, ports};

/// The result of a call. An error has its code and its text.
pub type End = Result<Answer, (String, String)>;

/// The names of a request's fields, for both ends.
pub mod wire {
    use super::*;
    use redlatch::ffi::{Op, kinds};

    pub fn of(request: &Request) -> Value {
        json!({
            "op": request.op as i32, "kind": request.kind, "name": &*request.name, "owner": request.owner, "wait": request.wait.map(micros),
            "lease": request.lease.map(micros), "hold": request.hold, "numbers": request.numbers,
        })
    }

    /// The request that [`of`] has written.
    ///
    /// # Panics
    /// When `value` is nothing that [`of`] writes.
    pub fn request(value: &Value) -> Request {
        let kind = kinds::name_of(value["kind"].as_str().expect("a kind")).expect("a kind that there is");
        let op = Op::from_number(value["op"].as_i64().expect("a number") as i32).expect("an operation that there is");
        let time = |field: &str| value[field].as_u64().map(Duration::from_micros);
        let numbers = value["numbers"].as_array().expect("a list").iter().filter_map(Value::as_i64).collect();
        Request {
            wait: time("wait"),
            lease: time("lease"),
            hold: value["hold"].as_u64().expect("a number"),
            numbers,
            ..Request::new(
                op,
                kind,
                value["name"].as_str().expect("a name"),
                value["owner"].as_i64().expect("a number"),
            )
        }
    }

    fn micros(time: Duration) -> u64 {
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
    }
}

/// A client in another process.
pub struct Remote {
    process: Mutex<Process>,
    clocks: Option<Clocks>,
    stream: Mutex<TcpStream>,
    waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>>,
    count: AtomicU64,
    /// The client's id: the first half of its owners' names.
    pub id: String,
}

impl Remote {
    /// Starts `worker` with a client of `url`. With `clocks`, the worker sees those in place of the machine's.
    pub fn start(worker: &str, url: &str, clocks: Option<Clocks>) -> Self {
        let listener = ports::listen();
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let words = clocks.as_ref().map(|clocks| clocks.words().to_vec()).unwrap_or_default();
        let command = [words, vec![worker.to_owned(), url.to_owned()]].concat();
        let mut process = Process::start(&command[0], &command[1..]);
        let id = process.ask(&format!("calls {port}"));
        let (stream, _) = listener.accept().expect("it has called");
        stream.set_nodelay(true).expect("it is a socket");
        let waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>> = Arc::default();
        let answers = BufReader::new(stream.try_clone().expect("it is a socket"));
        let asked = waiting.clone();
        std::thread::spawn(move || {
            for line in answers.lines().map_while(Result::ok) {
                let answer: Value =
                    serde_json::from_str(&line).unwrap_or_else(|e| panic!("a worker says `{line}`: {e}"));
                let sender = asked
                    .lock()
                    .expect("nothing panics while it is held")
                    .remove(&answer["id"].as_u64().unwrap_or_default());
                sender.into_iter().for_each(|sender| drop(sender.send(answer.clone())));
            }
            asked.lock().expect("nothing panics while it is held").clear();
        });
        Remote {
            process: Mutex::new(process),
            clocks,
            stream: Mutex::new(stream),
            waiting,
            count: AtomicU64::new(1),
            id,
        }
    }

    /// A new number for a call of this client.
    pub fn ticket(&self) -> u64 {
        self.count.fetch_add(1, SeqCst)
    }

    /// Runs a request. `blocks`: on the calling thread.
    pub fn submit(&self, ticket: u64, request: &Request, blocks: bool, done: impl FnOnce(End) + Send + 'static) {
        let answer = self.ask(json!({"id": ticket, "call": wire::of(request), "blocks": blocks}));
        std::thread::spawn(move || {
            let Ok(answer) = answer.recv() else { return };
            let text = |field: &str| answer[field].as_str().map(str::to_owned);
            done(match text("code") {
                Some(code) => Err((code, text("text").unwrap_or_default())),
                None => Ok(Answer {
                    done: answer["done"].as_bool().unwrap_or_default(),
                    number: answer["number"].as_i64().unwrap_or_default(),
                    items: answer["items"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect(),
                    ..Answer::default()
                }),
            });
        });
    }

    pub fn cancel(&self, ticket: u64) {
        self.tell(&json!({"cancel": ticket}));
    }

    /// Closes the client. The receiver gets the result.
    pub fn close(&self) -> Receiver<Value> {
        self.ask(json!({"id": self.ticket(), "close": true}))
    }

    /// Forks the process. Once the child has ended, the receiver gets the child's defects in a field `child`.
    pub fn fork(&self) -> Receiver<Value> {
        self.ask(json!({"id": self.ticket(), "fork": true}))
    }

    /// Suspends the client's machine.
    pub fn stop(&self) {
        self.process().signal("STOP");
    }

    /// Resumes the client's machine after it has slept for so long.
    pub fn go_on(&self, slept: Duration) {
        self.clocks.iter().for_each(|clocks| clocks.suspended_for(slept));
        self.process().signal("CONT");
    }

    /// The holds in which the client believes for longer than its reports say, in words.
    pub fn believes_too_long(&self) -> Vec<String> {
        let said = self.ask(json!({"id": self.ticket(), "looks": true})).recv_timeout(PATIENCE).expect("it looks");
        let at = clock::instant(said["at"].as_u64().expect("a time"));
        eventually("the client's earlier reports", || oracle::are_all_noted().then_some(()));
        let mut wrong = Vec::new();
        for look in said["looks"].as_array().expect("a list") {
            let text = |field: &str| look[field].as_str().expect("a text").to_owned();
            let key = Key { kind: text("kind"), name: text("name"), owner: look["owner"].as_i64().expect("a number") };
            let until: Instant = at + Duration::from_micros(look["left"].as_u64().expect("a number"));
            let told = oracle::believed_until(&self.id, &key).filter(|told| *told + oracle::ROUNDING < until);
            wrong.extend(
                told.map(|told| format!("a look at {key:?} has it for {:?} longer than was told", until - told)),
            );
        }
        wrong
    }

    /// The worker's output so far.
    pub fn log(&self) -> String {
        self.process().log()
    }

    fn process(&self) -> std::sync::MutexGuard<'_, Process> {
        self.process.lock().expect("nothing panics while it is held")
    }

    fn ask(&self, line: Value) -> Receiver<Value> {
        let (sender, answer) = channel();
        self.waiting
            .lock()
            .expect("nothing panics while it is held")
            .insert(line["id"].as_u64().expect("it has one"), sender);
        self.tell(&line);
        answer
    }

    fn tell(&self, line: &Value) {
        // A dead worker answers nothing; the caller learns that from the missing answer.
        let _ = writeln!(self.stream.lock().expect("nothing panics while it is held"), "{line}");
    }
}
