//! The I/O thread of a client: it does the work that no caller's thread does, and counts the callers that it works for.

use std::cell::Cell;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::runtime::{Handle, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::base::presence::Presence;
use crate::base::tasks::{Work, boxed};

thread_local! {
    static IS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether this thread is the I/O thread of a client, which must never wait.
pub fn is_here() -> bool {
    IS_HERE.get()
}

#[derive(Default)]
pub struct IoThread {
    /// The callers that are inside the client, on their own threads or by work on this one.
    pub presence: Arc<Presence>,
    runtime: OnceLock<Handle>,
    /// Locked by the caller that starts the thread, so that only one does.
    starting: Mutex<()>,
    stop: Arc<Notify>,
    /// The work of the thread before its end.
    last: Arc<Mutex<Option<Work>>>,
}

impl IoThread {
    /// Starts the thread, unless it runs. It ends with its `background` or after [`IoThread::stop`], and then calls
    /// `end`.
    ///
    /// # Errors
    /// The system's error if it gives no thread or no descriptors; a later call tries again.
    pub fn start(&self, background: impl FnOnce() -> Work, end: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let _only_me = self.starting.lock().expect("nothing panics while it is held");
        if !self.is_started() {
            let runtime = self.run(background(), end)?;
            let _ = self.runtime.set(runtime);
        }
        Ok(())
    }

    fn run(&self, background: Work, end: impl FnOnce() + Send + 'static) -> std::io::Result<Handle> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = self.stop.clone();
        let last = self.last.clone();
        let (give, given) = sync_channel::<Runtime>(1);
        let run = move || {
            let Ok(runtime) = given.recv() else { return };
            IS_HERE.set(true);
            let until_stopped = async move {
                tokio::select! {
                    () = background => {}
                    () = stop.notified() => {}
                }
                let last = last.lock().expect("nothing panics while it is held").take();
                if let Some(last) = last {
                    last.await;
                }
            };
            // The watchdog runs as a task: each wake of the future that the runtime blocks on costs one more system
            // call. A panic has been reported by then.
            let _ = runtime.block_on(runtime.spawn(boxed(until_stopped)));
            drop(runtime);
            end();
        };
        // A runtime must not be dropped where blocking is forbidden. If the thread cannot start, the caller may be
        // inside a runtime of its own.
        if let Err(error) = std::thread::Builder::new().name("redlatch-io".into()).spawn(run) {
            runtime.shutdown_background();
            return Err(error);
        }
        // The thread waits for this.
        let _ = give.send(runtime);
        Ok(handle)
    }

    pub fn is_started(&self) -> bool {
        self.runtime.get().is_some()
    }

    /// The thread's runtime, which does not keep the thread alive. `None`: the thread has not started.
    pub fn runtime(&self) -> Option<&Handle> {
        self.runtime.get()
    }

    /// Ends the thread, now or as soon as it has started.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// As [`IoThread::stop`], once the thread has done this. A thread that never starts does not do it.
    pub fn stop_behind(&self, last: Work) {
        *self.last.lock().expect("nothing panics while it is held") = Some(last);
        self.stop();
    }

    /// Runs work on the thread beside its other work. The end of the client ends it.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime.get().expect("every call of a client begins with its start").spawn(boxed(work))
    }

    /// As [`IoThread::spawn`], and the end of the client waits for it.
    pub fn spawn_present<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        let present = self.presence.accompany();
        self.spawn(async move {
            let result = work.await;
            drop(present);
            result
        })
    }
}
