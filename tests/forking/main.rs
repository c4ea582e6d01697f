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

/// Everything that the parent has. A server of SQL has no permits.
struct Held {
    lock: BlockingGuard,
    permits: Option<(SemaphorePermit, Permit)>,
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
    let held = take(&client, url.starts_with("redis")).map_err(said)?;
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
    let Held { lock, permits } = held;
    lock.release().map_err(said)?;
    let Some((counted, permit)) = permits else { return Ok(()) };
    permit.release_blocking().map_err(said)?;
    counted.release_blocking().map_err(said)?;
    let available = client.semaphore("counted").available().blocking().map_err(said)?;
    if available == PERMITS { Ok(()) } else { Err(format!("{available} of {PERMITS} permits are available")) }
}

fn said(error: Error) -> String {
    error.to_string()
}

fn take(client: &Client, has_permits: bool) -> Result<Held> {
    let lock = client.lock("lock").blocking().acquire()?;
    if !has_permits {
        return Ok(Held { lock, permits: None });
    }
    client.semaphore("counted").try_set_permits(PERMITS).blocking()?;
    client.permit_semaphore("permits").try_set_permits(PERMITS).blocking()?;
    let counted = client.semaphore("counted").acquire(1).blocking()?;
    let permit = client.permit_semaphore("permits").acquire().blocking()?;
    Ok(Held { lock, permits: Some((counted, permit)) })
}

/// Gives the defect.
fn child(client: &Client, held: Held) -> Option<String> {
    let Held { lock, permits } = held;
    // Its first hold has the number that the parent's first one has there.
    let own = match client.lock("own").blocking().acquire() {
        Ok(own) => own,
        Err(error) => return Some(said(error)),
    };
    let mut answers =
        vec![("ensure", lock.ensure()), ("extend", lock.extend(Duration::from_secs(60))), ("release", lock.release())];
    if let Some((counted, permit)) = permits {
        answers.push(("the release of a permit", permit.release_blocking()));
        drop(counted);
    }
    let wrong = answers.into_iter().find(|(_, answer)| !matches!(answer, Err(Error::Inherited { .. })));
    if let Some((what, answer)) = wrong {
        return Some(format!("{what} of the child's copy: {answer:?}"));
    }
    // The drop would be on its way before this release.
    own.release().err().map(said)
}
