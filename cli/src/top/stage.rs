//! The terminal of `redlatch top`, from the moment it is taken to the moment it is as before.

use std::io::{self, IsTerminal};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, is_raw_mode_enabled,
};
use ratatui::layout::{Position, Rect};

use super::outlet::{Outlet, Written};
use crate::ending::Failure;

/// A terminal that takes nothing for so long has its modes back, and keeps what it shows.
const PATIENCE: Duration = Duration::from_millis(500);

pub struct Stage {
    terminal: Terminal<CrosstermBackend<Outlet>>,
    written: Written,
    is_taken: bool,
}

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
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = execute!(io::stdout(), Show);
            ratatui::restore();
            hook(info);
        }));
        let open = || {
            let (outlet, written) = Outlet::open()?;
            let terminal = Terminal::new(CrosstermBackend::new(outlet))?;
            let mut stage = Stage { terminal, written, is_taken: false };
            stage.take()?;
            Ok(stage)
        };
        open().map_err(Failure::system)
    }

    /// Takes the terminal, whatever another program has made of it while this one was stopped. The next picture is drawn whole.
    pub fn take(&mut self) -> io::Result<()> {
        // Without this, the next line takes the modes of before for those of now.
        disable_raw_mode()?;
        enable_raw_mode()?;
        self.is_taken = true;
        execute!(self.terminal.backend_mut(), EnterAlternateScreen)?;
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Gives the terminal back.
    pub fn give(&mut self) {
        if !std::mem::take(&mut self.is_taken) {
            return;
        }
        // After a panic it is as before already, and leaving the screen once more would move the cursor.
        if is_raw_mode_enabled().unwrap_or(true) {
            let _ = execute!(self.terminal.backend_mut(), Show, LeaveAlternateScreen);
            self.written.wait(PATIENCE);
            let _ = disable_raw_mode();
        }
    }

    /// The terminal, if it is taken and has shown the last picture.
    pub fn free(&mut self) -> Option<&mut Terminal<CrosstermBackend<Outlet>>> {
        (self.is_taken && self.written.wait(Duration::ZERO)).then_some(&mut self.terminal)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.give();
    }
}
