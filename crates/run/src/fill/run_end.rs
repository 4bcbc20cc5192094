//! The end of a run: its figures end with the last completion; later work and remaining contents of the drive are
//! separate.

use crate::fill::flash::flash;
use crate::fill::outcome::Outcome;
use wordline_ftl::{Cause, Counters, Ftl};
use wordline_report::{AfterLastRequest, Holdings};
use wordline_units::{BlockId, CellMode, SimTime};

/// Current contents of a drive.
pub(crate) fn holdings(ftl: &Ftl) -> Holdings {
    let view = ftl.view();
    let caches = ftl.layout().regions.iter().any(|r| r.mode != CellMode::Slc);
    let mut slc_sectors = 0;
    for block in (0..view.geometry().blocks).map(BlockId) {
        if caches && ftl.inspect().block_status(block).mode == CellMode::Slc {
            slc_sectors += u64::from(view.live_sectors(block));
        }
    }
    let slc_bytes = slc_sectors * view.geometry().sector;
    Holdings {
        free_blocks: ftl.inspect().erased_blocks(),
        slc_bytes,
        buffered_bytes: ftl.inspect().unplaced_bytes(),
    }
}

/// Work of a drive from the last completion, with the counters `before`, until it is idle, with the counters
/// `run`.
pub(crate) fn after_last_request(run: &Outcome, before: &Counters, now: SimTime) -> AfterLastRequest {
    let counters = run.device.ftl.counters();
    let programmed = |cause: Cause| counters.program_bytes(cause) - before.program_bytes(cause);
    let copies = |c: &Counters| {
        let moved = |k: Cause| c.regions.iter().map(|r| r.program_pages[k as usize]).sum::<u64>();
        moved(Cause::Gc) + moved(Cause::Migrate)
    };
    let work = Cause::PROGRAMS.into_iter().map(|cause| (cause.word().to_string(), programmed(cause)));
    AfterLastRequest {
        simulated_s: now.since(run.summary.end).as_secs(),
        program_bytes: work.filter(|(_, bytes)| *bytes > 0).collect(),
        copied_pages: copies(counters) - copies(before),
        erases: counters.erases.iter().sum::<u64>() - before.erases.iter().sum::<u64>(),
        flash_total: flash(run, counters),
    }
}
