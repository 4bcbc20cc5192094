//! All keys of fio that Wordline knows: what each means here, that it has no effect on a drive, or why it is
//! not supported. The parser, `explain` and lab/results/fio-keys.md all use the list in `keys.txt`.

use std::sync::LazyLock;
use wordline_trace::Parameter;
use wordline_trace::options::value;

/// How Wordline treats a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is supported, with this meaning.
    Honoured(&'static str),
    /// It is accepted without effect, because it does not concern a drive.
    Unseen,
    /// It is not supported: why, and what to do.
    Refused(&'static str),
}

/// A key of a job file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobKey {
    /// All its names, starting with the one that fio prints.
    pub names: Vec<&'static str>,
    /// How Wordline treats it.
    pub standing: Standing,
}

/// Options after the name of a job file, other than keys of fio, which apply to every job.
pub const JOB_OPTIONS: &[Parameter] = &[
    value("section", "name", "all", "names joined by +", "runs these jobs only"),
    value("ignore", "key", "none", "keys joined by +", "skips keys that are not supported"),
];

const TEXT: &str = include_str!("keys.txt");

static KEYS: LazyLock<Vec<JobKey>> = LazyLock::new(|| {
    let (mut section, mut keys) = ("", vec![]);
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (names, about) = line.split_once(" | ").unwrap_or((line, ""));
        let standing = match section {
            "[honoured]" => Standing::Honoured(about),
            "[refused]" => Standing::Refused(about),
            _ => Standing::Unseen,
        };
        if line.starts_with('[') {
            section = line;
        } else {
            keys.extend(
                names.split(", ").map(|names| JobKey { names: names.split(' ').collect(), standing }),
            );
        }
    }
    keys
});

/// All keys: supported ones first, then those without effect on a drive.
pub fn job_keys() -> impl Iterator<Item = &'static JobKey> {
    KEYS.iter()
}

/// A key by any of its names: its first name, and how it is treated.
pub(crate) fn standing(key: &str) -> Option<(&'static str, Standing)> {
    job_keys().find(|k| k.names.contains(&key)).map(|k| (k.names[0], k.standing))
}

/// All names of all keys.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    job_keys().flat_map(|k| k.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_keys() {
        let mut all: Vec<&str> = names().collect();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|w| w[0] == w[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn every_key_has_a_name_and_a_sentence_if_needed() {
        for key in job_keys() {
            let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            assert!(
                key.names.iter().all(|name| !name.is_empty()) && key.names.iter().all(is_name),
                "{key:?}"
            );
            if let Standing::Honoured(about) | Standing::Refused(about) = key.standing {
                assert!(!about.is_empty(), "{key:?}");
            }
        }
    }
}
