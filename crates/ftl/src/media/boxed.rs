//! Media of whatever kind, or none: what a drive holds of them, and the one place where their owner gets them back by type.

use crate::file::saved::{Loader, Saved, Saver};
use crate::file::state_file::StateError;
use crate::media::error::MediaError;
use crate::media::seam::{Media, Metadata};
use std::any::Any;
use std::{fmt, io};
use thiserror::Error;

/// Media of any type, or none for a simulation, which needs only times and counts.
#[derive(Default)]
pub struct BoxedMedia {
    media: Option<Box<dyn Media>>,
    keeps_bytes: bool,
}

/// The media of a drive are of another type than requested.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the drive has {has}, not {wanted}; use the media it was created with")]
pub struct OtherMedia {
    has: &'static str,
    wanted: &'static str,
}

impl<M: Media> From<M> for BoxedMedia {
    fn from(media: M) -> BoxedMedia {
        BoxedMedia { keeps_bytes: media.keeps_bytes(), media: Some(Box::new(media)) }
    }
}

impl BoxedMedia {
    /// No media: nothing is stored.
    pub const fn none() -> BoxedMedia {
        BoxedMedia { media: None, keeps_bytes: false }
    }

    /// Whether the version of each page must be read back from its place: with any media.
    #[inline(always)]
    pub fn keeps_metadata(&self) -> bool {
        self.media.is_some()
    }

    /// Whether pages carry bytes. If not, pages are not copied.
    #[inline(always)]
    pub fn keeps_bytes(&self) -> bool {
        self.keeps_bytes
    }

    /// The media, whatever their type.
    pub fn as_deref(&self) -> Option<&dyn Media> {
        self.media.as_deref()
    }

    /// The same, mutable.
    pub fn as_deref_mut(&mut self) -> Option<&mut dyn Media> {
        self.media.as_deref_mut()
    }

    /// The media by their type.
    ///
    /// # Errors
    /// When they are of another type, or there are none.
    pub fn get<M: Media>(&self) -> Result<&M, OtherMedia> {
        let other = self.other::<M>();
        self.as_deref().and_then(|media| (media as &dyn Any).downcast_ref()).ok_or(other)
    }

    /// The same, mutable.
    ///
    /// # Errors
    /// When they are of another type, or there are none.
    pub fn get_mut<M: Media>(&mut self) -> Result<&mut M, OtherMedia> {
        let other = self.other::<M>();
        self.as_deref_mut().and_then(|media| (media as &mut dyn Any).downcast_mut()).ok_or(other)
    }

    fn other<M: Media>(&self) -> OtherMedia {
        OtherMedia { has: self.name(), wanted: std::any::type_name::<M>() }
    }

    fn name(&self) -> &'static str {
        self.as_deref().map_or("no media", Media::name)
    }

    /// The metadata from which a drive recovers, if the media keep them.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.as_deref().and_then(Media::metadata)
    }

    /// A copy that shares the current contents; later writes to either are invisible to the other.
    ///
    /// # Errors
    /// When there is no space for a copy.
    pub fn fork(&self) -> Result<BoxedMedia, MediaError> {
        let media = self.as_deref().map(Media::fork).transpose()?;
        Ok(BoxedMedia { media, keeps_bytes: self.keeps_bytes })
    }
}

impl fmt::Debug for BoxedMedia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Into media of the same kind: whether there are any is saved with them.
impl Saved for BoxedMedia {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.value(&self.media.is_some())?;
        self.as_deref().map_or(Ok(()), |media| media.save(to))
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        if from.value::<bool>("media")? != self.media.is_some() {
            return Err(from.other("media"));
        }
        self.as_deref_mut().map_or(Ok(()), |media| media.load(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::bytes::Bytes;

    #[test]
    fn owner_gets_its_media_back_or_an_error_lists_kinds() {
        let mut media = BoxedMedia::from(Bytes::default());
        assert!(media.keeps_metadata() && media.keeps_bytes() && media.metadata().is_some());
        assert!(media.get::<Bytes>().is_ok() && media.get_mut::<Bytes>().is_ok());
        let error = media.get::<Metadata>().unwrap_err().to_string();
        let [has, wanted] = ["bytes::Bytes", "seam::Metadata"].map(|n| format!("wordline_ftl::media::{n}"));
        assert!(error.starts_with(&format!("the drive has {has}, not {wanted};")), "{error}");
        let mut none = BoxedMedia::none();
        let error = none.get_mut::<Bytes>().unwrap_err().to_string();
        assert!(error.starts_with("the drive has no media, not"), "{error}");
        assert!(!none.keeps_metadata() && !none.keeps_bytes() && none.metadata().is_none());
    }

    #[test]
    fn a_fork_is_of_the_same_kind() {
        let media = BoxedMedia::from(Metadata::default());
        assert!(!media.keeps_bytes());
        assert!(media.fork().unwrap().get::<Metadata>().is_ok());
        assert!(!BoxedMedia::none().fork().unwrap().keeps_metadata());
    }
}
