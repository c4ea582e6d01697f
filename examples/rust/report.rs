//! A report that four nodes want to send at the full minute, and that one of them sends. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{Client, Config, JobRun, Result};

fn node(number: u32) -> Result<bool> {
    let client = Client::with_config(Config::from_env()?)?;
    // The clocks of the nodes may be 2 s apart.
    let report = client
        .job(&format!("example:report:{}", std::process::id()), Duration::from_secs(60))
        .at_least(Duration::from_secs(2));
    Ok(match report.run_blocking(|_| println!("node {number} sends the report"))? {
        JobRun::Ran(()) => true,
        JobRun::Skipped => false,
        JobRun::Lost(loss) => {
            eprintln!("{loss}");
            false
        }
    })
}

fn main() -> Result<()> {
    let nodes: Vec<_> = (1..=4).map(|number| std::thread::spawn(move || node(number))).collect();
    let ran = nodes.into_iter().map(|node| node.join().expect("no panic")).collect::<Result<Vec<_>>>()?;
    assert_eq!(ran.iter().filter(|ran| **ran).count(), 1);
    Ok(())
}
