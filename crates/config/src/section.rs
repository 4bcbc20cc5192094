//! A table of a configuration, read key by key.

use crate::problem::{Place, Problems, closest};
use crate::tree::{self, Entry, Node};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A table whose keys are read one by one; [`Section::finish`] then reports those that were not read.
#[must_use = "call `finish`, which refuses unknown keys"]
#[derive(Debug)]
pub struct Section<'p> {
    path: String,
    place: Place,
    entries: Vec<Entry>,
    asked: Vec<String>,
    problems: &'p Problems,
}

impl<'p> Section<'p> {
    /// A whole TOML text after applying `overrides` (dotted path, value). The tables inside the table `named`
    /// are named items, which an override selects by name, number or `*`. `None` if the text is not TOML; the
    /// problems say why.
    pub fn from_toml(
        text: &str,
        origin: &str,
        overrides: &[(String, String)],
        named: &str,
        problems: &'p Problems,
    ) -> Option<Section<'p>> {
        let mut entries = tree::parse(text, origin, problems)?;
        for (path, value) in overrides {
            tree::set(&mut entries, path, value, named, problems);
        }
        Some(Section::new(String::new(), Place::File(origin.into()), entries, problems))
    }

    /// Keys and values given as arguments, for the item called `name`. Later values of a key replace earlier
    /// ones.
    pub fn from_pairs(name: &str, pairs: &[(String, String)], problems: &'p Problems) -> Section<'p> {
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in pairs {
            entries.retain(|e| e.key != *key);
            entries.push(Entry {
                key: key.clone(),
                place: Place::Argument(format!("{name}:{key}={value}").into()),
                node: Node::Scalar(value.clone()),
            });
        }
        Section::new(String::new(), Place::Argument(name.into()), entries, problems)
    }

    fn new(path: String, place: Place, entries: Vec<Entry>, problems: &'p Problems) -> Section<'p> {
        Section { path, place, entries, asked: Vec::new(), problems }
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    fn find(&mut self, key: &str) -> Option<&Entry> {
        if !self.asked.iter().any(|asked| asked == key) {
            self.asked.push(key.to_string());
        }
        self.entries.iter().find(|e| e.key == key)
    }

    /// The path of this section.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The place of a key, or of this section if the key is absent.
    pub fn place_of(&self, key: &str) -> Place {
        self.entries.iter().find(|e| e.key == key).map_or(&self.place, |e| &e.place).clone()
    }

    /// Whether a key is present.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key)
    }

    /// Whether a key was given as an argument, which can make others of the file meaningless.
    pub fn overrides(&self, key: &str) -> bool {
        self.has(key) && self.place_of(key).is_argument()
    }

    /// Report a problem with a key of this section.
    pub fn refuse(&self, key: &str, text: impl Display) {
        self.problems.add(&self.place_of(key), format!("{}: {text}", self.dotted(key)));
    }

    /// Report that a required key is missing.
    pub fn missing(&self, key: &str, example: &str) {
        let table = if self.path.is_empty() { String::new() } else { format!(" in [{}]", self.path) };
        self.problems.add(&self.place, format!("missing key {key:?}{table}, such as {key} = {example}"));
    }

    /// The text of a value, if the key is present.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let entry = self.find(key)?;
        match &entry.node {
            Node::Scalar(text) => Some(text.clone()),
            other => {
                let kind = other.kind();
                self.refuse(key, format!("expected a single value, not {kind}"));
                None
            }
        }
    }

    /// A value of any type with a text form, if the key is present and valid.
    pub fn take<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        let text = self.text(key)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(e) => {
                // Quantities name the text that they refuse; the standard library's numbers don't.
                let e = wordline_units::number_words(&e.to_string());
                let named = if e.contains(&text) { e } else { format!("{text:?}: {e}") };
                self.refuse(key, named);
                None
            }
        }
    }

    /// A value, or its default if the key is absent.
    pub fn take_or<T: FromStr<Err: Display>>(&mut self, key: &str, default: T) -> T {
        self.take(key).unwrap_or(default)
    }

    /// A value that must be there.
    pub fn require<T: FromStr<Err: Display>>(&mut self, key: &str, example: &str) -> Option<T> {
        if !self.has(key) {
            self.find(key);
            self.missing(key, example);
            return None;
        }
        self.take(key)
    }

    /// A value within limits, if the key is present and valid.
    pub fn take_within<T>(&mut self, key: &str, limits: RangeInclusive<T>) -> Option<T>
    where
        T: FromStr<Err: Display> + PartialOrd + Display,
    {
        let value = self.take(key)?;
        if limits.contains(&value) {
            return Some(value);
        }
        self.refuse(key, format!("{value:#} is not between {:#} and {:#}", limits.start(), limits.end()));
        None
    }

    /// A whole number within limits, if the key is present and valid.
    pub fn whole(&mut self, key: &str, limits: RangeInclusive<u32>) -> Option<u32> {
        let text = self.text(key)?;
        match text.parse::<u64>() {
            Ok(n) if n >= *limits.start() as u64 && n <= *limits.end() as u64 => Some(n as u32),
            _ => {
                let range = format!("{} to {}", limits.start(), limits.end());
                self.refuse(key, format!("{text:?} is not a whole number from {range}"));
                None
            }
        }
    }

    /// A required whole number within limits.
    pub fn require_whole(&mut self, key: &str, limits: RangeInclusive<u32>) -> Option<u32> {
        if !self.has(key) {
            self.find(key);
            self.missing(key, &limits.start().max(&1).to_string());
            return None;
        }
        self.whole(key, limits)
    }

    /// One of a few words, or the default if the key is absent.
    pub fn choice<T: Copy>(&mut self, key: &str, words: &[(&str, T)], default: T) -> T {
        let Some(text) = self.text(key) else { return default };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return *value;
        }
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = closest(&text.to_lowercase(), all.iter().copied())
            .map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        self.refuse(key, format!("{text:?} is not one of {}{hint}", all.join(", ")));
        default
    }

    /// One value or a list (also as text with commas, as in an argument).
    pub fn take_list<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<Vec<T>> {
        let entry = self.find(key)?;
        let texts: Vec<String> = match &entry.node {
            Node::Scalar(text) => text.split(',').map(|t| t.trim().to_string()).collect(),
            Node::List(texts) => texts.clone(),
            other => {
                let kind = other.kind();
                self.refuse(key, format!("expected a value or a list, not {kind}"));
                return None;
            }
        };
        let mut values = Vec::with_capacity(texts.len());
        for text in &texts {
            match text.parse() {
                Ok(value) => values.push(value),
                Err(e) => self.refuse(key, e),
            }
        }
        (values.len() == texts.len()).then_some(values)
    }

    /// The table of a key, if present. The word `off` stands for no table.
    pub fn section(&mut self, key: &str) -> Option<Section<'p>> {
        self.find(key);
        let index = self.entries.iter().position(|e| e.key == key)?;
        match &self.entries[index].node {
            Node::Table(_) => Some(self.child(index)),
            Node::Scalar(text) if text == "off" => None,
            other => {
                let kind = other.kind();
                self.refuse(key, format!("expected a table, not {kind}; write [{key}] above its keys"));
                None
            }
        }
    }

    /// The table of a key, or an empty one.
    pub fn section_or_empty(&mut self, key: &str) -> Section<'p> {
        self.section(key)
            .unwrap_or_else(|| Section::new(self.dotted(key), self.place.clone(), Vec::new(), self.problems))
    }

    /// The tables of a section whose keys are names, in file order.
    pub fn named_sections(self) -> Vec<(String, Section<'p>)> {
        let mut all = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if let Node::Table(_) = entry.node {
                all.push((entry.key.clone(), self.child(index)));
            } else {
                let path = self.dotted(&entry.key);
                self.refuse(
                    &entry.key,
                    format!("expected a table, not {}; write [{path}]", entry.node.kind()),
                );
            }
        }
        all
    }

    fn child(&self, index: usize) -> Section<'p> {
        let entry = &self.entries[index];
        let entries = match &entry.node {
            Node::Table(entries) => entries.clone(),
            _ => Vec::new(),
        };
        Section::new(self.dotted(&entry.key), entry.place.clone(), entries, self.problems)
    }

    /// Refuse every key that nobody asked for.
    pub fn finish(self) {
        self.finish_unless_elsewhere(|_| None);
    }

    /// The same; `elsewhere` knows the path of a key that belongs in another table.
    pub fn finish_unless_elsewhere(self, elsewhere: impl Fn(&str) -> Option<String>) {
        for entry in self.entries.iter().filter(|e| !self.asked.contains(&e.key)) {
            let near = closest(&entry.key, self.asked.iter().map(String::as_str)).map(str::to_string);
            let hint = match near.or_else(|| elsewhere(&entry.key)) {
                Some(near) => format!("did you mean {near:?}?"),
                None if self.asked.is_empty() => "no keys are allowed here".to_string(),
                None => format!("allowed keys: {}", self.asked.join(", ")),
            };
            self.problems.add(&entry.place, format!("unknown key {:?}; {hint}", entry.key));
        }
    }
}
