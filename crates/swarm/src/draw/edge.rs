//! Drives at the edge: few blocks, all full, with the largest possible logical capacity, and hosts that send
//! bursts.

use crate::draw::{flash, settings};
use crate::drive::{Drive, Room, Wanted, give_room};
use crate::rng::Rng;
use crate::tiny::{QLC, Tiny};
use std::iter;
use wordline_device::{Ack, GcClass};
use wordline_ftl::{Initial, Mapped, Order};
use wordline_units::{Fraction, HostOp, HostRequest, SimTime};

/// The smallest device with one or two media that a scheme accepts. Blocks are added until it does.
///
/// # Errors
/// If it accepts none, with the reason of the last refusal.
pub(crate) fn drive(rng: &mut Rng, wanted: &Wanted) -> Result<Drive, String> {
    let least = tiny(rng, wanted.two_media);
    let errs = rng.once_in(4).then(|| flash::errors(rng));
    let (merge, gc) =
        (settings::merge(rng), rng.pick(&[GcClass::Background, GcClass::Host, GcClass::Urgent]));
    let ack = rng.pick(&[Ack::Program, Ack::Program, Ack::Buffer(3), Ack::Merge]);
    let order = rng.once_in(4).then(|| rng.pick(&settings::FREE_ORDERS));
    let (trigger, share) = (settings::gc(rng, 4).trigger, rng.within(96, 100));
    let of = |further: u32| {
        let mut spec = Tiny { blocks: least.blocks + further, ..least.clone() }.spec(1);
        (spec.ack, spec.merge, spec.errors) = (ack, merge, errs.clone());
        (spec.gc.class, spec.gc.trigger, spec.gc.hard_reserve) = (gc, trigger, 1);
        spec.allocation = order.unwrap_or(spec.allocation);
        give_room(&mut spec, wanted.scheme, Room::Edge, share)?;
        Drive::of(spec, wanted.scheme, true)
    };
    let most = 14 + wanted.further_blocks;
    let mut drives = (0..most).map(of);
    drives.by_ref().find(Result::is_ok).unwrap_or_else(|| of(most))
}

fn tiny(rng: &mut Rng, two_media: bool) -> Tiny {
    Tiny {
        channels: rng.count(1, 2),
        planes: rng.count(1, 2),
        blocks: 4,
        spare: 3,
        wordlines: rng.count(2, 4),
        units_per_page: rng.count(1, 2),
        sectors_per_unit: rng.pick(&[1, 4]),
        one_shot: rng.once_in(2),
        multiplane: rng.once_in(2),
        bus: rng.pick(&["off", "1ns/B", "20ns/B"]),
        extra: rng.pick(&["", QLC]),
        fast_blocks: if two_media { rng.count(4, 9) } else { 0 },
        ..Tiny::default()
    }
}

/// A full drive, with its data in any order.
pub(crate) fn initial(rng: &mut Rng, drive: &Drive) -> Initial {
    let mapped = Mapped::First(drive.logical_pages());
    let order = rng.pick(&[Order::Sequential, Order::Random]);
    let valid = if rng.once_in(2) { Fraction::ONE } else { rng.percent(80, 100) };
    Initial { order, valid, data_apart: rng.once_in(2), ..Initial::holding(mapped) }
}

/// The requests of a burst.
#[derive(Clone, Copy)]
enum Burst {
    /// Writes of parts of pages, anywhere.
    Parts,
    /// Sequential writes of whole pages.
    Run,
    /// Writes of a few whole pages.
    Hot,
    /// Trims of what was written last.
    Trims,
    /// Reads.
    Reads,
}

const BURSTS: [Burst; 8] =
    [Burst::Parts, Burst::Parts, Burst::Run, Burst::Run, Burst::Hot, Burst::Hot, Burst::Trims, Burst::Reads];

/// Requests of a host that sends bursts: requests of one kind at the same time or nearly so, followed by a
/// pause. They are drawn one by one, so that a shorter list is the beginning of a longer one.
pub(crate) fn requests(rng: &mut Rng, drive: &Drive, length: u64) -> Vec<HostRequest> {
    let (blocks, unit) = (drive.spec.logical_bytes() / 512, drive.spec.unit.0 / 512);
    let pages = blocks / unit;
    let sector = drive.spec.sector.0 / 512;
    let queues = drive.spec.arbitration.as_ref().map_or(1, |turns| turns.queues.len() as u64);
    let (mut at, mut page, mut left, mut burst) = (0, 0, 0, Burst::Run);
    let next = || {
        if left == 0 {
            (left, burst, page) = (rng.within(4, 60), rng.pick(&BURSTS), rng.below(pages));
            at += rng.pick(&[1, 50_000, 2_000_000, 40_000_000]);
            if rng.once_in(6) {
                left = 1;
                return Some(HostRequest::new(HostOp::Flush, 0, 0).at(SimTime(at)));
            }
        }
        left -= 1;
        at += rng.below(2_000);
        page = match burst {
            Burst::Parts | Burst::Reads => rng.below(pages),
            Burst::Run | Burst::Trims => (page + 1) % pages,
            Burst::Hot => rng.below(pages.min(4)),
        };
        let (op, from, blocks) = match burst {
            Burst::Parts => (HostOp::Write, rng.below(unit / sector) * sector, sector),
            Burst::Trims => (HostOp::Trim, 0, unit),
            Burst::Reads => (HostOp::Read, 0, unit),
            Burst::Run | Burst::Hot => (HostOp::Write, 0, unit),
        };
        let request = HostRequest::new(op, page * unit + from, blocks as u32).at(SimTime(at));
        let attributes = request.attributes.with_stream((page % 5) as u8);
        Some(HostRequest { attributes, volume: rng.below(queues) as u16, ..request })
    };
    iter::from_fn(next).take(length as usize).collect()
}
