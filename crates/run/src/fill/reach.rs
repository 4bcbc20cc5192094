//! GC triggers that the drive cannot satisfy with its data.

use crate::fill::outcome::Outcome;
use wordline_device::Trigger;
use wordline_ftl::FlashUse;
use wordline_report::OutOfReach;
use wordline_units::Fraction;

/// The unreachable triggers of this run, of regions that it wrote to.
pub(crate) fn out_of_reach(run: &Outcome) -> Vec<OutOfReach> {
    let (setup, ftl) = (run.setup, run.device.ftl);
    let layout = ftl.layout();
    let began =
        if setup.from_state.is_some() { 0 } else { setup.state.mapped.count() as u64 * setup.device.unit.0 };
    let data = began.max(ftl.inspect().live_bytes());
    // Parity takes as much of what is in use as of all.
    let (physical, holds) = (setup.device.physical_bytes(), setup.device.data_bytes());
    let taken = (data as u128 * physical as u128 / holds.max(1) as u128) as u64;
    let found = FlashUse::new(layout, &setup.geometry).triggers_out_of_reach(taken).into_iter();
    let written = found.filter(|limit| {
        ftl.counters().regions[limit.region.0 as usize].program_pages.iter().sum::<u64>() > 0
    });
    written
        .map(|limit| {
            let region = &layout.regions[limit.region.0 as usize];
            let setting = setting(run, limit.trigger, layout.is_at_rest(limit.region));
            let half = (limit.reachable * 50.0) as u64;
            let within = Trigger::FreeBlocks(Fraction::percent(half));
            let is_set = !setting.is_empty() && half > 0;
            OutOfReach {
                region: region.name.to_string(),
                setting: setting.to_string(),
                value: limit.trigger.to_string(),
                reachable: limit.reachable,
                data_bytes: data,
                within_reach: is_set.then(|| within.to_string().replace(" < ", ":")),
            }
        })
        .collect()
}

/// The device key of a region's trigger; empty if a scheme sets it.
fn setting(run: &Outcome, trigger: Trigger, at_rest: bool) -> &'static str {
    let is = |set: Trigger| match (set, trigger) {
        (Trigger::FreeBlocks(a) | Trigger::FreeSlots(a), Trigger::FreeBlocks(b) | Trigger::FreeSlots(b)) => {
            a == b
        }
        _ => false,
    };
    let spec = &run.setup.device;
    match spec.slc_cache {
        Some(cache) if !at_rest && is(cache.trigger) => "slc_cache.trigger",
        _ if is(spec.gc.trigger) => "gc.trigger",
        _ => "",
    }
}
