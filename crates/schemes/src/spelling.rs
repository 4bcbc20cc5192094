//! The schemes that there are, as a value: those of the literature, and what a caller adds. A scheme is spelled `NAME` or
//! `NAME:key=value,...`, and one over another `FRONT+DENSE`, each with its parameters.

use crate::SCHEMES;
use crate::registry::{Entry, RegistryError, SchemeError, made};
use crate::stacked::Stacked;
use std::sync::{Arc, LazyLock};
use wordline_device::config::closest;
use wordline_ftl::Scheme;

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

/// The prefix of a Python class as a scheme, and the error about it in a binary without Python.
const PYTHON: &str = "py";
const OF_PYTHON: &str = "; a Python class (py:FILE#CLASS) needs the wordline command that pip installs";

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
        let taken = || format!("duplicate name\n  allowed: any except {}", self.list());
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
        let near = || closest(name, self.names()).map(|c| format!("; did you mean {c:?}?"));
        let first = name.split(',').next().unwrap_or_default();
        let hint = match name {
            PYTHON => Some(OF_PYTHON.to_string()),
            "all" => Some("; compare and sweep take all-compatible".to_string()),
            _ if first != name && self.names().any(|known| known == first) => {
                Some("; run takes one scheme, compare takes several".to_string())
            }
            _ if wordline_device::find(name).is_some() => Some(format!("; {name} is a device")),
            _ if name.ends_with(".py") => Some(format!("; a class of a Python file is py:{name}#CLASS")),
            _ => near(),
        };
        SchemeError::Unknown { name: name.to_string(), hint: hint.unwrap_or_default() }
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

    /// A spelling as a command line has it, on which a class of Python is named by its file. One of schemes that there
    /// are not is given back as it is.
    pub fn typed(&self, spelling: &str) -> String {
        let Ok(layers) = self.layers(spelling) else { return spelling.to_string() };
        let typed = |(entry, part): (&Entry, &str)| match &entry.typed {
            None => part.to_string(),
            Some(typed) => part.find(':').map_or(typed.clone(), |at| format!("{typed}{}", &part[at..])),
        };
        layers.into_iter().map(typed).collect::<Vec<_>>().join("+")
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
    fn class_is_typed_by_file_alone_and_in_combinations() {
        let class = my_scheme::entry().typed("py:my+scheme.py#MyScheme".into());
        let registry = Registry::standard().with(class).unwrap();
        for (spelling, typed) in [
            ("my-scheme", "py:my+scheme.py#MyScheme"),
            ("my-scheme:grain=block+pa-ssd:QDS", "py:my+scheme.py#MyScheme:grain=block+pa-ssd:QDS"),
            ("ips+my-scheme", "ips+py:my+scheme.py#MyScheme"),
            ("slc-cache", "slc-cache"),
            ("nothing:a=b", "nothing:a=b"),
        ] {
            assert_eq!(registry.typed(spelling), typed);
        }
    }

    #[test]
    fn a_wrong_name_or_parameter_is_met_with_the_closest() {
        let e = build("slc-cashe").unwrap_err().to_string();
        assert!(e.contains("did you mean \"slc-cache\""), "{e}");
        let e = build("slc-cache:when_ful=wait,static_blocks=x").unwrap_err().to_string();
        assert!(e.contains("when_full") && e.contains("static_blocks"), "{e}");
    }
}
