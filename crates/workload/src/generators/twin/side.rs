//! Figures of the requests of one kind.

use crate::generators::twin::addresses::UNIT;
use crate::generators::twin::files_found::{Continued, Files};
use rustc_hash::FxHashMap;
use wordline_units::HostRequest;

/// Number of request ends that are remembered, to detect requests that continue them.
const RECENT: usize = 64;
/// Requests of one kind.
#[derive(Clone, Default)]
pub(crate) struct Side {
    requests: u64,
    bytes: u64,
    /// Requests by size in blocks.
    sizes: FxHashMap<u32, u64>,
    /// Requests that begin at the end of a recent one or rewrite its last 4 KiB, and streams of two or more.
    streams: Continued,
    /// Requests at multiples of 4 KiB.
    aligned: u64,
    /// Ends of the last requests, and whether they continued others.
    ends: Vec<(u64, bool)>,
    at: usize,
    files: Files,
}

impl Side {
    #[inline]
    pub fn add(&mut self, r: &HostRequest, time: u64) {
        self.requests += 1;
        self.bytes += r.bytes();
        *self.sizes.entry(r.blocks).or_insert(0) += 1;
        self.aligned += u64::from(r.lba.0.is_multiple_of(UNIT) && (r.blocks as u64).is_multiple_of(UNIT));
        let end = r.lba.0 + r.blocks as u64;
        let goes_on = |e: u64| e == r.lba.0 || (e - 1) / UNIT * UNIT == r.lba.0;
        let mut streams = Continued::default();
        if let Some(before) = self.ends.iter_mut().find(|e| goes_on(e.0)) {
            let [rewritten, runs] = [before.0 != r.lba.0, !before.1].map(u64::from);
            streams = Continued { continued: 1, rewritten, runs };
            self.streams += streams;
            *before = (end, true);
        } else if self.ends.len() < RECENT {
            self.ends.push((end, false));
        } else {
            self.ends[self.at] = (end, false);
            self.at = (self.at + 1) % RECENT;
        }
        self.files.add(time, r.lba.0, r.blocks, streams);
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Bytes of all requests.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Requests by size in blocks.
    pub fn sizes(&self) -> &FxHashMap<u32, u64> {
        &self.sizes
    }

    /// Requests that begin at the end of a recent one or rewrite its last 4 KiB, and streams of two or more.
    pub fn streams(&self) -> Continued {
        self.streams
    }

    /// Whether all requests are at multiples of 4 KiB.
    pub fn is_aligned(&self) -> bool {
        self.aligned == self.requests
    }

    /// The files among the requests.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Mean size in bytes; none without requests.
    pub fn mean(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
    }
}
