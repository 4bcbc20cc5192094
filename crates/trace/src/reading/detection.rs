//! The beginning of a file, and the verdict of a format: that it matches, with confidence and reason, or what
//! does not match.

use crate::reading::lines::MARK;
use serde::Serialize;
use std::collections::BTreeMap;

/// Settings of a format's own parameters.
pub(crate) type Settings = BTreeMap<&'static str, String>;

/// How certain the format is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Some of the sample fits.
    Possible,
    /// The sample fits, and evidence contradicts every other interpretation.
    Likely,
    /// The sample fits a grammar that no other format shares.
    Certain,
    /// The user specified it.
    Told,
}

impl Confidence {
    /// The word for reports.
    pub const fn name(self) -> &'static str {
        ["possible", "likely", "certain", "as set"][self as usize]
    }
}

/// A format that fits a sample.
#[derive(Clone)]
pub(crate) struct Detection {
    pub confidence: Confidence,
    /// The reason, in a sentence.
    pub reason: String,
    /// Values of the format's own parameters, given or found.
    pub settings: Settings,
}

impl Detection {
    /// The detection with the given values.
    pub fn with(mut self, told: &Settings) -> Detection {
        self.settings.extend(told.iter().map(|(k, v)| (*k, v.clone())));
        self
    }
}

/// Why a format does not match, and how much of the sample did.
pub(crate) struct Miss {
    /// Share of the sample that fits, in per mille.
    pub fits: u64,
    /// The first mismatch.
    pub reason: String,
    /// The invalid option, if the content is not to blame.
    pub option: Option<OptionFault>,
}

impl Miss {
    /// A mismatch of the content.
    pub fn new(fits: u64, reason: impl Into<String>) -> Miss {
        Miss { fits, reason: reason.into(), option: None }
    }
}

/// An option with which a format cannot work.
pub(crate) struct OptionFault {
    pub key: &'static str,
    pub allowed: String,
}

/// The beginning of a file.
pub(crate) struct Sample<'a> {
    pub bytes: &'a [u8],
    /// Whether this is the whole file.
    pub complete: bool,
}

impl<'a> Sample<'a> {
    /// The sample up to the end of its last complete line, without a byte order mark; all of it if it has no lines.
    pub fn whole_lines(&self) -> &'a [u8] {
        let text = self.bytes.strip_prefix(MARK).unwrap_or(self.bytes);
        if self.complete {
            return text;
        }
        memchr::memrchr(b'\n', text).map_or(text, |at| &text[..at + 1])
    }

    /// The complete lines of the sample.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.whole_lines();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let at = memchr::memchr(b'\n', rest);
            let (line, next) = at.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + 1..]));
            rest = next;
            Some(line.strip_suffix(b"\r").unwrap_or(line))
        })
    }
}
