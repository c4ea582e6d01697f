//! The way of pictures to the terminal. A thread of its own writes them: a write to a terminal that stands still (Ctrl-S, a stalled
//! connection) does not end, and the screen has to hear keys and signals meanwhile.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// It takes all at once, and hands it on at each flush.
pub struct Outlet {
    bytes: Vec<u8>,
    parts: Sender<Vec<u8>>,
    written: Written,
}

impl Outlet {
    /// That of standard output.
    pub fn open() -> io::Result<(Self, Written)> {
        let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (parts, heard) = channel::<Vec<u8>>();
        let written = Written::default();
        let counted = written.clone();
        thread::spawn(move || {
            for part in heard {
                let is_written = out.write_all(&part).is_ok();
                counted.count(|waiting| waiting - 1);
                if !is_written {
                    break;
                }
            }
            // Nothing waits for a terminal that has gone.
            counted.count(|_| 0);
        });
        Ok((Outlet { bytes: Vec::new(), parts, written: written.clone() }, written))
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.written.count(|waiting| waiting + 1);
        let part = std::mem::take(&mut self.bytes);
        self.parts.send(part).map_err(|_| {
            self.written.count(|_| 0);
            ErrorKind::BrokenPipe.into()
        })
    }
}

/// The number of parts that the terminal has not taken yet.
#[derive(Clone, Default)]
pub struct Written(Arc<(Mutex<usize>, Condvar)>);

impl Written {
    fn count(&self, next: impl FnOnce(usize) -> usize) {
        let (waiting, changed) = &*self.0;
        let mut waiting = waiting.lock().expect("nothing panics while it is held");
        *waiting = next(*waiting);
        changed.notify_all();
    }

    /// Waits until the terminal has taken all; false: it has not within that time.
    pub fn wait(&self, time: Duration) -> bool {
        let (waiting, changed) = &*self.0;
        let waiting = waiting.lock().expect("nothing panics while it is held");
        let waited = changed.wait_timeout_while(waiting, time, |waiting| *waiting > 0);
        waited.is_ok_and(|(waiting, _)| *waiting == 0)
    }
}
