//! A `redlatch serve` on a free port, and its answers.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use redlatch_tests::{Server, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body, BodyReader};

use super::command;

pub struct Service {
    process: Child,
    /// With a slash at its end.
    pub url: String,
    pub token: String,
    agent: Agent,
}

impl Service {
    pub fn start(server: &Server, words: &[&str]) -> Self {
        Service::of(command(server, words).args(["--listen", "127.0.0.1:0"]))
    }

    pub fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("it is text");
        let (url, token) = line.trim_end().split_once('#').unwrap_or((line.trim_end(), ""));
        let token = token.strip_prefix("token=").unwrap_or_default().to_owned();
        // A connection that has idled for ten seconds is closed, perhaps just when a request is sent on it.
        let agent = Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
        Service { process, url: url.to_owned(), token, agent }
    }

    /// The code and the text.
    pub fn get(&self, path: &str) -> (u16, String) {
        read(self.agent.get(format!("{}{path}", self.url)).call())
    }

    pub fn response(&self, path: &str) -> Response<Body> {
        self.agent.get(format!("{}{path}", self.url)).call().expect("it answers")
    }

    pub fn get_by(&self, host: &str, path: &str) -> (u16, String) {
        read(self.agent.get(format!("{}{path}", self.url)).header("Host", host).call())
    }

    pub fn object(&self, path: &str) -> Value {
        let (code, text) = self.get(path);
        assert_eq!(code, 200, "{text}");
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    /// The code and the message.
    pub fn release(&self, token: &str, name: &str, stamp: &str) -> (u16, String) {
        self.releases(token, &json!({ "name": name, "stamp": stamp }))
    }

    /// The same with one permit of a semaphore.
    pub fn release_permit(&self, name: &str, permit: &str) -> (u16, String) {
        self.releases(&self.token, &json!({ "name": name, "permit": permit }))
    }

    fn releases(&self, token: &str, chosen: &Value) -> (u16, String) {
        let request =
            self.agent.post(format!("{}release", self.url)).header("Authorization", format!("Bearer {token}"));
        let (code, text) = read(request.send_json(chosen));
        let object: Value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{text}: {why}"));
        (code, object["message"].as_str().expect("a text").to_owned())
    }

    pub fn changes(&self) -> Changes {
        let response = self.response("events");
        assert_eq!(response.status().as_u16(), 200);
        Changes(BufReader::new(response.into_body().into_reader()))
    }

    /// The row of that lock, as soon as a page would have it.
    pub fn row(&self, name: &str) -> Value {
        let mut changes = self.changes();
        loop {
            let (_, object) = changes.next();
            let rows = object["locks"].as_array().expect("a list");
            if let Some(row) = rows.iter().find(|row| row["name"] == name) {
                return row.clone();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it runs");
    }

    pub fn code(&mut self) -> Option<i32> {
        eventually("the end of redlatch", || self.process.try_wait().expect("it is a child")).code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read(response: Result<Response<Body>, ureq::Error>) -> (u16, String) {
    let mut response = response.expect("it answers");
    (response.status().as_u16(), response.body_mut().read_to_string().expect("it is text"))
}

/// The events that a page hears.
pub struct Changes(BufReader<BodyReader<'static>>);

impl Changes {
    /// The name of the next event, and its object.
    pub fn next(&mut self) -> (String, Value) {
        let mut lines = ["event: ", "data: ", ""].map(|start| {
            let mut line = String::new();
            self.0.read_line(&mut line).expect("it is text");
            let text = line.trim_end_matches('\n').strip_prefix(start);
            text.unwrap_or_else(|| panic!("`{line}` begins with `{start}`")).to_owned()
        });
        let object = serde_json::from_str(&lines[1]).unwrap_or_else(|why| panic!("{}: {why}", lines[1]));
        (std::mem::take(&mut lines[0]), object)
    }

    /// The first change that this is true of.
    pub fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (event, object) = self.next();
            if event == "change" && is_it(&object) {
                return object;
            }
        }
    }
}
