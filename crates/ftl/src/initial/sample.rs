//! One plane that represents all under an address distribution: pages of every class in the drive's
//! proportions, written untimed until the WAF is steady, and its blocks distributed over the planes.

use crate::image::base::{PlaneBase, PlanePages};
use crate::initial::steady_types::{Begun, Law, PlaneBlocks, Regime, UNTOUCHED};
use crate::initial::untimed::{Draws, Shape, UntimedPlane};
use crate::initial::windows::Windows;
use wordline_units::Lpn;

/// States of the plane that are distributed over the planes of the drive.
const SNAPSHOTS: usize = 8;
/// The most drive writes.
const WINDOWS_MAX: usize = 40;

/// Numbers drawn with given weights.
struct Weighted {
    /// Cumulative, scaled to 2^64.
    up_to: Vec<u64>,
}

impl Weighted {
    fn new(weights: &[f64]) -> Weighted {
        let all: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let scaled = weights.iter().map(|w| {
            sum += w;
            (sum / all * 18_446_744_073_709_551_616.0) as u64
        });
        Weighted { up_to: scaled.collect() }
    }

    #[inline]
    fn draw(&self, draws: &mut Draws) -> usize {
        if self.up_to.len() == 1 {
            return 0;
        }
        let bits = draws.bits();
        self.up_to.partition_point(|u| *u <= bits).min(self.up_to.len() - 1)
    }
}

/// A representative plane under an address distribution.
pub(crate) struct Sample {
    /// The class in the sample of each class of the law; the last is of pages never written.
    merged: Vec<usize>,
    /// Pages of each class of the sample, consecutive.
    pub pages: Vec<u32>,
    shares: Vec<f64>,
    /// Pages of a plane that are written at a time, and how often.
    lengths: Vec<(u32, f64)>,
    aligned: bool,
}

impl Sample {
    /// Scale the classes to this total number of pages. A class with less than one write joins its neighbor.
    pub fn new(law: &Law, counts: &[u64], lengths: Vec<(u32, f64)>, pages: u32) -> Sample {
        let all: u64 = counts.iter().sum();
        let scaled = |n: u64| (n as f64 * pages as f64 / all.max(1) as f64).round() as u32;
        let longest = lengths.iter().map(|l| l.0).max().unwrap_or(1);
        let (merged, aligned) = (vec![0; counts.len()], law.aligned);
        let mut sample = Sample { merged, pages: vec![], shares: vec![], lengths, aligned };
        let (mut waiting, mut share) = (0u64, 0.0);
        let written = counts.len() - 1;
        for (class, (count, of_class)) in counts.iter().zip(&law.shares).enumerate() {
            waiting += count;
            share += if *count > 0 { *of_class } else { 0.0 };
            sample.merged[class] = sample.pages.len();
            if scaled(waiting) >= longest {
                sample.pages.push(scaled(waiting));
                sample.shares.push(share);
                (waiting, share) = (0, 0.0);
            }
        }
        let last = sample.pages.len().saturating_sub(1);
        match sample.pages.last_mut() {
            Some(pages) => *pages += scaled(waiting),
            None => sample.pages.push(scaled(waiting).max(longest)),
        }
        match sample.shares.last_mut() {
            Some(s) => *s += share,
            None => sample.shares.push(1.0),
        }
        sample.merged.iter_mut().for_each(|m| *m = (*m).min(last));
        let never = scaled(counts[written]);
        if never > 0 {
            sample.merged[written] = sample.pages.len();
            sample.pages.push(never);
            sample.shares.push(0.0);
        } else {
            sample.merged[written] = last;
        }
        sample
    }

    /// Write until the WAF is steady, then take snapshots at random instants.
    pub fn settle(&self, shape: Shape, step: u32, regime: Regime, seed: u64) -> (Begun, Vec<PlaneBlocks>) {
        let mut plane = UntimedPlane::packed(shape, seed);
        let mut draws = Draws::new(seed ^ 0x7374_6561_6479);
        let classes = Weighted::new(&self.shares);
        let lengths = Weighted::new(&self.lengths.iter().map(|l| l.1).collect::<Vec<_>>());
        let mut first = 0;
        let firsts: Vec<u32> = self
            .pages
            .iter()
            .map(|n| {
                first += n;
                first - n
            })
            .collect();
        let write = |plane: &mut UntimedPlane, draws: &mut Draws| {
            let class = classes.draw(draws);
            let length = self.lengths[lengths.draw(draws)].0.min(self.pages[class]);
            let at = match self.aligned {
                true => draws.below(self.pages[class] / length) * length,
                false => draws.below(self.pages[class] - length + 1),
            };
            let page = firsts[class] + at;
            (page..page + length).for_each(|page| plane.write(page));
        };
        let mut windows = Windows::new();
        while windows.count() < WINDOWS_MAX && !windows.is_still() {
            let until = plane.host_pages() + shape.pages as u64;
            while plane.host_pages() < until {
                write(&mut plane, &mut draws);
            }
            windows.end(plane.host_pages(), plane.programmed());
        }
        let begun = windows.begun(shape.pages as u64, regime);
        let mut snapshots = vec![];
        for _ in 0..SNAPSHOTS {
            let until = plane.host_pages() + (shape.pages / 8 + draws.below(2 * shape.slots)) as u64;
            while plane.host_pages() < until || !plane.filled().is_multiple_of(step) {
                write(&mut plane, &mut draws);
            }
            snapshots.push(self.snapshot(&plane, &firsts));
        }
        (begun, snapshots)
    }

    fn snapshot(&self, plane: &UntimedPlane, firsts: &[u32]) -> PlaneBlocks {
        let of = |(block, programmed): (u32, u32)| {
            let mut live = vec![0; self.pages.len()];
            plane.live_pages(block).for_each(|page| live[firsts.partition_point(|f| *f <= page) - 1] += 1);
            (programmed, live)
        };
        plane.blocks().into_iter().map(of).collect()
    }
}

/// Stretch a snapshot to this many blocks, the open one last.
fn stretched(snapshot: &PlaneBlocks, blocks: u32) -> impl Iterator<Item = &(u32, Vec<u32>)> {
    let closed = snapshot.len() - 1;
    let (many, more) = (blocks as usize - 1, closed);
    (0..many).map(move |i| &snapshot[i * more / many]).chain(snapshot.last())
}

/// Deal the pages of a plane out, `lists` by class, so that its blocks are like those of a snapshot.
pub(crate) fn dealt(snapshot: &PlaneBlocks, blocks: u32, totals: &[u32]) -> (PlaneBase, Vec<Vec<u32>>) {
    let classes = totals.len();
    let mut there = vec![0u64; classes];
    for (_, live) in stretched(snapshot, blocks) {
        there.iter_mut().zip(live).for_each(|(t, l)| *t += *l as u64);
    }
    let mut given = vec![0u32; classes];
    let mut before = vec![0u64; classes];
    let mut rooms = vec![];
    let mut each: Vec<Vec<u32>> = vec![];
    for (programmed, live) in stretched(snapshot, blocks) {
        let mut room = *programmed;
        let mut counts = vec![0; classes];
        for class in 0..classes {
            before[class] += live[class] as u64;
            let due = (before[class] * totals[class] as u64 + there[class] / 2) / there[class].max(1);
            counts[class] = (due as u32).saturating_sub(given[class]).min(room);
            room -= counts[class];
            given[class] += counts[class];
        }
        rooms.push(room);
        each.push(counts);
    }
    // What rounding has left over goes where there is room, to young blocks first.
    for block in (0..each.len()).rev() {
        for class in 0..classes {
            let more = (totals[class] - given[class]).min(rooms[block]);
            each[block][class] += more;
            given[class] += more;
            rooms[block] -= more;
        }
    }
    let mut base = PlaneBase { programmed: vec![], before: vec![0] };
    let mut sum = 0;
    for ((programmed, _), counts) in stretched(snapshot, blocks).zip(&each) {
        sum += counts.iter().sum::<u32>();
        base.programmed.push(*programmed);
        base.before.push(sum);
    }
    (base, each)
}

/// The numbers of a plane's pages by class, in random order but for runs of `together`.
pub(crate) fn shuffled(
    pages: &PlanePages,
    law: &Law,
    sample: &Sample,
    together: u32,
    seed: u64,
) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = vec![vec![]; sample.pages.len()];
    for number in 0..pages.count {
        lists[sample.class(law, pages.lpn(number))].push(number);
    }
    let mut draws = Draws::new(seed);
    let together = together as usize;
    for list in &mut lists {
        // Fisher and Yates, with runs in the place of pages.
        for left in (2..=list.len() / together).rev() {
            let (to, from) = ((left - 1) * together, draws.below(left as u32) as usize * together);
            (0..together).for_each(|i| list.swap(from + i, to + i));
        }
    }
    lists
}

impl Sample {
    /// The class of a logical page in the sample.
    pub fn class(&self, law: &Law, lpn: Lpn) -> usize {
        match law.class_of.get(lpn.index()) {
            Some(class) if *class != UNTOUCHED => self.merged[*class as usize],
            _ => self.merged[self.merged.len() - 1],
        }
    }
}
