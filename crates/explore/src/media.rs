//! Media that keep of each place only which write its data are from, so that a read is known to find the newest.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_ftl::{Media, MediaError, Oob};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// The version of what was programmed last of each page at each place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Versions {
    /// By place and page.
    pub stored: BTreeMap<(u32, u32), u64>,
}

impl Media for Versions {
    type Page = ();
    const BYTES: bool = false;
    const METADATA: bool = true;

    fn page(_: &[u8], _: SectorMask, _: usize) {}
    fn copy((): &mut (), (): &(), _: SectorMask, _: usize) {}
    fn sector((): &(), _: u32, _: usize) -> &[u8] {
        &[]
    }
    fn fork(&self) -> Result<Versions, MediaError> {
        Ok(self.clone())
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, (): ()) -> Result<(), MediaError> {
        let version = self.stored.entry((ppn.0, oob.span.lpn.0)).or_default();
        *version = oob.version.max(*version);
        Ok(())
    }
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<(), MediaError> {
        Ok(())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.stored.get(&(ppn.0, lpn.0)).copied().unwrap_or(0)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.stored.retain(|(ppn, _), _| ppn >> slot_shift != block.0);
        Ok(())
    }
}
