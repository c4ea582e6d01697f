//! A Chromium without a screen, driven by the protocol WebDriver as a user drives it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use redlatch_tests::eventually;
use serde_json::{Value, json};
use ureq::Agent;

/// The driver says so once it listens.
const READY: &str = "ChromeDriver was started successfully on port ";
/// The field of an element's id in that protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub struct Browser {
    driver: Child,
    agent: Agent,
    session: String,
}

impl Browser {
    /// Opens the page in a window of this size.
    pub fn open(url: &str, width: u32, height: u32) -> Self {
        let mut driver = Command::new("chromedriver");
        let mut driver =
            driver.arg("--port=0").stdout(Stdio::piped()).spawn().expect("chromedriver is there, see .ci/setup");
        let lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let mut lines = lines.map(|line| line.expect("it is text"));
        let port = lines.find_map(|line| Some(line.strip_prefix(READY)?.trim_end_matches('.').to_owned()));
        let port = port.expect("it tells its port");
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        let size = format!("--window-size={width},{height}");
        // A container has no other user than root, and little shared memory.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", &size];
        let wanted = json!({ "goog:chromeOptions": { "args": arguments }, "goog:loggingPrefs": { "browser": "ALL" } });
        let mut browser = Browser { driver, agent, session: format!("http://127.0.0.1:{port}/session") };
        let begun = browser.call("", json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!("{}/{}", browser.session, begun["sessionId"].as_str().expect("it has begun"));
        browser.call("/url", json!({ "url": url }));
        browser
    }

    /// The value of the answer.
    fn call(&self, path: &str, body: Value) -> Value {
        let sent = self.agent.post(format!("{}{path}", self.session)).send_json(&body);
        let mut answer = sent.unwrap_or_else(|why| panic!("{path} {body}: {why}"));
        let object: Value = answer.body_mut().read_json().expect("an object");
        assert_eq!(answer.status(), 200, "{path} {body}: {object}");
        object["value"].clone()
    }

    /// The value of the expression.
    pub fn value(&self, expression: &str) -> Value {
        self.call("/execute/sync", json!({ "script": format!("return ({expression})"), "args": [] }))
    }

    /// Waits until the expression is true.
    pub fn until(&self, expression: &str) {
        eventually(expression, || (self.value(expression) == true).then_some(()));
    }

    fn element(&self, selector: &str) -> String {
        let found = self.call("/element", json!({ "using": "css selector", "value": selector }));
        format!("/element/{}", found[ELEMENT].as_str().expect("an id"))
    }

    pub fn click(&self, selector: &str) {
        self.call(&format!("{}/click", self.element(selector)), json!({}));
    }

    pub fn type_into(&self, selector: &str, text: &str) {
        self.call(&format!("{}/value", self.element(selector)), json!({ "text": text }));
    }

    /// Presses keys, wherever the focus is.
    pub fn press(&self, keys: &str) {
        let key = |key: char| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key }));
        let actions: Vec<_> = keys.chars().flat_map(key).collect();
        self.call("/actions", json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Checks that the page has made no error: one of its policy is one.
    pub fn is_well(&self) {
        let log = self.call("/se/log", json!({ "type": "browser" }));
        let errors: Vec<_> = log.as_array().expect("a list").iter().filter(|line| line["level"] == "SEVERE").collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends the browser.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
