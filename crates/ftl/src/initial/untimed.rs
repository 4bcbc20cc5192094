//! One plane of one region without time: a map, valid counts and the region's victim rule, and no waiting. Filling a
//! drive many times costs nanoseconds per page here, and the blocks reach the contents of the timed drive, because
//! valid counts depend on the order of writes and on victim selection, and on time only as far as GC lags.
//!
//! The cycle is that of the timed drive: a block is opened, a victim is selected among the closed ones, its valid pages
//! go to the open block, and host pages fill the rest.

use crate::image::permutation::Permutation;
use crate::state::victim::VictimIndex;
use wordline_device::Victim;
use wordline_hash::{SplitMix64, mix};

/// Random numbers by SplitMix64, for a component that needs them fast and saves nothing.
#[derive(Clone, Debug)]
pub(crate) struct Draws(SplitMix64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(SplitMix64::new(seed))
    }

    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A uniform random number below `n`, with a bias of less than n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((self.bits() as u128 * n as u128) >> 64) as u32
    }
}

/// Parameters of a plane without time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Blocks that hold data when a victim is chosen.
    pub closed: u32,
    /// Slots of a block.
    pub slots: u32,
    /// Slots that one program can leave unused: a victim must free more than that.
    pub lost: u32,
    /// Logical pages that hold data.
    pub pages: u32,
    pub victim: Victim,
    /// Whether a block without valid data comes first.
    pub dead_first: bool,
    /// Padded slots per host page.
    pub padding: f64,
}

const NOBODY: u32 = u32::MAX;

/// The plane: the closed blocks, one that is open and one that is erased.
#[derive(Clone, Debug)]
pub(crate) struct UntimedPlane {
    shape: Shape,
    shift: u32,
    /// Block and slot of each page.
    place: Vec<u32>,
    /// The page that was written to each slot; it is live if it still has its place there.
    owner: Vec<u32>,
    live: Vec<u32>,
    /// When each block was closed, in blocks closed before it.
    closed_at: Vec<u64>,
    closings: u64,
    victims: VictimIndex,
    open: u32,
    next: u32,
    erased: u32,
    host: u64,
    /// Slots that padding has yet to take.
    unpadded: f64,
}

impl UntimedPlane {
    /// A plane right after a fill: pages in any order, block by block, and the remaining blocks full of invalid pages.
    /// Data that are never written then stay in place at no cost, as on a filled drive; with equally valid blocks they
    /// would be moved forever.
    ///
    /// # Panics
    /// If the pages do not leave a program's worth of invalid slots in each block; the caller ensures that.
    pub fn packed(shape: Shape, seed: u64) -> UntimedPlane {
        assert!(shape.pages as u64 <= shape.closed as u64 * (shape.slots - shape.lost - 1) as u64);
        let shift = shape.slots.next_power_of_two().trailing_zeros();
        let blocks = shape.closed as usize + 1;
        let mut victims = VictimIndex::new(shape.victim, blocks, shape.slots, shape.dead_first);
        victims.seed(mix(seed));
        let mut plane = UntimedPlane {
            shape,
            shift,
            place: vec![0; shape.pages as usize],
            owner: vec![NOBODY; blocks << shift],
            live: vec![0; blocks],
            closed_at: vec![0; blocks],
            closings: 0,
            victims,
            open: 0,
            next: 0,
            erased: shape.closed,
            host: 0,
            unpadded: 0.0,
        };
        let order = Permutation::keyed(shape.pages, seed);
        for block in 0..shape.closed {
            (plane.open, plane.next) = (block, 0);
            let before = |b: u32| (b * shape.slots).min(shape.pages);
            (before(block)..before(block + 1)).for_each(|rank| plane.put(order.inverse(rank)));
            plane.next = shape.slots;
            if block + 1 < shape.closed {
                plane.close();
            }
        }
        plane
    }

    #[inline]
    fn put(&mut self, page: u32) {
        let at = self.open << self.shift | self.next;
        self.next += 1;
        self.place[page as usize] = at;
        self.owner[at as usize] = page;
        self.live[self.open as usize] += 1;
    }

    fn close(&mut self) {
        self.victims.insert(self.open as usize, self.live[self.open as usize]);
        self.closed_at[self.open as usize] = self.closings;
        self.closings += 1;
    }

    /// Open a block, and empty a victim into it.
    fn turn(&mut self) {
        self.close();
        let most = self.shape.slots - self.shape.lost;
        let live = &self.live;
        let Some(victim) = self.victims.in_order().find(|at| live[*at] <= most) else {
            unreachable!("pages leave dead slots in every plane");
        };
        self.victims.remove(victim);
        (self.open, self.next) = (self.erased, 0);
        let first = (victim as u32) << self.shift;
        for at in first..first + self.shape.slots {
            let page = self.owner[at as usize];
            if page != NOBODY && self.place[page as usize] == at {
                self.put(page);
            }
            self.owner[at as usize] = NOBODY;
        }
        self.live[victim] = 0;
        self.erased = victim as u32;
    }

    /// The host writes a page.
    #[inline]
    pub fn write(&mut self, page: u32) {
        while self.next == self.shape.slots {
            self.turn();
        }
        let block = self.place[page as usize] >> self.shift;
        self.live[block as usize] -= 1;
        if block != self.open {
            self.victims.lower(block as usize, self.live[block as usize]);
        }
        self.put(page);
        self.host += 1;
        self.unpadded += self.shape.padding;
        while self.unpadded >= 1.0 {
            if self.next == self.shape.slots {
                self.turn();
            }
            self.next += 1;
            self.unpadded -= 1.0;
        }
    }

    /// Pages that the host has written.
    pub fn host_pages(&self) -> u64 {
        self.host
    }

    /// Pages programmed in full blocks and in the open one, without the initial ones. The slots of the initial blocks
    /// are not programs.
    pub fn programmed(&self) -> u64 {
        let blocks = self.closings + 1 - self.shape.closed as u64;
        blocks * self.shape.slots as u64 + self.next as u64 - self.shape.slots as u64
    }

    /// Slots programmed in the open block.
    pub fn filled(&self) -> u32 {
        self.next
    }

    /// The blocks with data, oldest first and the open one last, each with its programmed slots.
    pub fn blocks(&self) -> Vec<(u32, u32)> {
        let mut closed: Vec<u32> =
            (0..=self.shape.closed).filter(|b| *b != self.open && *b != self.erased).collect();
        closed.sort_unstable_by_key(|b| self.closed_at[*b as usize]);
        let full = closed.into_iter().map(|b| (b, self.shape.slots));
        full.chain([(self.open, self.next)]).collect()
    }

    /// The live pages of a block, in the order in which they were programmed.
    pub fn live_pages(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        let first = block << self.shift;
        let slots = first..first + self.shape.slots;
        slots.filter_map(|at| {
            let page = self.owner[at as usize];
            (page != NOBODY && self.place[page as usize] == at).then_some(page)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WAF under uniform writes after this many drive writes, over four more.
    fn uniform(victim: Victim, rho: f64, slots: u32, closed: u32, warm_up: u32) -> f64 {
        let pages = (rho * closed as f64 * slots as f64) as u32;
        let mut plane = UntimedPlane::packed(
            Shape { closed, slots, lost: 1, pages, victim, dead_first: false, padding: 0.0 },
            7,
        );
        let mut draws = Draws::new(5);
        (0..warm_up * pages).for_each(|_| plane.write(draws.below(pages)));
        let (host, programmed) = (plane.host_pages(), plane.programmed());
        (0..4 * pages).for_each(|_| plane.write(draws.below(pages)));
        (plane.programmed() - programmed) as f64 / (plane.host_pages() - host) as f64
    }

    /// Formulas of `lab/wordline_lab/theory.py`, which hold for many blocks: SPEC section 7.1.
    #[test]
    fn uniform_writes_amplify_as_theory_says() {
        for (victim, rho, slots, theory) in [
            (Victim::Greedy, 0.8, 128, 2.645),
            (Victim::Greedy, 0.9, 128, 4.992),
            (Victim::Greedy, 0.7, 32, 1.793),
            (Victim::Fifo, 0.8, 128, 2.693),
            (Victim::Fifo, 0.9, 128, 5.179),
            (Victim::DChoices(10), 0.8, 64, 2.675),
            (Victim::DChoices(10), 0.9, 64, 5.000),
            // A block drawn at random is as live as the plane: the mean of exp(-a t) over ages t that are
            // distributed exponentially. A window of all blocks is greedy, and one of one is FIFO.
            (Victim::DChoices(1), 0.8, 128, 5.0),
            (Victim::WindowedGreedy(512), 0.8, 128, 2.645),
            (Victim::WindowedGreedy(1), 0.8, 128, 2.693),
        ] {
            let ours = uniform(victim, rho, slots, 512, 6);
            assert!((ours / theory - 1.0).abs() < 0.02, "{victim:?} {rho} {slots}: {ours} against {theory}");
        }
    }

    /// FIFO in the mean field, P. Desnoyers, SYSTOR 2012, section 3.1, with padding, which is dead at once: over one round
    /// of all S slots the host writes n of N pages, of which e = exp(-n / N) survive, so S = n / (1 - e) + padding * n.
    #[test]
    fn padding_amplifies_each_page_and_dies_at_once() {
        let padded = |padding: f64| {
            let shape = Shape {
                closed: 512,
                slots: 128,
                lost: 1,
                pages: 45_875,
                victim: Victim::Fifo,
                dead_first: false,
                padding,
            };
            let mut plane = UntimedPlane::packed(shape, 7);
            let mut draws = Draws::new(5);
            (0..6 * shape.pages).for_each(|_| plane.write(draws.below(shape.pages)));
            let (host, programmed) = (plane.host_pages(), plane.programmed());
            (0..4 * shape.pages).for_each(|_| plane.write(draws.below(shape.pages)));
            (plane.programmed() - programmed) as f64 / (plane.host_pages() - host) as f64
        };
        for padding in [0.0, 0.5, 2.0] {
            let (slots, pages) = (512.0 * 128.0, 45_875.0);
            let (mut low, mut high) = (0.0, slots);
            for _ in 0..100 {
                let n: f64 = (low + high) / 2.0;
                let of = n / (1.0 - libm::exp(-n / pages)) + padding * n;
                if of < slots { low = n } else { high = n }
            }
            let written = low;
            let theory = slots / written;
            let ours = padded(padding);
            assert!((ours / theory - 1.0).abs() < 0.02, "{padding}: {ours} against {theory}");
        }
    }

    #[test]
    fn every_page_is_valid_once_and_blocks_differ_by_age() {
        let shape = Shape {
            closed: 20,
            slots: 12,
            lost: 1,
            pages: 180,
            victim: Victim::Fifo,
            dead_first: false,
            padding: 0.0,
        };
        let mut plane = UntimedPlane::packed(shape, 3);
        let mut draws = Draws::new(9);
        for _ in 0..5000 {
            plane.write(draws.below(180));
        }
        let blocks = plane.blocks();
        assert_eq!(blocks.len(), 20);
        let mut all: Vec<u32> = blocks.iter().flat_map(|(b, _)| plane.live_pages(*b)).collect();
        for (block, _) in &blocks {
            assert_eq!(plane.live_pages(*block).count() as u32, plane.live[*block as usize]);
        }
        all.sort_unstable();
        assert_eq!(all, (0..180).collect::<Vec<_>>());
        // FIFO: whoever was closed first is the next victim.
        assert_eq!(plane.victims.best(), Some(blocks[0].0 as usize));
    }
}
