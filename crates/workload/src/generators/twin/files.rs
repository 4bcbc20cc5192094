//! Requests that continue a file: one file after another, each in contiguous requests of one size until it is
//! complete. Copies, logs and backups look like this, and come in bursts. The requests of a burst then start
//! at the same offset within their pages and step through the planes of a drive, unlike requests of many
//! streams.

use crate::generators::twin::addresses::Addresses;
use crate::generators::twin::bursts::Recent;
use crate::generators::twin::description::{FileLaw, Rest, Side};
use crate::generators::twin::sizes::SizeLaw;
use crate::random::alias::Alias;
use wordline_trace::RandomStream;
use wordline_units::{Fraction, LBA_BYTES};

/// A file that starts near the previous one does so within this many of its requests after it.
pub(crate) const NEAR: u64 = 64;

/// The files of a side, in progress.
pub(crate) struct Files {
    /// Probability that a request continues a file, in a burst and elsewhere.
    bursts: f64,
    apart: f64,
    recent: Recent,
    mean_gap: f64,
    sizes: Shared,
    lengths: Vec<u64>,
    by_weight: Alias,
    begins: Vec<u64>,
    by_begin: Alias,
    near: f64,
    zones: Vec<Zone>,
    zone: usize,
    /// The open file: the size of its requests, the number left, and the class of its alignment.
    size: u32,
    left: u64,
    class: usize,
    random: RandomStream,
}

/// Maximum number of zones.
const ZONES: u64 = 64;

/// A part of the footprint that is filled from its start. A file that does not start after the previous one
/// starts at the fill pointer of another zone, so that nothing is overwritten before all zones are full. Then
/// all zones are reset.
#[derive(Clone, Copy)]
struct Zone {
    from: u64,
    to: u64,
    next: u64,
}

/// Zones with space for the longest file each, if possible.
fn zones(first: u64, past: u64, room: u64) -> Vec<Zone> {
    let many = ((past - first) / room.max(1)).clamp(1, ZONES);
    let length = (past - first) / many;
    (0..many).map(|i| first + i * length).map(|from| Zone { from, to: from + length, next: from }).collect()
}

/// Sizes by their shares. Since a few files get most requests, each file gets a size below or above the mean,
/// whichever brings the mean of all requests so far nearer to the target. Sizes on both sides of the mean
/// then have their shares.
struct Shared {
    sizes: Vec<u32>,
    by_share: Alias,
    mean: f64,
    /// Blocks by which the requests so far exceed the mean.
    over: f64,
}

/// Maximum number of draws for a size on the required side of the mean.
const DRAWS: usize = 64;

impl Shared {
    fn of(pairs: &[(u32, f64)]) -> Shared {
        let by_share = Alias::new(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
        let mean = pairs.iter().zip(by_share.shares()).map(|((size, _), share)| *size as f64 * share).sum();
        Shared { sizes: pairs.iter().map(|pair| pair.0).collect(), by_share, mean, over: 0.0 }
    }

    /// The size of the next file, which has this many requests.
    fn next(&mut self, requests: u64, random: &mut RandomStream) -> u32 {
        let mut size = self.sizes[0];
        for _ in 0..DRAWS {
            size = self.sizes[self.by_share.draw(random) as usize];
            if (size as f64 - self.mean) * self.over <= 0.0 {
                break;
            }
        }
        self.over += (size as f64 - self.mean) * requests as f64;
        size
    }
}

/// Sizes of files' requests with their shares: those given, else the long ones of the side, or the listed
/// ones.
fn sizes(files: &FileLaw, side: &Side, law: &SizeLaw) -> Vec<(u32, f64)> {
    match side.rest {
        _ if !files.sizes.is_empty() => files.sizes.clone(),
        Rest::Large { share, .. } if share > Fraction::ZERO => law.others().collect(),
        _ => law.listed().collect(),
    }
}

/// The largest possible share of requests in files: all long ones, if a side states their number.
pub(crate) fn most_of_files(side: &Side) -> f64 {
    match side.rest {
        Rest::Large { share, .. } if side.mean.is_some() => share.as_f64(),
        _ => 1.0,
    }
}

/// The side of the requests outside files, if this share of all is in files. Its sizes are such that all
/// requests together have the mean and share of long ones of the original side.
///
/// # Errors
/// If no sizes of the other requests give the mean.
pub(crate) fn beside_files(side: &Side, share: f64) -> Result<Side, String> {
    let mut beside = side.clone();
    let (Some(files), Some(mean)) = (&side.files, side.mean) else { return Ok(beside) };
    if share >= 1.0 {
        return Ok(beside);
    }
    let sizes = sizes(files, side, &SizeLaw::new(side)?);
    let all: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    let part = |of: &dyn Fn(u32) -> f64| {
        sizes.iter().map(|(size, weight)| of(*size) * weight).sum::<f64>() / all * share
    };
    let less = |of_all: f64, of_files: f64| (of_all - of_files) / (1.0 - share);
    beside.mean = Some(less(mean, part(&|size| size as f64 * LBA_BYTES as f64)));
    if let Rest::Large { share: large, most } = side.rest {
        let left = less(large.as_f64(), part(&|size| f64::from(size as u64 > side.page))).max(0.0);
        beside.rest = Rest::Large { share: Fraction((left * 1e9).round() as u64), most };
    }
    Ok(beside)
}

impl Files {
    /// The files of a side, if it has any. `law` is the distribution of all its sizes. Its requests have this
    /// mean gap in nanoseconds, and this part of the eligible requests is in files.
    pub fn new(
        side: &Side,
        law: &SizeLaw,
        addresses: &Addresses,
        (mean_gap, part): (f64, f64),
        random: RandomStream,
    ) -> Option<Files> {
        let files = side.files.as_ref()?;
        let (first, past) = addresses.open_to_all();
        let sizes = sizes(files, side, law);
        let weights = |pairs: &[(u32, f64)]| Alias::new(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
        let values = |pairs: &[(u32, f64)]| pairs.iter().map(|pair| pair.0 as u64).collect();
        let most = |pairs: &[(u32, f64)]| pairs.iter().map(|pair| pair.0 as u64).max().unwrap_or(1);
        let room = (most(&sizes) * most(&files.lengths)).max(2 * most(&sizes));
        Some(Files {
            bursts: files.bursts.as_f64() * part,
            apart: files.apart.as_f64() * part,
            recent: Recent::default(),
            mean_gap,
            sizes: Shared::of(&sizes),
            lengths: values(&files.lengths),
            by_weight: weights(&files.lengths),
            begins: values(&files.begins),
            by_begin: weights(&files.begins),
            near: files.near.as_f64(),
            zones: zones(first, past, room),
            zone: 0,
            size: 0,
            left: 0,
            class: 0,
            random,
        })
    }

    /// The longest request, in blocks.
    pub fn longest(&self) -> u32 {
        self.sizes.sizes.iter().copied().max().unwrap_or(1)
    }

    /// Whether the next request of the side is in a file.
    #[inline]
    pub fn has(&mut self, time: u64) -> bool {
        let burst = self.recent.gap(time).is_some_and(|gap| gap <= self.mean_gap);
        let chance = if burst { self.bursts } else { self.apart };
        chance > 0.0 && self.random.unit() <= chance
    }

    /// Address and size of the next request of a file.
    #[inline]
    pub fn next(&mut self) -> (u64, u32) {
        let zone = &self.zones[self.zone];
        if self.left == 0 || zone.next + self.size as u64 > zone.to {
            self.begin();
        }
        let next = &mut self.zones[self.zone].next;
        let at = *next;
        *next += self.size as u64;
        self.left = self.left.saturating_sub(1);
        (at, self.size)
    }

    /// Start a file, after the previous one or at the fill pointer of another zone. Or continue the rest of a
    /// file in another zone.
    fn begin(&mut self) {
        let random = &mut self.random;
        if self.left == 0 {
            self.left = self.lengths[self.by_weight.draw(random) as usize];
            self.size = self.sizes.next(self.left, random);
            self.class = self.by_begin.draw(random) as usize;
        }
        let class = self.class;
        let near = self.near > 0.0 && random.unit() <= self.near;
        let gap = random.below(if near { NEAR * self.size as u64 } else { self.size as u64 });
        let many = self.zones.len();
        let from = if near { self.zone } else { random.below(many as u64) as usize };
        let at = |gap: u64| {
            let at = |z: usize| Some((z, self.placed(self.zones[z], self.zones[z].next + gap, class)?));
            (from..from + many).find_map(|z| at(z % many))
        };
        let (zone, at) = at(gap).or_else(|| at(0)).unwrap_or_else(|| {
            self.zones.iter_mut().for_each(|zone| zone.next = zone.from);
            let zone = self.zones[from];
            (from, self.placed(zone, zone.from, class).unwrap_or(zone.from))
        });
        self.zone = zone;
        self.zones[zone].next = at;
    }

    /// The first address in a zone from `at` on with the alignment of a class and room for a request. The
    /// last class includes larger alignments.
    fn placed(&self, zone: Zone, at: u64, class: usize) -> Option<u64> {
        let (unit, last) = (self.begins[class], class + 1 == self.begins.len());
        let (step, odd) = if last { (unit, 0) } else { (2 * unit, unit) };
        let at = at.saturating_sub(odd).next_multiple_of(step) + odd;
        (at + self.size as u64 <= zone.to).then_some(at)
    }
}
