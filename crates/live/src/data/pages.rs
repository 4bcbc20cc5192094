//! Reads the bytes of a folder's pages: current ones, or those at the creation of a fork.

use crate::data::journal::Journal;
use crate::data::places::{Place, Places};
use crate::data::row_id::row_id;
use crate::page_memory::PageMemory;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wordline_ftl::{MediaError, PageData};
use wordline_units::Ppn;

/// The pages of a folder, current or as of the creation of a fork.
pub(crate) struct Pages {
    folder: PathBuf,
    journal: Arc<Journal>,
    /// The places when the fork was created; nothing stands for the current ones.
    then: Option<Then>,
}

/// Places as of some moment.
struct Then {
    places: Places,
    /// While it is there, what is at the places stays.
    #[expect(dead_code, reason = "what it holds on to is released as it is dropped")]
    fork: Arc<()>,
}

/// What was found at the place of a page.
pub(crate) enum Bytes {
    Whole(PageData, Place),
    /// The bytes are missing, or differ from those written: where, in words.
    Damaged(String),
}

impl Pages {
    pub(crate) fn open(folder: &Path, journal: Arc<Journal>) -> Pages {
        Pages { folder: folder.to_path_buf(), journal, then: None }
    }

    /// A constant view of the current pages, independent of later writes.
    pub(crate) fn as_now(&self) -> Result<Pages, MediaError> {
        if self.then.is_some() {
            return Err(self.failed("has gone on".to_string()));
        }
        let (places, fork) = self.journal.fork();
        let (folder, journal) = (self.folder.clone(), Arc::clone(&self.journal));
        Ok(Pages { folder, journal, then: Some(Then { places, fork }) })
    }

    /// The bytes of a page's part, in memory that is no longer used.
    pub(crate) fn read(&self, ppn: Ppn, part: usize, memory: &PageMemory) -> Result<Bytes, MediaError> {
        let id = row_id(ppn.0, part);
        let place = match &self.then {
            None => self.journal.place(id),
            Some(then) => then.places.get(id).cloned(),
        };
        let Some(place) = place else {
            let folder = self.folder.display();
            return Ok(Bytes::Damaged(format!("{folder}: physical page {} is missing", ppn.0)));
        };
        let mut page = memory.one(place.extent.length as usize);
        let found = page.get_mut().map_or(Ok(0), |bytes| self.journal.read(&place, bytes));
        let found = found.map_err(|e| self.failed(format!("physical page {} cannot be read: {e}", ppn.0)))?;
        if found == page.len() && crc32fast::hash(&page) == place.checksum {
            return Ok(Bytes::Whole(page, place));
        }
        let file = self.journal.file_of(&place);
        Ok(Bytes::Damaged(format!("{file}: physical page {}: checksum mismatch", ppn.0)))
    }

    fn failed(&self, what: String) -> MediaError {
        MediaError::new(self.folder.display().to_string(), what, "fix the cause and retry")
    }
}
