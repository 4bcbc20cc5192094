//! Checks between values of a device file: divisible sizes, existing blocks, a capacity that fits.

use crate::file::medium::Read;
use crate::spec::drive::DeviceSpec;
use crate::spec::gc::SlcCache;
use wordline_config::{Place, Problems, Section};
use wordline_flash::Medium;
use wordline_units::Bytes;

/// A drive of 16 TiB has 16 M blocks of 1 MiB; each costs memory from the start.
const MOST_BLOCKS: u64 = 1 << 25;

/// Sizes that must divide one another.
pub(crate) fn check_sizes(
    mapping: &Section<'_>,
    unit: Bytes,
    sector: Bytes,
    media: &[Option<Read>],
    problems: &Problems,
) {
    let sector_fits = sector.0 > 0 && sector.0.is_multiple_of(512);
    if !sector_fits {
        mapping.refuse("sector", format!("{sector} is not a multiple of 512B"));
    }
    let unit_fits = unit.0 > 0 && (!sector_fits || unit.0.is_multiple_of(sector.0));
    if !unit_fits {
        let of_page = media.iter().flatten().any(|read| read.medium.page == unit);
        let from = if of_page { "; by default it is the page size" } else { "" };
        mapping.refuse("unit", format!("{unit} is not a multiple of the sector, {sector}{from}"));
    }
    for Read { medium, page, wordlines, .. } in media.iter().flatten() {
        let name = &medium.name;
        if unit_fits && !medium.page.0.is_multiple_of(unit.0) {
            problems.add(
                page,
                format!(
                    "medium.{name}.page: {} is not a multiple of the mapping unit, {unit} (mapping.unit)",
                    medium.page
                ),
            );
        }
        if sector_fits && medium.page.0 / sector.0 > 32 {
            problems.add(
                page,
                format!(
                    "medium.{name}.page: {} has {} sectors of {sector}, at most 32; choose a larger \
                     mapping.sector",
                    medium.page,
                    medium.page.0 / sector.0
                ),
            );
        }
        let pages = medium.pages_per_block(medium.densest());
        if pages > 32_768 {
            problems.add(
                wordlines,
                format!("medium.{name}.wordlines_per_block: a block has {pages} pages, at most 32768"),
            );
        }
    }
}

/// Checks after all others: counts that fit 32 bits, and a capacity that the flash has.
pub(crate) fn check_whole(spec: &DeviceSpec, media: &[&Read], capacity_place: &Place, problems: &Problems) {
    let knows = |r: &&&Read| r.medium.energy.is_some();
    if let (Some(one), Some(other)) = (media.iter().find(knows), media.iter().find(|r| !knows(r))) {
        let what = format!(
            "the medium {:?} has energy values and medium {:?} has none; give both or neither",
            one.medium.name, other.medium.name
        );
        problems.add(&other.place, what);
    }
    if !problems.is_empty() {
        // Sums over an impossible geometry would only add noise, unless its counts are sane.
        let sane = media.iter().all(|r| planes(&r.medium) <= 1 << 16);
        if !sane || spec.unit.0 == 0 {
            return;
        }
    } else if let Err(e) = count_blocks(media).and_then(|()| spec.geometry().map(drop).map_err(|e| e.0)) {
        let place = media
            .iter()
            .find(|r| e.contains(&format!("{:?}", r.medium.name)))
            .or(media.first())
            .map_or(capacity_place, |r| &r.place);
        problems.add(place, e);
        return;
    }
    let (holds, logical) = (spec.data_bytes(), spec.logical_bytes());
    if logical == 0 {
        problems.add(capacity_place, "capacity: less than one mapping unit is left for the host");
    } else if logical > holds {
        let cache = spec.slc_cache.map_or(0, |c| c.static_blocks);
        let cached = || media.iter().filter(|r| r.medium.has_slc_cache());
        if cached().any(|r| cache > r.medium.blocks_per_plane) {
            return; // The check of the cache refuses that.
        }
        let less = if cache > 0 {
            let most = most_static_blocks(spec, cache).map_or(String::new(), |n| format!("; {n} leave room"));
            format!(" ({cache} blocks per plane are a static SLC cache and add no capacity{most})")
        } else if spec.parity_bytes() > 0 {
            " without parity".into()
        } else {
            String::new()
        };
        problems.add(
            capacity_place,
            format!(
                "capacity.logical: {} exceeds the capacity of the flash in its densest mode, {}{less}",
                Bytes(logical),
                readable(holds)
            ),
        );
    }
}

/// The most blocks per plane of a static SLC cache, fewer than these, with which the flash has the capacity.
fn most_static_blocks(spec: &DeviceSpec, too_many: u32) -> Option<u32> {
    let mut spec = spec.clone();
    let mut fits = |blocks| {
        spec.slc_cache = spec.slc_cache.map(|cache| SlcCache { static_blocks: blocks, ..cache });
        spec.data_bytes() >= spec.logical_bytes()
    };
    (1..too_many).rev().find(|blocks| fits(*blocks))
}

/// A size in its largest unit, with at most two decimals: `411.75GiB`.
fn readable(bytes: u64) -> String {
    let exact = Bytes(bytes).to_string();
    let unit =
        [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)].into_iter().find(|(_, m)| bytes >= *m);
    match unit {
        Some((unit, size)) if exact.len() > 7 => {
            let text = format!("{:.2}", bytes as f64 / size as f64);
            format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => exact,
    }
}

fn planes(medium: &Medium) -> u128 {
    let t = medium.topology;
    t.channels as u128 * t.chips_per_channel as u128 * t.dies_per_chip as u128 * t.planes_per_die as u128
}

fn count_blocks(media: &[&Read]) -> Result<(), String> {
    let blocks: u128 = media.iter().map(|r| planes(&r.medium) * r.medium.blocks_per_plane as u128).sum();
    if blocks > MOST_BLOCKS as u128 {
        return Err(format!("the drive has {blocks} blocks, at most {MOST_BLOCKS}; choose larger blocks"));
    }
    Ok(())
}
