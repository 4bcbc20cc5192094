//! The settings in the file of another simulator, read key by key.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use wordline_config::{Place, Problems};

/// A value that was not carried over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// Its key in the other file.
    pub key: String,
    /// What it was.
    pub value: String,
    /// The reason, and the remedy if any.
    pub why: String,
}

/// A key of the other file with its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub value: String,
    pub line: usize,
}

/// The settings in the other file, read key by key.
pub(crate) struct SourceFile<'p> {
    origin: Arc<str>,
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
    problems: &'p Problems,
}

impl<'p> SourceFile<'p> {
    /// The settings in a file of this name. Problems are added to those.
    pub(crate) fn new(origin: &str, entries: Vec<Entry>, problems: &'p Problems) -> SourceFile<'p> {
        SourceFile { origin: origin.into(), entries, left_out: vec![], problems }
    }

    fn place(&self, line: usize) -> Place {
        Place::Line { origin: self.origin.clone(), line, column: None }
    }

    pub(crate) fn refuse_repeated(&self) {
        for (i, e) in self.entries.iter().enumerate() {
            if let Some(first) = self.entries[..i].iter().find(|f| f.key == e.key) {
                let what = format!("{} appears twice, first in line {}; keep one", e.key, first.line);
                self.problems.add(&self.place(e.line), what);
            }
        }
    }

    fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|e| e.key == key)?;
        Some(self.entries.remove(at))
    }

    /// The word of a key, if present.
    pub fn word(&mut self, key: &str) -> Option<String> {
        self.remove(key).map(|e| e.value)
    }

    /// Whether a key is present and not read yet.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key)
    }

    /// A value, if present and valid.
    pub fn take<T: FromStr<Err: Display>>(&mut self, key: &str, what: &str) -> Option<T> {
        let e = self.remove(key)?;
        let value = e.value.parse().ok();
        if value.is_none() {
            self.problems.add(&self.place(e.line), format!("{key}: {:?} is not {what}", e.value));
        }
        value
    }

    /// A value that must be there.
    pub fn require<T: FromStr<Err: Display>>(&mut self, key: &str, what: &str) -> Option<T> {
        if !self.has(key) {
            self.refuse(format!("{key} is missing; expected {what}"));
            return None;
        }
        self.take(key, what)
    }

    /// Report what is wrong with the file as a whole.
    pub fn refuse(&self, text: impl Into<String>) {
        self.problems.add(&Place::File(self.origin.clone()), text);
    }

    /// Report a value that is not carried over, if present.
    pub fn leave(&mut self, key: &str, why: &str) {
        if let Some(e) = self.remove(key) {
            self.leave_value(key, &e.value, why);
        }
    }

    /// Report a value that was carried over in part.
    pub fn leave_value(&mut self, key: &str, value: impl Display, why: &str) {
        self.left_out.push(LeftOut { key: key.into(), value: value.to_string(), why: why.into() });
    }

    /// The name of the file, for its remarks.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn finish(mut self) -> Vec<LeftOut> {
        for e in std::mem::take(&mut self.entries) {
            self.leave_value(&e.key, &e.value, "no counterpart in a device file");
        }
        self.left_out
    }
}

/// A share of a number of parts of equal size, in whole pages.
pub(crate) fn of_bytes(counts: &[u64], share: f64, page: u64) -> u64 {
    let all: f64 = counts.iter().map(|n| *n as f64).product();
    (all * share) as u64 / page.max(1) * page
}
