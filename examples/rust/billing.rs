//! Elects one of two machines, and the other one when the first resigns; a third program looks on. Needs a server at
//! REDLATCH_URL.

use redlatch::{Client, Config, Result, Term};

fn machine(address: &str) -> Result<Term> {
    let client = Client::with_config(Config::from_env()?)?;
    client.leader("example:billing").value(address).lead().blocking()
}

fn main() -> Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    let mut changes = client.leader("example:billing").observe();
    assert_eq!(changes.next_blocking()?, None);
    let first = machine("api-1:80")?;
    let leader = changes.next_blocking()?.expect("a machine leads");
    println!("{} leads", leader.value);
    assert_eq!(leader.token, first.token());
    std::thread::scope(|scope| {
        // It waits until the first one resigns.
        let second = scope.spawn(|| machine("api-2:80"));
        first.release_blocking()?;
        let second = second.join().expect("no panic")?;
        println!("then {} leads", client.leader("example:billing").current().blocking()?.expect("it leads").value);
        assert!(second.token() > leader.token);
        second.release_blocking()
    })
}
