//! Where a twin's requests go: on with a sequential stream, to a hot extent by Zipf's law, or
//! anywhere. Hot ranks are scattered by a permutation that stays fixed for the run.

use super::description::{Side, Straddle};
use crate::random::{Permutation, RandomStream};
use crate::zipf_law::ZipfLaw;
use wordline_units::LBA_BYTES;

/// Blocks of the page that a stream rewrites, and that footprints and hit rates count: 4 KiB.
pub(crate) const UNIT: u64 = 8;

/// Addresses of one side, in blocks.
pub(crate) struct Addresses {
    begin: u64,
    blocks: u64,
    align: u64,
    page: u64,
    page_aligned: f64,
    straddle: Straddle,
    /// Cumulative: sequential, sequential and hot.
    sequential: f64,
    hot: f64,
    streams: Vec<Stream>,
    /// Chance a block that a stream ends with it.
    ends: f64,
    rewrite: f64,
    extent: u64,
    law: ZipfLaw,
    scatter: Permutation,
}

/// A sequential stream in its part of the footprint.
struct Stream {
    first: u64,
    past: u64,
    next: u64,
}

/// Extents of a side: all, and hot ones.
pub(crate) fn extents(side: &Side, scale: u64) -> (u64, u64) {
    let all = (side.footprint / scale / side.extent).max(1);
    (all, side.hot_space.of_ceil(all).clamp(1, all))
}

impl Addresses {
    /// The addresses of a side, its footprint divided by `scale`.
    pub fn new(side: &Side, scale: u64, random: &mut RandomStream) -> Addresses {
        let extent = side.extent / LBA_BYTES;
        let (all, hot) = extents(side, scale);
        let blocks = (side.footprint / scale / LBA_BYTES / side.align * side.align).max(all * extent);
        let streams = side.streams as u64;
        let part = blocks / streams / side.page * side.page;
        let stream = |i: u64| Stream { first: i * part, past: (i + 1) * part, next: i * part };
        Addresses {
            begin: side.begin / scale / LBA_BYTES / side.page * side.page,
            blocks,
            align: side.align,
            page: side.page,
            page_aligned: side.page_aligned.as_f64(),
            straddle: side.straddle,
            sequential: side.sequential.as_f64(),
            hot: side.sequential.as_f64() + side.hot.as_f64(),
            streams: if side.sequential.0 > 0 { (0..streams).map(stream).collect() } else { vec![] },
            ends: side.stretch.map_or(0.0, |s| LBA_BYTES as f64 / s.max(LBA_BYTES) as f64),
            rewrite: side.rewrite.as_f64(),
            extent,
            law: ZipfLaw::new(hot, side.theta),
            scatter: Permutation::new(all, random),
        }
    }

    /// One past the last block.
    pub fn end(&self) -> u64 {
        self.begin + self.blocks
    }

    /// The address of a request of so many blocks.
    #[inline]
    pub fn draw(&mut self, blocks: u32, random: &mut RandomStream) -> u64 {
        let way = random.unit();
        if way <= self.sequential {
            self.begin + self.along(blocks as u64, random)
        } else if way <= self.hot {
            self.hot(blocks, random)
        } else {
            let blocks = blocks as u64;
            let at = random.below((self.blocks - blocks) / self.align + 1) * self.align;
            self.begin + self.placed(at, blocks, random)
        }
    }

    /// An address among the hot extents.
    #[inline]
    pub fn hot(&mut self, blocks: u32, random: &mut RandomStream) -> u64 {
        let blocks = blocks as u64;
        let start = self.scatter.of(self.law.draw(random)) * self.extent;
        let slots = self.extent.saturating_sub(blocks) / self.align + 1;
        let inside = if slots > 1 { random.below(slots) * self.align } else { 0 };
        self.begin + self.placed(start + inside, blocks, random)
    }

    /// Moves an address so that it keeps to pages and the request to the footprint.
    #[inline]
    fn placed(&self, at: u64, blocks: u64, random: &mut RandomStream) -> u64 {
        let at = at.min(self.blocks.saturating_sub(blocks) / self.align * self.align);
        if self.page <= self.align {
            return at;
        }
        let begin = at / self.page * self.page;
        if blocks > self.page || (blocks == self.page && self.straddle == Straddle::Free) {
            let aligned = self.page_aligned > 0.0 && random.unit() <= self.page_aligned;
            return if aligned { begin } else { at };
        }
        if self.straddle == Straddle::Never && at + blocks > begin + self.page {
            return begin + (self.page - blocks) / self.align * self.align;
        }
        at
    }

    /// The next of a stream, each as likely.
    #[inline]
    fn along(&mut self, blocks: u64, random: &mut RandomStream) -> u64 {
        let many = self.streams.len() as u64;
        let which = if many > 1 { random.below(many) as usize } else { 0 };
        let (ends, rewrite) = (self.ends * blocks as f64, self.rewrite);
        let s = &mut self.streams[which];
        if ends > 0.0 && random.unit() <= ends {
            s.next = s.first + random.below((s.past - s.first) / self.align) * self.align;
        } else if rewrite > 0.0 && s.next > s.first && random.unit() <= rewrite {
            s.next = ((s.next - 1) / UNIT * UNIT).max(s.first);
        }
        let page_end = s.next / self.page * self.page + self.page;
        if self.straddle == Straddle::Never && blocks <= self.page && s.next + blocks > page_end {
            s.next = page_end;
        }
        if s.next + blocks > s.past {
            s.next = s.first;
        }
        let at = s.next;
        s.next += blocks;
        at
    }
}
