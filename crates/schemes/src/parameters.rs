//! Parameters of a scheme: each with its default, defined only in the scheme's entry; and how a scheme reads them.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wordline_device::config::{Section, closest};

/// A parameter of a scheme.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its key.
    pub key: Cow<'static, str>,
    /// Its default, as a user would spell it; or a word for an automatic default, such as `device`.
    pub default: Cow<'static, str>,
    /// Its meaning, with unit and allowed values.
    pub what: Cow<'static, str>,
}

impl Parameter {
    /// A parameter known at compile time.
    pub const fn new(key: &'static str, default: &'static str, what: &'static str) -> Parameter {
        Parameter { key: Cow::Borrowed(key), default: Cow::Borrowed(default), what: Cow::Borrowed(what) }
    }

    /// A parameter created at run time.
    pub fn owned(key: impl Into<String>, default: impl Into<String>, what: impl Into<String>) -> Parameter {
        let owned = |text: String| Cow::Owned(text);
        Parameter { key: owned(key.into()), default: owned(default.into()), what: owned(what.into()) }
    }

    /// The same with another default.
    #[must_use]
    pub fn or(self, default: &'static str) -> Parameter {
        Parameter { default: Cow::Borrowed(default), ..self }
    }
}

/// A value, and whether the user has set it: a default can be adapted to the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted<T> {
    /// The value, or the default.
    pub value: T,
    /// Whether it was set.
    pub is_given: bool,
}

/// Parameters of a scheme: the given values, and the defaults of its entry. An invalid value is noted with the
/// others, and the scheme is not created; what the methods return then is ignored.
#[derive(Debug)]
pub struct Parameters<'e, 'p> {
    section: Section<'p>,
    listed: &'e [Parameter],
}

impl<'e, 'p> Parameters<'e, 'p> {
    pub(crate) fn new(section: Section<'p>, listed: &'e [Parameter]) -> Parameters<'e, 'p> {
        Parameters { section, listed }
    }

    /// Refuse the keys that the scheme has not read.
    pub(crate) fn finish(self) {
        self.section.finish();
    }

    /// Whether a value was given.
    pub fn has(&self, key: &str) -> bool {
        self.section.has(key)
    }

    /// Note that a value is wrong, and why.
    pub fn refuse(&self, key: &str, why: impl Display) {
        self.section.refuse(key, why);
    }

    /// The default of a parameter. A parameter missing from the entry is a bug of the scheme, and noted.
    fn default_of(&self, key: &str) -> &'e str {
        match self.listed.iter().find(|p| p.key == key) {
            Some(parameter) => &parameter.default,
            None => {
                let near = closest(key, self.listed.iter().map(|p| &*p.key));
                let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                self.refuse(key, format!("the scheme reads it but its entry does not list it{hint}"));
                ""
            }
        }
    }

    /// The parsed value, else the default. An invalid default is a bug of the scheme, and noted.
    fn or_default<T: FromStr<Err: Display>>(&self, key: &str, read: Option<T>) -> Option<T> {
        let default = self.default_of(key);
        let parsed = || match default.parse() {
            Ok(value) => Some(value),
            Err(e) => {
                if !self.has(key) {
                    self.refuse(key, format!("invalid default {default:?}: {e}"));
                }
                None
            }
        };
        read.or_else(parsed)
    }

    /// The given value, if any, of a parameter with an automatic default.
    pub fn given<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        self.default_of(key);
        self.section.take(key)
    }

    /// A value of any type with a text form.
    pub fn take<T: FromStr<Err: Display> + Default>(&mut self, key: &str) -> T {
        let given = self.section.take(key);
        self.or_default(key, given).unwrap_or_default()
    }

    /// A value within limits.
    pub fn within<T>(&mut self, key: &str, limits: RangeInclusive<T>) -> T
    where
        T: FromStr<Err: Display> + PartialOrd + Display + Clone,
    {
        let least = limits.start().clone();
        let given = self.section.take_within(key, limits);
        self.or_default(key, given).unwrap_or(least)
    }

    /// A whole number within limits.
    pub fn whole(&mut self, key: &str, limits: RangeInclusive<u32>) -> u32 {
        let least = *limits.start();
        let given = self.section.whole(key, limits);
        self.or_default(key, given).unwrap_or(least)
    }

    /// One of a few words, each with its meaning.
    pub fn choice<T: Copy, const N: usize>(&mut self, key: &str, words: &[(&str, T); N]) -> T {
        const { assert!(N > 0, "a choice among no words") };
        let default = self.default_of(key);
        let meant = words.iter().find(|(word, _)| *word == default);
        if meant.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(key, format!("its default {default:?} is not one of {}", all.join(", ")));
        }
        self.section.choice(key, words, meant.map_or(words[0].1, |(_, value)| *value))
    }

    /// Whether the value, given or default, is a certain word: for those that can be `off`, or similar.
    pub fn is(&mut self, key: &str, word: &str) -> bool {
        let default = self.default_of(key);
        self.section.text(key).map_or(default == word, |text| text == word)
    }
}
