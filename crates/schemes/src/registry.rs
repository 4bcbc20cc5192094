//! The schemes that there are, as a value: those of the literature, and what a caller adds. A scheme is spelled `NAME` or
//! `NAME:key=value,...`, and one over another `FRONT+DENSE`, each with its parameters.

use crate::SCHEMES;
use crate::parameters::{Parameter, Parameters};
use crate::stacked::Stacked;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, LazyLock};
use thiserror::Error;
use wordline_device::config::{ConfigErrors, Problems, Section, closest};
use wordline_ftl::Scheme;
use wordline_units::{Face, Listed, Message};

/// Makes a scheme from its parameters.
type Build = dyn Fn(&mut Parameters) -> Box<dyn Scheme> + Send + Sync;

/// A scheme in the registry.
#[derive(Clone)]
pub struct Entry {
    /// The name that users type: small letters, digits and hyphens, a letter first.
    pub name: Cow<'static, str>,
    /// One line for people.
    pub title: Cow<'static, str>,
    /// The text of its file, whose head documents it; empty where there is none.
    pub docs: Cow<'static, str>,
    /// What can be set.
    pub parameters: Vec<Parameter>,
    /// The parameter whose key may be left out where it comes first, as in `pa-ssd:QDS+UBS`.
    pub leading: Option<Cow<'static, str>>,
    build: Arc<Build>,
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
            title: title.into(),
            docs: Cow::Borrowed(""),
            parameters: vec![],
            leading: None,
            build: Arc::new(build),
        }
    }

    /// The same with its documentation: the text of its file.
    #[must_use]
    pub fn docs(self, docs: impl Into<Cow<'static, str>>) -> Entry {
        Entry { docs: docs.into(), ..self }
    }

    /// The same with a further parameter.
    #[must_use]
    pub fn takes(mut self, parameter: Parameter) -> Entry {
        self.parameters.push(parameter);
        self
    }

    /// The same with a parameter whose key may be left out where it comes first.
    #[must_use]
    pub fn leading(self, key: impl Into<Cow<'static, str>>) -> Entry {
        Entry { leading: Some(key.into()), ..self }
    }

    /// Keys and values of a spelling, without the scheme's name, as they are given.
    pub fn given<'a>(&'a self, parameters: &'a str) -> Vec<(&'a str, &'a str)> {
        let parts = parameters.split(',').map(str::trim).filter(|p| !p.is_empty());
        let pair = |(i, part): (usize, &'a str)| match (part.split_once('='), &self.leading) {
            (Some((key, value)), _) => (key.trim(), value.trim()),
            (None, Some(key)) if i == 0 => (&**key, part),
            (None, _) => (part, ""),
        };
        parts.enumerate().map(pair).collect()
    }

    /// What is wrong with its names, if anything is.
    fn fault(&self) -> Option<String> {
        if !is_word(&self.name, '-') {
            let allowed = "a name begins with a small letter; small letters, digits and hyphens follow";
            return Some(format!("the name is {:?}\n  allowed: {allowed}", self.name));
        }
        let mut keys = BTreeSet::new();
        for Parameter { key, .. } in &self.parameters {
            if !is_word(key, '_') {
                let allowed =
                    "a key begins with a small letter; small letters, digits and underscores follow";
                return Some(format!("a parameter is called {key:?}\n  allowed: {allowed}"));
            }
            if !keys.insert(key) {
                return Some(format!("two parameters are called {key:?}\n  allowed: each key once"));
            }
        }
        let leading = self.leading.as_ref().filter(|key| !keys.contains(key))?;
        let all: Vec<&str> = self.parameters.iter().map(|p| &*p.key).collect();
        Some(format!("{leading:?} leads, and is no parameter\n  allowed: one of {}", all.join(", ")))
    }
}

/// Whether a text is what a user can type for a name: small letters, digits and one further sign, a letter first.
fn is_word(text: &str, sign: char) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == sign)
}

/// An entry that a registry does not take.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("scheme {name:?} cannot be registered: {why}")]
pub struct RegistryError {
    /// Its name.
    pub name: String,
    /// Why, and what is allowed.
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
                (Message::from(format!("there is no scheme {name:?}{hint}; "))
                    + Listed::Schemes.by()
                    + " names them all")
                    .on(face)
            }
            SchemeError::Parameters(e) => e.on(face),
        }
    }
}

/// Schemes by their names, in an order for listings. A copy shares its entries.
#[derive(Clone, Debug)]
pub struct Registry(Arc<Vec<Entry>>);

/// Two are equal that list the same names.
impl PartialEq for Registry {
    fn eq(&self, other: &Registry) -> bool {
        self.names().eq(other.names())
    }
}

impl Eq for Registry {}

/// The schemes of the literature.
impl Default for Registry {
    fn default() -> Registry {
        Registry::standard()
    }
}

static STANDARD: LazyLock<Registry> =
    LazyLock::new(|| Registry(Arc::new(SCHEMES.iter().map(|entry| entry()).collect())));

impl Registry {
    /// The schemes of the literature, in its order.
    pub fn standard() -> Registry {
        STANDARD.clone()
    }

    /// No schemes.
    pub fn empty() -> Registry {
        Registry(Arc::default())
    }

    /// The same with a further scheme, behind all others.
    ///
    /// # Errors
    /// When there is one of that name, or a name or key is none that can be typed; the error says what is allowed.
    pub fn with(mut self, entry: Entry) -> Result<Registry, RegistryError> {
        let taken = || format!("there is one of that name\n  allowed: any but {}", self.list());
        let fault = entry.fault().or_else(|| self.names().any(|name| name == entry.name).then(taken));
        if let Some(why) = fault {
            return Err(RegistryError { name: entry.name.into_owned(), why });
        }
        Arc::make_mut(&mut self.0).push(entry);
        Ok(self)
    }

    /// Every scheme there is.
    pub fn all(&self) -> &[Entry] {
        &self.0
    }

    /// The names of all.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| &*entry.name)
    }

    fn list(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// When no scheme has it; the error offers the closest.
    pub fn find(&self, name: &str) -> Result<&Entry, SchemeError> {
        self.0.iter().find(|e| e.name == name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> SchemeError {
        let hint = closest(name, self.names());
        SchemeError::Unknown {
            name: name.to_string(),
            hint: hint.map_or(String::new(), |c| format!("; did you mean {c:?}?")),
        }
    }

    /// The schemes of a spelling, front first, each with its part of it. One begins behind a `+` that a small
    /// letter follows: in `turbo-write+pa-ssd:QDS+UBS` two.
    ///
    /// # Errors
    /// When there is no such scheme.
    pub fn layers<'a>(&'a self, spelling: &'a str) -> Result<Vec<(&'a Entry, &'a str)>, SchemeError> {
        let small = |i: &usize| spelling[*i..].starts_with(|c: char| c.is_ascii_lowercase());
        let mut begins = vec![0];
        begins.extend(spelling.match_indices('+').map(|(plus, _)| plus + 1).filter(small));
        let ends = begins.iter().skip(1).map(|begin| begin - 1).chain([spelling.len()]);
        let layer = |(begin, end): (&usize, usize)| {
            let part = &spelling[*begin..end];
            Ok((self.find(part.split(':').next().unwrap_or_default().trim())?, part))
        };
        begins.iter().zip(ends).map(layer).collect()
    }

    /// A scheme from its spelling, `NAME` or `NAME:key=value,...`, or `FRONT+DENSE` of such; the key of a leading
    /// parameter may be left out, as in `pa-ssd:QDS+UBS`.
    ///
    /// # Errors
    /// When there is no such scheme, or its parameters are wrong; every problem is named.
    pub fn build(&self, spelling: &str) -> Result<Box<dyn Scheme>, SchemeError> {
        let mut built: Option<Box<dyn Scheme>> = None;
        for (entry, part) in self.layers(spelling)?.into_iter().rev() {
            let scheme = made(entry, part, &*entry.build)?;
            built = Some(match built {
                None => scheme,
                Some(dense) => Box::new(Stacked::new(scheme, dense)),
            });
        }
        built.ok_or_else(|| self.unknown(spelling))
    }
}

/// Every scheme of the literature, in its order.
pub fn all() -> &'static [Entry] {
    STANDARD.all()
}

/// As [`Registry::find`], of the schemes of the literature.
///
/// # Errors
/// As there.
pub fn find(name: &str) -> Result<&'static Entry, SchemeError> {
    STANDARD.find(name)
}

/// As [`Registry::layers`], of the schemes of the literature.
///
/// # Errors
/// As there.
pub fn layers(spelling: &str) -> Result<Vec<(&Entry, &str)>, SchemeError> {
    STANDARD.layers(spelling)
}

/// As [`Registry::build`], of the schemes of the literature.
///
/// # Errors
/// As there.
pub fn build(spelling: &str) -> Result<Box<dyn Scheme>, SchemeError> {
    STANDARD.build(spelling)
}

/// What an entry makes of a spelling.
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
        let hint = format!("; {:?} is what has a model", entry.name);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::my_scheme;
    use wordline_ftl::{DriveInfo, Hooks};

    /// The schemes, and the one that CONTRIBUTING.md shows.
    fn all_and_sample() -> Vec<Entry> {
        all().iter().cloned().chain([my_scheme::entry()]).collect()
    }

    #[test]
    fn every_scheme_file_opens_with_the_same_headings() {
        const HEADINGS: [&str; 9] = [
            "Source",
            "Idea",
            "Algorithm",
            "Symbols",
            "Parameters",
            "Differs",
            "Not modelled",
            "Checked by",
            "",
        ];
        for entry in all_and_sample() {
            let found: Vec<&str> = entry
                .docs
                .lines()
                .take_while(|l| l.starts_with("//!"))
                .filter_map(|l| l.strip_prefix("//! ## "))
                .collect();
            assert_eq!(found, HEADINGS[..8], "{}", entry.name);
        }
    }

    #[test]
    fn every_step_of_an_algorithm_is_marked_in_the_code() {
        for entry in all_and_sample() {
            let steps = entry
                .docs
                .lines()
                .filter_map(|l| l.strip_prefix("//! ")?.split_once(". ")?.0.parse::<u32>().ok());
            for step in steps {
                let mark = format!("({step})");
                assert!(
                    entry.docs.lines().any(|l| l.split_once("//").is_some_and(|(code, note)| {
                        !code.trim().is_empty() && note.contains(&mark)
                            || (code.trim().is_empty() && note.starts_with(' ') && note.contains(&mark))
                    })),
                    "{} does not mark step {step}",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn the_scheme_in_contributing_lays_out_a_drive() {
        let registry = Registry::standard().with(my_scheme::entry()).unwrap();
        let scheme = registry.build("my-scheme:grain=block").unwrap();
        let spec = wordline_device::builtin()[0].spec(&[]).unwrap();
        let geometry = spec.geometry().unwrap();
        let drive = DriveInfo { spec: &spec, geometry: &geometry, logical_pages: 1 };
        assert_eq!(scheme.clone().laid_out(&drive).unwrap().enabled_hooks, Hooks::IDLE);
    }

    #[test]
    fn one_scheme_stands_over_another() {
        fn names(spelling: &str) -> Vec<(&str, &str)> {
            layers(spelling).unwrap().into_iter().map(|(entry, part)| (&*entry.name, part)).collect()
        }
        assert_eq!(names("pa-ssd:QDS+UBS"), [("pa-ssd", "pa-ssd:QDS+UBS")]);
        let stacked = "turbo-write:static_blocks=3+pa-ssd:QDS+UBS,queue=4";
        assert_eq!(
            names(stacked),
            [("turbo-write", "turbo-write:static_blocks=3"), ("pa-ssd", "pa-ssd:QDS+UBS,queue=4")]
        );
        assert_eq!(build(stacked).unwrap().name(), "turbo-write+pa-ssd");
        let e = build("turbo-write+pa-sd:QDS").unwrap_err().to_string();
        assert!(e.contains("\"pa-sd\"; did you mean \"pa-ssd\""), "{e}");
        assert!(build("turbo-write+").is_err() && build("+ips").is_err());
    }

    #[test]
    fn a_wrong_name_or_parameter_is_met_with_the_closest() {
        let e = build("slc-cashe").unwrap_err().to_string();
        assert!(e.contains("did you mean \"slc-cache\""), "{e}");
        let e = build("slc-cache:when_ful=wait,static_blocks=x").unwrap_err().to_string();
        assert!(e.contains("when_full") && e.contains("static_blocks"), "{e}");
    }
}
