//! How much of a twin's footprints reads and writes have in common.

use crate::generators::twin::description::Side;
use crate::generators::twin::statistics::Statistics;

/// Where the reads begin: the end of the footprint of the writes is the beginning of theirs, and as many pages
/// lie in both as the trace both reads and writes, if each kind touches its footprint evenly. The common part
/// is as many times as long as `factor` says.
pub(crate) fn begin_of_reads(trace: &Statistics, reads: &Side, writes: &Side, factor: f64) -> u64 {
    let [_, read, written] = trace.footprints().unwrap_or_default().map(|bytes| bytes as f64);
    if read == 0.0 || written == 0.0 {
        return 0;
    }
    let evenly = (reads.footprint as f64 / read) * (writes.footprint as f64 / written);
    let common = (of_both(trace) * evenly * factor) as u64;
    writes.begin + writes.footprint - common.min(reads.footprint).min(writes.footprint)
}

/// The factor on the common part of two footprints, searched between one that gave too little in both and one
/// that gave too much.
pub(crate) struct Common {
    factor: f64,
    /// Factors with what came out.
    below: Option<[f64; 2]>,
    above: Option<[f64; 2]>,
}

impl Default for Common {
    fn default() -> Common {
        Common { factor: 1.0, below: None, above: None }
    }
}

impl Common {
    /// The factor to try.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The factor gave `got` where `goal` is asked.
    pub fn came_to(&mut self, got: f64, goal: f64) {
        let side = if got < goal { &mut self.below } else { &mut self.above };
        *side = Some([self.factor, got]);
        self.factor = match (self.below, self.above) {
            (Some([low, little]), Some([high, much])) if much > little => {
                low + (high - low) * (goal - little) / (much - little)
            }
            _ => (self.factor * (goal / got.max(1e-3)).clamp(0.3, 3.0)).clamp(0.01, 100.0),
        };
    }
}

/// Bytes in pages that are both read and written.
pub(crate) fn of_both(s: &Statistics) -> f64 {
    let [touched, read, written] = s.footprints().unwrap_or_default();
    (read + written).saturating_sub(touched) as f64
}
