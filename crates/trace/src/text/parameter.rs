//! `key=value,key=value`: the options of a trace and the parameters of a synthetic workload. Both are
//! described by data ([`Parameter`]), so that help, documentation and the check for unknown keys use the same
//! list, and all errors in a text are reported together.

use crate::error::{ErrorKind, Problem, WorkloadError, did_you_mean};
use serde::Serialize;
use std::str::FromStr;
use wordline_units::Message;

/// One option or parameter, as `explain` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Parameter {
    /// The word before the `=`.
    pub key: &'static str,
    /// The kind of its value, with its unit.
    pub unit: &'static str,
    /// The default value.
    pub default: &'static str,
    /// The allowed values. If `choices` is not empty, exactly those.
    pub allowed: &'static str,
    /// The allowed words, for a choice of words.
    pub choices: &'static [&'static str],
    /// What it does.
    pub about: &'static str,
}

/// A parameter whose value has a unit.
pub const fn value(
    key: &'static str,
    unit: &'static str,
    default: &'static str,
    allowed: &'static str,
    about: &'static str,
) -> Parameter {
    Parameter { key, unit, default, allowed, choices: &[], about }
}

/// A parameter whose value is one of a few words.
pub const fn choice(
    key: &'static str,
    default: &'static str,
    allowed: &'static str,
    choices: &'static [&'static str],
    about: &'static str,
) -> Parameter {
    Parameter { key, unit: "word", default, allowed, choices, about }
}

/// The pairs of a text. They are consumed key by key, and problems are collected.
#[derive(Clone, Debug)]
pub struct Options {
    place: String,
    pairs: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Options {
    /// Splits a text; `place` is its name in messages.
    pub fn parse(place: &str, text: &str) -> Options {
        let mut options = Options { place: place.to_string(), pairs: Vec::new(), problems: Vec::new() };
        if text.trim().is_empty() {
            return options;
        }
        for part in unquoted_parts(text) {
            match part.split_once('=') {
                Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                    let key = key.trim();
                    if options.pairs.iter().any(|(k, _)| k == key) {
                        options.reject(key, format!("{key:?} appears twice"), "one value per key", "");
                    }
                    options.pairs.push((key.to_string(), value.trim().replace('"', "")));
                }
                _ => {
                    let place = format!("{}:{}", options.place, part.trim());
                    options.problems.push(
                        Problem::new(ErrorKind::Option, place, format!("{part:?} is not key=value"))
                            .allowed("key=value, separated by commas"),
                    );
                }
            }
        }
        options
    }

    /// Reports all keys that are not in `known`, and all words that are not among the choices.
    pub fn check_known(&mut self, known: &[Parameter]) {
        let keys = || {
            let is_first = |n: usize| known[..n].iter().all(|p| p.key != known[n].key);
            known.iter().enumerate().filter(move |(n, _)| is_first(*n)).map(|(_, p)| p.key)
        };
        for (key, value) in self.pairs.clone() {
            let Some(parameter) = known
                .iter()
                .find(|p| p.key == key && (p.choices.is_empty() || p.choices.contains(&value.as_str())))
                .or_else(|| known.iter().find(|p| p.key == key))
            else {
                let list = keys().collect::<Vec<_>>().join(", ");
                let hint = did_you_mean(&key, keys());
                self.reject(&key, format!("unknown key {key:?}"), &list, &hint);
                continue;
            };
            if !parameter.choices.is_empty() && !parameter.choices.contains(&value.as_str()) {
                let hint = did_you_mean(&value, parameter.choices.iter().copied());
                let allowed = parameter.choices.join(", ");
                self.reject(&key, format!("{value:?} is not a value of {key}"), &allowed, &hint);
            }
        }
    }

    /// The text of `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The value of `key`. An invalid value is recorded as a problem, and counts as not given.
    pub fn get<T: FromStr>(&mut self, key: &str, allowed: &str) -> Option<T>
    where
        T::Err: std::fmt::Display,
    {
        let value = self.text(key)?.to_string();
        match value.parse() {
            Ok(v) => Some(v),
            Err(e) => {
                self.reject(key, e.to_string(), allowed, "");
                None
            }
        }
    }

    /// Records a problem with the value of `key`.
    pub fn reject(&mut self, key: &str, what: String, allowed: &str, hint: impl Into<Message>) {
        let place = match self.text(key) {
            Some(value) => format!("{}:{key}={value}", self.place),
            None => self.place.clone(),
        };
        self.problems.push(Problem::new(ErrorKind::Option, place, what).allowed(allowed).hint(hint));
    }

    /// All pairs, in the given order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// All problems so far.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// `Err` with all problems so far.
    pub fn finish(&self) -> Result<(), WorkloadError> {
        WorkloadError::of_all(self.problems.clone())
    }
}

/// Splits at commas, except for those within double quotes.
pub fn unquoted_parts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Parameter; 2] = [
        Parameter { key: "span", unit: "size", default: "100%", allowed: "", choices: &[], about: "" },
        Parameter {
            key: "fit",
            unit: "",
            default: "error",
            allowed: "",
            choices: &["error", "wrap"],
            about: "",
        },
    ];

    #[test]
    fn a_comma_in_quotes_parts_nothing() {
        let o = Options::parse("x", "time=\"Start, UTC\":s,span=1");
        assert_eq!((o.text("time"), o.text("span")), (Some("Start, UTC:s"), Some("1")));
    }

    #[test]
    fn all_mistakes_of_a_text_are_reported_at_once() {
        let mut o = Options::parse("x", "spam=1,fit=wrapp,fit=wrap,alone");
        o.check_known(&KNOWN);
        let e = o.finish().unwrap_err();
        assert_eq!(e.problems().len(), 4, "{e}");
        assert!(e.to_string().contains("did you mean \"span\"?"), "{e}");
        assert!(e.to_string().contains("did you mean \"wrap\"?"), "{e}");
    }
}
