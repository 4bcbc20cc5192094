//! The host of a case, and the initial contents of the drive.

use crate::drive::Drive;
use crate::rng::Rng;
use wordline_ftl::{Initial, Mapped, Order};
use wordline_units::{Fraction, HostOp, HostRequest, Lpn, SectorMask, SimDuration, SimTime};

/// The state of a drive before its first request.
pub(crate) fn initial(rng: &mut Rng, drive: &Drive) -> Initial {
    let mapped = mapped(rng, drive.logical_pages());
    Initial {
        lacking: lacking(rng, drive, &mapped),
        mapped,
        order: rng.pick(&[Order::Sequential, Order::Random]),
        valid: if rng.once_in(3) { rng.percent(50, 100) } else { Fraction::ONE },
        aged_invalid: some_percent(rng),
        aged_blocks: some_percent(rng),
        data_apart: rng.once_in(2),
        aged_windows: some_percent(rng),
        cycles: rng.pick(&[[0, 1, 2, 3], [0, 1, 2, 3], [900, 800, 700, 600]]),
        more_cycles: if rng.once_in(3) { [0, 40, 30, 20] } else { [0; 4] },
        retention: rng.pick(&[SimDuration::ZERO, SimDuration(30 * 86_400 * 1_000_000_000)]),
    }
}

fn some_percent(rng: &mut Rng) -> Fraction {
    if rng.once_in(4) { rng.percent(1, 80) } else { Fraction::ZERO }
}

fn mapped(rng: &mut Rng, pages: u32) -> Mapped {
    match rng.below(5) {
        0 | 1 => Mapped::First(0),
        2 => Mapped::First(pages),
        3 => Mapped::First(rng.count(0, pages)),
        _ => {
            let keep = rng.within(1, 4);
            Mapped::Set((0..pages).filter(|_| rng.below(4) < keep).map(Lpn).collect())
        }
    }
}

/// Sectors that some of the mapped pages lack, under a sector map.
fn lacking(rng: &mut Rng, drive: &Drive, mapped: &Mapped) -> Vec<(Lpn, SectorMask)> {
    let sectors = drive.geometry.sectors_per_unit;
    let pages: Vec<Lpn> = match mapped {
        _ if sectors == 1 || rng.once_in(2) => vec![],
        Mapped::First(n) => (0..*n).map(Lpn).collect(),
        Mapped::Set(set) => set.clone(),
    };
    let all = SectorMask::first(sectors);
    let some = pages.into_iter().map(|lpn| (lpn, SectorMask(rng.below(1 << sectors) as u32)));
    some.filter(|(_, mask)| !mask.is_empty() && *mask != all).collect()
}

/// Traits of a host.
struct Traits {
    /// Longest gaps between requests in nanoseconds. Each request draws one of them.
    gaps: Vec<u64>,
    /// Maximum number of sectors per request.
    longest: u64,
    /// Number of sectors at the beginning of the drive that get half of the requests.
    hot: u64,
    /// Whether requests may begin and end within sectors.
    ragged: bool,
    /// How many of 20 requests write, read and trim. The rest flush.
    kinds: [u64; 3],
}

impl Traits {
    fn draw(rng: &mut Rng) -> Traits {
        // From no gap, through gaps that let some work complete, to gaps in which everything completes.
        const GAPS: [u64; 4] = [1, 5_000, 400_000, 20_000_000];
        Traits {
            gaps: (0..3).map(|_| GAPS[rng.below(4) as usize]).collect(),
            longest: rng.pick(&[1, 4, 11, 11, 40]),
            hot: rng.pick(&[4, 12, 12, 64]),
            ragged: rng.once_in(4),
            kinds: rng.pick(&[
                [11, 17, 19],
                [11, 17, 19],
                [18, 19, 20],
                [19, 19, 19],
                [6, 18, 20],
                [12, 12, 19],
            ]),
        }
    }
}

/// Requests of a host. They are drawn one by one, so that a shorter list is the beginning of a longer one.
pub(crate) fn requests(rng: &mut Rng, drive: &Drive, length: u64) -> Vec<HostRequest> {
    let traits = Traits::draw(rng);
    let queues = drive.spec.arbitration.as_ref().map_or(1, |turns| turns.queues.len() as u64);
    let mut at = 0;
    let one = |_| {
        let longest = rng.pick(&traits.gaps);
        at += rng.below(longest);
        let request = request(rng, &traits, drive).at(SimTime(at));
        HostRequest { volume: rng.below(queues) as u16, ..request }
    };
    (0..length).map(one).collect()
}

fn request(rng: &mut Rng, traits: &Traits, drive: &Drive) -> HostRequest {
    let per_sector = drive.spec.sector.0 / 512;
    let all = drive.spec.logical_bytes() / drive.spec.sector.0;
    // Half of the requests go to a few places, so that they overtake one another.
    let first = if rng.once_in(2) { rng.below(all) } else { rng.below(all.min(traits.hot)) };
    let last = (first + 1 + rng.below(traits.longest)).min(all);
    let kind = rng.below(20);
    let op = match traits.kinds.iter().position(|below| kind < *below) {
        Some(0) => HostOp::Write,
        Some(1) => HostOp::Read,
        Some(_) => HostOp::Trim,
        None => return HostRequest::new(HostOp::Flush, 0, 0),
    };
    let (mut from, mut to) = (first * per_sector, last * per_sector);
    if traits.ragged {
        from += rng.below(per_sector);
        to -= rng.below(per_sector.min(to - from));
    }
    let request = HostRequest::new(op, from, (to - from) as u32);
    HostRequest { attributes: request.attributes.with_stream((first % 5) as u8), ..request }
}
