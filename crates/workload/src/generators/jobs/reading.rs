//! Parses the keys of a job file into jobs. Reports invalid values, and keys that are not supported.

use crate::generators::jobs::engines::{Engine, engine};
use crate::generators::jobs::ini::{JobText, Line, Section};
use crate::generators::jobs::job::Job;
use crate::generators::jobs::keys::{Standing, names, standing};
use crate::generators::jobs::spell::{KiloBase, bytes, flag};
use crate::generators::jobs::values::harmless;
use std::collections::BTreeMap;
use wordline_trace::{ErrorKind, Problem, did_you_mean};

/// The jobs of a file, and what a reader of their results should know.
pub(crate) fn jobs_of(file: &JobText, problems: &mut Vec<Problem>) -> (Vec<Job>, Vec<String>) {
    // Report an invalid line of [global] once, however many jobs inherit it.
    let (mut seen, mut remarks, mut unseen) = (vec![], vec![], vec![]);
    let asking: Vec<&str> =
        file.sections.iter().filter(|s| asks_a_drive(s)).map(|s| s.name.as_str()).collect();
    let of = |s| Reading::of(s, &asking, &mut seen, &mut remarks, &mut unseen);
    let jobs = file.sections.iter().map(of).collect();
    let mut unique: Vec<Problem> = vec![];
    for problem in seen {
        if !unique.contains(&problem) {
            unique.push(problem);
        }
    }
    problems.extend(unique);
    if !unseen.is_empty() {
        let keys = unseen.join(", ");
        remarks.push(format!("ignored fio keys, which do not affect a drive: {keys}."));
    }
    (jobs, remarks)
}

/// Whether the engine of a job uses a block device.
fn asks_a_drive(section: &Section) -> bool {
    let named = section.lines.iter().rev().find(|line| line.key == "ioengine");
    let engine = named.and_then(|line| line.value.as_deref()).and_then(engine);
    !matches!(engine, Some(Engine::Refused(_)))
}

pub(crate) struct Reading<'a> {
    pub lines: BTreeMap<&'static str, &'a Line>,
    /// Position of each key among the lines.
    pub order: BTreeMap<&'static str, usize>,
    pub kilo: KiloBase,
    /// The jobs of the file whose engines use a block device.
    pub asking: &'a [&'a str],
    pub problems: &'a mut Vec<Problem>,
    remarks: &'a mut Vec<String>,
}

impl<'a> Reading<'a> {
    fn of(
        section: &'a Section,
        asking: &'a [&'a str],
        problems: &'a mut Vec<Problem>,
        remarks: &'a mut Vec<String>,
        unseen: &mut Vec<&'static str>,
    ) -> Job {
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
        reading.job(section)
    }

    /// Note what a reader of the results should know, once.
    pub fn remark(&mut self, text: String) {
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
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
        let place = self.lines.get(key).map_or(String::new(), |l| l.place.clone());
        let what = format!("{key}: {what}");
        self.problems.push(Problem::new(ErrorKind::Option, place, what).allowed(allowed));
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
