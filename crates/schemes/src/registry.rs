//! An entry in the list of schemes: name, parameters, and constructor.

use crate::parameters::{Parameter, Parameters};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use thiserror::Error;
use wordline_device::config::{ConfigErrors, Problems, Section};
use wordline_ftl::Scheme;
use wordline_units::{Face, Listed, Message};

/// Makes a scheme from its parameters.
type Build = dyn Fn(&mut Parameters) -> Box<dyn Scheme> + Send + Sync;

/// A scheme in the registry.
#[derive(Clone)]
pub struct Entry {
    /// The name that users type: small letters, digits and hyphens, a letter first.
    pub name: Cow<'static, str>,
    /// How a command line names it where that is not its name: a class of Python as `py:FILE#CLASS`.
    pub typed: Option<String>,
    /// One-line description.
    pub title: Cow<'static, str>,
    /// The text of its file, whose head documents it; empty without one.
    pub docs: Cow<'static, str>,
    /// Its documentation, if it is not in the head of its file.
    pub described: Option<String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The parameter whose key may be omitted if it comes first, as in `pa-ssd:QDS+UBS`.
    pub leading: Option<Cow<'static, str>>,
    /// Spellings of parameters, without the scheme's name, with which a drive of a few hundred pages soon exercises the
    /// scheme: small counts, short waits. Tests on random drives draw from them; without any they take the defaults.
    pub small: Vec<Cow<'static, str>>,
    pub(crate) build: Arc<Build>,
}

impl Debug for Entry {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Entry { name, title, parameters, leading, .. } = self;
        write!(f, "Entry {{ {name:?}, {title:?}, {parameters:?}, leading: {leading:?} }}")
    }
}

impl Entry {
    /// A scheme without parameters, and how it is made from those that it gets.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
        build: impl Fn(&mut Parameters) -> Box<dyn Scheme> + Send + Sync + 'static,
    ) -> Entry {
        Entry {
            name: name.into(),
            typed: None,
            title: title.into(),
            docs: Cow::Borrowed(""),
            described: None,
            parameters: vec![],
            leading: None,
            small: vec![],
            build: Arc::new(build),
        }
    }

    /// The same with another spelling for a command line.
    #[must_use]
    pub fn typed(self, as_typed: String) -> Entry {
        Entry { typed: Some(as_typed), ..self }
    }

    /// The same with its documentation: the text of its file.
    #[must_use]
    pub fn docs(self, docs: impl Into<Cow<'static, str>>) -> Entry {
        Entry { docs: docs.into(), ..self }
    }

    /// The same with documentation that is not in the head of its file.
    #[must_use]
    pub fn described(self, says: String) -> Entry {
        Entry { described: Some(says), ..self }
    }

    /// The same with a further parameter.
    #[must_use]
    pub fn takes(mut self, parameter: Parameter) -> Entry {
        self.parameters.push(parameter);
        self
    }

    /// The same with further parameters.
    #[must_use]
    pub fn takes_all(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Entry {
        self.parameters.extend(parameters);
        self
    }

    /// The same with a parameter whose key may be omitted if it comes first.
    #[must_use]
    pub fn leading(self, key: impl Into<Cow<'static, str>>) -> Entry {
        Entry { leading: Some(key.into()), ..self }
    }

    /// The same with parameters for drives of a few hundred pages.
    #[must_use]
    pub fn small(mut self, parameters: impl Into<Cow<'static, str>>) -> Entry {
        self.small.push(parameters.into());
        self
    }

    /// Keys and values of a spelling, without the scheme's name, as given.
    pub fn given<'a>(&'a self, parameters: &'a str) -> Vec<(&'a str, &'a str)> {
        let parts = parameters.split(',').map(str::trim).filter(|p| !p.is_empty());
        let pair = |(i, part): (usize, &'a str)| match (part.split_once('='), &self.leading) {
            (Some((key, value)), _) => (key.trim(), value.trim()),
            (None, Some(key)) if i == 0 => (&**key, part),
            (None, _) => (part, ""),
        };
        parts.enumerate().map(pair).collect()
    }

    /// Problems with its names, if any.
    pub(crate) fn fault(&self) -> Option<String> {
        if !is_word(&self.name, '-') {
            let allowed = "lower-case letters, digits and hyphens, starting with a letter";
            return Some(format!("the name is {:?}\n  allowed: {allowed}", self.name));
        }
        let mut keys = BTreeSet::new();
        for Parameter { key, .. } in &self.parameters {
            if !is_word(key, '_') {
                let allowed = "lower-case letters, digits and underscores, starting with a letter";
                return Some(format!("a parameter is called {key:?}\n  allowed: {allowed}"));
            }
            if !keys.insert(key) {
                return Some(format!("duplicate parameter {key:?}\n  allowed: each key once"));
            }
        }
        let leading = self.leading.as_ref().filter(|key| !keys.contains(key))?;
        let all: Vec<&str> = self.parameters.iter().map(|p| &*p.key).collect();
        Some(format!("leading parameter {leading:?} is not declared\n  allowed: one of {}", all.join(", ")))
    }
}

/// Whether a text is a valid name: lower-case letters, digits and one further character, a letter first.
fn is_word(text: &str, sign: char) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == sign)
}

/// An entry that a registry does not take.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot register scheme {name:?}: {why}")]
pub struct RegistryError {
    /// Its name.
    pub name: String,
    /// The reason, and what is allowed.
    pub why: String,
}

/// A scheme that cannot be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SchemeError {
    /// No scheme has that name.
    #[error("{}", self.on(Face::CommandLine))]
    Unknown {
        /// The name given.
        name: String,
        /// Perhaps a name that is close.
        hint: String,
    },
    /// Its parameters are wrong.
    #[error("{0}")]
    Parameters(ConfigErrors),
}

impl SchemeError {
    /// The error as one face words it.
    pub fn on(&self, face: Face) -> String {
        match self {
            SchemeError::Unknown { name, hint } => {
                (Message::from(format!("unknown scheme {name:?}{hint}; "))
                    + Listed::Schemes.by()
                    + " lists all schemes")
                    .on(face)
            }
            SchemeError::Parameters(e) => e.on(face),
        }
    }
}

/// The scheme that an entry makes from a spelling.
///
/// # Errors
/// When the spelling names another scheme, or its parameters are wrong.
pub(crate) fn made<T>(
    entry: &Entry,
    spelling: &str,
    build: impl Fn(&mut Parameters) -> T,
) -> Result<T, SchemeError> {
    let (name, rest) = spelling.split_once(':').unwrap_or((spelling, ""));
    if name.trim() != entry.name {
        let hint = format!("; only {:?} has a model", entry.name);
        return Err(SchemeError::Unknown { name: name.to_string(), hint });
    }
    let problems = Problems::default();
    let given = entry.given(rest).into_iter();
    let pairs: Vec<(String, String)> = given.map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let section = Section::from_pairs(&format!("scheme {name}"), &pairs, &problems);
    let mut parameters = Parameters::new(section, &entry.parameters);
    let scheme = build(&mut parameters);
    parameters.finish();
    problems.finish(Some(scheme)).map_err(SchemeError::Parameters)
}
