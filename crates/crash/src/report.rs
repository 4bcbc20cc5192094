//! The result of a search, as text.

use crate::check::Verdict;
use std::fmt::Write;
use wordline_volatile::{CLASSES, Class, counted, grouped};

/// How much was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Intervals between two points of durability.
    pub intervals: usize,
    /// Number of kinds of intervals: those of a kind have the same kinds of writes.
    pub kinds: usize,
    /// Number of intervals in which every state with at most two lost writes was checked.
    pub two_lost: usize,
    /// Number of further intervals in which every state with at most one lost write was checked.
    pub one_lost: usize,
    /// Number of checks that were run.
    pub checks: u64,
    /// Number of states that were not checked, because they equal an earlier one or differ from it only in
    /// sectors that the check did not read.
    pub equal: u64,
    /// Number of these that differ in unread sectors.
    pub unread: u64,
    /// Number of states that differ only in unread sectors and were checked anyway.
    pub anyway: u64,
    /// Duration in milliseconds.
    pub milliseconds: u64,
}

/// A failing state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failing {
    /// Name of the smallest failing state found, which replays it.
    pub name: String,
    /// Class of the first failing state.
    pub class: Option<Class>,
    /// What reached the disk, and what did not.
    pub story: String,
    /// The verdict of the check.
    pub verdict: Verdict,
    /// Whether it failed again when it was repeated.
    pub again: bool,
    /// Whether a state passed that differs only in sectors that the check does not read.
    pub is_unread: bool,
    /// Number of checks that the reduction took.
    pub reductions: u64,
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// How much was checked.
    pub coverage: Coverage,
    /// The first failing state, reduced.
    pub failing: Option<Failing>,
}

impl Coverage {
    /// Coverage, from the number of complete classes of each interval.
    pub(crate) fn of(complete: &[usize], kinds: usize) -> Coverage {
        let at = |class: Class| CLASSES.iter().position(|c| *c == class).unwrap_or(0) + 1;
        let two_lost = complete.iter().filter(|done| **done >= at(Class::TwoLost)).count();
        let one_lost = complete.iter().filter(|done| **done >= at(Class::OneLost)).count() - two_lost;
        Coverage { intervals: complete.len(), kinds, two_lost, one_lost, ..Coverage::default() }
    }

    /// The coverage of two searches together.
    pub fn with(self, other: Coverage) -> Coverage {
        Coverage {
            intervals: self.intervals + other.intervals,
            kinds: self.kinds.max(other.kinds),
            two_lost: self.two_lost + other.two_lost,
            one_lost: self.one_lost + other.one_lost,
            checks: self.checks + other.checks,
            equal: self.equal + other.equal,
            unread: self.unread + other.unread,
            anyway: self.anyway + other.anyway,
            milliseconds: self.milliseconds + other.milliseconds,
        }
    }

    /// A summary in one line.
    pub fn to_text(&self) -> String {
        let some = self.intervals - self.two_lost - self.one_lost;
        let mut parts = vec![];
        for (count, what) in [
            (self.two_lost, "up to two lost writes checked in"),
            (self.one_lost, "up to one in"),
            (some, "samples only in"),
        ] {
            if count > 0 {
                parts.push(format!("{what} {}", grouped(count as u64)));
            }
        }
        let seconds = self.milliseconds as f64 / 1e3;
        let mut text = format!(
            "{} of {}: {}; {} checks, {} equal",
            counted(self.intervals, "interval"),
            counted(self.kinds, "kind"),
            parts.join(", "),
            grouped(self.checks),
            grouped(self.equal)
        );
        if self.unread > 0 {
            let _ = write!(
                text,
                " ({} differ only in sectors that the check does not read)",
                grouped(self.unread)
            );
        }
        let _ = write!(text, ", {seconds:.1} s");
        text
    }
}

impl Failing {
    /// The story and the output of the check.
    pub fn to_text(&self) -> String {
        let mut text = format!("failing state {}: {}", self.name, self.story);
        if let Verdict::Failed { how, said } = &self.verdict {
            let _ = writeln!(text, "  the check ended with {how}");
            said.lines().rev().take(8).collect::<Vec<_>>().iter().rev().for_each(|line| {
                let _ = writeln!(text, "    {line}");
            });
        }
        if !self.again {
            text.push_str(
                "  the same state passed on a second check: the check depends on more than the state\n",
            );
        }
        if self.is_unread {
            text.push_str("  a state that differs only in sectors that the check does not read passed: the check depends on more than the state\n");
        }
        text
    }
}
