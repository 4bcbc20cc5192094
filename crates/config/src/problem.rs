//! Problems of a configuration, and their places.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use wordline_units::{Face, Opt};

/// Where a value was given. Places are in reading order: the file from the top, then arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// The file as a whole, for a missing part.
    File(Arc<str>),
    /// A line of a file, counted from 1.
    Line {
        /// The file's name.
        origin: Arc<str>,
        /// Its line.
        line: usize,
        /// The character within the line, from 1, if useful.
        column: Option<usize>,
    },
    /// A part of an argument, as it was given.
    Argument(Arc<str>),
    /// A change of a key, `KEY=VALUE`.
    Setting(Arc<str>),
}

impl Place {
    /// Whether the value came from an argument instead of a file.
    pub fn is_argument(&self) -> bool {
        matches!(self, Place::Argument(_) | Place::Setting(_))
    }

    /// The place as one face spells it.
    pub fn on(&self, face: Face) -> String {
        match self {
            Place::File(origin) => origin.to_string(),
            Place::Line { origin, line, column: None } => format!("{origin}:{line}"),
            Place::Line { origin, line, column: Some(column) } => format!("{origin}:{line}:{column}"),
            Place::Argument(text) => text.to_string(),
            Place::Setting(pair) => Opt::Set.of(pair).on(face),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Face::CommandLine))
    }
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What was given, what is allowed, and how to fix it.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// The problems found so far. Shared by the sections of one configuration.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    /// Add one.
    pub fn add(&self, place: &Place, text: impl Into<String>) {
        self.0.borrow_mut().push(Problem { place: place.clone(), text: text.into() });
    }

    /// Whether there is no problem so far.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// The value if there is no problem, else all problems by place.
    ///
    /// # Errors
    /// If a problem was added, or there is no value.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, ConfigErrors> {
        let mut problems = self.0.into_inner();
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        problems.dedup();
        match value {
            Some(value) if problems.is_empty() => Ok(value),
            _ => Err(ConfigErrors { problems }),
        }
    }
}

/// All problems of a configuration, one per line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigErrors {
    /// The problems, by place.
    pub problems: Vec<Problem>,
}

impl ConfigErrors {
    /// The problems with options spelled as in the given interface.
    pub fn on(&self, face: Face) -> String {
        let line = |problem: &Problem| format!("{}: {}", problem.place.on(face), problem.text);
        self.problems.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Face::CommandLine))
    }
}

impl std::error::Error for ConfigErrors {}

/// The candidate that was probably meant, if it is similar enough: about one typo per five letters, or one is
/// a prefix of the other.
pub fn closest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = given.chars().count();
    if letters < 3 {
        return None;
    }
    let slips = |candidate: &str| {
        if candidate.len() >= 3 && (candidate.starts_with(given) || given.starts_with(candidate)) {
            1
        } else {
            strsim::damerau_levenshtein(given, candidate)
        }
    };
    candidates
        .into_iter()
        .map(|c| (slips(c), c))
        .filter(|(slips, _)| *slips <= 1 + letters / 5)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, c)| c)
}
