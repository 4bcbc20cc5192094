//! Varies devices where their schemes accept it: early wear, superblocks, queues, a mapping table on flash.

use crate::drive::Drive;
use crate::rng::Rng;
use wordline_device::{
    Arbitration, ArbitrationOrder, Capacity, Copies, DeviceSpec, Flush, HostQueue, IdleMigration,
    JOURNAL_ENTRY, Packing, Parity, Superblock, Trigger, WearSpec, map_pages,
};
use wordline_units::{Bytes, Fraction, QueueClass, Rate};

/// Put the mapping table of a device on flash, with this many of its pages in RAM and room for this many
/// changes (0 for all). The logical capacity shrinks accordingly.
pub fn map_on_flash(spec: &mut DeviceSpec, cached: u64, changes: u64) {
    let unit = spec.unit.0;
    let units = spec.logical_bytes() / unit;
    let left = units.saturating_sub(map_pages(units, spec.unit)).max(1);
    spec.capacity = Capacity::Logical(Bytes(left * unit));
    spec.dram.map_cache = Bytes(cached * unit);
    spec.dram.map_journal = (changes > 0).then_some(Bytes(changes * JOURNAL_ENTRY));
}

/// The drive with its mapping table on flash, in one case of three.
pub(crate) fn perhaps_mapped_on_flash(rng: &mut Rng, drive: Drive) -> Drive {
    if !rng.once_in(3) {
        return drive;
    }
    let (cached, changes) = (rng.within(1, 3), rng.pick(&[0, 1, 4, 20, 100]));
    drive.changed(|spec| map_on_flash(spec, cached, changes))
}

/// The drive with blocks that wear out early, or with one of the other keys of wear, in one case of four.
pub(crate) fn perhaps_wearing(rng: &mut Rng, drive: Drive) -> Drive {
    if !rng.once_in(4) {
        return drive;
    }
    let endurance = rng.count(300, 10_000);
    let acceleration = (endurance / rng.count(2, 40)).max(1);
    let wear = WearSpec {
        enforce: !rng.once_in(4),
        acceleration,
        spread: rng.pick(&[Fraction::ZERO, Fraction::percent(10), Fraction::percent(30)]),
        bad_blocks: if rng.once_in(3) { rng.percent(1, 20) } else { Fraction::ZERO },
        dynamic: rng.once_in(2),
        static_beyond: rng.once_in(2).then(|| acceleration * rng.count(2, 4)),
    };
    let mut spec = drive.spec.clone();
    for mode in spec.media.iter_mut().flat_map(|m| m.modes.iter_mut().flatten()) {
        mode.endurance = endurance;
    }
    spec.wear = wear;
    Drive::of(spec, &drive.scheme, false).unwrap_or(drive)
}

/// The drive with a write buffer that delays its flushing, in one case of two, if it has a buffer and the
/// scheme takes whole pages.
pub(crate) fn perhaps_keeping_back(rng: &mut Rng, drive: Drive) -> Drive {
    if !drive.spec.ack.is_buffer() || rng.once_in(2) {
        return drive;
    }
    let high = rng.within(2, 100);
    let low = rng.within(0, high - 1);
    let idle = rng.once_in(2).then(|| rng.time(1, 30_000));
    let flush = Flush { high: Fraction::percent(high), low: Fraction::percent(low), idle };
    drive.changed(|spec| spec.flush = Some(flush))
}

/// The drive with pages shared by several writes, in one case of two, if a page holds several units and the
/// scheme accepts it. Drawn from a separate stream, so that a seed gives the same case apart from this.
pub(crate) fn perhaps_packed(rng: &Rng, drive: Drive) -> Drive {
    let media = 0..drive.geometry.media.len();
    let has_several = media.into_iter().any(|medium| drive.geometry.units_per_page(medium) > 1);
    if !has_several || rng.aside(0x0070_6163_6b65_6421).once_in(2) {
        return drive;
    }
    drive.changed(|spec| spec.packing = Packing::Page)
}

/// The drive with controller latency in addition to the link, in one case of three. Drawn from a separate
/// stream.
pub(crate) fn perhaps_with_a_controller(rng: &Rng, drive: Drive) -> Drive {
    let mut aside = rng.aside(0x0063_7472_6c74_696d);
    if !aside.once_in(3) {
        return drive;
    }
    let [read, write] = [(); 2].map(|()| aside.time(0, 20));
    drive.changed(|spec| {
        spec.host.read_latency = read;
        spec.host.write_latency = write;
    })
}

/// The drive with an SLC cache that is emptied in idle time or takes free blocks, if it has a cache. Drawn
/// from a separate stream.
pub(crate) fn perhaps_with_a_resting_cache(rng: &Rng, drive: Drive) -> Drive {
    let mut aside = rng.aside(0x0072_6573_7469_6e67);
    let Some(mut cache) = drive.spec.slc_cache else { return drive };
    if aside.once_in(3) {
        return drive;
    }
    let rate = match aside.below(3) {
        0 => Rate::OFF,
        _ => Rate { bytes: aside.within(1, 400), nanoseconds: 1_000 },
    };
    cache.idle = aside.once_in(2).then(|| IdleMigration { after: aside.time(1, 300), rate });
    if aside.once_in(2) {
        cache.dynamic_blocks = cache.dynamic_blocks.max(aside.count(1, 3));
        cache.dynamic_reserve = Some(aside.percent(0, 60));
    }
    drive.changed(|spec| spec.slc_cache = Some(cache))
}

/// The same drive with paced host writes, one time in three. Drawn aside, too.
pub(crate) fn perhaps_paced(rng: &Rng, drive: Drive) -> Drive {
    let mut aside = rng.aside(0x7061_6365_6477_7274);
    let gc = drive.spec.gc;
    let blocks = drive.spec.media.iter().map(|medium| medium.blocks_per_plane).max().unwrap_or(0);
    let most = match gc.trigger {
        Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => share.of_ceil(u64::from(blocks)) as u32,
        Trigger::Never | Trigger::LastBlock => 0,
    };
    if most <= gc.hard_reserve || !aside.once_in(3) {
        return drive;
    }
    let below = aside.count(gc.hard_reserve + 1, most);
    drive.changed(|spec| spec.gc.pace_below = Some(below))
}

/// The same drive with superblocks, if the scheme can have them, one time in two.
pub(crate) fn perhaps_in_superblocks(rng: &mut Rng, drive: Drive) -> Drive {
    if rng.once_in(2) {
        return drive;
    }
    let superblock = rng.pick(&[Superblock::Die, Superblock::Chip, Superblock::Channel, Superblock::Drive]);
    let spec = DeviceSpec { superblock, ..drive.spec.clone() };
    // A new region takes a block of every plane, and the reserves are only for existing regions.
    let roomy = drive.roomy && drive.layout.regions.len() == 1;
    Drive::of(spec, &drive.scheme, roomy).unwrap_or(drive)
}

/// A drive with superblocks with parity in each superpage, one time in two. Drawn aside, too.
pub(crate) fn perhaps_with_parity(rng: &Rng, drive: Drive) -> Drive {
    let mut aside = rng.aside(0x7061_7269_7479_7061);
    let superblock = drive.spec.superblock;
    let planes = drive.spec.media.iter().map(|medium| u64::from(superblock.planes(medium.topology))).min();
    let Some(planes) = planes.filter(|planes| *planes > 1) else { return drive };
    if aside.once_in(2) {
        return drive;
    }
    let unit = drive.spec.unit.0;
    let units = (drive.spec.logical_bytes() / unit * (planes - 1) / planes).saturating_sub(planes).max(1);
    drive.changed(|spec| {
        spec.parity = Parity::Superpage;
        spec.capacity = Capacity::Logical(Bytes(units * unit));
    })
}

/// The drive with copied pages in blocks of their own, in one case of three, if its scheme has one kind of data. Its
/// logical capacity shrinks by the block that is open beside the other, and by its reserve.
pub(crate) fn perhaps_parting_copies(rng: &mut Rng, drive: Drive) -> Drive {
    let blocks = u64::from(drive.geometry.media[0].blocks_per_plane);
    if drive.layout.regions.len() > 1 || blocks < 4 || !rng.once_in(3) {
        return drive;
    }
    let unit = drive.spec.unit.0;
    let units = (drive.spec.logical_bytes() / unit * (blocks - 2) / blocks).max(1);
    drive.changed(|spec| {
        spec.gc.copies = Copies::Apart;
        spec.capacity = Capacity::Logical(Bytes(units * unit));
    })
}

/// The drive with several host queues and few requests in parallel, in one case of three.
pub(crate) fn perhaps_taking_turns(rng: &mut Rng, drive: Drive) -> Drive {
    if !rng.once_in(3) {
        return drive;
    }
    let arbitration = arbitration(rng);
    let depth = rng.pick(&[1, 2, 3, 8, 32, 1024]);
    drive.changed(|spec| {
        spec.host.queue_depth = depth;
        spec.arbitration = Some(arbitration);
    })
}

fn arbitration(rng: &mut Rng) -> Arbitration {
    let weighted = rng.once_in(2);
    let order = if weighted {
        ArbitrationOrder::Weighted([0; 3].map(|_| rng.pick(&[1, 1, 2, 5, 32, 256])))
    } else {
        ArbitrationOrder::RoundRobin
    };
    let burst = rng.pick(&[1, 1, 2, 7]);
    let queues = 1..=rng.within(1, 5);
    let queue = |n| HostQueue {
        name: format!("source{n}"),
        class: (weighted && !rng.once_in(3)).then(|| rng.pick(&QueueClass::WORDS).1),
        depth: rng.once_in(2).then(|| rng.count(1, 6)),
    };
    Arbitration { order, burst, queues: queues.map(queue).collect() }
}
