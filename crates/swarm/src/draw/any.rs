//! Any device that a device file can describe.

use crate::draw::{flash, settings};
use crate::drive::{Drive, Room, Wanted, give_room};
use crate::rng::Rng;
use wordline_device::{
    Capacity, DeviceSpec, Dram, HostLink, Lanes, Multiplane, MultiplanePages, Packing, ParallelUnit, Parity,
    PartialPages, ProgramBuffer, Service, Superblock, UnwrittenReads, WearSpec,
};
use wordline_flash::Medium;
use wordline_units::{Bytes, CellMode, Rate, SimDuration};

/// Any device with one or two media, under a scheme.
///
/// # Errors
/// When the scheme refuses it, with the reason.
pub(crate) fn any(rng: &mut Rng, wanted: &Wanted) -> Result<Drive, String> {
    let sector = 512 * rng.pick(&[1, 1, 1, 2, 8]);
    let unit = sector * rng.pick(&[1, 2, 4, 4, 8]);
    let mut media = media(rng, unit, wanted.two_media);
    media.iter_mut().for_each(|medium| medium.blocks_per_plane += wanted.further_blocks);
    let mut spec = device(rng, Bytes(sector), Bytes(unit), media);
    settings::vary_service(rng, &mut spec);
    let roomy = !rng.once_in(5);
    let share = if roomy { rng.within(20, 100) } else { rng.within(90, 130) };
    give_room(&mut spec, wanted.scheme, if roomy { Room::Ample } else { Room::None }, share)?;
    Drive::of(spec, wanted.scheme, roomy)
}

/// One or two media with any cell modes.
fn media(rng: &mut Rng, unit: u64, two_media: bool) -> Vec<Medium> {
    let dense = rng.pick(&[CellMode::Mlc, CellMode::Tlc, CellMode::Tlc, CellMode::Qlc]);
    let modes: Vec<CellMode> = match rng.below(8) {
        0 => vec![CellMode::Slc],
        1 => vec![dense],
        2..=4 => CellMode::ALL.to_vec(),
        _ => vec![CellMode::Slc, dense],
    };
    if two_media {
        let fast = flash::medium(rng, "fast", &[CellMode::Slc], unit);
        return vec![fast, flash::medium(rng, "dense", &modes, unit)];
    }
    vec![flash::medium(rng, "flash", &modes, unit)]
}

fn device(rng: &mut Rng, sector: Bytes, unit: Bytes, media: Vec<Medium>) -> DeviceSpec {
    let blocks = media.iter().map(|m| m.blocks_per_plane).min().unwrap_or(0);
    // Not shorter: while data wait for garbage collection, the timer restarts each time.
    let pad_after = match rng.below(4) {
        0 => None,
        1 => Some(rng.time(1, 3)),
        _ => Some(rng.time(20, 2_000)),
    };
    let caches = media.iter().any(Medium::has_slc_cache) && !rng.once_in(4);
    DeviceSpec {
        name: "drawn".into(),
        description: String::new(),
        unit,
        sector,
        partial: PartialPages::Whole,
        packing: Packing::Off,
        unwritten: UnwrittenReads::Free,
        capacity: Capacity::Logical(unit),
        host: HostLink {
            rate: Rate::OFF,
            read_overhead: SimDuration::ZERO,
            write_overhead: SimDuration::ZERO,
            read_latency: SimDuration::ZERO,
            write_latency: SimDuration::ZERO,
            queue_depth: 1024,
            link: Lanes::Shared,
        },
        arbitration: None,
        parallel_unit: ParallelUnit::Die,
        multiplane: Multiplane::Off,
        multiplane_pages: MultiplanePages::Any,
        superblock: Superblock::Off,
        parity: Parity::Off,
        service: Service::default(),
        dram: Dram::default(),
        allocation: settings::allocation(rng),
        ack: settings::ack(rng),
        flush: None,
        merge: settings::merge(rng),
        gc: settings::gc(rng, blocks),
        program_buffer: if pad_after.is_none() { ProgramBuffer::Protected } else { ProgramBuffer::Volatile },
        pad_after,
        pad_host_after: pad_after.unwrap_or(SimDuration(500_000)),
        slc_cache: caches.then(|| settings::slc_cache(rng)),
        errors: rng.once_in(3).then(|| flash::errors(rng)),
        wear: WearSpec::default(),
        media,
    }
}
