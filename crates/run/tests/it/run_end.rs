//! A run's figures end with its last completion; what the drive does after it and owes by then has lines of its own.

use std::ops::ControlFlow;
use wordline_report::Report;
use wordline_run::{RunSpec, run};

fn report(scheme: &str, workload: &str, initial: &str) -> Report {
    let spec = RunSpec { initial: initial.into(), ..RunSpec::new("fair-tlc", scheme, workload) };
    run(&spec, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Bytes programmed, by the timeline and by the flash's counters.
fn programmed(r: &Report) -> (f64, f64) {
    let bins = r.timeline.programmed_mb_per_s.iter().sum::<f64>() * 1e6 * r.timeline.bin_s;
    let counted: u64 =
        r.flash.program_bytes.values().flat_map(|kinds| kinds.values()).flat_map(|r| r.values()).sum();
    (bins, counted as f64)
}

#[test]
fn figures_leave_out_what_follows_the_last_completion() {
    // A cache that is half full migrates in idle time, until it is empty.
    let r = report("slc-cache", "uniform:read=0%,bs=16KiB,qd=8,requests=3000", "fill:90%");
    let after = r.after_last_request.as_ref().unwrap();
    assert!(after.copied_pages > 0 && after.erases > 0 && after.simulated_s > 0.0, "{after:?}");
    let (bins, counted) = programmed(&r);
    assert!((bins / counted - 1.0).abs() < 1e-9, "{bins} in the timeline, {counted} counted");
    let waf = r.waf.as_ref().unwrap().total;
    assert!((waf * r.host.page_bytes() as f64 / counted - 1.0).abs() < 1e-9, "{waf}");
    let erases: u64 = r.flash.erases.values().sum();
    let worn: f64 = r.wear.values().map(|w| w.mean * w.blocks as f64).sum();
    assert!((worn - erases as f64).abs() < 0.5, "{erases} erases counted, {worn} on the blocks");
}

#[test]
fn balance_counts_data_the_cache_still_has_to_migrate() {
    let r = report("slc-cache", "uniform:read=0%,bs=16KiB,qd=8,requests=3000", "fill:90%");
    let balance = r.balance.unwrap();
    let migrated = r.after_last_request.as_ref().unwrap().program_bytes["migration"];
    assert_eq!(balance.start.slc_bytes, 0);
    assert!(balance.end.slc_bytes > 0 && balance.end.slc_bytes >= migrated / 2, "{balance:?}, {migrated}");
    assert!(balance.end.free_blocks < balance.start.free_blocks, "{balance:?}");
}
