//! One agent process: commands go in and answers come out as JSON lines, in any order.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::PATIENCE;

type Waiting = Arc<Mutex<HashMap<u64, Sender<Value>>>>;

/// A running agent. It ends with this process or by [`Agent::kill`].
pub struct Agent {
    name: &'static str,
    /// The id of the agent's client: the first half of each owner's name.
    pub client: String,
    child: Mutex<Child>,
    input: Mutex<ChildStdin>,
    waiting: Waiting,
    count: AtomicU64,
}

/// An error as the agent's language names it.
#[derive(Debug)]
pub struct Refusal {
    pub error: String,
    pub message: String,
}

impl Agent {
    /// Starts `program`, the agent of a language, and returns once its client has answered.
    pub fn start(name: &'static str, program: &str, url: &str) -> Result<Self, String> {
        let missing = |e| format!("no agent for {name}: {program} {e}; run `make agents`");
        let mut command = Command::new(program);
        let mut child = command.arg(url).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(missing)?;
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let waiting = Waiting::default();
        std::thread::spawn({
            let waiting = waiting.clone();
            move || read_answers(BufReader::new(output), &waiting)
        });
        let mut agent = Agent {
            name,
            client: String::new(),
            child: Mutex::new(child),
            input: Mutex::new(input),
            waiting,
            count: AtomicU64::new(0),
        };
        let hello = agent.ask("id", json!({})).try_within(PATIENCE)?;
        agent.client = hello.map_err(|e| format!("{name}: {e:?}"))?.as_str().unwrap_or_default().to_owned();
        Ok(agent)
    }

    /// Sends the command `what` with the further `fields`.
    pub fn ask(&self, what: &str, mut fields: Value) -> Pending {
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        self.waiting.lock().expect("nothing panics while it is held").insert(id, sender);
        fields["id"] = id.into();
        fields["do"] = what.into();
        let mut input = self.input.lock().expect("nothing panics while it is held");
        // A dead agent answers nothing; the caller learns that from the missing answer.
        let _ = writeln!(input, "{fields}").and_then(|()| input.flush());
        Pending { what: format!("{} {fields}", self.name), answer, check: None }
    }

    /// Kills the agent as `kill -9` does, and returns when its process is gone.
    pub fn kill(&self) {
        let mut child = self.child.lock().expect("nothing panics while it is held");
        child.kill().and_then(|()| child.wait()).expect("it is our child");
    }
}

/// Passes answers on until the agent ends. Then every pending command sees its channel closed.
fn read_answers(output: impl BufRead, waiting: &Waiting) {
    for line in output.lines().map_while(Result::ok) {
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("an agent says `{line}`: {e}"));
        let asked =
            answer["id"].as_u64().and_then(|id| waiting.lock().expect("nothing panics while it is held").remove(&id));
        if let Some(asked) = asked {
            let _ = asked.send(answer);
        }
    }
    waiting.lock().expect("nothing panics while it is held").clear();
}

/// A command that was sent; its answer may still be under way.
pub struct Pending {
    what: String,
    answer: Receiver<Value>,
    check: Option<Check>,
}

/// Judges an answer that is no refusal.
type Check = Box<dyn FnOnce(&Value) + Send>;

impl Pending {
    /// Has `check` judge the whole answer before the caller gets it, unless it is a refusal.
    #[must_use]
    pub fn checked(self, check: impl FnOnce(&Value) + Send + 'static) -> Self {
        Pending { check: Some(Box::new(check)), ..self }
    }

    /// The answer, if it has come.
    pub fn now(&self) -> Option<Value> {
        self.answer.try_recv().ok()
    }

    /// Waits for the answer.
    ///
    /// # Panics
    /// When no answer comes within `time`.
    pub fn within(self, time: Duration) -> Result<Value, Refusal> {
        self.try_within(time).unwrap_or_else(|silence| panic!("{silence}"))
    }

    fn try_within(self, time: Duration) -> Result<Result<Value, Refusal>, String> {
        let answer =
            self.answer.recv_timeout(time).map_err(|e| format!("{}: no answer within {time:?} ({e})", self.what))?;
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        Ok(match text("error") {
            Some(error) => Err(Refusal { error, message: text("message").unwrap_or_default() }),
            None => {
                self.check.into_iter().for_each(|check| check(&answer));
                Ok(answer["ok"].clone())
            }
        })
    }
}
