//! A program that forks while it has a lock and permits: `redlatch-forking URL`. The child uses its copies of the guards.
//! The program ends with 0 if they were no holds, or says the defect.

use std::process::ExitCode;
use std::time::Duration;

use redlatch::{BlockingGuard, Client, Error, Permit, Result, SemaphorePermit};

// SAFETY: these are the functions of the C library, which every program on Unix has.
unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
}

/// Everything that the parent has.
struct Held {
    lock: BlockingGuard,
    counted: SemaphorePermit,
    permit: Permit,
}

const PERMITS: u64 = 3;

fn main() -> ExitCode {
    let url = std::env::args().nth(1).expect("the argument is a URL");
    match run(&url) {
        Ok(()) => ExitCode::SUCCESS,
        Err(defect) => {
            println!("{defect}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str) -> std::result::Result<(), String> {
    let client = Client::connect(url).map_err(said)?;
    let held = take(&client).map_err(said)?;
    // SAFETY: the child uses nothing of its parent's but the client and the guards, which notice the fork; and it ends
    // without unwinding.
    let pid = unsafe { fork() };
    if pid == 0 {
        let defect = child(&client, held);
        defect.iter().for_each(|defect| println!("{defect}"));
        // SAFETY: the child must not end anything of its parent's.
        unsafe { _exit(i32::from(defect.is_some())) }
    }
    let child = rustix::process::Pid::from_raw(pid).ok_or("there is no child")?;
    let ended = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    if !ended.is_ok_and(|ended| ended.is_some_and(|(_, status)| status.exit_status() == Some(0))) {
        return Err("the child found a defect".into());
    }
    let Held { lock, counted, permit } = held;
    lock.release().map_err(said)?;
    permit.release_blocking().map_err(said)?;
    counted.release_blocking().map_err(said)?;
    let available = client.semaphore("counted").available().blocking().map_err(said)?;
    if available == PERMITS { Ok(()) } else { Err(format!("{available} of {PERMITS} permits are available")) }
}

fn said(error: Error) -> String {
    error.to_string()
}

fn take(client: &Client) -> Result<Held> {
    let lock = client.lock("lock").blocking().acquire()?;
    client.semaphore("counted").try_set_permits(PERMITS).blocking()?;
    client.permit_semaphore("permits").try_set_permits(PERMITS).blocking()?;
    let counted = client.semaphore("counted").acquire(1).blocking()?;
    let permit = client.permit_semaphore("permits").acquire().blocking()?;
    Ok(Held { lock, counted, permit })
}

/// Gives the defect.
fn child(client: &Client, held: Held) -> Option<String> {
    let Held { lock, counted, permit } = held;
    // Its first hold has the number that the parent's first one has there.
    let own = match client.lock("own").blocking().acquire() {
        Ok(own) => own,
        Err(error) => return Some(said(error)),
    };
    let answers = [
        ("ensure", lock.ensure()),
        ("extend", lock.extend(Duration::from_secs(60))),
        ("release", lock.release()),
        ("the release of a permit", permit.release_blocking()),
    ];
    let wrong = answers.into_iter().find(|(_, answer)| !matches!(answer, Err(Error::Inherited { .. })));
    if let Some((what, answer)) = wrong {
        return Some(format!("{what} of the child's copy: {answer:?}"));
    }
    drop(counted);
    // The drop would be on its way before this release.
    own.release().err().map(said)
}
