//! A caller's code that runs at the end of a request may call the client again: the client holds no lock of its own
//! meanwhile.

use std::sync::mpsc::{Receiver, channel};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Holds};
use redlatch_tests::{PATIENCE, Server, View};

use super::{eventually, ms, secs};

/// A server, the client under test, and another one.
struct Scene {
    view: View,
    client: Client,
    other: Client,
}

impl Scene {
    fn new() -> (Server, Self) {
        let server = Server::start();
        let connect = || Client::connect(&server.url()).expect("a good URL");
        let scene = Scene { view: server.view(), client: connect(), other: connect() };
        (server, scene)
    }

    fn request(op: Op) -> Request {
        Request { wait: Some(secs(600)), lease: Some(secs(600)), ..Request::new(op, "plain", "n", 1) }
    }

    fn take(client: &Client) -> u64 {
        let taken = client.run_blocking(Scene::request(Op::Acquire)).expect("answered");
        assert!(taken.done);
        taken.number as u64
    }

    /// Submits a request whose end calls the client again. Returns its ticket, and the channel that tells when the code
    /// is through.
    fn submit(&self, request: Request) -> (u64, Receiver<()>) {
        let (sender, told) = channel();
        let ticket = self.client.ticket();
        let client = self.client.clone();
        self.client.submit(ticket, request, move |_: redlatch::Result<Answer>| {
            client.look(1);
            client.token(1);
            client.latest("plain", "n", 1);
            client.cancel(u64::MAX);
            client.submit(client.ticket(), Request { hold: 1, ..Scene::request(Op::Watch) }, drop);
            client.submit(client.ticket(), Scene::request(Op::Inspect), drop);
            let _ = sender.send(());
        });
        (ticket, told)
    }

    fn watch(&self, hold: u64) -> (u64, Receiver<()>) {
        self.submit(Request { hold, ..Scene::request(Op::Watch) })
    }

    /// Calls the client on a thread of its own: if an inner lock is in the way, only that thread hangs.
    fn meanwhile(&self, act: impl FnOnce(Client) + Send + 'static) {
        let client = self.client.clone();
        std::thread::spawn(move || act(client));
    }

    fn release(&self) {
        self.meanwhile(|client| drop(client.run_blocking(Scene::request(Op::Release)).expect("held")));
    }

    fn cancel(&self, ticket: u64) {
        self.meanwhile(move |client| client.cancel(ticket));
    }

    /// Another owner of the client waits for a lock that this or another client has.
    fn wait(&mut self, wait: std::time::Duration) -> (u64, Receiver<()>) {
        let waiting = self.submit(Request { owner: 2, wait: Some(wait), ..Scene::request(Op::Acquire) });
        let view = &mut self.view;
        eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
        waiting
    }
}

/// Waits until the caller's code is through.
///
/// # Panics
/// When it is not.
fn ends(told: &Receiver<()>, what: &str) {
    told.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("what is told of {what} does not come to its end"));
}

#[test]
fn a_caller_that_hears_of_the_end_of_a_hold_may_call_the_client() {
    let (_server, mut scene) = Scene::new();
    let (_, told) = scene.watch(Scene::take(&scene.client));
    scene.release();
    ends(&told, "a release");
    let (ticket, told) = scene.watch(Scene::take(&scene.client));
    scene.cancel(ticket);
    ends(&told, "a watch that is cancelled");
    let hold = scene.client.latest("plain", "n", 1).expect("held");
    let (_, told) = scene.watch(hold);
    eventually(|| scene.view.tells());
    scene.view.command::<()>(&["DEL", "n"]);
    ends(&told, "a loss");
}

#[test]
fn a_caller_that_hears_of_the_end_of_a_wait_may_call_the_client() {
    let (_server, mut scene) = Scene::new();
    Scene::take(&scene.other);
    let (ticket, told) = scene.wait(secs(600));
    scene.cancel(ticket);
    ends(&told, "a wait that is cancelled");
    let (_, told) = scene.submit(Request { owner: 3, wait: Some(ms(50)), ..Scene::request(Op::Acquire) });
    ends(&told, "a wait that is over");
    let (_, told) = scene.wait(secs(600));
    scene.other.run_blocking(Scene::request(Op::Release)).expect("held");
    ends(&told, "a lock that is free");
}

#[test]
fn a_caller_that_hears_of_the_end_of_a_client_may_call_it() {
    let (_server, mut scene) = Scene::new();
    let (_, of_hold) = scene.watch(Scene::take(&scene.client));
    let (_, of_wait) = scene.wait(secs(600));
    scene.meanwhile(|client| client.close_blocking(Holds::Release));
    ends(&of_hold, "a hold of a client that is closed");
    ends(&of_wait, "a wait of a client that is closed");
}

/// The losses are told although the system has no thread at that moment.
fn callbacks_run_once_there_are_threads(finder: &str) {
    let server = Server::start();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_redlatch-threadless"));
    let ended = program.args([&server.url(), finder]).output().expect("it is built");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
fn a_callback_waits_for_a_thread_and_not_for_the_next_loss() {
    callbacks_run_once_there_are_threads("io-thread");
}

#[test]
fn a_callback_waits_for_a_thread_no_matter_which_thread_finds_the_loss() {
    callbacks_run_once_there_are_threads("caller");
}
