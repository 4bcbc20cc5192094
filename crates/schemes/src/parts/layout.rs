//! Common parts of layouts: refusals, the medium of a drive with one kind of flash, and regions by the device
//! file.

use crate::parameters::{Parameter, Parameters};
use wordline_device::{Packing, ProgramBuffer};
use wordline_flash::{Medium, ProgramRule};
use wordline_ftl::{
    DriveInfo, EarlierBits, FreeOrder, Hooks, IdleHold, Layout, MapKind, Pool, PoolId, Refusal, Region,
    RegionId,
};
use wordline_units::{CellMode, Rate, SimDuration};

/// The parameter of [`take_mode`].
pub(crate) const MODE: Parameter = Parameter::new(
    "mode",
    "densest",
    "mlc, tlc or qlc: cell mode; default the densest mode of the flash, so that no capacity is lost",
);

/// The parameter of [`take_earlier_bits`].
pub(crate) const WORDLINE_BUFFER: Parameter = Parameter::new(
    "wordline_buffer",
    "on",
    "on or off: keep the data of partially programmed wordlines in RAM instead of reading them back",
);

/// The parameter of [`take_idle_after`], for work that has time.
pub(crate) const IDLE_AFTER: Parameter =
    Parameter::new("idle_after", "100ms", "idle time after which background work starts");

/// The same for work that starts as soon as no request is outstanding. At 0 it would start between the requests of
/// a host that submits at the instant of a completion.
pub(crate) fn idle_at_once() -> Parameter {
    IDLE_AFTER.or("1us")
}

/// How long the drive must have been idle.
pub(crate) fn take_idle_after(p: &mut Parameters) -> SimDuration {
    p.take("idle_after")
}

/// The cell mode of a region that is programmed page by page; `None` for the densest of the flash.
pub(crate) fn take_mode(p: &mut Parameters) -> Option<CellMode> {
    let [mlc, tlc, qlc] = [CellMode::Mlc, CellMode::Tlc, CellMode::Qlc].map(|m| (m.key(), Some(m)));
    p.choice("mode", &[("densest", None), mlc, tlc, qlc])
}

/// Where earlier bits are found.
pub(crate) fn take_earlier_bits(p: &mut Parameters) -> EarlierBits {
    let words = [("on", EarlierBits::Buffered), ("off", EarlierBits::Reread)];
    p.choice("wordline_buffer", &words)
}

/// The mode in which the pages of a wordline are programmed one by one: the one wanted, or the densest.
///
/// # Errors
/// A refusal where the flash lacks the mode, or programs whole wordlines in it; `more` is what else would have to be set.
pub(crate) fn by_page(
    medium: &Medium,
    wanted: Option<CellMode>,
    more: &str,
    refuse: impl Fn(String) -> Refusal,
) -> Result<CellMode, Refusal> {
    let mode = wanted.unwrap_or(medium.densest());
    let Some(timing) = medium.mode(mode) else {
        return Err(refuse(format!("the flash does not support {mode} mode; omit scheme parameter mode")));
    };
    let key = format!("medium.{}.{}", medium.name, mode.key());
    match (mode.bits(), timing.pages_per_program) {
        (1, _) => Err(refuse("its flash is SLC, so all pages are of one type".into())),
        (_, 1) => Ok(mode),
        (bits, pages) => {
            // A share of the one-shot program for each page, if nobody knows better.
            let whole = timing.program[0];
            let each = SimDuration((whole.0 / u64::from(bits)).div_ceil(1_000) * 1_000);
            Err(refuse(format!(
                "its {mode} mode programs {pages} pages in one operation, so the scheme cannot choose a \
                 page type; set {key}.one_shot=false and {key}.program={each}, the share of each page in \
                 {whole}{more}"
            )))
        }
    }
}

/// What a scheme that decides about the pages of each write needs besides, where the drive packs writes as they arrive.
pub(crate) fn unpacked(drive: &DriveInfo) -> &'static str {
    let packs = drive.spec.packing == Packing::Page && drive.geometry.units_per_page(0) > 1;
    if packs { ", and mapping.packing=off, since the page type is chosen for each write" } else { "" }
}

/// Default size of an SLC cache if the device file has none: a twentieth of a plane.
pub(crate) fn cache_size(medium: &Medium) -> String {
    let blocks = (medium.blocks_per_plane / 20).max(2);
    format!(
        "set scheme.static_blocks={blocks}, a cache of {blocks} of {} blocks per plane",
        medium.blocks_per_plane
    )
}

/// How a scheme refuses a drive: with a reason.
pub(crate) fn refuser(scheme: &str, drive: &DriveInfo) -> impl Fn(String) -> Refusal + use<> {
    let (scheme, device) = (scheme.to_string(), drive.spec.name.clone());
    move |reason| Refusal { scheme: scheme.clone(), device: device.clone(), reason, has_failed: false }
}

/// The medium of a drive.
///
/// # Errors
/// A refusal where it has several.
pub(crate) fn only_medium<'a>(
    drive: &DriveInfo<'a>,
    refuse: impl Fn(String) -> Refusal,
) -> Result<&'a Medium, Refusal> {
    match &drive.geometry.media[..] {
        [medium] => Ok(medium),
        _ => Err(refuse("it supports a single medium, and this drive has several".into())),
    }
}

/// The order of programs in blocks of a mode, whole wordlines at once or page by page.
pub(crate) fn rule(mode: CellMode, one_shot: bool) -> ProgramRule {
    if one_shot { ProgramRule::OneShot(mode.bits() as u8) } else { ProgramRule::Sequential }
}

/// One region on every block of a medium, for all data under a page map.
pub(crate) fn one_region(medium: &Medium, region: Region) -> Layout {
    Layout {
        pools: vec![Pool { medium: 0, blocks_per_plane: medium.blocks_per_plane, free: FreeOrder::Fifo }],
        regions: vec![region],
        home: RegionId(0),
        second_home: None,
        map: MapKind::Page,
        merges: None,
        enabled_hooks: Hooks::ALL,
        tick_every_writes: 0,
        idle_after: SimDuration::ZERO,
        idle_hold: IdleHold::Grain,
        idle_rate: Rate::OFF,
    }
}

/// A region without a quota, with trigger, victim rule and padding from the device file.
pub(crate) fn region(
    drive: &DriveInfo,
    name: &'static str,
    pool: PoolId,
    mode: CellMode,
    rule: ProgramRule,
) -> Region {
    Region {
        trigger: drive.spec.gc.trigger,
        victim: drive.spec.gc.victim,
        pad_after: drive.spec.pad_after,
        pad_host_after: drive.spec.pad_host_after,
        protected: drive.spec.program_buffer == ProgramBuffer::Protected,
        ..Region::new(name, pool, mode, rule)
    }
}
