//! The pages that a real trace touches. Where the folder of traces is absent, each test says so and passes.

#![allow(clippy::print_stderr)]

use std::path::PathBuf;
use wordline_trace::{DriveShape, Overrides, Touched};
use wordline_units::HostOp;
use wordline_workload::Workload;

fn trace(name: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    path.to_str().map(str::to_string)
}

const TIB: DriveShape = DriveShape { logical_bytes: 16 << 40, sector_bytes: 4096, unit_bytes: 16_384 };

#[test]
fn a_footprint_is_the_pages_that_are_touched() {
    let Some(path) = trace("msr/hm_0.part7016.csv.zst") else { return };
    let w = Workload::parse(&path, Overrides::default()).unwrap();
    let f = w.footprint(TIB, 0, Touched::AtAll).unwrap();
    let mut plain = std::collections::BTreeSet::new();
    for r in w.open(TIB, 0).unwrap() {
        let r = r.unwrap();
        assert_ne!(r.op, HostOp::Trim);
        plain.extend((r.lba.0 / 32) as u32..=((r.lba.0 + r.blocks as u64 - 1) / 32) as u32);
    }
    assert!(f.exact);
    assert_eq!(f.pages(), plain.into_iter().collect::<Vec<_>>());
}

#[test]
fn compacted_footprint_is_one_run_from_the_start() {
    let Some(path) = trace("ssdsim_disksim/ssd-iozone-aligned2-100K.trace.zst") else { return };
    let w = Workload::parse(&format!("{path}:fit=compact"), Overrides::default()).unwrap();
    let f = w.footprint(DriveShape { logical_bytes: 3 << 30, ..TIB }, 0, Touched::AtAll).unwrap();
    assert!(f.runs.len() == 1 && f.runs[0] == (0..f.count() as u32));
}
