//! The text of a job file: lines with `key=value` in sections. `[global]` holds defaults for the jobs after
//! it, `;` and `#` begin a comment, and `include FILE` inserts another file. `${NAME}` is replaced by the
//! value from the options or, as in fio, from the environment. Values from the environment are recorded,
//! because a report must suffice to repeat a run.

use crate::generators::jobs::keys::{JOB_OPTIONS, Standing, standing};
use sha2::{Digest, Sha256};
use std::path::Path;
use wordline_trace::options::Options;
use wordline_trace::{ErrorKind, Problem, WorkloadError, did_you_mean};

/// Maximum nesting depth of included files.
const INCLUDES_MAX: usize = 16;

/// A line of a job file.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub key: String,
    /// `None` if the line has no `=`.
    pub value: Option<String>,
    /// `file:line`, or the text of the option.
    pub place: String,
}

/// The lines of a job: those of `[global]`, its own, and those of the options, in this order.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub name: String,
    pub place: String,
    pub lines: Vec<Line>,
}

/// The contents of a job file.
pub(crate) struct JobText {
    pub sections: Vec<Section>,
    pub sha256: String,
    pub left_out: Vec<String>,
    /// Values of variables that come from the environment.
    pub environment: Vec<(String, String)>,
}

/// A line without comment and surrounding blanks.
fn bare(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim()
}

fn section_name(line: &str) -> Option<&str> {
    line.strip_prefix('[').and_then(|l| l.strip_suffix(']')).map(str::trim)
}

/// Whether the beginning of a file is that of a job file.
pub(crate) fn looks_like_jobs(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The end of `head` may split a character.
        Err(e) if e.valid_up_to() + 4 > head.len() => {
            std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let first = text.lines().map(bare).find(|l| !l.is_empty());
    first.is_some_and(|l| section_name(l).is_some_and(|n| !n.is_empty()) || l.starts_with("include "))
}

/// Whether a line sets a key that has no effect on a drive.
fn is_unseen(line: &str) -> bool {
    let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
    matches!(standing(key), Some((_, Standing::Unseen)))
}

struct Reader<'a> {
    global: Vec<Line>,
    sections: Vec<Section>,
    in_job: bool,
    begun: bool,
    variables: &'a [(String, String)],
    used: Vec<bool>,
    missing: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    hash: Sha256,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), WorkloadError> {
        let name = path.display().to_string();
        let fail = |what: String| WorkloadError::from(Problem::new(ErrorKind::Io, name.clone(), what));
        let bytes = std::fs::read(path).map_err(|e| fail(format!("the file cannot be read: {e}")))?;
        self.text(path, bytes, depth)
    }

    fn text(&mut self, path: &Path, bytes: Vec<u8>, depth: usize) -> Result<(), WorkloadError> {
        let name = path.display().to_string();
        let fail = |what: String| WorkloadError::from(Problem::new(ErrorKind::Io, name.clone(), what));
        self.hash.update(&bytes);
        let text = String::from_utf8(bytes).map_err(|e| fail(format!("not valid UTF-8: {e}")))?;
        for (number, line) in text.lines().enumerate() {
            let line = bare(line);
            let place = format!("{name}:{}", number + 1);
            if line.is_empty() {
                continue;
            }
            if let Some(file) = line.strip_prefix("include ") {
                let file = Path::new(file.trim());
                let beside = path.parent().unwrap_or(Path::new("")).join(file);
                let found = if beside.is_file() { beside } else { file.to_path_buf() };
                if depth == INCLUDES_MAX {
                    let what = format!("files include each other more than {INCLUDES_MAX} deep");
                    return Err(Problem::new(ErrorKind::Content, place, what).into());
                }
                let bytes = std::fs::read(&found).map_err(|e| {
                    let what = format!("include: {}: the file cannot be read: {e}", found.display());
                    Problem::new(ErrorKind::Io, place, what)
                        .allowed("a path beside the job file or from the working directory")
                })?;
                self.text(&found, bytes, depth + 1)?;
            } else if let Some(section) = section_name(line) {
                self.section(section, place);
            } else {
                self.line(line, place);
            }
        }
        Ok(())
    }

    fn section(&mut self, name: &str, place: String) {
        self.begun = true;
        self.in_job = !name.eq_ignore_ascii_case("global");
        if name.is_empty() {
            self.problems.push(
                Problem::new(ErrorKind::Content, place.clone(), "a section without a name")
                    .allowed("[global] or a job's name in brackets"),
            );
        }
        if self.in_job {
            self.sections.push(Section { name: name.to_string(), place, lines: self.global.clone() });
        }
    }

    fn line(&mut self, line: &str, place: String) {
        if !self.begun {
            self.problems.push(
                Problem::new(ErrorKind::Content, place, "a line before the first section")
                    .allowed("[global] or a job's name in brackets first"),
            );
            return;
        }
        let line = self.expanded(line, &place);
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim().to_string(), Some(value.trim().to_string())),
            None => (line, None),
        };
        let line = Line { key, value, place };
        match self.sections.last_mut() {
            Some(job) if self.in_job => job.lines.push(line),
            _ => self.global.push(line),
        }
    }

    /// The line with each `${NAME}` replaced.
    fn expanded(&mut self, line: &str, place: &str) -> String {
        let (mut out, mut rest) = (String::new(), line);
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else { break };
            let name = &rest[start + 2..start + length];
            out += &rest[..start];
            match self.variables.iter().position(|(k, _)| k == name) {
                Some(at) => {
                    self.used[at] = true;
                    out += &self.variables[at].1;
                }
                None => match std::env::var(name) {
                    Ok(value) => {
                        out += &value;
                        if self.environment.iter().all(|(known, _)| known != name) {
                            self.environment.push((name.to_string(), value));
                        }
                    }
                    // As in fio, keys without effect on a drive may be left empty.
                    Err(_) if is_unseen(line) => {}
                    Err(_) => self.missing.push((name.to_string(), place.to_string())),
                },
            }
            rest = &rest[start + length + 1..];
        }
        out + rest
    }
}

impl JobText {
    /// Reads a file and its includes, and applies the options.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(
        path: &str,
        content: Option<Vec<u8>>,
        options: &str,
        problems: &mut Vec<Problem>,
    ) -> Result<JobText, WorkloadError> {
        let given = Options::parse(path, options);
        let pairs = given.pairs().to_vec();
        problems.extend(given.into_problems());
        let mut reader = Reader {
            global: vec![],
            sections: vec![],
            in_job: false,
            begun: false,
            used: vec![false; pairs.len()],
            variables: &pairs,
            missing: vec![],
            environment: vec![],
            hash: Sha256::new(),
            problems,
        };
        match content {
            Some(bytes) => reader.text(Path::new(path), bytes, 0)?,
            None => reader.file(Path::new(path), 0)?,
        }
        let Reader { mut sections, global, used, missing, environment, hash, .. } = reader;
        for (name, place) in missing {
            let what = format!("${{{name}}} is neither set nor in the environment");
            problems.push(
                Problem::new(ErrorKind::Content, place, what)
                    .hint(format!("set it after the file name, {path}:{name}=VALUE")),
            );
        }
        let place = |key: &str, value: &str| format!("{path}:{key}={value}");
        let mut left_out = vec![];
        let names: Vec<String> = sections.iter().map(|s| s.name.clone()).collect();
        for ((key, value), used) in pairs.iter().zip(used) {
            match key.as_str() {
                "section" => {
                    for wanted in value.split('+').filter(|w| !names.iter().any(|n| n == w)) {
                        let hint = did_you_mean(wanted, names.iter().map(String::as_str));
                        let what = format!("unknown job {wanted:?}");
                        problems.push(
                            Problem::new(ErrorKind::Option, place(key, value), what)
                                .allowed(names.join(", "))
                                .hint(hint),
                        );
                    }
                    sections.retain(|s| value.split('+').any(|w| w == s.name));
                }
                "ignore" => left_out.extend(value.split('+').map(str::to_string)),
                _ if standing(key).is_some() => {
                    let line =
                        Line { key: key.clone(), value: Some(value.clone()), place: place(key, value) };
                    sections.iter_mut().for_each(|s| s.lines.push(line.clone()));
                }
                _ if used => {}
                _ => {
                    let known =
                        crate::generators::jobs::keys::names().chain(JOB_OPTIONS.iter().map(|o| o.key));
                    let what = format!(
                        "{key:?} is neither an option, nor a key of fio, nor a ${{{key}}} of the file"
                    );
                    problems.push(
                        Problem::new(ErrorKind::Option, place(key, value), what)
                            .allowed("section, ignore, or a key of fio (`wordline explain fio` lists them)")
                            .hint(did_you_mean(key, known)),
                    );
                }
            }
        }
        for key in &left_out {
            if standing(key).is_none() {
                let what = format!("ignore={key} is not a fio key");
                let hint = did_you_mean(key, crate::generators::jobs::keys::names());
                problems.push(
                    Problem::new(ErrorKind::Option, place("ignore", key), what)
                        .allowed("keys of fio (`wordline explain fio` lists them)")
                        .hint(hint),
                );
            }
        }
        for section in &mut sections {
            let first_name = |key: &str| standing(key).map(|s| s.0);
            section.lines.retain(|l| {
                !left_out.iter().any(|key| first_name(key) == first_name(&l.key) && first_name(key).is_some())
            });
        }
        if names.is_empty() {
            let what = if global.is_empty() { "no job found" } else { "no job besides [global]" };
            problems.push(
                Problem::new(ErrorKind::Empty, path, what).allowed("a section for each job, such as [job1]"),
            );
        }
        let sha256 = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(JobText { sections, sha256, left_out, environment })
    }
}
