//! A terminal with a program on it, as a user has it: keys go in, and a screen shows what the program says.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::{PATIENCE, deadline, ms};

/// A running program on a terminal of its own. Dropping it closes the terminal, which hangs up on all programs there.
pub struct Terminal {
    keyboard: File,
    program: Child,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    /// Starts a program as the first one on a terminal.
    pub fn start(program: &Command) -> Self {
        deadline::set();
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it is ours");
        let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
        let side = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            Stdio::from(open(&name, flags, Mode::empty()).expect("it is there"))
        };
        let variables = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let program = Command::new("setsid")
            .arg("--ctty")
            .arg(program.get_program())
            .args(program.get_args())
            .envs(variables)
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("setsid is there");
        let keyboard = File::from(keyboard);
        let mut reader = keyboard.try_clone().expect("a descriptor is free");
        let screen = Arc::<Mutex<String>>::default();
        let shown = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error: the last program on the terminal has ended.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                shown
                    .lock()
                    .expect("nothing panics while it is held")
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Terminal { keyboard, program, screen }
    }

    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is there");
    }

    pub fn type_line(&mut self, line: &str) {
        self.type_in(&format!("{line}\n"));
    }

    /// Waits until the screen shows this text, and takes all up to its end from the screen.
    ///
    /// # Panics
    /// When it does not show it within [`PATIENCE`].
    pub fn sees(&self, text: &str) {
        let begun = Instant::now();
        loop {
            let mut screen = self.screen.lock().expect("nothing panics while it is held");
            if let Some(at) = screen.find(text) {
                *screen = screen[at + text.len()..].to_owned();
                return;
            }
            let shown = screen.clone();
            drop(screen);
            assert!(begun.elapsed() < PATIENCE, "no {text:?} on the screen: {shown}");
            std::thread::sleep(ms(2));
        }
    }

    /// Whether the screen shows this text.
    pub fn shows(&self, text: &str) -> bool {
        self.screen.lock().expect("nothing panics while it is held").contains(text)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
