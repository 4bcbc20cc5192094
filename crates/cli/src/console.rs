//! The terminal: what may be coloured, how wide it is, and the progress of a run.

use crate::error::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;
use wordline_report::TerminalStyle;
use wordline_run::{Progress, Setup};

/// Columns where nothing says how many there are.
const WIDTH: usize = 100;

/// Standard output and standard error as they were found.
pub(crate) struct Console {
    style: TerminalStyle,
    errors_coloured: bool,
    watched: bool,
}

impl Console {
    pub(crate) fn new() -> Console {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let width = if out { terminal_size::terminal_size().map(|(w, _)| w.0 as usize) } else { None };
        Console {
            style: TerminalStyle { colour: allowed && out, width: width.unwrap_or(WIDTH) },
            errors_coloured: allowed && err,
            watched: err,
        }
    }

    /// How results are to look.
    pub(crate) fn style(&self) -> TerminalStyle {
        self.style
    }

    /// Text in bold, where that can be seen.
    pub(crate) fn bold(&self, text: &str) -> String {
        if self.style.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Write a result.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(())
    }

    /// Tell something beside the result.
    #[expect(clippy::print_stderr, reason = "this is where standard error is written")]
    pub(crate) fn note(&self, text: &str) {
        eprintln!("{text}");
    }

    /// Report a failure.
    #[expect(clippy::print_stderr, reason = "this is where standard error is written")]
    pub(crate) fn error(&self, failure: &Failure) {
        if self.errors_coloured {
            eprintln!("\x1b[1;31merror:\x1b[0m {failure}");
        } else {
            eprintln!("error: {failure}");
        }
    }

    /// A bar on a terminal, nothing in a pipe.
    pub(crate) fn bar(&self, setup: &Setup, runs: usize) -> Bar {
        if !self.watched {
            return Bar { bar: ProgressBar::hidden(), completed: vec![0; runs] };
        }
        let bar = match setup.expected_requests() {
            Some(n) => ProgressBar::new(n * runs as u64)
                .with_style(style("{bar:30} {human_pos}/{human_len} requests  {per_sec}  {eta} left")),
            None => ProgressBar::new_spinner()
                .with_style(style("{spinner} {human_pos} requests  {per_sec}  {elapsed}  {msg}")),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar { bar, completed: vec![0; runs] }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// How far some runs are.
pub(crate) struct Bar {
    bar: ProgressBar,
    completed: Vec<u64>,
}

impl Bar {
    pub(crate) fn update(&mut self, p: Progress) -> ControlFlow<()> {
        if let Some(run) = self.completed.get_mut(p.run) {
            *run = p.completed;
        }
        self.bar.set_position(self.completed.iter().sum());
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
