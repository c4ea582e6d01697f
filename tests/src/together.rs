//! Many jobs at once. A job that fails is known by its name.

use std::panic::resume_unwind;
use std::thread;

/// Runs named jobs on threads of their own.
///
/// # Panics
/// When any job panicked, with the names of all such jobs. A thread has its job's name, so the first panic of each
/// names it too.
pub fn all_at_once<'a, J: FnOnce() + Send + 'a>(jobs: impl Iterator<Item = (String, J)>) {
    let failed = thread::scope(|scope| {
        let start = |(name, job): (String, J)| {
            let thread = thread::Builder::new().name(name.clone());
            (name, thread.spawn_scoped(scope, job).expect("a thread starts"))
        };
        let running: Vec<_> = jobs.map(start).collect();
        let end = |(name, job): (String, thread::ScopedJoinHandle<()>)| job.join().err().map(|panic| (name, panic));
        running.into_iter().filter_map(end).collect::<Vec<_>>()
    });
    let said = |(name, panic): &(String, Box<dyn std::any::Any + Send>)| {
        let words =
            panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
        format!("{name}: {}", words.unwrap_or_default())
    };
    if !failed.is_empty() {
        resume_unwind(Box::new(failed.iter().map(said).collect::<Vec<_>>().join("\n")));
    }
}
