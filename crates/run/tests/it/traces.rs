//! Real traces through the whole of Wordline. They may not be copied into the repository, so they
//! are looked for beside it, and the tests say so where they are not there.

#![allow(clippy::print_stdout)]

use std::ops::ControlFlow;
use std::path::PathBuf;
use wordline_report::Report;
use wordline_run::{RunSpec, Setup, compare, run};
use wordline_trace::Fit;

/// A trace in the folder beside the repository.
fn trace(name: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = root.join(name);
    if path.exists() {
        return Some(path.to_string_lossy().into_owned());
    }
    println!("skipped: {} is not there", path.display());
    None
}

fn with(device: &str, scheme: &str, workload: String) -> RunSpec {
    RunSpec { check: true, ..RunSpec::new(device, scheme, &workload) }
}

fn report(spec: &RunSpec) -> Report {
    run(spec, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn both_forms_of_the_cloudphysics_trace_agree() {
    let (Some(binary), Some(csv)) =
        (trace("cloudphysics/cloudPhysicsIO.vscsi.zst"), trace("cloudphysics/cloudPhysicsIO_us.csv.zst"))
    else {
        return;
    };
    let schemes = ["conventional", "slc-cache"].map(str::to_string);
    let hashes = [binary, csv].map(|file| {
        let setup = Setup::resolve(&with("hierarchy-44gb", &schemes[0], file)).unwrap();
        let both = compare(&setup, &schemes, 2, &mut |_| ControlFlow::Continue(())).unwrap();
        both.reports
            .iter()
            .map(|r| {
                assert_eq!((r.host.requests, r.host.completed), (113_872, 113_872), "{}", r.scheme.name);
                r.result_hash.clone()
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(hashes[0], hashes[1]);
}

/// The demonstration's drive made smaller: 3 GiB in 72 TLC blocks a plane, 256 MiB of SLC.
fn three_gib(scheme: &str, file: String) -> RunSpec {
    let set = [
        ("medium.flash.blocks_per_plane", "88"),
        ("slc_cache.static_blocks", "16"),
        ("capacity.logical", "3GiB"),
    ];
    RunSpec {
        set: set.map(|(k, v)| (k.to_string(), v.to_string())).to_vec(),
        fit: Some(Fit::Compact),
        ..with("demo-8gb", scheme, file)
    }
}

#[test]
fn iozone_ages_a_small_hybrid_drive_ten_capacities() {
    let Some(file) = trace("ssdsim_disksim/ssd-iozone-aligned2-100K.trace.zst") else { return };
    for initial in ["preload", "fill:95%"] {
        let r = report(&RunSpec { initial: initial.into(), ..three_gib("slc-cache", file.clone()) });
        assert!(r.drive_writes().unwrap() > 10.0, "{:?} drive writes", r.drive_writes());
        assert_eq!((r.host.requests, r.host.completed), (100_000, 100_000), "{initial}");
        assert!(r.flash.erases["tlc"] > 0 && r.flash.erases["slc"] > 0, "{initial}");
    }
}
