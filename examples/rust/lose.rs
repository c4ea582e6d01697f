//! A lock that an operator takes away, and a holder that is told. Needs a server at REDLATCH_URL.

use std::sync::mpsc::channel;

use redlatch::{Client, Config};

fn main() -> redlatch::Result<()> {
    let ours = Client::with_config(Config::from_env()?)?;
    let operator = Client::with_config(Config::from_env()?)?;
    let guard = ours.lock("start:42").blocking().acquire()?;
    let (tell, told) = channel();
    guard.on_lost(move |loss| tell.send(loss).expect("it is heard"));
    operator.lock("start:42").blocking().force_release()?;
    println!("stop the work: {}", told.recv().expect("a loss").reason); // deleted
    Ok(())
}
