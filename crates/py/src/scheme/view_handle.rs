//! A hook's view of the drive, lent to Python for one call.

use crate::error::UserError;
use crate::scheme::answers::slot_class;
use crate::scheme::geometry::{Named, Numbering, below};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::cell::RefCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use wordline_flash::Geometry;
use wordline_ftl::{RegionId, View};
use wordline_units::{BlockId, DieId, Lpn, PlaneId, Ppn};

/// The drive's state, read-only. Regions go by their names; planes, blocks and pages by their numbers.
#[pyclass(frozen, module = "wordline", name = "View")]
pub(crate) struct ViewHandle {
    /// The view while its call continues, which only the thread of that call follows.
    view: AtomicPtr<View<'static>>,
    thread: AtomicUsize,
    named: Arc<Named>,
    geometry: OnceLock<Arc<Geometry>>,
}

/// A view for Python between two calls: if nobody has kept it, the next call reuses the object.
pub(crate) type Spare = RefCell<Option<Py<ViewHandle>>>;

/// Takes a view back, however its call ends.
struct ViewGuard<'py>(&'py Bound<'py, ViewHandle>);

impl Drop for ViewGuard<'_> {
    fn drop(&mut self) {
        self.0.get().view.store(null_mut(), Ordering::Relaxed);
    }
}

/// A number that no other thread has while this one lives.
#[inline]
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own) as usize)
}

/// Lend a view for a call.
#[inline]
pub(crate) fn with_view<T>(
    py: Python<'_>,
    view: &View<'_>,
    (named, spare): (&Arc<Named>, &Spare),
    call: impl FnOnce(&Bound<'_, ViewHandle>) -> PyResult<T>,
) -> PyResult<T> {
    let handle = match spare.take() {
        Some(handle) => handle.into_bound(py),
        None => Bound::new(
            py,
            ViewHandle {
                view: AtomicPtr::default(),
                thread: AtomicUsize::default(),
                named: Arc::clone(named),
                geometry: OnceLock::new(),
            },
        )?,
    };
    handle.get().thread.store(this_thread(), Ordering::Relaxed);
    handle.get().view.store(std::ptr::from_ref(view).cast_mut().cast(), Ordering::Relaxed);
    let answer = {
        let returned = ViewGuard(&handle);
        call(returned.0)
    };
    // SAFETY: it is an object, and the interpreter is held.
    if unsafe { ffi::Py_REFCNT(handle.as_ptr()) } == 1 {
        spare.replace(Some(handle.unbind()));
    }
    answer
}

impl ViewHandle {
    #[inline]
    fn with<T>(&self, ask: impl FnOnce(&View<'_>) -> PyResult<T>) -> PyResult<T> {
        let view = self.view.load(Ordering::Relaxed);
        if view.is_null() {
            return Err(UserError::new_err(
                "the view is valid only during the hook call; store values instead of the view",
            ));
        }
        if self.thread.load(Ordering::Relaxed) != this_thread() {
            return Err(UserError::new_err("a view must be used in the thread of its hook call"));
        }
        // SAFETY: this is the thread that handle the view, whose call continues until `ViewGuard` has emptied
        // this.
        ask(unsafe { &*view })
    }

    fn of_region<T>(&self, region: &str, ask: impl FnOnce(&View, RegionId) -> T) -> PyResult<T> {
        let region = self.named.region_of(region)?;
        self.with(|v| Ok(ask(v, region)))
    }

    fn in_plane<T>(
        &self,
        region: &str,
        plane: u32,
        ask: impl FnOnce(&View, RegionId, PlaneId) -> T,
    ) -> PyResult<T> {
        let region = self.named.region_of(region)?;
        self.with(|v| {
            let plane = below("plane", plane, v.geometry().planes)?;
            Ok(ask(v, region, PlaneId(plane)))
        })
    }

    fn of_block<T>(&self, block: u32, ask: impl FnOnce(&View, BlockId) -> T) -> PyResult<T> {
        self.with(|v| Ok(ask(v, BlockId(below("block", block, v.geometry().blocks)?))))
    }

    fn of_page<T>(&self, lpn: u32, ask: impl FnOnce(&View, Lpn) -> T) -> PyResult<T> {
        self.with(|v| Ok(ask(v, Lpn(below("logical page", lpn, v.logical_pages())?))))
    }
}

#[pymethods]
impl ViewHandle {
    /// The time in nanoseconds.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.with(|v| Ok(v.now.0))
    }

    /// Whether the run is over and the drive is emptying its buffers.
    #[getter]
    fn draining(&self) -> PyResult<bool> {
        self.with(|v| Ok(v.draining()))
    }

    /// Host requests admitted and not yet complete.
    #[getter]
    fn outstanding(&self) -> PyResult<u32> {
        self.with(|v| Ok(v.outstanding()))
    }

    /// Logical pages that hold data.
    #[getter]
    fn mapped(&self) -> PyResult<u64> {
        self.with(|v| Ok(v.mapped()))
    }

    /// Logical pages that the host can address.
    #[getter]
    fn logical_pages(&self) -> PyResult<u32> {
        self.with(|v| Ok(v.logical_pages()))
    }

    /// Pages that the write buffer could still take; none where the drive has none.
    #[getter]
    fn free_buffer_pages(&self) -> PyResult<Option<u64>> {
        self.with(|v| Ok(v.free_buffer_pages()))
    }

    /// Bytes that the drive can hold now.
    #[getter]
    fn usable_bytes(&self) -> PyResult<u64> {
        self.with(|v| Ok(v.usable_bytes()))
    }

    /// The drive's numbering.
    #[getter]
    fn geometry(&self) -> PyResult<Numbering> {
        self.with(|v| {
            // Behind another scheme a layout was made for a part of the drive.
            let of_layout =
                || self.named.geometry.as_ref().filter(|own| own.media == v.geometry().media).map(Arc::clone);
            let own = || of_layout().unwrap_or_else(|| Arc::new(v.geometry().clone()));
            Ok(Numbering(Arc::clone(self.geometry.get_or_init(own))))
        })
    }

    /// Planes of the drive.
    #[getter]
    fn planes(&self) -> PyResult<u32> {
        self.with(|v| Ok(v.geometry().planes))
    }

    /// Erased blocks that a region could still open in a plane.
    fn free_blocks(&self, region: &str, plane: u32) -> PyResult<u32> {
        self.in_plane(region, plane, |v, r, p| v.free_blocks(r, p))
    }

    /// Slots that a region could still program, in a plane or in all of them.
    #[pyo3(signature = (region, plane=None))]
    fn free_slots(&self, region: &str, plane: Option<u32>) -> PyResult<u64> {
        match plane {
            Some(plane) => self.in_plane(region, plane, |v, r, p| v.free_slots(r, p)),
            None => self.of_region(region, |v, r| v.free_slots_in(r)),
        }
    }

    /// The same over all planes of a region.
    fn free_slots_in(&self, region: &str) -> PyResult<u64> {
        self.of_region(region, |v, r| v.free_slots_in(r))
    }

    /// Programmable pages of each bit in a region; zeros under rules without page types.
    fn free_pages(&self, region: &str) -> PyResult<[u64; 4]> {
        self.of_region(region, |v, r| v.free_pages(r))
    }

    /// Blocks of a plane that a region owns.
    fn owned(&self, region: &str, plane: u32) -> PyResult<u32> {
        self.in_plane(region, plane, |v, r, p| v.owned(r, p))
    }

    /// Blocks that a region owns in all planes, and slots programmed in them.
    fn taken(&self, region: &str) -> PyResult<(u64, u64)> {
        self.of_region(region, |v, r| v.taken(r))
    }

    /// Full blocks of a plane of a region that no collection has.
    fn full_blocks(&self, region: &str, plane: u32) -> PyResult<Vec<u32>> {
        self.in_plane(region, plane, |v, r, p| v.full_blocks(r, p).map(|b| b.0).collect())
    }

    /// Logical pages that live in a block of a region that has no initial data.
    fn pages_in(&self, block: u32) -> PyResult<Vec<u32>> {
        self.of_block(block, |v, b| v.pages_in(b).map(|l| l.0).collect())
    }

    /// How often a block has been erased.
    fn erases(&self, block: u32) -> PyResult<u32> {
        self.of_block(block, |v, b| v.erases(b))
    }

    /// Live sectors of a block.
    fn live_sectors(&self, block: u32) -> PyResult<u32> {
        self.of_block(block, |v, b| v.live_sectors(b))
    }

    /// Share of its life that a block has used up.
    fn life_used(&self, block: u32) -> PyResult<f64> {
        self.of_block(block, |v, b| v.life_used(b))
    }

    /// Mean cycles of the blocks of a region's pool.
    fn mean_erases(&self, region: &str) -> PyResult<f64> {
        self.of_region(region, |v, r| v.mean_erases(r))
    }

    /// Units of the map that live in a plane of a region.
    fn live_units(&self, region: &str, plane: u32) -> PyResult<u64> {
        self.in_plane(region, plane, |v, r, p| v.live_units(r, p))
    }

    /// The block that a region's own rule would collect next in a plane.
    fn best(&self, region: &str, plane: u32) -> PyResult<Option<u32>> {
        self.in_plane(region, plane, |v, r, p| v.best(r, p).map(|b| b.0))
    }

    /// Among the full blocks of a plane of a region, the one filled first.
    fn oldest(&self, region: &str, plane: u32) -> PyResult<Option<u32>> {
        self.in_plane(region, plane, |v, r, p| v.oldest(r, p).map(|b| b.0))
    }

    /// The block that would take the next program of a class of slots of a region in a plane, if one is open.
    #[pyo3(signature = (region, plane, slot="next"))]
    fn frontier(&self, region: &str, plane: u32, slot: &str) -> PyResult<Option<u32>> {
        let class = slot_class(slot)?;
        self.in_plane(region, plane, |v, r, p| v.frontier(r, p, class).map(|b| b.0))
    }

    /// The block that a collection in a plane of a region is emptying.
    fn collecting(&self, region: &str, plane: u32) -> PyResult<Option<u32>> {
        self.in_plane(region, plane, |v, r, p| v.collecting(r, p).map(|b| b.0))
    }

    /// The open block of a plane of a region, once the run is over and no program into it is in progress.
    fn last_frontier(&self, region: &str, plane: u32) -> PyResult<Option<u32>> {
        self.in_plane(region, plane, |v, r, p| v.last_frontier(r, p).map(|b| b.0))
    }

    /// The sectors of a logical page that hold data, in RAM or on flash, as the bits of a number.
    fn sectors(&self, lpn: u32) -> PyResult<u32> {
        self.of_page(lpn, |v, l| v.sectors(l).0)
    }

    /// The place of a logical page on flash, under a page map.
    fn locate(&self, lpn: u32) -> PyResult<Option<u32>> {
        self.of_page(lpn, |v, l| v.locate(l).map(|p| p.0))
    }

    /// Whether data of a logical page are in RAM, or on their way to flash.
    fn is_staged(&self, lpn: u32) -> PyResult<bool> {
        self.of_page(lpn, |v, l| v.is_staged(l))
    }

    /// The block that a place lies in.
    fn block_of(&self, ppn: u32) -> PyResult<u32> {
        self.with(|v| {
            let block = v.geometry().block_of(Ppn(ppn)).0;
            below("place", block, v.geometry().blocks).map(|_| block)
        })
    }

    /// The plane of a place, and the region that owns its block, if it is one of the scheme's own.
    fn owner(&self, py: Python<'_>, ppn: u32) -> PyResult<(u32, Option<Py<PyString>>)> {
        self.with(|v| {
            below("place", v.geometry().block_of(Ppn(ppn)).0, v.geometry().blocks)?;
            let (plane, region) = v.owner(Ppn(ppn));
            Ok((plane.0, self.named.name_in(py, region)))
        })
    }

    /// Whether a region accepts a moved page now.
    fn takes_moves(&self, region: &str) -> PyResult<bool> {
        self.of_region(region, |v, r| v.takes_moves(r))
    }

    /// Operations waiting or running in the planes of a die.
    fn backlog(&self, die: u32) -> PyResult<u32> {
        self.with(|v| Ok(v.backlog(DieId(below("die", die, v.geometry().dies)?))))
    }
}
