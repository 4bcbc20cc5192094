//! Counters as reports have them.

use serde_json::json;
use wordline_counters::*;
use wordline_units::{CellMode, SimDuration};

#[test]
fn figures_have_the_words_and_units_of_reports() {
    let mut idle = IdleCounts { periods: 2, ..IdleCounts::default() };
    idle.idle_s += SimDuration(1_500_000_000);
    idle.program_bytes[Cause::Migrate as usize] = 4096;
    idle.worked_s[Cause::Gc as usize] += SimDuration(2_000_000);
    [0, 3_000, 1_000].into_iter().for_each(|wait| idle.delays.count(SimDuration(wait)));
    assert_eq!(
        serde_json::to_value(idle.figures()).unwrap(),
        json!({
            "periods": 2, "idle_s": 1.5, "worked_s": { "gc": 0.002 }, "program_bytes": { "migration": 4096 },
            "erases": 0, "delayed_requests": 2, "delay_us_mean": 2.0, "delay_us_max": 3.0,
        })
    );
    let mut errors = ErrorCounts::new(7);
    errors.count(Cause::Host, CellMode::Tlc, 2, false);
    errors.count(Cause::Gc, CellMode::Tlc, 1, true);
    let said = serde_json::to_value(errors.figures()).unwrap();
    assert_eq!(said["host_pages"], json!({ "tlc": [0, 0, 1] }));
    assert_eq!(said["retries"], json!({ "gc": 1, "host": 2, "metadata": 0, "migration": 0, "rmw": 0 }));
    assert_eq!(errors.retries_per_host_page(), Some(2.0));
}

#[test]
fn what_a_drive_lacks_is_absent() {
    let said = |counts: FlashCounts| serde_json::to_string(&counts.figures()).unwrap();
    assert_eq!(said(FlashCounts::default()), r#"{"reads_from_ram":0}"#);
    assert_eq!(
        said(FlashCounts { reads_cached: Some(0), ..FlashCounts::default() }),
        r#"{"reads_from_ram":0,"reads_cached":0}"#
    );
    assert_eq!(serde_json::to_string(&RegionCounts::default().figures()).unwrap(), r#"{"erases":0}"#);
}
