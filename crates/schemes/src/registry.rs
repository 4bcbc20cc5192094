//! What the list of schemes has of each: its name, its parameters, and how it is made of them.

use thiserror::Error;
use wordline_device::config::{ConfigErrors, Problems, Section};
use wordline_ftl::Scheme;
use wordline_units::{Face, Listed, Message};

/// A parameter of a scheme, for listings.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key.
    pub key: &'static str,
    /// Its default.
    pub default: &'static str,
    /// What it means, with its unit and what is allowed.
    pub what: &'static str,
}

/// A scheme in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that users type.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// The text of its file, whose head documents it.
    pub docs: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// The parameter whose key may be left out where it comes first, as in `pa-ssd:QDS+UBS`.
    pub leading: Option<&'static str>,
    /// Makes it from its parameters.
    pub build: fn(&mut Section) -> Box<dyn Scheme>,
}

impl Entry {
    /// Keys and values of a spelling, without the scheme's name, as they are given.
    pub fn given<'a>(&self, parameters: &'a str) -> Vec<(&'a str, &'a str)> {
        let parts = parameters.split(',').map(str::trim).filter(|p| !p.is_empty());
        let pair = |(i, part): (usize, &'a str)| match (part.split_once('='), self.leading) {
            (Some((key, value)), _) => (key.trim(), value.trim()),
            (None, Some(key)) if i == 0 => (key, part),
            (None, _) => (part, ""),
        };
        parts.enumerate().map(pair).collect()
    }
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
                (Message::from(format!("there is no scheme {name:?}{hint}; "))
                    + Listed::Schemes.by()
                    + " names them all")
                    .on(face)
            }
            SchemeError::Parameters(e) => e.on(face),
        }
    }
}

/// What an entry makes of a spelling.
///
/// # Errors
/// When the spelling names another scheme, or its parameters are wrong.
pub(crate) fn made<T>(
    entry: &Entry,
    spelling: &str,
    build: impl Fn(&mut Section) -> T,
) -> Result<T, SchemeError> {
    let (name, rest) = spelling.split_once(':').unwrap_or((spelling, ""));
    if name.trim() != entry.name {
        let hint = format!("; {:?} is what has a model", entry.name);
        return Err(SchemeError::Unknown { name: name.to_string(), hint });
    }
    let problems = Problems::default();
    let given = entry.given(rest).into_iter();
    let pairs: Vec<(String, String)> = given.map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let mut section = Section::from_pairs(&format!("scheme {name}"), &pairs, &problems);
    let scheme = build(&mut section);
    section.finish();
    problems.finish(Some(scheme)).map_err(SchemeError::Parameters)
}
