//! The terminal: colors, width, and the progress of a run.

use crate::advice::{Record, Source};
use crate::error::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;
use wordline_device::DeviceSpec;
use wordline_report::{Report, TerminalStyle};
use wordline_run::{Executor, Progress, Setup};
use wordline_schemes::Registry;

/// Columns where nothing says how many there are.
const WIDTH: usize = 100;

/// Standard output and standard error as they were found.
pub(crate) struct Console {
    style: TerminalStyle,
    errors_coloured: bool,
    watched: bool,
    registry: Registry,
    executor: Option<Executor>,
    record: Record,
}

impl Console {
    pub(crate) fn new(registry: Registry, executor: Option<Executor>, record: Record) -> Console {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let width = if out { terminal_size::terminal_size().map(|(w, _)| w.0 as usize) } else { None };
        Console {
            style: TerminalStyle { colour: allowed && out, width: width.unwrap_or(WIDTH) },
            errors_coloured: allowed && err,
            watched: err,
            registry,
            executor,
            record,
        }
    }

    /// The schemes that there are.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The executor of runs in other processes, if any.
    pub(crate) fn executor(&self) -> Option<&Executor> {
        self.executor.as_ref()
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
        self.record.add(Source::Note, text);
    }

    /// Warn of values of a device that no real part has.
    pub(crate) fn warn_of(&self, device: &DeviceSpec) {
        for line in wordline_device::implausible(device) {
            self.note(&format!("warning: {line}"));
        }
    }

    /// Record the advice in reports, which their table or summary prints.
    pub(crate) fn advised(&self, reports: &[Report]) {
        for text in wordline_report::advice(reports) {
            self.record.add(Source::Report, &text);
        }
    }

    /// Report a failure.
    #[expect(clippy::print_stderr, reason = "this is where standard error is written")]
    pub(crate) fn error(&self, failure: &Failure) {
        if self.errors_coloured {
            eprintln!("\x1b[1;31merror:\x1b[0m {failure}");
        } else {
            eprintln!("error: {failure}");
        }
        self.record.add(Source::Error, &failure.to_string());
    }

    /// A bar on a terminal, nothing in a pipe.
    pub(crate) fn bar(&self, setup: &Setup, runs: usize) -> Bar<'_> {
        // Counting may take a pass over the workload.
        let requests = if self.watched { setup.expected_requests() } else { None };
        self.bar_of_runs(runs, requests)
    }

    /// A bar of checks on a terminal, nothing in a pipe.
    #[cfg(feature = "live")]
    pub(crate) fn bar_of_checks(&self, most: u64) -> ProgressBar {
        if !self.watched {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(most);
        bar.set_style(style("{bar:30} {human_pos}/{human_len} checks  {rate}  {eta} left"));
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        bar
    }

    /// The same for a run of this many requests.
    pub(crate) fn bar_of(&self, requests: u64) -> Bar<'_> {
        self.bar_of_runs(1, Some(requests))
    }

    /// The same for runs of so many requests each, if that is known.
    pub(crate) fn bar_of_runs(&self, runs: usize, requests: Option<u64>) -> Bar<'_> {
        if !self.watched {
            return Bar { bar: ProgressBar::hidden(), completed: vec![0; runs], begins: None };
        }
        let bar = match requests {
            Some(n) => ProgressBar::new(n * runs as u64)
                .with_style(style("{bar:30} {human_pos}/{human_len} requests  {rate}  {eta} left")),
            None => ProgressBar::new_spinner()
                .with_style(style("{spinner} {human_pos} requests  {rate}  {elapsed}  {msg}")),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar { bar, completed: vec![0; runs], begins: None }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be drawn is not a reason to end a run.
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

/// A rate to three digits: `79.3 k/s`.
fn rate(per_second: f64) -> String {
    let (value, sign) = match per_second {
        r if !r.is_finite() => return "- /s".into(),
        r if r >= 999.5e6 => (r / 1e9, "G"),
        r if r >= 999.5e3 => (r / 1e6, "M"),
        r if r >= 999.5 => (r / 1e3, "k"),
        r => (r, ""),
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {sign}/s")
}

/// How far some runs are.
pub(crate) struct Bar<'a> {
    bar: ProgressBar,
    completed: Vec<u64>,
    /// A line for when the runs have begun.
    begins: Option<(&'a Console, String)>,
}

impl<'a> Bar<'a> {
    /// The same bar, with a line above it once the runs have begun: not for those that are refused.
    pub(crate) fn begins_with(mut self, console: &'a Console, line: String) -> Bar<'a> {
        self.begins = Some((console, line));
        self
    }

    pub(crate) fn update(&mut self, p: Progress) -> ControlFlow<()> {
        if let Some((console, line)) = self.begins.take() {
            self.bar.suspend(|| console.note(&line));
        }
        if let Some(run) = self.completed.get_mut(p.run) {
            *run = p.completed;
        }
        self.bar.set_position(self.completed.iter().sum());
        ControlFlow::Continue(())
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_rate_has_three_digits_and_a_unit() {
        for (per_second, shown) in [
            (79_273.823_7, "79.3 k/s"),
            (0.0, "0.00 /s"),
            (8.124, "8.12 /s"),
            (999.6, "1.00 k/s"),
            (999_600.0, "1.00 M/s"),
            (1_394_000.0, "1.39 M/s"),
            (412.0, "412 /s"),
            (f64::INFINITY, "- /s"),
        ] {
            assert_eq!(rate(per_second), shown);
        }
    }
}
