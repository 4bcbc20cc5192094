//! Where a twin's requests go: on with a sequential stream, to a hot extent by Zipf's law, or
//! anywhere. Hot ranks are scattered by a permutation that stays fixed for the run.

use super::description::{Side, Straddle};
use crate::random::{Permutation, RandomStream};
use crate::zipf_law::ZipfLaw;
use wordline_units::LBA_BYTES;

/// Blocks of the page that a stream rewrites, and that footprints and hit rates count: 4 KiB.
pub(crate) const UNIT: u64 = 8;

/// Multiples of so many blocks: mostly a power of two, which saves a request four divisions.
#[derive(Clone, Copy)]
struct Grid {
    step: u64,
    shift: Option<u32>,
}

impl Grid {
    fn of(step: u64) -> Grid {
        Grid { step, shift: step.is_power_of_two().then(|| step.trailing_zeros()) }
    }

    /// How many whole steps there are in `n`.
    #[inline]
    fn steps(self, n: u64) -> u64 {
        self.shift.map_or_else(|| n / self.step, |shift| n >> shift)
    }

    /// The multiple at or below `n`.
    #[inline]
    fn floor(self, n: u64) -> u64 {
        self.steps(n) * self.step
    }
}

/// Addresses of one side, in blocks.
pub(crate) struct Addresses {
    begin: u64,
    blocks: u64,
    align: Grid,
    page: Grid,
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
            align: Grid::of(side.align),
            page: Grid::of(side.page),
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
            let at = random.below(self.align.steps(self.blocks - blocks) + 1) * self.align.step;
            self.begin + self.placed(at, blocks, random)
        }
    }

    /// An address among the hot extents.
    #[inline]
    pub fn hot(&mut self, blocks: u32, random: &mut RandomStream) -> u64 {
        let blocks = blocks as u64;
        let start = self.scatter.of(self.law.draw(random)) * self.extent;
        let slots = self.align.steps(self.extent.saturating_sub(blocks)) + 1;
        let inside = if slots > 1 { random.below(slots) * self.align.step } else { 0 };
        self.begin + self.placed(start + inside, blocks, random)
    }

    /// Moves an address so that it keeps to pages and the request to the footprint.
    #[inline]
    fn placed(&self, at: u64, blocks: u64, random: &mut RandomStream) -> u64 {
        let at = at.min(self.align.floor(self.blocks.saturating_sub(blocks)));
        if self.page.step <= self.align.step {
            return at;
        }
        let begin = self.page.floor(at);
        if blocks > self.page.step || (blocks == self.page.step && self.straddle == Straddle::Free) {
            let aligned = self.page_aligned > 0.0 && random.unit() <= self.page_aligned;
            return if aligned { begin } else { at };
        }
        if self.straddle == Straddle::Never && at + blocks > begin + self.page.step {
            return begin + self.align.floor(self.page.step - blocks);
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
            s.next = s.first + random.below(self.align.steps(s.past - s.first)) * self.align.step;
        } else if rewrite > 0.0 && s.next > s.first && random.unit() <= rewrite {
            s.next = ((s.next - 1) / UNIT * UNIT).max(s.first);
        }
        let page_end = self.page.floor(s.next) + self.page.step;
        if self.straddle == Straddle::Never && blocks <= self.page.step && s.next + blocks > page_end {
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
