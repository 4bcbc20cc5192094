//! The end of a run: its figures end with the last completion, and what the drive does after it and owes by then is
//! told apart from them.

use crate::fill::flash::{PROGRAMS, word};
use wordline_ftl::{Cause, Counters, Ftl, Media};
use wordline_report::{AfterLastRequest, Holdings, Report};
use wordline_sim::{Device, DeviceError, Probe};
use wordline_units::{BlockId, CellMode, SimTime};

/// What a drive holds now.
pub(crate) fn holdings<M: Media>(ftl: &Ftl<M>) -> Holdings {
    let view = ftl.view();
    let caches = ftl.layout().regions.iter().any(|r| r.mode != CellMode::Slc);
    let mut slc_sectors = 0;
    for block in (0..view.geometry().blocks).map(BlockId) {
        if caches && ftl.block_status(block).mode == CellMode::Slc {
            slc_sectors += u64::from(view.live_sectors(block));
        }
    }
    let slc_bytes = slc_sectors * view.geometry().sector;
    Holdings { free_blocks: ftl.erased_blocks(), slc_bytes, buffered_bytes: ftl.unplaced_bytes() }
}

/// Let the drive do what it has left, and complete the report with it: the hash of the result is over all counters
/// there.
///
/// # Errors
/// On an illegal decision or an internal fault.
pub(crate) fn finish<P: Probe, M: Media>(
    report: &mut Report,
    device: &mut Device<P, M>,
    end: SimTime,
) -> Result<(), DeviceError> {
    let before = device.ftl.counters().clone();
    device.drain()?;
    let counters = device.ftl.counters();
    let programmed = |cause: Cause| counters.program_bytes(cause) - before.program_bytes(cause);
    let copies = |c: &Counters| {
        let moved = |k: Cause| c.regions.iter().map(|r| r.program_pages[k as usize]).sum::<u64>();
        moved(Cause::Gc) + moved(Cause::Migrate)
    };
    let work = PROGRAMS.into_iter().map(|cause| (word(cause), programmed(cause)));
    report.after_last_request = Some(AfterLastRequest {
        simulated_s: device.now().since(end).as_secs(),
        program_bytes: work.filter(|(_, bytes)| *bytes > 0).collect(),
        copied_pages: copies(counters) - copies(&before),
        erases: counters.erases.iter().sum::<u64>() - before.erases.iter().sum::<u64>(),
    });
    report.host.unplaced_bytes = device.ftl.unplaced_bytes();
    report.result_hash = device.metrics.result_hash(&counters.integers());
    Ok(())
}
