//! The terminal of `redlatch top`, from the moment it is taken to the moment it is as before.

use std::io::{self, IsTerminal};

use ratatui::DefaultTerminal;
use ratatui::crossterm::terminal::is_raw_mode_enabled;

use crate::ending::Failure;

pub struct Stage(DefaultTerminal);

impl Stage {
    /// Refuses to begin without a terminal.
    pub fn check() -> Result<(), Failure> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(Failure::usage(
                "redlatch top needs a terminal for its input and its output, and there is none; `redlatch tail` and `redlatch ls` write to \
                 files and pipes",
            ));
        }
        if std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb") {
            return Err(Failure::usage(
                "redlatch top needs a terminal that can move its cursor, and TERM is empty or `dumb`; set TERM to the name of the \
                 terminal, such as xterm-256color, or use `redlatch ls`",
            ));
        }
        Ok(())
    }

    /// Takes the terminal. A panic gives it back before its message.
    pub fn open() -> Result<Self, Failure> {
        match ratatui::try_init() {
            Ok(terminal) => Ok(Stage(terminal)),
            Err(error) => {
                let _ = ratatui::try_restore();
                Err(Failure::system(error))
            }
        }
    }

    pub fn terminal(&mut self) -> &mut DefaultTerminal {
        &mut self.0
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // After a panic it is as before already, and leaving the screen once more would move the cursor.
        if is_raw_mode_enabled().unwrap_or(true) {
            let _ = self.0.show_cursor();
            let _ = ratatui::try_restore();
        }
    }
}
