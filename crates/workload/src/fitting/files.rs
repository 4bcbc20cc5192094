//! Fits how requests continue a file, from the files that were found.

use crate::fitting::legal::{SIZES, fraction, most_frequent_first};
use crate::generators::twin::description::FileLaw;
use crate::generators::twin::files_found::Totals;
use crate::generators::twin::in_bursts::InBursts;
use crate::generators::twin::statistics::Statistics;
use std::collections::BTreeMap;
use wordline_units::HostOp;

/// Minimum share of requests in files for a twin to have files.
const SOME: f64 = 0.01;

/// The files of reads or of writes. None if there are few.
pub(crate) fn file_law(trace: &Statistics, op: HostOp) -> Option<FileLaw> {
    let side = trace.side(op);
    let (found, totals) = (InBursts::of(trace, op)?, side.files().totals());
    if (totals.requests as f64) < SOME * side.requests() as f64 || totals.files == 0 {
        return None;
    }
    let mut sizes = weights(&totals.sizes);
    most_frequent_first(&mut sizes);
    sizes.truncate(SIZES);
    sizes.sort_by_key(|(size, _)| *size);
    Some(FileLaw {
        bursts: fraction(found.files),
        apart: fraction(found.files_apart),
        sizes,
        lengths: lengths(&totals),
        begins: weights(&totals.begins),
        near: fraction(found.near.unwrap_or(0.0)),
    })
}

fn weights(counts: &BTreeMap<u32, u64>) -> Vec<(u32, f64)> {
    counts.iter().map(|(value, n)| (*value, *n as f64)).collect()
}

/// Lengths of files, with each class at its mean.
fn lengths(totals: &Totals) -> Vec<(u32, f64)> {
    let mean = |files: u64, requests: u64| (requests as f64 / files as f64).round() as u32;
    totals.lengths.values().map(|(files, requests)| (mean(*files, *requests), *files as f64)).collect()
}
