//! What stands over what: every ordered pair of schemes, on drives that differ in what they admit. A pair that a
//! drive takes writes it over and is recounted; one that none takes has its reason in `lab/results/combinations.md`,
//! which `BLESS=1` rewrites.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use wordline_run::{RunError, RunSpec, run};

/// Drives, made small so that a pair takes a blink: changes, and what they hold at first.
const DRIVES: [(&str, &[(&str, &str)]); 3] = [
    ("fair-tlc", &[("medium.flash.blocks_per_plane", "36"), ("capacity.logical", "160MiB")]),
    ("fair-qlc", &[("medium.flash.blocks_per_plane", "36"), ("capacity.logical", "160MiB")]),
    (
        "hyssd-st",
        &[
            ("medium.slc.channels", "4"),
            ("medium.slc.blocks_per_plane", "32"),
            ("medium.tlc.blocks_per_plane", "22"),
            ("capacity.logical", "400MiB"),
        ],
    ),
];

/// What came of a pair: the drives that take it, or why none does.
enum Pair {
    On(Vec<&'static str>),
    Nowhere(String),
}

fn tried(front: &str, dense: &str) -> Pair {
    let scheme = format!("{front}+{dense}");
    let mut on = vec![];
    let mut reasons = vec![];
    for (device, set) in DRIVES {
        let mut spec = RunSpec::new(device, &scheme, "uniform:read=30%,bs=4KiB,align=4KiB,qd=8");
        spec.set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        (spec.initial, spec.requests, spec.check) = ("fill:80%".into(), Some(6_000), true);
        match run(&spec, &mut |_| ControlFlow::Continue(())) {
            Ok(report) => {
                assert!(report.host.completed > 0, "{scheme} on {device}");
                on.push(device);
            }
            Err(RunError::Refused(refusal)) => reasons.push(refusal.reason),
            Err(e) => panic!("{scheme} on {device}: {e}"),
        }
    }
    // The first that is about the two, not about the drive.
    let about_both = reasons.iter().find(|r| r.contains(front) && r.contains(dense));
    match on.is_empty() {
        true => Pair::Nowhere(about_both.or(reasons.first()).unwrap().clone()),
        false => Pair::On(on),
    }
}

fn page() -> String {
    let names = || wordline_schemes::all().iter().map(|e| &*e.name);
    let mut goes = String::new();
    let mut refused = String::new();
    for front in names() {
        let mut over: Vec<String> = vec![];
        let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for dense in names() {
            match tried(front, dense) {
                Pair::On(devices) => over.push(format!("`{dense}` ({})", devices.join(", "))),
                Pair::Nowhere(reason) => {
                    let word = |w: &str| {
                        if w.trim_matches(',') == dense { w.replace(dense, "it") } else { w.into() }
                    };
                    let reason: Vec<String> = reason.split(' ').map(word).collect();
                    let reason = reason.join(" ");
                    reasons.entry(reason).or_default().push(format!("`{dense}`"));
                }
            }
        }
        if !over.is_empty() {
            goes += &format!("| `{front}` | {} |\n", over.join(", "));
        }
        for (reason, dense) in reasons {
            let dense = if dense.len() == names().count() { "any".to_string() } else { dense.join(", ") };
            refused += &format!("| `{front}` | {dense} | {reason} |\n");
        }
    }
    format!(
        "# One scheme over another\n\n`--scheme FRONT+DENSE`, each with its parameters, as in \
         `--scheme 'turbo-write:static_blocks=8+pa-ssd:QDS+UBS'`: the front\nkeeps its cache and decides where data go; \
         the other scheme lays out and manages the front's dense region\n\
         ([how](../../docs/engine/media-and-modes.md#one-scheme-over-another)).\n\nThe error model works with all of them, \
         because it belongs to the flash.\n\n## Compatible pairs\n\nEach pair was filled, overwritten and recounted on small \
         drives of these kinds.\n\n| front | dense, and on which drives |\n|---|---|\n{goes}\n\
         ## Refused pairs\n\nHierarchy's packing can precede In-place Switch, as `hierarchy+ips`: the cache packs \
         partial pages, which then\nmigrate to the windows. Packing in the windows themselves, `ips+hierarchy`, is not \
         possible: `ips` has a single\nregion, and schemes that pack need a cache of their \
         own.\n\n| front | dense | reason |\n|---|---|---|\n{refused}\nWritten by `make bless`.\n"
    )
}

#[test]
fn every_pair_of_schemes_runs_or_is_refused_with_reason() {
    let text = page();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/results/combinations.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "lab/results/combinations.md is not what the code says; `make bless` rewrites it"
    );
}
