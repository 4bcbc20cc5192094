//! Reads the keys of a section of a job file. Reports invalid values, and keys that are not supported.

use crate::generators::jobs::ini::{Line, Section};
use crate::generators::jobs::keys::{Standing, names, standing};
use crate::generators::jobs::spell::{KiloBase, bytes, flag};
use crate::generators::jobs::values::harmless;
use std::collections::BTreeMap;
use wordline_trace::{ErrorKind, Problem, did_you_mean};

/// The keys of a section being read.
pub(crate) struct Reading<'a> {
    lines: BTreeMap<&'static str, &'a Line>,
    /// Position of each key among the lines.
    order: BTreeMap<&'static str, usize>,
    kilo: KiloBase,
    asking: &'a [&'a str],
    problems: &'a mut Vec<Problem>,
    remarks: &'a mut Vec<String>,
}

impl<'a> Reading<'a> {
    pub fn of(
        section: &'a Section,
        asking: &'a [&'a str],
        problems: &'a mut Vec<Problem>,
        remarks: &'a mut Vec<String>,
        unseen: &mut Vec<&'static str>,
    ) -> Reading<'a> {
        let (lines, order, kilo) = (BTreeMap::new(), BTreeMap::new(), KiloBase::Binary);
        let mut reading = Reading { lines, order, kilo, asking, problems, remarks };
        for (at, line) in section.lines.iter().enumerate() {
            match standing(&line.key) {
                Some((name, standing @ (Standing::Honoured(_) | Standing::Unseen))) => {
                    if standing == Standing::Unseen && !unseen.contains(&name) {
                        unseen.push(name);
                    }
                    reading.lines.insert(name, line);
                    reading.order.insert(name, at);
                }
                Some((_, Standing::Refused(why))) if !harmless(line) => {
                    let what = format!("{} is not supported: {why}", line.key);
                    let hint = format!("or skip it for one run, after the file name: ignore={}", line.key);
                    reading.problems.push(Problem::new(ErrorKind::Option, &line.place, what).hint(hint));
                }
                Some(_) => {}
                None => {
                    let what = format!("{:?} is not a known fio key", line.key);
                    let hint = did_you_mean(&line.key, names());
                    reading.problems.push(
                        Problem::new(ErrorKind::Option, &line.place, what)
                            .allowed("the keys that `wordline explain fio` lists")
                            .hint(hint),
                    );
                }
            }
        }
        const BASES: [(&str, KiloBase); 2] = [("1024", KiloBase::Binary), ("1000", KiloBase::Thousand)];
        reading.kilo = reading.word("kb_base", &BASES, KiloBase::Binary);
        reading
    }

    /// Note what a reader of the results should know, once.
    pub fn remark(&mut self, text: String) {
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// The factor between units of size.
    pub fn kilo(&self) -> KiloBase {
        self.kilo
    }

    /// The jobs of the file whose engines use a block device.
    pub fn asking(&self) -> &'a [&'a str] {
        self.asking
    }

    /// The position of a key among the lines.
    pub fn order(&self, key: &str) -> Option<usize> {
        self.order.get(key).copied()
    }

    /// The keys with their values, as a report shows them.
    pub fn options(&self) -> BTreeMap<String, String> {
        let value = |line: &Line| line.value.clone().unwrap_or_else(|| "1".into());
        self.lines.iter().map(|(key, line)| (key.to_string(), value(line))).collect()
    }

    /// Number of problems so far, in all sections.
    pub fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Whether a key is given.
    pub fn has(&self, key: &str) -> bool {
        self.lines.contains_key(key)
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.lines.get(key).and_then(|l| l.value.as_deref())
    }

    pub fn reject(&mut self, key: &str, what: String, allowed: &str) {
        self.reject_with_hint(key, what, allowed, String::new());
    }

    pub fn reject_with_hint(&mut self, key: &str, what: String, allowed: &str, hint: String) {
        let place = self.lines.get(key).map_or(String::new(), |l| l.place.clone());
        let what = format!("{key}: {what}");
        self.problems.push(Problem::new(ErrorKind::Option, place, what).allowed(allowed).hint(hint));
    }

    /// The parsed value of a key, or its default.
    pub fn get<T>(
        &mut self,
        key: &'static str,
        default: T,
        allowed: &str,
        of: impl Fn(&str, KiloBase) -> Result<T, String>,
    ) -> T {
        let Some(line) = self.lines.get(key) else { return default };
        let Some(text) = line.value.as_deref().filter(|v| !v.is_empty()) else {
            self.reject(key, "it has no value".into(), allowed);
            return default;
        };
        match of(text, self.kilo) {
            Ok(value) => value,
            Err(what) => {
                self.reject(key, what, allowed);
                default
            }
        }
    }

    pub fn flag(&mut self, key: &'static str, default: bool) -> bool {
        let Some(line) = self.lines.get(key) else { return default };
        flag(line.value.as_deref()).unwrap_or_else(|what| {
            self.reject(key, what, "0 or 1");
            default
        })
    }

    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)], default: T) -> T {
        let list: Vec<&str> = words.iter().map(|w| w.0).collect();
        self.get(key, default, &list.join(", "), |text, _| {
            let found = words.iter().find(|w| w.0 == text).map(|w| w.1);
            found.ok_or_else(|| format!("{text:?} is not an allowed word"))
        })
    }

    pub fn number(&mut self, key: &'static str, default: u64, allowed: std::ops::RangeInclusive<u64>) -> u64 {
        let text = format!("{} to {}", allowed.start(), allowed.end());
        self.get(key, default, &text, |text, kilo| {
            let n = bytes(text, kilo)?;
            if allowed.contains(&n) { Ok(n) } else { Err(format!("{n} is out of range")) }
        })
    }
}
