//! Media that store, for each place, only the version of its data, so that a read of stale data is detected.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use wordline_ftl::{Loader, Media, MediaError, Oob, PageData, Saver, StateError};
use wordline_units::{BlockId, Lpn, Ppn};

/// Version of the newest programmed data, for each page and place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Versions {
    /// By place and page.
    pub stored: BTreeMap<(u32, u32), u64>,
}

impl Media for Versions {
    fn keeps_bytes(&self) -> bool {
        false
    }
    fn fork(&self) -> Result<Box<dyn Media>, MediaError> {
        Ok(Box::new(self.clone()))
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, _: PageData) -> Result<(), MediaError> {
        let version = self.stored.entry((ppn.0, oob.span.lpn.0)).or_default();
        *version = oob.version.max(*version);
        Ok(())
    }
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<PageData, MediaError> {
        Ok(PageData::default())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.stored.get(&(ppn.0, lpn.0)).copied().unwrap_or(0)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.stored.retain(|(ppn, _), _| ppn >> slot_shift != block.0);
        Ok(())
    }
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.value(self)
    }
    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        *self = from.value("media")?;
        Ok(())
    }
}
