//! Values that are spelled in their own way.

use serde::ser::{Error, Serializer};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use wordline_units::{CellMode, Count};

/// A kind of cells by its word.
pub(crate) fn cell(text: &str) -> Result<CellMode, String> {
    let found = CellMode::ALL.into_iter().find(|mode| mode.key() == text.to_lowercase());
    found.ok_or_else(|| format!("{text:?} is not one of slc, mlc, tlc, qlc"))
}

/// `KEY=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("expected KEY=VALUE, as in gc.victim=fifo".to_string()),
    }
}

/// Schemes separated by commas: `conventional,slc-cache:cache=1GiB,idle=2s`, where a comma before `key=` separates
/// the parameters of one scheme.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schemes(Vec<String>);

impl FromStr for Schemes {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Schemes, Infallible> {
        let mut all: Vec<String> = vec![];
        for part in text.split(',') {
            let head = part.split([':', '+']).next().unwrap_or_default();
            let is_name = !head.is_empty() && head.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
            match all.last_mut() {
                Some(before) if !is_name => *before += &format!(",{part}"),
                _ => all.push(part.to_string()),
            }
        }
        Ok(Schemes(all))
    }
}

impl Schemes {
    /// Those of every occurrence of an option, in order.
    pub fn all(given: &[Schemes]) -> Vec<String> {
        given.iter().flat_map(|s| s.0.iter().cloned()).collect()
    }
}

/// The schemes as one list.
pub(crate) fn listed<S: Serializer>(given: &[Schemes], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(Schemes::all(given))
}

/// A count as a number.
pub(crate) fn number<S: Serializer>(count: &Option<Count>, to: S) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) => to.serialize_u64(count.0),
        None => to.serialize_none(),
    }
}

/// A path as a text, or why it is none.
pub(crate) fn text_of(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{}: not valid UTF-8", path.display()))
}

/// Serialize a path as text; an error if it is not valid UTF-8.
pub(crate) fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text_of(path).map_err(S::Error::custom)?)
}

/// The same, where it may be missing.
pub(crate) fn maybe_path<S: Serializer>(given: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match given {
        Some(given) => path(given, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_split_schemes_but_not_their_parameters() {
        let of = |text: &str| Schemes::all(&[text.parse().unwrap()]);
        assert_eq!(of("conventional,slc-cache"), ["conventional", "slc-cache"]);
        assert_eq!(
            of("slc-cache:a=1,b=2,sector+ips-agc:c=3,d=x"),
            ["slc-cache:a=1,b=2", "sector+ips-agc:c=3,d=x"]
        );
        assert_eq!(of("py:my_file.py#Small,conventional"), ["py:my_file.py#Small", "conventional"]);
        assert_eq!(of("py:a,b/c_d.py#S"), ["py:a,b/c_d.py#S"]);
        let twice: Vec<Schemes> = ["a,b", "c"].iter().map(|t| t.parse().unwrap()).collect();
        assert_eq!(Schemes::all(&twice), ["a", "b", "c"]);
    }
}
