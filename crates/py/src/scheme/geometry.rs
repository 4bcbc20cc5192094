//! The numbering of a drive for Python, with the names of regions.

use crate::error::UserError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_ftl::RegionId;
use wordline_units::{BlockId, DieId, PlaneId, Ppn};

/// Names and numbers of a Python scheme, after its layout.
#[derive(Default)]
pub(crate) struct Named {
    /// Its regions, in order.
    pub regions: Vec<String>,
    /// The same for Python, created once.
    names: Vec<Py<PyString>>,
    /// The drive's numbering.
    pub geometry: Option<Arc<Geometry>>,
}

impl Named {
    /// The names of a layout, on a drive.
    pub(crate) fn new(py: Python<'_>, regions: Vec<String>, geometry: Arc<Geometry>) -> Named {
        let names = regions.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        Named { regions, names, geometry: Some(geometry) }
    }

    /// The name of a region for Python, if it is one of the scheme's own.
    pub(crate) fn name_in(&self, py: Python<'_>, region: RegionId) -> Option<Py<PyString>> {
        self.names.get(region.0 as usize).map(|name| name.clone_ref(py))
    }

    /// A region by its name.
    pub(crate) fn region_of(&self, name: &str) -> PyResult<RegionId> {
        let at = self.regions.iter().position(|own| own == name);
        at.map(|i| RegionId(i as u8)).ok_or_else(|| {
            let all = self.regions.join(", ");
            UserError::new_err(format!("unknown region {name:?}\n  allowed: {all}"))
        })
    }

    /// The channels of the drive.
    pub(crate) fn channels(&self) -> u32 {
        self.geometry.as_ref().map_or(0, |g| g.channels)
    }
}

/// A number that must be below another.
pub(crate) fn below(what: &str, number: u32, end: u32) -> PyResult<u32> {
    if number < end {
        return Ok(number);
    }
    Err(UserError::new_err(format!("unknown {what} {number}\n  allowed: 0 to {}", end.saturating_sub(1))))
}

/// The drive's numbering: planes, dies, channels, blocks and places on flash.
#[pyclass(frozen, module = "wordline", name = "Geometry")]
pub(crate) struct Numbering(pub Arc<Geometry>);

impl Numbering {
    fn plane(&self, plane: u32) -> PyResult<PlaneId> {
        below("plane", plane, self.0.planes).map(PlaneId)
    }

    fn die(&self, die: u32) -> PyResult<DieId> {
        below("die", die, self.0.dies).map(DieId)
    }

    fn block(&self, block: u32) -> PyResult<BlockId> {
        below("block", block, self.0.blocks).map(BlockId)
    }

    /// A place, whose block must be there.
    pub(crate) fn place(&self, ppn: u32) -> PyResult<Ppn> {
        below("place", self.0.block_of(Ppn(ppn)).0, self.0.blocks).map(|_| Ppn(ppn))
    }

    fn medium(&self, medium: usize) -> PyResult<usize> {
        below("medium", medium as u32, self.0.media.len() as u32).map(|_| medium)
    }
}

#[pymethods]
impl Numbering {
    /// Bytes of a mapping unit, the logical page.
    #[getter]
    fn unit(&self) -> u64 {
        self.0.unit
    }

    /// Bytes of a sector.
    #[getter]
    fn sector(&self) -> u64 {
        self.0.sector
    }

    /// Sectors of a mapping unit.
    #[getter]
    fn sectors_per_unit(&self) -> u32 {
        self.0.sectors_per_unit
    }

    /// Planes in all.
    #[getter]
    fn planes(&self) -> u32 {
        self.0.planes
    }

    /// Dies in all.
    #[getter]
    fn dies(&self) -> u32 {
        self.0.dies
    }

    /// Channels in all.
    #[getter]
    fn channels(&self) -> u32 {
        self.0.channels
    }

    /// Blocks in all.
    #[getter]
    fn blocks(&self) -> u32 {
        self.0.blocks
    }

    /// Slots of the largest block.
    #[getter]
    fn most_slots(&self) -> u32 {
        self.0.most_slots
    }

    /// The block that a place lies in.
    fn block_of(&self, ppn: u32) -> PyResult<u32> {
        Ok(self.0.block_of(self.place(ppn)?).0)
    }

    /// The slot of a place within its block.
    fn slot_of(&self, ppn: u32) -> PyResult<u32> {
        Ok(self.0.slot_of(self.place(ppn)?))
    }

    /// The place of a slot of a block.
    fn ppn(&self, block: u32, slot: u32) -> PyResult<u32> {
        Ok(self.0.ppn(self.block(block)?, below("slot", slot, self.0.most_slots)?).0)
    }

    /// The plane of a block.
    fn plane_of(&self, block: u32) -> PyResult<u32> {
        Ok(self.0.plane_of(self.block(block)?).0)
    }

    /// The die of a plane.
    fn die_of(&self, plane: u32) -> PyResult<u32> {
        Ok(self.0.die_of(self.plane(plane)?).0)
    }

    /// The first plane of a die, and the one after its last.
    fn planes_of_die(&self, die: u32) -> PyResult<(u32, u32)> {
        let planes = self.0.planes_of_die(self.die(die)?);
        Ok((planes.start, planes.end))
    }

    /// The channel of a die.
    fn channel_of(&self, die: u32) -> PyResult<u32> {
        Ok(self.0.channel_of(self.die(die)?).0)
    }

    /// The medium of a plane, by position.
    fn medium_index(&self, plane: u32) -> PyResult<usize> {
        Ok(self.0.medium_index(self.plane(plane)?))
    }

    /// The first block of a plane.
    fn first_block(&self, plane: u32) -> PyResult<u32> {
        Ok(self.0.first_block(self.plane(plane)?))
    }

    /// The first block of a plane, and the one after its last.
    fn blocks_of(&self, plane: u32) -> PyResult<(u32, u32)> {
        let blocks = self.0.blocks_of(self.plane(plane)?);
        Ok((blocks.start, blocks.end))
    }

    /// The first plane of a medium, and the one after its last.
    fn planes_of_medium(&self, medium: usize) -> PyResult<(u32, u32)> {
        let planes = self.0.planes_of_medium(self.medium(medium)?);
        Ok((planes.start, planes.end))
    }

    /// Logical pages of a page of a medium.
    fn units_per_page(&self, medium: usize) -> PyResult<u32> {
        Ok(self.0.units_per_page(self.medium(medium)?))
    }
}
