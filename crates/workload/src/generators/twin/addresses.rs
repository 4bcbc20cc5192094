//! Addresses of a twin's requests: they continue a sequential stream, go to a hot extent by Zipf's law, or
//! are uniform. Hot ranks are scattered by a permutation. With drift, new extents become the hottest, and the
//! others cool down rank by rank. An extent consists of items. Some items have a place of their own, an
//! offset and a size, to which part of their requests always go.

use crate::generators::twin::description::{HotLies, Side, Straddle, extents};
use crate::generators::twin::sizes::SizeLaw;
use crate::random::permutation::Permutation;
use crate::random::zipf_law::ZipfLaw;
use wordline_hash::splitmix;
use wordline_trace::RandomStream;
use wordline_units::LBA_BYTES;

/// Blocks of the page that a stream rewrites, and in which footprints and hit rates count: 4 KiB.
pub(crate) const UNIT: u64 = 8;

/// Arithmetic with multiples of a number of blocks. It is usually a power of two, which saves four divisions
/// per request.
#[derive(Clone, Copy)]
struct Grid {
    step: u64,
    shift: Option<u32>,
}

impl Grid {
    fn of(step: u64) -> Grid {
        Grid { step, shift: step.is_power_of_two().then(|| step.trailing_zeros()) }
    }

    /// Number of whole steps in `n`.
    #[inline]
    fn steps(self, n: u64) -> u64 {
        self.shift.map_or_else(|| n / self.step, |shift| n >> shift)
    }

    /// The largest multiple at or below `n`.
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
    /// Probability that a small request of several units of `align` crosses a page boundary, if given as a share.
    chance_across: f64,
    /// Cumulative shares: sequential; sequential and hot.
    sequential: f64,
    hot: f64,
    streams: Vec<Stream>,
    /// Probability per block that a stream ends after it.
    ends: f64,
    rewrite: f64,
    /// Where streams and uniform requests begin.
    cold: u64,
    extent: Grid,
    /// Number of extents among which the hot ones are.
    among: u64,
    law: ZipfLaw,
    scatter: Permutation,
    items: Option<Items>,
    /// Number of requests after which the next extent becomes the hottest, requests since the last one did,
    /// and how many have.
    drift: u64,
    since: u64,
    moved: u64,
}

/// Target of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Continue a stream.
    Along,
    /// A hot extent.
    Hot,
    Anywhere,
}

/// Items, some of which have a place of their own: an offset and a size.
struct Items {
    /// Length of an item in blocks.
    length: Grid,
    /// Number of items per extent.
    an_extent: u64,
    sizes: Vec<u32>,
    /// Size class of each item of the hottest extents, by rank and position in the extent. [`LOOSE`] means
    /// none.
    of_hottest: Vec<u8>,
    /// Size classes of all other items, in proportion to their shares, including loose ones.
    of_others: [u8; 256],
    key: u64,
}

/// Salt for the choice of requests that cross a page boundary.
const ACROSS: u64 = 0x5ac0_55ed;

/// The probability that a request of several units of `align` and at most a page crosses a page boundary, so that
/// the requested share of all requests of at most a page does; 1 if the share is not reachable.
fn chance_across(side: &Side, law: &SizeLaw) -> f64 {
    let Straddle::Share(share) = side.straddle else { return 0.0 };
    let sum = |least: u64| -> f64 {
        let counts = |size: u32| (least + 1..=side.page).contains(&(size as u64));
        law.shares().iter().filter(|(size, _)| counts(*size)).map(|(_, share)| share).sum()
    };
    let can = sum(side.align);
    if can > 0.0 { (share.as_f64() * sum(0) / can).min(1.0) } else { 0.0 }
}

/// An item without a place of its own.
const LOOSE: u8 = u8::MAX;

/// Number of items whose sizes are chosen consecutively, so that sizes have their shares although a few items get
/// most requests.
const HOTTEST: u64 = 1 << 15;

impl Items {
    fn new(side: &Side, law: &SizeLaw, hot: u64, key: u64) -> Option<Items> {
        if side.stable.0 == 0 {
            return None;
        }
        let stable = side.stable.as_f64();
        let fits = |size: u32| size as u64 * LBA_BYTES <= side.extent;
        let (sizes, mut shares): (Vec<u32>, Vec<f64>) =
            law.listed().filter(|(size, _)| fits(*size)).take(LOOSE as usize).unzip();
        if sizes.is_empty() {
            return None;
        }
        // Longer requests have no place of their own.
        let all = if sizes.len() < law.listed().count() { shares.iter().sum() } else { 1.0 };
        shares.iter_mut().for_each(|share| *share *= stable / all);
        // The last class is for loose items.
        shares.push(1.0 - stable);
        let class = |i: usize| if i < sizes.len() { i as u8 } else { LOOSE };
        let an_extent = (side.extent / LBA_BYTES).div_ceil(side.item);
        let mut given = vec![0.0; shares.len()];
        let mut sum = 0.0;
        // Assign the size that lacks most of its share, so that the remainder is never more than one item.
        let mut next = |weight: f64| {
            sum += weight;
            let lacks = |i: usize, given: &[f64]| shares[i] * sum - given[i];
            let most = (0..shares.len()).max_by(|a, b| lacks(*a, &given).total_cmp(&lacks(*b, &given)));
            let most = most.unwrap_or(0);
            given[most] += weight;
            class(most)
        };
        let hottest = (HOTTEST / an_extent).clamp(1, hot);
        let weights = (1..=hottest).map(|rank| libm::pow(rank as f64, -side.theta));
        let items = weights.flat_map(|weight| (0..an_extent).map(move |_| weight)).take(HOTTEST as usize);
        let of_hottest = items.map(&mut next).collect();
        let of_others = std::array::from_fn(|i| {
            let mut left = (i as f64 + 0.5) / 256.0;
            let passed = shares.iter().take_while(|share| {
                left -= **share;
                left > 0.0
            });
            class(passed.count())
        });
        let length = Grid::of(side.item);
        Some(Items { length, an_extent, sizes, of_hottest, of_others, key })
    }

    /// The own place of the item at block `at` of the extent with this rank, if it has one: offset and size.
    #[inline]
    fn place(&self, at: u64, rank: u64, extent: Grid, align: Grid) -> Option<(u64, u32)> {
        let item = self.length.floor(at);
        let hash = splitmix(item ^ self.key);
        let number = rank * self.an_extent + self.length.steps(at - extent.floor(at));
        let which = self.of_hottest.get(number as usize).unwrap_or(&self.of_others[(hash >> 56) as usize]);
        let size = *self.sizes.get(*which as usize)?;
        let slots = align.steps(self.length.step.saturating_sub(size as u64)) + 1;
        let slot = ((hash as u32 as u64) * slots) >> 32;
        Some((item + slot * align.step, size))
    }
}

/// A sequential stream in its part of the footprint.
struct Stream {
    first: u64,
    past: u64,
    next: u64,
}

impl Addresses {
    /// The addresses of a side, its footprint divided by `scale`, in a run of this many of its requests.
    pub fn new(
        side: &Side,
        law: &SizeLaw,
        scale: u64,
        requests: u64,
        random: &mut RandomStream,
    ) -> Addresses {
        let extent = side.extent / LBA_BYTES;
        let (all, hot) = extents(side, scale);
        let ranks = ZipfLaw::new(hot, side.theta);
        // Where streams and uniform requests begin, and the extents among which the hot ones lie.
        let (cold, among) = match side.hot_lies {
            HotLies::Scattered => (0, all),
            HotLies::Apart => (hot * extent, hot),
        };
        let scatter = Permutation::new(among, random);
        let moves = side.drift * hot as f64;
        let drift = if moves > 0.0 { ((requests as f64 / moves) as u64).max(1) } else { u64::MAX };
        let blocks = (side.footprint / scale / LBA_BYTES / side.align * side.align).max(all * extent);
        let streams = side.streams as u64;
        let cold = cold.next_multiple_of(side.page);
        let part = (blocks - cold) / streams / side.page * side.page;
        let stream = |i: u64| {
            let first = cold + i * part;
            Stream { first, past: first + part, next: first }
        };
        Addresses {
            begin: side.begin / scale / LBA_BYTES / side.page * side.page,
            blocks,
            align: Grid::of(side.align),
            page: Grid::of(side.page),
            page_aligned: side.page_aligned.as_f64(),
            straddle: side.straddle,
            chance_across: chance_across(side, law),
            sequential: side.sequential.as_f64(),
            hot: side.sequential.as_f64() + side.hot.as_f64(),
            streams: if side.sequential.0 > 0 { (0..streams).map(stream).collect() } else { vec![] },
            ends: side.stretch.map_or(0.0, |s| LBA_BYTES as f64 / s.max(LBA_BYTES) as f64),
            rewrite: side.rewrite.as_f64(),
            cold,
            extent: Grid::of(extent),
            among,
            items: Items::new(side, law, hot, random.bits()),
            law: ranks,
            scatter,
            drift,
            since: 0,
            moved: 0,
        }
    }

    /// One past the last block.
    pub fn end(&self) -> u64 {
        self.begin + self.blocks
    }

    /// Where streams and uniform requests go: the first block, and one past the last.
    pub fn open_to_all(&self) -> (u64, u64) {
        (self.begin + self.cold, self.begin + self.blocks)
    }

    /// The target of the next request.
    #[inline]
    pub fn way(&mut self, random: &mut RandomStream) -> Way {
        self.since += 1;
        if self.since == self.drift {
            (self.since, self.moved) = (0, self.moved + 1);
        }
        let way = random.unit();
        if way <= self.sequential {
            Way::Along
        } else if way <= self.hot {
            Way::Hot
        } else {
            Way::Anywhere
        }
    }

    /// Address and size of a request of this many blocks. `listed` says whether the size is one of those
    /// listed.
    #[inline]
    pub fn draw(&mut self, way: Way, blocks: u32, listed: bool, random: &mut RandomStream) -> (u64, u32) {
        let long = blocks as u64;
        match way {
            Way::Along => (self.begin + self.along(long, random), blocks),
            // If the hot extents lie apart, long requests are not updates in place.
            Way::Hot if listed || self.cold == 0 => self.hot(blocks, listed, random),
            _ => {
                let places = self.align.steps(self.blocks - self.cold - long) + 1;
                let at = self.cold + random.below(places) * self.align.step;
                (self.begin + self.placed(at, long, random), blocks)
            }
        }
    }

    /// An address in the hot extents, and the size there.
    #[inline]
    fn hot(&self, blocks: u32, listed: bool, random: &mut RandomStream) -> (u64, u32) {
        let (rank, at) = self.hot_block(blocks, random);
        if let Some(items) = self.items.as_ref().filter(|_| listed && blocks as u64 <= self.extent.step)
            && let Some((own, size)) = items.place(at, rank, self.extent, self.align)
        {
            return (self.begin + self.placed(own, size as u64, random), size);
        }
        (self.begin + self.placed(at, blocks as u64, random), blocks)
    }

    /// Draw the address of a read of `blocks` blocks among the frequently written ones.
    #[inline]
    pub fn written(&self, blocks: u32, random: &mut RandomStream) -> u64 {
        let (rank, at) = self.hot_block(blocks, random);
        let own = self.items.as_ref().and_then(|items| items.place(at, rank, self.extent, self.align));
        self.begin + self.placed(own.map_or(at, |(own, _)| own), blocks as u64, random)
    }

    /// A block in a hot extent with room for this many blocks, and the current rank of the extent.
    #[inline]
    fn hot_block(&self, blocks: u32, random: &mut RandomStream) -> (u64, u64) {
        let rank = self.law.draw(random);
        let number =
            if self.moved == 0 { rank } else { (rank + self.among - self.moved % self.among) % self.among };
        let slots = self.align.steps(self.extent.step.saturating_sub(blocks as u64)) + 1;
        let inside = if slots > 1 { random.below(slots) * self.align.step } else { 0 };
        (rank, self.scatter.of(number) * self.extent.step + inside)
    }

    /// Aligns an address to pages and keeps the request within the footprint.
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
        if self.straddle == Straddle::Free {
            return at;
        }
        let page_end = begin + self.page.step;
        match self.across(at, blocks).filter(|_| page_end + blocks <= self.blocks) {
            Some(across) => across,
            None if at + blocks > page_end => begin + self.align.floor(self.page.step - blocks),
            None => at,
        }
    }

    /// Start of a request of at most a page that crosses a page boundary, if it belongs to that share. It is
    /// the same each time, so that a stable place stays stable.
    #[inline]
    fn across(&self, at: u64, blocks: u64) -> Option<u64> {
        if self.chance_across == 0.0 || blocks <= self.align.step || blocks > self.page.step {
            return None;
        }
        let hash = splitmix(at ^ ACROSS);
        if (hash >> 32) as f64 >= self.chance_across * (1u64 << 32) as f64 {
            return None;
        }
        let page_end = self.page.floor(at) + self.page.step;
        if at + blocks > page_end {
            return Some(at);
        }
        // At least one unit of the request lies before the end of the page, and one block after it.
        let before = (hash as u32 as u64) % self.align.steps(blocks - 1) + 1;
        Some(page_end - before * self.align.step)
    }

    /// Continue a stream, chosen uniformly.
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
        if self.straddle != Straddle::Free && blocks <= self.page.step {
            let next = self.streams[which].next;
            let page_end = self.page.floor(next) + self.page.step;
            let moved = if next + blocks > page_end { page_end } else { next };
            self.streams[which].next = self.across(next, blocks).unwrap_or(moved);
        }
        let s = &mut self.streams[which];
        if s.next + blocks > s.past {
            s.next = s.first;
        }
        let at = s.next;
        s.next += blocks;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::twin::read::from_toml;
    use rustc_hash::FxHashMap;

    /// Hot writes of hm_0's twin, all of its items stable or none.
    fn drawn(stable: &str) -> (f64, f64, f64) {
        let file = include_str!("../../../twins/hm_0.toml").lines();
        let text: String = file
            .map(|l| if l.starts_with("stable =") { stable } else { l })
            .flat_map(|l| [l, "\n"])
            .collect();
        let side = from_toml(&text, "hm_0").unwrap().writes;
        let law = SizeLaw::new(&side).unwrap();
        let mut random = RandomStream::new(1, "test");
        let mut addresses = Addresses::new(&side, &law, 1, 400_000, &mut random);
        let (mut last, mut same, mut again, mut sum, mut listed) = (FxHashMap::default(), 0, 0, 0u64, 0u64);
        for _ in 0..400_000 {
            let (size, _) = law.draw(0.0, &mut random);
            let (at, blocks) = addresses.draw(Way::Hot, size, true, &mut random);
            (sum, listed) = (sum + blocks as u64, listed + size as u64);
            if let Some(before) = last.insert(at / side.item, (at, blocks)) {
                again += 1;
                same += u64::from(before == (at, blocks));
            }
        }
        (same as f64 / again as f64, sum as f64 / 400_000.0, listed as f64 / 400_000.0)
    }

    #[test]
    fn stable_items_keep_their_place_and_sizes_their_law() {
        let (all, mean, law) = drawn("stable = \"100%\"");
        assert!(all > 0.999, "{all}");
        assert!((mean / law - 1.0).abs() < 0.01, "{mean} {law}");
        let (some, mean, law) = drawn("stable = \"50%\"");
        assert!((0.5..0.7).contains(&some), "{some}");
        assert!((mean / law - 1.0).abs() < 0.01, "{mean} {law}");
        let (none, mean, law) = drawn("stable = \"0%\"");
        assert!(none < 0.25 && mean == law, "{none} {mean} {law}");
    }
}
