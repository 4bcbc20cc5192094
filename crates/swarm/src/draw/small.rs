//! Small devices: a few hundred pages and round times, so that a short run fills them and exercises all of a
//! scheme.

use crate::draw::{flash, settings};
use crate::drive::{Drive, Room, Wanted, give_room};
use crate::rng::Rng;
use crate::tiny::{QLC, Tiny};
use wordline_device::{Ack, GcClass};

/// A small device with one or two media under a scheme. The logical capacity is at most `percent` percent of
/// what the home region holds.
///
/// # Errors
/// When the scheme refuses it, with the reason.
pub(crate) fn small(rng: &mut Rng, wanted: &Wanted, percent: u64) -> Result<Drive, String> {
    let drawn = tiny(rng, wanted.two_media);
    let mut spec = Tiny { blocks: drawn.blocks + wanted.further_blocks, ..drawn }.spec(1);
    if rng.once_in(4) {
        spec.allocation = rng.pick(&settings::FREE_ORDERS);
    }
    spec.ack =
        rng.pick(&[Ack::Program, Ack::Program, Ack::Program, Ack::Buffer(3), Ack::Buffer(3), Ack::Merge]);
    spec.merge = settings::merge(rng);
    spec.errors = rng.once_in(3).then(|| flash::errors(rng));
    give_room(&mut spec, wanted.scheme, Room::Ample, percent)?;
    Drive::of(spec, wanted.scheme, true)
}

/// A small device that varies more, in settings that cost no space.
///
/// # Errors
/// As [`small`].
pub(crate) fn varied(rng: &mut Rng, wanted: &Wanted) -> Result<Drive, String> {
    let drive = small(rng, wanted, 100)?;
    let mut spec = drive.spec;
    spec.gc.class = rng.pick(&[GcClass::Background, GcClass::Host, GcClass::Urgent]);
    settings::vary_service(rng, &mut spec);
    Drive::of(spec, wanted.scheme, true)
}

fn tiny(rng: &mut Rng, two_media: bool) -> Tiny {
    Tiny {
        channels: rng.count(1, 2),
        chips: rng.count(1, 2),
        planes: rng.count(1, 2),
        blocks: rng.count(12, 18),
        wordlines: rng.count(3, 5),
        units_per_page: rng.count(1, 2),
        sectors_per_unit: rng.pick(&[1, 4, 4]),
        one_shot: rng.once_in(2),
        multiplane: rng.once_in(2),
        bus: rng.pick(&["off", "1ns/B", "20ns/B"]),
        cache_register: rng.pick(&["off", "off", "on"]),
        extra: rng.pick(&["", QLC]),
        fast_blocks: if two_media { rng.count(8, 9) } else { 0 },
        ..Tiny::default()
    }
}
