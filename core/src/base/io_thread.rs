//! The thread on which a client does what none of its callers' threads does, and the count of those for whom it does that.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::runtime::{Handle, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::base::presence::Presence;
use crate::base::tasks::{Work, boxed};

#[derive(Default)]
pub struct IoThread {
    /// Who is inside of the client, on a thread of its own or by work on this one.
    pub presence: Arc<Presence>,
    runtime: OnceLock<Handle>,
    /// Held by the caller that starts the thread, so that only one does.
    starting: Mutex<()>,
    stop: Arc<Notify>,
}

impl IoThread {
    /// Starts it, unless it runs. It ends with its `background`, or once it is to stop, and then does what `end` says.
    ///
    /// # Errors
    /// That the system gives no thread or no descriptors for it; a later call tries again.
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
        let (give, given) = sync_channel::<Runtime>(1);
        let run = move || {
            let Ok(runtime) = given.recv() else { return };
            let until_stopped = async move {
                tokio::select! {
                    () = background => {}
                    () = stop.notified() => {}
                }
            };
            // As a task: each waking of what is blocked on costs a system call more. A panic has been told of by then.
            let _ = runtime.block_on(runtime.spawn(boxed(until_stopped)));
            drop(runtime);
            end();
        };
        // A runtime may not be dropped where the caller may not block, as by a thread that does not come about inside a runtime of the caller.
        if let Err(error) = std::thread::Builder::new().name("redlatch-io".into()).spawn(run) {
            runtime.shutdown_background();
            return Err(error);
        }
        // The thread waits for it.
        let _ = give.send(runtime);
        Ok(handle)
    }

    pub fn is_started(&self) -> bool {
        self.runtime.get().is_some()
    }

    /// Has it end, now or as soon as it has started.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Has it do something beside everything else. The end of the client ends that.
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
