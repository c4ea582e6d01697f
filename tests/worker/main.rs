//! A process that holds locks on command, for tests that stop or kill the holder: `redlatch-worker URL --control PORT`.
//!
//! | command | answer |
//! |---|---|
//! | `acquire NAME [LEASE_MS]` | `ok`, or an error's code |
//! | `ensure` | `ok`, or an error's code and words, about the latest hold |
//! | `release` | the same, and the latest hold is forgotten |

use std::time::Duration;

use redlatch::{BlockingGuard, Client};
use redlatch_tests::process::Control;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, url, .., port] = &args[..] else { panic!("the arguments are URL --control PORT") };
    let client = Client::connect(url).expect("the URL is good");
    let mut control = Control::connect(port.parse().expect("the port is a number")).expect("somebody listens");
    let mut guards: Vec<BlockingGuard> = Vec::new();
    while let Some(command) = control.hear() {
        let words: Vec<&str> = command.split_whitespace().collect();
        let result = match words[..] {
            ["acquire", name] => client.lock(name).blocking().acquire().map(|guard| guards.push(guard)),
            ["acquire", name, lease] => {
                let lease = Duration::from_millis(lease.parse().expect("the lease is a number"));
                client.lock(name).lease(lease).blocking().acquire().map(|guard| guards.push(guard))
            }
            ["ensure"] => guards.last().expect("something is held").ensure(),
            ["release"] => guards.pop().expect("something is held").release(),
            _ => panic!("there is no command `{command}`"),
        };
        control.answer(&result.map_or_else(|error| format!("{} {error}", error.code()), |()| "ok".to_owned()));
    }
}
