//! Parse the text of a device file into a [`DeviceSpec`], reporting all problems of the file together.
//!
//! Values are checked individually (range, unit, word), then against each other (divisible sizes, existing
//! blocks, a capacity that fits), and last by [`DeviceSpec::geometry`].

use crate::file::check::{check_sizes, check_whole};
use crate::file::controller::{ack, capacity, gc, host, merge, padding, slc_cache};
use crate::file::medium::{Read, media};
use crate::file::write::to_toml;
use crate::keys::path_of;
use crate::spec::drive::{DeviceSpec, UnwrittenReads};
use crate::spec::parallel::{
    Allocation, Multiplane, MultiplanePages, Packing, ParallelUnit, Parity, PartialPages, Superblock,
};
use crate::tables::wear::WearSpec;
use wordline_config::{ConfigErrors, Place, Problem, Problems, Section};
use wordline_units::Bytes;

/// Read a device file. `origin` is its name in messages; `overrides` are the dotted paths and
/// values of `--set`, applied before anything is checked: `gc.victim=fifo`,
/// `medium.flash.tlc.read=66us`, `medium.0.blocks_per_plane=64`, `medium.*.page=8KiB`,
/// `slc_cache=off`.
///
/// # Errors
/// With every problem found, each with its place.
pub fn from_toml(
    text: &str,
    origin: &str,
    overrides: &[(String, String)],
) -> Result<DeviceSpec, ConfigErrors> {
    with_overrides(text, origin, overrides).map_err(|errors| match overrides {
        [] => errors,
        _ => blamed(errors, text, origin, overrides),
    })
}

fn with_overrides(
    text: &str,
    origin: &str,
    overrides: &[(String, String)],
) -> Result<DeviceSpec, ConfigErrors> {
    let problems = Problems::default();
    let spec = Section::from_toml(text, origin, overrides, "medium", &problems)
        .and_then(|root| read(root, origin, &problems));
    problems.finish(spec)
}

/// The problems, where those of lines of the file name the override without which they are not there: nobody wrote that
/// line wrongly.
fn blamed(
    mut errors: ConfigErrors,
    text: &str,
    origin: &str,
    overrides: &[(String, String)],
) -> ConfigErrors {
    let without = |at: usize| {
        let others: Vec<_> = [&overrides[..at], &overrides[at + 1..]].concat();
        with_overrides(text, origin, &others).err().map_or(vec![], |e| e.problems)
    };
    let left: Vec<Vec<Problem>> = (0..overrides.len()).map(without).collect();
    // Their values may differ, their keys do not.
    let key = |problem: &Problem| problem.text.split(':').next().map(str::to_string);
    let is_same = |a: &Problem, b: &Problem| a.place == b.place && key(a) == key(b);
    for problem in errors.problems.iter_mut().filter(|problem| !problem.place.is_argument()) {
        let cause = left.iter().position(|others| !others.iter().any(|other| is_same(other, problem)));
        if let Some((path, value)) = cause.map(|at| &overrides[at]) {
            problem.text = format!("{} ({})", problem.text, problem.place);
            problem.place = Place::Setting(format!("{path}={value}").into());
        }
    }
    errors.problems.sort_by(|a, b| a.place.cmp(&b.place));
    errors
}

/// Check a description that did not come from a device file (but from a report, or made by hand) like a
/// file. The lines that problems name are those of [`crate::to_toml`].
///
/// # Errors
/// As for [`from_toml`].
pub fn checked(spec: &DeviceSpec, origin: &str) -> Result<DeviceSpec, ConfigErrors> {
    from_toml(&to_toml(spec), origin, &[])
}

fn read(mut root: Section<'_>, origin: &str, problems: &Problems) -> Option<DeviceSpec> {
    let mut about = root.section_or_empty("device");
    let stem = origin.rsplit(['/', '\\']).next().unwrap_or(origin).trim_end_matches(".toml");
    let name = about.take_or("name", stem.to_string());
    let description = about.take_or("description", String::new());
    if name.trim().is_empty() {
        about.refuse("name", "a device needs a name");
    }
    about.finish();

    let media = media(&mut root);

    let mut mapping = root.section_or_empty("mapping");
    let smallest = media.iter().flatten().map(|m| m.medium.page).min().unwrap_or(Bytes(16 << 10));
    let unit = mapping.take_or("unit", smallest);
    let sector = mapping.take_or("sector", Bytes(unit.0.clamp(512, 4096)));
    let partial = mapping.choice("partial", PartialPages::WORDS, PartialPages::Whole);
    let packing = mapping.choice("packing", Packing::WORDS, Packing::Off);
    let unwritten = mapping.choice("unwritten", UnwrittenReads::WORDS, UnwrittenReads::Free);
    check_sizes(&mapping, unit, sector, &media, problems);
    mapping.finish();

    let (capacity, capacity_place) = match root.section("capacity") {
        Some(section) => capacity(section),
        None => {
            root.missing("capacity", "{ over_provisioning = \"7%\" }");
            (None, root.place().clone())
        }
    };
    let (host, arbitration) = host(root.section_or_empty("host"));

    let mut parallel = root.section_or_empty("parallel");
    let parallel_unit = parallel.choice("unit", ParallelUnit::WORDS, ParallelUnit::Die);
    let multiplane = parallel.choice("multiplane", Multiplane::WORDS, Multiplane::Off);
    if !multiplane.is_off() && parallel_unit == ParallelUnit::Plane {
        let why = "not possible with unit = \"plane\", where each plane has its own array; set it to \
                   \"off\"";
        parallel.refuse("multiplane", why);
    }
    let multiplane_pages = parallel.choice("multiplane_pages", MultiplanePages::WORDS, MultiplanePages::Any);
    if multiplane.is_off() && !multiplane_pages.are_any() && !parallel.overrides("multiplane") {
        let why = "requires multiplane = \"opportunistic\"; set it, or remove this key";
        parallel.refuse("multiplane_pages", why);
    }
    let superblock = parallel.choice("superblock", Superblock::WORDS, Superblock::Off);
    let parity = parallel.choice("parity", Parity::WORDS, Parity::Off);
    let is_one_plane = |read: &Read| superblock.planes(read.medium.topology) == 1;
    let stands_alone = media.iter().flatten().any(is_one_plane);
    // Who sets superblock=off for a drive with parity wants neither.
    let is_dropped = parallel.overrides("superblock") && !parallel.overrides("parity");
    if !parity.is_off() && stands_alone && !is_dropped {
        let why = "requires superblocks of at least two planes; set superblock = \"channel\" or \"drive\", or \
                   remove this key";
        parallel.refuse("parity", why);
    }
    parallel.finish();

    let caches = media.iter().flatten().any(|m| !m.medium.cache_register.is_off());
    let service =
        crate::tables::service::read(root.section_or_empty("service"), !multiplane.is_off(), caches);

    let mut section = root.section_or_empty("allocation");
    let allocation = section.take_or("order", Allocation::CWDP);
    section.finish();

    let blocks = media.iter().flatten().map(|m| m.medium.blocks_per_plane).max();
    let gc = gc(root.section_or_empty("gc"), blocks.unwrap_or(0));
    let (ack, flush) = ack(root.section_or_empty("ack"));
    let merge = merge(root.section_or_empty("merge"));
    let dram = crate::tables::dram::read(root.section_or_empty("dram"), unit);

    let padding = padding(root.section_or_empty("program"), ack);

    let complete: Vec<&Read> = media.iter().flatten().collect();
    let slc_cache = root.section("slc_cache").map(|section| slc_cache(section, &complete));
    let errors = root.section("errors").map(crate::tables::errors::read);
    let wear = root.section("wear").map_or(Some(WearSpec::default()), crate::tables::wear::read);
    root.finish_unless_elsewhere(path_of);

    if media.is_empty() || media.iter().any(Option::is_none) {
        return None;
    }
    let spec = DeviceSpec {
        name,
        description,
        unit,
        sector,
        partial,
        packing,
        unwritten,
        capacity: capacity?,
        host,
        arbitration,
        parallel_unit,
        multiplane,
        multiplane_pages: if multiplane.is_off() { MultiplanePages::Any } else { multiplane_pages },
        superblock,
        parity: if stands_alone { Parity::Off } else { parity },
        service: service?,
        allocation,
        ack,
        flush,
        merge,
        dram: dram?,
        gc: gc?,
        program_buffer: padding.buffer,
        pad_after: padding.after,
        pad_host_after: padding.host_after,
        slc_cache: match slc_cache {
            Some(cache) => Some(cache?),
            None => None,
        },
        errors: match errors {
            Some(errors) => Some(errors?),
            None => None,
        },
        wear: wear?,
        media: media.iter().flatten().map(|m| m.medium.clone()).collect(),
    };
    check_whole(&spec, &complete, &capacity_place, problems);
    Some(spec)
}
