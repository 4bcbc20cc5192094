//! Status of the running drive.

use crate::drive::{Cut, Drive};
use crate::engine::core::Engine;
use crate::engine::executor::Executor;
use crate::faults::{Armed, Due, Fault};
use serde_json::{Value, json};
use wordline_counters::{Cause, by_cause};
use wordline_ftl::RegionId;
use wordline_units::{BlockId, HostOp, PlaneId};

/// The drive and the commands applied to it, as JSON. Times are the drive's, in nanoseconds.
pub(crate) fn to_json(engine: &Engine) -> Value {
    let executor = engine.executor();
    let (drive, faults, cache) = (executor.drive(), executor.faults(), executor.cache());
    let Some(device) = drive.device() else {
        return json!({ "stopped": executor.stopped() });
    };
    let counters = device.ftl().counters();
    let (commands, held) = executor.in_flight().counts();
    let (flushes, writes) = (faults.times(Fault::EarlyFlush), faults.times(Fault::NoSpace));
    json!({
        "time_ns": drive.now().0,
        "scheme": drive.scheme(),
        "bytes": executor.space().size(),
        "mapped_units": device.ftl().inspect().mapped(),
        "requests": device.submitted(),
        "under_way": device.outstanding(),
        "commands_under_way": commands,
        "lost_blocks": { "from_the_beginning": device.ftl().inspect().lost_blocks().0, "retired": device.ftl().inspect().lost_blocks().1 },
        "causes": causes_to_json(drive),
        "memory": { "used": drive.bytes_in_ram() + drive.page_memory().bytes(), "limit": engine.memory() },
        "programmed_bytes": counters.programmed_bytes(),
        "host_bytes": counters.host_bytes[HostOp::Write as usize],
        "host_page_bytes": counters.host.write_page_bytes,
        "stopped": executor.stopped(),
        "folder": folder_to_json(engine),
        "write_cache": {
            "bytes": cache.bytes,
            "used": cache.used,
            "failed_behind": cache.failed_behind,
            "power_loss": drive.volatile().loss(),
        },
        "faults": {
            "read_errors": faults.read_errors().len(),
            "early_flushes": flushes.left,
            "failed_reads": faults.failed_reads(),
            "lied_flushes": flushes.met,
            "no_space": writes.left,
            "refused_writes": writes.met,
            "planted": planted_to_json(executor),
            "slow_dies": drive.slow_dies().map(|(die, x)| json!({ "die": die.0, "factor": x })).collect::<Vec<_>>(),
        },
        "armed": armed_to_json(executor),
        "held": held,
        "recovers": executor.power().recovery().is_some(),
        "cuts": executor.power().cuts().iter().enumerate().map(|(at, cut)| cut_to_json(drive, at, *cut)).collect::<Vec<_>>(),
        "last_cut": drive.volatile().last_cut(),
    })
}

/// Background work of the drive, and its free space.
fn causes_to_json(drive: &Drive) -> Value {
    let Some(device) = drive.device() else { return Value::Null };
    let (counters, view) = (device.ftl().counters(), device.ftl().view());
    let geometry = view.geometry();
    let planes = (0..geometry.planes).map(PlaneId);
    let regions = (0..counters.regions.len() as u8).map(RegionId);
    // Regions that share a pool could each open the same block.
    let free = |plane| regions.clone().map(|region| view.free_blocks(region, plane)).max().unwrap_or(0);
    let free_blocks: u64 = planes.map(|plane| u64::from(free(plane))).sum();
    let blocks = geometry.blocks.max(1);
    let erases: u64 = (0..geometry.blocks).map(|block| u64::from(view.erases(BlockId(block)))).sum();
    let bytes: [u64; Cause::COUNT] =
        std::array::from_fn(|at| counters.regions.iter().map(|region| region.program_bytes[at]).sum());
    json!({
        "programmed_bytes": by_cause(&bytes),
        "waf": (counters.host.write_page_bytes > 0)
            .then(|| counters.programmed_bytes() as f64 / counters.host.write_page_bytes as f64),
        "collections": counters.collections,
        "free_blocks": free_blocks,
        "blocks": geometry.blocks,
        "erases": counters.erases.iter().sum::<u64>(),
        "mean_erases": erases as f64 / f64::from(blocks),
    })
}

/// Armed power cuts, as JSON.
pub(crate) fn armed_to_json(executor: &Executor) -> Vec<Value> {
    let told = |armed: &Armed| {
        let mut told = json!({ "number": armed.number, "seed": armed.seed });
        match armed.due {
            Due::Writes(left) => told["writes"] = left.into(),
            Due::Flushes(left) => told["flushes"] = left.into(),
            Due::At(at) => told["at_ns"] = at.0.into(),
        }
        if armed.seed.is_none() {
            told.as_object_mut().and_then(|told| told.remove("seed"));
        }
        told
    };
    executor.faults().cuts().iter().map(told).collect()
}

/// Injected faults that can be cancelled, with their numbers or names.
pub(crate) fn planted_to_json(executor: &Executor) -> Vec<Value> {
    let faults = executor.faults();
    let reads = faults.read_errors().iter().map(|e| {
        json!({ "number": e.number, "fault": "read-error", "from": e.range.start, "to": e.range.end, "count": e.left })
    });
    let times = [("early-flush", Fault::EarlyFlush), ("no-space", Fault::NoSpace)];
    let times = times.map(|(name, fault)| (name, faults.times(fault).left)).into_iter();
    let times = times.filter(|(_, left)| *left > 0);
    let times = times.map(|(name, left)| json!({ "fault": name, "count": left }));
    let slow = executor.drive().slow_dies();
    let slow = slow.map(|(die, x)| json!({ "fault": "slow-die", "die": die.0, "factor": x }));
    reads.chain(times).chain(slow).collect()
}

/// Status of its folder.
fn folder_to_json(engine: &Engine) -> Option<Value> {
    let folder = engine.folder()?;
    Some(
        json!({ "path": folder.path(), "commits": folder.commits(), "damaged_sectors": engine.executor().drive().damaged_sectors() }),
    )
}

/// A power cut, with a summary of its losses from a volatile cache.
fn cut_to_json(drive: &Drive, at: usize, cut: Cut) -> Value {
    let mut told = cut.to_json();
    if let Some(lost) = drive.volatile().cuts().get(at) {
        told["write_cache"] = lost.clone();
    }
    told
}
