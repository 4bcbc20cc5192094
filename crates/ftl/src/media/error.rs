//! Why media could not do what was asked of them, in words for the user.

use thiserror::Error;

/// The error of media that could not perform a request. A single pointer, so that success stays cheap.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}: {}; {}", .0.place, .0.what, .0.mend)]
pub struct MediaError(Box<MediaFailure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct MediaFailure {
    place: String,
    what: String,
    mend: String,
}

impl MediaError {
    /// Where it happened (the file, and the page or block), what happened, and how to fix it.
    #[cold]
    pub fn new(place: impl Into<String>, what: impl Into<String>, mend: impl Into<String>) -> MediaError {
        MediaError(Box::new(MediaFailure { place: place.into(), what: what.into(), mend: mend.into() }))
    }

    /// Where it happened.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What happened.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// How to fix it.
    pub fn mend(&self) -> &str {
        &self.0.mend
    }
}
