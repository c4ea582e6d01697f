//! The hand that carries out a player's calls: a client of this process, or one in a process of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use redlatch::ffi::{Answer, Border, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::Remote;
use redlatch_tests::remote::End;

#[derive(Clone)]
pub enum Hand {
    Here(Client),
    There(Arc<Remote>),
}

fn said(result: redlatch::Result<Answer>) -> End {
    result.map_err(|error| (error.code().to_owned(), error.to_string()))
}

impl Hand {
    /// The client's id: the first half of its owners' names.
    pub fn id(&self) -> String {
        match self {
            Hand::Here(client) => client.id(),
            Hand::There(remote) => remote.id.clone(),
        }
    }

    pub fn ticket(&self) -> u64 {
        match self {
            Hand::Here(client) => client.ticket(),
            Hand::There(remote) => remote.ticket(),
        }
    }

    /// Submits a request. In this process, a waiter is in line when this returns.
    pub fn submit(&self, ticket: u64, request: Request) -> Receiver<End> {
        let (sender, answer) = channel();
        match self {
            Hand::Here(client) => client.submit(ticket, request, move |result| drop(sender.send(said(result)))),
            Hand::There(remote) => remote.submit(ticket, &request, false, move |end| drop(sender.send(end))),
        }
        answer
    }

    /// The same on the caller's thread.
    pub fn run_blocking(&self, ticket: u64, request: Request) -> Receiver<End> {
        let (sender, answer) = channel();
        match self.clone() {
            Hand::Here(client) => drop(thread::spawn(move || drop(sender.send(said(client.run_blocking(request)))))),
            Hand::There(remote) => remote.submit(ticket, &request, true, move |end| drop(sender.send(end))),
        }
        answer
    }

    /// The same as a future that is dropped after this time.
    pub fn run_for(&self, after: Duration, request: Request) -> Receiver<End> {
        let (sender, answer) = channel();
        let Hand::Here(client) = self.clone() else { panic!("only a caller of this process drops futures") };
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("the system gives a runtime");
            let ended = runtime.block_on(async { tokio::time::timeout(after, client.run(request)).await });
            drop(sender.send(said(ended.unwrap_or(Err(Error::Cancelled)))));
        });
        answer
    }

    pub fn cancel(&self, ticket: u64) {
        match self {
            Hand::Here(client) => client.cancel(ticket),
            Hand::There(remote) => remote.cancel(ticket),
        }
    }

    /// Closes the client. The receiver gets its end.
    pub fn close(&self) -> Receiver<()> {
        let (sender, ended) = channel();
        let hand = self.clone();
        thread::spawn(move || {
            match hand {
                Hand::Here(client) => client.close_blocking(Holds::Release),
                Hand::There(remote) => {
                    if remote.close().recv().is_err() {
                        return;
                    }
                }
            }
            let _ = sender.send(());
        });
        ended
    }
}
