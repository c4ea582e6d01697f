//! The errors of a system that gives this process no more descriptors or threads.

use std::io::Error;

// Linux, macOS and the BSDs have the same numbers; the standard library has no kinds for them.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

/// The missing resource and the remedy, as the cause of an [`crate::Error::Unavailable`]; `None`: the error has another
/// meaning.
pub fn cause(error: &Error) -> Option<String> {
    let (missing, remedy) = match error.raw_os_error()? {
        EMFILE => ("this process has no file descriptor left", "close some, or raise its limit (`ulimit -n`)"),
        ENFILE => ("this machine has no file descriptor left", "raise its limit (`sysctl fs.file-max`)"),
        _ if error.kind() == std::io::ErrorKind::WouldBlock => {
            ("this process may have no more threads", "end some, or raise its limit (`ulimit -u`)")
        }
        _ => return None,
    };
    Some(format!("cannot be reached: {missing} ({error}); {remedy}"))
}
