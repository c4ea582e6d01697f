//! Carries out the calls of [`redlatch_tests::remote::Remote`], and forks.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use redlatch::ffi::{Answer, Border, Look, Op, Request, kinds};
use redlatch::{Client, Holds, Result};
use redlatch_tests::remote::wire;
use redlatch_tests::{PATIENCE, clock};
use serde_json::{Value, json};

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
}

struct Calls {
    client: Client,
    stream: Mutex<TcpStream>,
    /// The requests of all holds that are not released yet, by the number of the hold.
    held: Mutex<BTreeMap<u64, Request>>,
}

/// Carries out the calls that come over a connection to that port, on a thread of its own.
pub fn serve(client: &Client, port: u64) {
    let stream = TcpStream::connect(("127.0.0.1", port as u16)).expect("the rig listens");
    stream.set_nodelay(true).expect("it is a socket");
    let lines = BufReader::new(stream.try_clone().expect("it is a socket")).lines();
    let calls = Arc::new(Calls { client: client.clone(), stream: Mutex::new(stream), held: Mutex::default() });
    thread::spawn(move || {
        let mut tickets = HashMap::new();
        for line in lines.map_while(|line| line.ok()) {
            let line: Value = serde_json::from_str(&line).expect("the rig speaks JSON");
            calls.carry_out(&line, &mut tickets);
        }
    });
}

impl Calls {
    fn carry_out(self: &Arc<Self>, line: &Value, tickets: &mut HashMap<u64, u64>) {
        let calls = self.clone();
        let id = line["id"].as_u64().unwrap_or_default();
        if let Some(asked) = line["cancel"].as_u64() {
            tickets.get(&asked).into_iter().for_each(|ticket| self.client.cancel(*ticket));
        } else if line["close"] == true {
            thread::spawn(move || {
                calls.client.close_blocking(Holds::Release);
                calls.say(&json!({"id": id}));
            });
        } else if line["looks"] == true {
            self.say(&json!({"id": id, "looks": self.looks(), "at": clock::now()}));
        } else if line["fork"] == true {
            let wrong = self.fork();
            thread::spawn(move || calls.say(&json!({"id": id, "child": wrong()})));
        } else {
            let request = wire::request(&line["call"]);
            let ticket = self.client.ticket();
            tickets.insert(id, ticket);
            let end = move |request: &Request, result: Result<Answer>| {
                calls.note(request, &result);
                calls.say(&match result {
                    Ok(answer) => {
                        json!({"id": id, "done": answer.done, "number": answer.number, "items": answer.items})
                    }
                    Err(error) => json!({"id": id, "code": error.code(), "text": error.to_string()}),
                });
            };
            if line["blocks"] == true {
                let client = self.client.clone();
                thread::spawn(move || end(&request, client.run_blocking(request.clone())));
            } else {
                self.client.submit(ticket, request.clone(), move |result| end(&request, result));
            }
        }
    }

    /// Notes which holds there are.
    fn note(&self, request: &Request, result: &Result<Answer>) {
        let is_held = kinds::ALL.iter().any(|row| row.traits.held && row.traits.name == request.kind);
        let mut held = self.held.lock().expect("nothing panics while it is held");
        match (request.op, result) {
            (Op::Acquire, Ok(taken)) if is_held && taken.done => {
                drop(held.insert(taken.number as u64, request.clone()))
            }
            (Op::Release, Ok(_)) => drop(held.remove(&request.hold)),
            _ => {}
        }
    }

    fn looks(&self) -> Vec<Value> {
        let held = self.held.lock().expect("nothing panics while it is held");
        let look = |(hold, request): (&u64, &Request)| match self.client.look(*hold) {
            Look::Held { remaining } => Some(json!({
                "kind": request.kind, "name": &*request.name, "owner": request.owner, "left": remaining.as_micros() as u64,
            })),
            _ => None,
        };
        held.iter().filter_map(look).collect()
    }

    /// Forks. Returns a function that waits for the child's defects, in words; empty: none.
    fn fork(&self) -> impl FnOnce() -> String + Send + use<> {
        let held = self.held.lock().expect("nothing panics while it is held").clone();
        let (ours, mut childs) = UnixStream::pair().expect("the system gives a pair");
        // SAFETY: the child uses nothing of its parent's but the client, which notices the fork; and it ends without
        // unwinding.
        let pid = unsafe { fork() };
        if pid == 0 {
            let wrong = child(&self.client, &held).err().unwrap_or_else(|| "nothing".into());
            let _ = childs.write_all(wrong.as_bytes());
            // SAFETY: the child must not end or flush anything of its parent's.
            unsafe { _exit(0) }
        }
        drop(childs);
        move || {
            let mut ours = ours;
            let mut said = String::new();
            ours.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
            let heard = ours.read_to_string(&mut said);
            let pid = rustix::process::Pid::from_raw(pid).expect("it is a number");
            if heard.is_err() {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
            match (heard, said.as_str()) {
                (Err(error), _) => format!("the child has not come to an end: {error}"),
                (_, "nothing") => String::new(),
                (_, "") => "the child has ended without a word".into(),
                _ => said,
            }
        }
    }

    fn say(&self, line: &Value) {
        // The rig may be gone, and then nothing is left to tell.
        let _ = writeln!(self.stream.lock().expect("nothing panics while it is held"), "{line}");
    }
}

/// The child's work: it releases no hold of its parent, takes locks of its own, and closes its client.
fn child(client: &Client, held: &BTreeMap<u64, Request>) -> std::result::Result<(), String> {
    for (hold, request) in held {
        if matches!(client.look(*hold), Look::Held { .. }) {
            return Err(format!("the child believes in hold {hold} of its parent"));
        }
        match client.run_blocking(Request { op: Op::Release, hold: *hold, lease: None, ..request.clone() }) {
            Err(error) if error.code() == "not_held" => {}
            end => return Err(format!("the child's release of hold {hold} of its parent came to {end:?}")),
        }
    }
    let own = Request::new(Op::Acquire, "plain", format!("child-{}", client.id()), 1);
    let taken = client.run_blocking(own.clone()).map_err(|error| format!("the child's acquire: {error}"))?;
    let release = Request { op: Op::Release, hold: taken.number as u64, ..own };
    client.run_blocking(release).map_err(|error| format!("the child's release: {error}"))?;
    client.close_blocking(Holds::Release);
    Ok(())
}
