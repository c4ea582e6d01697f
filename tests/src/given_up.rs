//! An acquire whose caller gives up.

use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};

/// Begins an acquire, and gives it up after `patience`: before `act`, or after it.
pub fn given_up(client: &Client, acquire: Request, patience: Duration, before: bool, act: impl FnOnce()) {
    let mut running = Box::pin(client.run(acquire.clone()));
    let answer = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let begun = Instant::now();
    while begun.elapsed() < patience {
        std::hint::spin_loop();
    }
    let give_up = || {
        // A binding gives back an answer that its caller does not take any more.
        if let Poll::Ready(Ok(answer)) = answer
            && answer.done
        {
            let back = Request { op: Op::GiveBack, hold: answer.number as u64, ..acquire };
            client.run_blocking(back).expect("answered");
        }
        drop(running);
    };
    if before {
        give_up();
        act();
    } else {
        act();
        give_up();
    }
}
