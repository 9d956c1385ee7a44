//! The terminal while `muster top` has it.

use super::draw;
use super::model::Model;
use anyhow::{Context as _, Result};
use crossterm::cursor::Show;
use crossterm::execute;
use crossterm::terminal::ClearType::All;
use crossterm::terminal::{
    Clear, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, Stdout};
use std::mem::ManuallyDrop;
use std::panic;

/// A screen of its own, keys as they are pressed. Dropped, or in a panic, all is as it was.
pub struct Screen {
    /// Never dropped: that prints where the terminal is gone, and panics if it cannot.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it is none.
    pub fn open() -> Result<Screen> {
        let said = "this terminal cannot be used; muster top --once prints text  [E161]";
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // First, so that what is said can be read.
            restore();
            before(info);
        }));
        enable_raw_mode().context(said)?;
        // From here on dropping it gives the terminal back.
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        let terminal = terminal.inspect_err(|_| restore()).context(said)?;
        let mut screen = Screen { terminal: ManuallyDrop::new(terminal) };
        // Not by the terminal's clear(), which asks where the cursor is and waits for an answer.
        let taken = execute!(screen.terminal.backend_mut(), EnterAlternateScreen, Clear(All));
        taken.context(said)?;
        Ok(screen)
    }

    /// Draws, in whatever size the terminal has now.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, model: &Model) -> io::Result<()> {
        let drawn = self.terminal.draw(|frame| draw::draw(model, frame.area(), frame.buffer_mut()));
        drawn.map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back. If it is gone there is nobody to tell.
fn restore() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
