//! From the text of a device file to a [`DeviceSpec`], with every problem of the file in one go.
//!
//! Values are checked where they stand (a range, a unit, a word), then against one another (sizes
//! that divide, blocks that exist, capacity that fits), and last by [`DeviceSpec::geometry`].

use crate::config::{ConfigErrors, Place, Problems, Section};
use crate::queues::Arbitration;
use crate::spec::*;
use crate::wear::{SWITCH, WearSpec};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wordline_flash::{
    CacheRegister, CommandOverhead, MAX_BITS, Medium, MediumEnergy, ModeEnergy, ModeTiming, Topology,
};
use wordline_units::{Bytes, CellMode, Energy, Fraction, Rate, SimDuration};

/// Longer than any flash operation; it keeps sums of times within 64 bits.
const LONGEST: SimDuration = SimDuration(3_600_000_000_000);
/// More than any flash operation takes; it keeps sums of energies within 64 bits.
const MOST_ENERGY: Energy = Energy(1_000_000_000_000);
const TIMES: RangeInclusive<SimDuration> = SimDuration::ZERO..=LONGEST;
const COUNT: RangeInclusive<u32> = 1..=1 << 24;
/// A drive of 16 TiB has 16 M blocks of 1 MiB; each costs memory from the start.
const MOST_BLOCKS: u64 = 1 << 25;

impl DeviceSpec {
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
        let problems = Problems::default();
        let spec = Section::from_toml(text, origin, overrides, "medium", &problems)
            .and_then(|root| read(root, origin, &problems));
        problems.finish(spec)
    }

    /// Check a description that did not come from a device file (a report's, or one made by hand)
    /// as a file is checked. The lines that problems name are those of [`crate::to_toml`].
    ///
    /// # Errors
    /// As for [`DeviceSpec::from_toml`].
    pub fn checked(&self, origin: &str) -> Result<DeviceSpec, ConfigErrors> {
        DeviceSpec::from_toml(&crate::to_toml(self), origin, &[])
    }
}

/// A medium and where its facts were given, for problems that show only between keys.
struct Read {
    medium: Medium,
    place: Place,
    page: Place,
    wordlines: Place,
}

fn read(mut root: Section<'_>, origin: &str, problems: &Problems) -> Option<DeviceSpec> {
    let mut about = root.section_or_empty("device");
    let stem = origin.rsplit(['/', '\\']).next().unwrap_or(origin).trim_end_matches(".toml");
    let name = about.take_or("name", stem.to_string());
    let description = about.take_or("description", String::new());
    about.finish();

    let media = media(&mut root);

    let mut mapping = root.section_or_empty("mapping");
    let smallest = media.iter().flatten().map(|m| m.medium.page).min().unwrap_or(Bytes(16 << 10));
    let unit = mapping.take_or("unit", smallest);
    let sector = mapping.take_or("sector", Bytes(unit.0.clamp(512, 4096)));
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
        let why = "planes with arrays of their own (unit = \"plane\") have nothing to pair; leave it \"off\"";
        parallel.refuse("multiplane", why);
    }
    let multiplane_pages = parallel.choice("multiplane_pages", MultiplanePages::WORDS, MultiplanePages::Any);
    if multiplane.is_off() && !multiplane_pages.are_any() && !parallel.overrides("multiplane") {
        let why = "no planes work together; set multiplane = \"opportunistic\", or leave this out";
        parallel.refuse("multiplane_pages", why);
    }
    let superblock = parallel.choice("superblock", Superblock::WORDS, Superblock::Off);
    parallel.finish();

    let caches = media.iter().flatten().any(|m| !m.medium.cache_register.is_off());
    let service = crate::service::read(root.section_or_empty("service"), !multiplane.is_off(), caches);

    let mut section = root.section_or_empty("allocation");
    let allocation = section.take_or("order", Allocation::CWDP);
    section.finish();

    let blocks = media.iter().flatten().map(|m| m.medium.blocks_per_plane).max();
    let gc = gc(root.section_or_empty("gc"), blocks.unwrap_or(0));
    let (ack, flush) = ack(root.section_or_empty("ack"));
    let merge = merge(root.section_or_empty("merge"));
    let dram = crate::dram::read(root.section_or_empty("dram"), unit);

    let padding = padding(root.section_or_empty("program"), ack);

    let complete: Vec<&Read> = media.iter().flatten().collect();
    let slc_cache = root.section("slc_cache").map(|section| slc_cache(section, &complete));
    let errors = root.section("errors").map(crate::errors::read);
    let wear = root.section("wear").map_or(Some(WearSpec::default()), crate::wear::read);
    root.finish();

    if media.is_empty() || media.iter().any(Option::is_none) {
        return None;
    }
    let spec = DeviceSpec {
        name,
        description,
        unit,
        sector,
        capacity: capacity?,
        host,
        arbitration,
        parallel_unit,
        multiplane,
        multiplane_pages: if multiplane.is_off() { MultiplanePages::Any } else { multiplane_pages },
        superblock,
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

fn media(root: &mut Section<'_>) -> Vec<Option<Read>> {
    let Some(section) = root.section("medium") else {
        if !root.has("medium") {
            root.missing("medium", "a table [medium.flash] with channels, ..., page");
        }
        return Vec::new();
    };
    section.named_sections().into_iter().map(|(name, section)| medium(name, section)).collect()
}

fn medium(name: String, mut section: Section<'_>) -> Option<Read> {
    let channels = section.require_whole("channels", COUNT);
    let chips_per_channel = section.require_whole("chips_per_channel", COUNT);
    let dies_per_chip = section.require_whole("dies_per_chip", COUNT);
    let planes_per_die = section.require_whole("planes_per_die", 1..=64);
    // One to write to, one that collection keeps in reserve, one to collect, one more for data.
    let blocks_per_plane = section.require_whole("blocks_per_plane", 4..=*COUNT.end());
    let wordlines_per_block = section.require_whole("wordlines_per_block", 1..=32_768);
    let page = section.require::<Bytes>("page", "\"16KiB\"").filter(|page| {
        let fits = (512..=1 << 20).contains(&page.0);
        if !fits {
            section.refuse("page", format!("{page} is not between 512B and 1MiB"));
        }
        fits
    });

    let mut byte = None;
    let bus = match section.section("bus") {
        Some(mut bus) => {
            let rate = bus.require::<Rate>("rate", "\"1200MT/s\"").filter(|r| moves(&bus, *r));
            let width = bus.whole("width", 1..=64).unwrap_or(1);
            byte = bus.take_within("energy", Energy::ZERO..=MOST_ENERGY);
            bus.finish();
            rate.map(|r| r.times_width(width as u64))
        }
        None => {
            if !section.has("bus") {
                section.missing("bus", "{ rate = \"1200MT/s\", width = 1 }");
            }
            None
        }
    };
    let overhead = command_overhead(section.section_or_empty("command"));
    let further = section.section("command_further").map(command_overhead);
    let cache_register = section.choice("cache_register", &CacheRegister::WORDS, CacheRegister::Off);

    let mut modes = [const { None }; 4];
    let mut energies = [None; 4];
    let mut incomplete = false;
    for mode in CellMode::ALL {
        if let Some(mut section) = section.section(mode.key()) {
            energies[mode.index()] = section.section("energy").and_then(|section| energy(mode, section));
            modes[mode.index()] = timing(mode, section);
            incomplete |= modes[mode.index()].is_none();
        }
    }
    let energy = medium_energy(&section, byte, &modes, energies);
    if !incomplete && modes.iter().all(Option::is_none) {
        section.missing("tlc", "a table with read, program, erase (or slc, mlc, qlc)");
        incomplete = true;
    }
    let (place, page_place) = (section.place().clone(), section.place_of("page"));
    let wordlines = section.place_of("wordlines_per_block");
    section.finish();
    let medium = Medium {
        name,
        topology: Topology {
            channels: channels?,
            chips_per_channel: chips_per_channel?,
            dies_per_chip: dies_per_chip?,
            planes_per_die: planes_per_die?,
        },
        blocks_per_plane: blocks_per_plane?,
        wordlines_per_block: wordlines_per_block?,
        page: page?,
        modes,
        bus: bus?,
        command: overhead,
        command_further: further,
        cache_register,
        energy,
    };
    (!incomplete).then_some(Read { medium, place, page: page_place, wordlines })
}

fn timing(mode: CellMode, mut section: Section<'_>) -> Option<ModeTiming> {
    let one_shot = section.choice("one_shot", &SWITCH, false);
    let read = by_type(mode, &mut section, "read", LONGEST, "\"75us\"");
    let program = by_type(mode, &mut section, "program", LONGEST, "\"1600us\"");
    if one_shot && program.is_some_and(|p| p[..mode.bits() as usize].windows(2).any(|w| w[0] != w[1])) {
        section.refuse("program", "a one-shot program writes all pages of a wordline in one time; give one");
    }
    if !section.has("erase") {
        section.missing("erase", "\"10ms\"");
    }
    let erase = section.take_within("erase", TIMES);
    let copy_back = section.take_within("copy_back", TIMES);
    if one_shot && copy_back.is_some() {
        section
            .refuse("copy_back", "pages that are programmed a whole wordline at once are not copied singly");
    }
    let endurance = section.whole("endurance", 0..=u32::MAX).unwrap_or(0);
    section.finish();
    Some(ModeTiming {
        read: read?,
        program: program?,
        erase: erase?,
        copy_back,
        endurance,
        pages_per_program: if one_shot { mode.bits() as u8 } else { 1 },
    })
}

/// Times of commands, nothing where none is given.
fn command_overhead(mut section: Section<'_>) -> CommandOverhead {
    let overhead = CommandOverhead {
        read: section.take_within("read", TIMES).unwrap_or_default(),
        program: section.take_within("program", TIMES).unwrap_or_default(),
        erase: section.take_within("erase", TIMES).unwrap_or_default(),
    };
    section.finish();
    overhead
}

/// What the array takes in a mode.
fn energy(mode: CellMode, mut section: Section<'_>) -> Option<ModeEnergy> {
    let read = by_type(mode, &mut section, "read", MOST_ENERGY, "\"30uJ\"");
    let program = by_type(mode, &mut section, "program", MOST_ENERGY, "\"90uJ\"");
    if !section.has("erase") {
        section.missing("erase", "\"400uJ\"");
    }
    let erase = section.take_within("erase", Energy::ZERO..=MOST_ENERGY);
    section.finish();
    Some(ModeEnergy { read: read?, program: program?, erase: erase? })
}

/// The energy of a medium is known of every operation, or of none: a sum of some would look like one of all.
fn medium_energy(
    section: &Section<'_>,
    byte: Option<Energy>,
    modes: &[Option<ModeTiming>; 4],
    energies: [Option<ModeEnergy>; 4],
) -> Option<MediumEnergy> {
    if byte.is_none() && energies.iter().all(Option::is_none) {
        return None;
    }
    for mode in CellMode::ALL.into_iter().filter(|m| modes[m.index()].is_some()) {
        if energies[mode.index()].is_none() {
            let what = "energy is known of a part of this medium; add energy = { read, program, erase } here";
            section.refuse(mode.key(), format!("{what}, or take the others out"));
        }
    }
    if byte.is_none() {
        section.refuse(
            "bus",
            "energy is known of its array; add energy = \"40pJ\", which is for each byte moved",
        );
    }
    Some(MediumEnergy { byte: byte?, modes: energies })
}

/// Whether a link is no slower than any link is; a slower one would take sums of times past 64 bits.
fn moves(section: &Section<'_>, rate: Rate) -> bool {
    let fits = rate.time_for(1_000) <= SimDuration(1_000_000_000);
    if !fits {
        section.refuse("rate", format!("{rate} is slower than 1kB/s"));
    }
    fits
}

/// One value for all page types of a mode, or one each, the LSB page first.
fn by_type<T>(
    mode: CellMode,
    section: &mut Section<'_>,
    key: &'static str,
    most: T,
    example: &str,
) -> Option<[T; MAX_BITS]>
where
    T: FromStr<Err: Display> + PartialOrd + Display + Copy + Default,
{
    if !section.has(key) {
        section.missing(key, example);
    }
    let given: Vec<T> = section.take_list(key)?;
    let bits = mode.bits() as usize;
    if let Some(high) = given.iter().find(|value| **value > most) {
        section.refuse(key, format!("{high} is more than {most}, which no flash operation takes"));
        return None;
    }
    let mut values = [T::default(); MAX_BITS];
    match given.as_slice() {
        [one] => values[..bits].fill(*one),
        each if each.len() == bits => values[..bits].copy_from_slice(each),
        other => {
            let count = other.len();
            section.refuse(
                key,
                format!(
                    "{count} values for the {bits} page types of {mode}; give one, or {bits} from LSB up"
                ),
            );
            return None;
        }
    }
    Some(values)
}

fn capacity(mut section: Section<'_>) -> (Option<Capacity>, Place) {
    let logical = section.take::<Bytes>("logical");
    let over = section.take::<Fraction>("over_provisioning");
    let (has_logical, has_over) = (section.has("logical"), section.has("over_provisioning"));
    let logical_place = section.place_of("logical");
    let over_place = section.place_of("over_provisioning");
    let either = match (has_logical, has_over) {
        (true, true) if over_place.is_argument() == logical_place.is_argument() => {
            section.refuse("over_provisioning", "give either this or capacity.logical, not both");
            None
        }
        (false, false) => {
            section.missing("over_provisioning", "\"7%\" (or logical = \"40GiB\")");
            None
        }
        // An argument replaces what the file says in the other key.
        (true, over_too) if !over_too || logical_place.is_argument() => logical.map(Capacity::Logical),
        _ => over.map(Capacity::OverProvisioning),
    };
    section.finish();
    (either, if has_logical { logical_place } else { over_place })
}

fn host(mut section: Section<'_>) -> (HostLink, Option<Arbitration>) {
    let host = HostLink {
        rate: section.take::<Rate>("rate").filter(|r| moves(&section, *r)).unwrap_or(Rate::OFF),
        read_overhead: section.take_within("read_overhead", TIMES).unwrap_or_default(),
        write_overhead: section.take_within("write_overhead", TIMES).unwrap_or_default(),
        queue_depth: section.whole("queue_depth", 1..=1 << 20).unwrap_or(1024),
    };
    let arbitration = crate::queues::read(&mut section);
    section.finish();
    (host, arbitration)
}

fn gc(mut section: Section<'_>, blocks_per_plane: u32) -> Option<GcSpec> {
    let trigger = section.require::<Trigger>("trigger", "\"free_blocks < 5%\"");
    let victim = section.take_or("victim", Victim::Greedy);
    let dead_first = section.choice("dead_first", &SWITCH, false);
    let class = section.choice("class", GcClass::WORDS, GcClass::Host);
    let hard_reserve =
        section.whole("hard_reserve", COUNT).unwrap_or_else(|| GcSpec::default_reserve(blocks_per_plane));
    if blocks_per_plane > 0 && section.has("hard_reserve") && hard_reserve >= blocks_per_plane {
        section.refuse("hard_reserve", format!("a plane has only {blocks_per_plane} blocks"));
    }
    let recheck = section.choice("recheck", Recheck::WORDS, Recheck::Erase);
    section.finish();
    Some(GcSpec { trigger: trigger?, victim, dead_first, class, hard_reserve, recheck })
}

fn ack(mut section: Section<'_>) -> (Ack, Option<Flush>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mode {
        Program,
        Merge,
        Buffer,
    }
    let words = [("program", Mode::Program), ("merge", Mode::Merge), ("buffer", Mode::Buffer)];
    let mode = section.choice("mode", &words, Mode::Program);
    let pages = section.whole("pages", 1..=1 << 24);
    let overridden = section.place_of("mode").is_argument() && !section.place_of("pages").is_argument();
    if mode != Mode::Buffer && pages.is_some() && !overridden {
        section.refuse("pages", "only a buffer has pages; set mode = \"buffer\", or leave this out");
    }
    let ack = match (mode, pages) {
        (Mode::Program, _) => Ack::Program,
        (Mode::Merge, _) => Ack::Merge,
        (Mode::Buffer, Some(pages)) => Ack::Buffer(pages),
        (Mode::Buffer, None) => {
            if !section.has("pages") {
                section.missing("pages", "64");
            }
            Ack::Buffer(1)
        }
    };
    let flush = flush(&mut section, mode == Mode::Buffer);
    section.finish();
    (ack, flush)
}

/// When the buffer empties.
fn flush(section: &mut Section<'_>, has_buffer: bool) -> Option<Flush> {
    #[derive(Clone, Copy, PartialEq)]
    enum When {
        AtOnce,
        Full,
        Idle,
    }
    let words = [("at-once", When::AtOnce), ("when-full", When::Full), ("idle", When::Idle)];
    let when = section.choice("flush", &words, When::AtOnce);
    let mut share = |key: &'static str, default: u64| {
        section
            .take_within(key, Fraction(0)..=Fraction::ONE)
            .unwrap_or(Fraction(Fraction::ONE.0 / 4 * default))
    };
    let (high, low) = (share("high", 3), share("low", 1));
    let idle = section.take_within("idle", SimDuration(1_000)..=LONGEST);
    if when == When::AtOnce {
        for key in ["high", "low", "idle"] {
            if section.has(key) && !section.overrides("flush") {
                section.refuse(
                    key,
                    "the buffer keeps nothing back; set flush = \"when-full\", or leave this out",
                );
            }
        }
        return None;
    }
    if !has_buffer && !section.overrides("mode") {
        section.refuse("flush", "there is no buffer to empty; set mode = \"buffer\", or leave this out");
    }
    if low >= high {
        section.refuse("low", format!("{low} is not below high, {high}"));
    }
    if idle.is_some() && when == When::Full && !section.overrides("flush") {
        section.refuse("idle", "idle time changes nothing; set flush = \"idle\", or leave this out");
    }
    let idle = (when == When::Idle).then_some(idle.unwrap_or(SimDuration(10_000_000)));
    has_buffer.then_some(Flush { high, low, idle })
}

fn merge(mut section: Section<'_>) -> MergeBuffer {
    let default = MergeBuffer::default();
    let merge = MergeBuffer {
        pages: section.whole("pages", 1..=1 << 16).unwrap_or(default.pages),
        after: section.take_within("after", TIMES).unwrap_or(default.after),
        idle: section.take_within("idle", SimDuration(1_000)..=LONGEST).unwrap_or(default.idle),
    };
    section.finish();
    merge
}

/// When an incomplete one-shot group is padded.
struct Padding {
    buffer: ProgramBuffer,
    after: Option<SimDuration>,
    host_after: SimDuration,
}

/// A buffer that outlives a power cut fills wordlines, as drives do; what only RAM at risk holds is not kept long.
fn padding(mut section: Section<'_>, ack: Ack) -> Padding {
    let usual = match ack {
        Ack::Buffer(_) => ProgramBuffer::Protected,
        Ack::Program | Ack::Merge => ProgramBuffer::Volatile,
    };
    let buffer = section.choice("buffer", ProgramBuffer::WORDS, usual);
    let default = (buffer == ProgramBuffer::Volatile).then(pad_host_after);
    let after = match section.text("pad_after").as_deref() {
        None => default,
        Some("never") => {
            if buffer == ProgramBuffer::Volatile {
                section.refuse(
                    "pad_after",
                    "pages cannot wait for ever in a buffer that a power cut clears; set program.buffer = \
                     \"protected\" (usual with ack.mode = \"buffer\"), or give a time",
                );
            }
            None
        }
        Some(_) => section.take::<SimDuration>("pad_after").or(default),
    };
    let host_after = section.take("pad_host_after").or(after).unwrap_or(pad_host_after());
    section.finish();
    Padding { buffer, after, host_after }
}

fn slc_cache(mut section: Section<'_>, media: &[&Read]) -> Option<SlcCache> {
    let static_blocks = section.require_whole("static_blocks", 0..=1 << 24);
    let dynamic_blocks = section.whole("dynamic_blocks", 0..=1 << 24).unwrap_or(0);
    let trigger = section.require::<Trigger>("trigger", "\"free_blocks < 50%\"");
    let when_full = section.choice("when_full", WhenFull::WORDS, WhenFull::Wait);
    let cached: Vec<&Medium> = media.iter().map(|r| &r.medium).filter(|m| m.has_slc_cache()).collect();
    if cached.is_empty() && !media.is_empty() {
        section.refuse(
            "static_blocks",
            "no medium offers both slc and a denser mode, so none can hold a cache; add [medium.NAME.slc]",
        );
    }
    if let Some(static_blocks) = static_blocks {
        let wanted = static_blocks as u64 + dynamic_blocks as u64;
        if wanted == 0 {
            section.refuse("static_blocks", "a cache of 0 static and 0 dynamic blocks holds nothing");
        }
        for m in cached.iter().filter(|m| wanted > m.blocks_per_plane as u64) {
            section.refuse(
                if section.has("dynamic_blocks") { "dynamic_blocks" } else { "static_blocks" },
                format!(
                    "{static_blocks} static and {dynamic_blocks} dynamic blocks are more than the {} blocks \
                     of a plane of medium {:?}",
                    m.blocks_per_plane, m.name
                ),
            );
        }
    }
    section.finish();
    Some(SlcCache { static_blocks: static_blocks?, dynamic_blocks, trigger: trigger?, when_full })
}

/// Sizes that must divide one another.
fn check_sizes(
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
        mapping.refuse("unit", format!("{unit} is not a multiple of the sector, {sector}"));
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

/// What shows only when all else is right: counts that 32 bits cannot number, capacity that the
/// flash does not have.
fn check_whole(spec: &DeviceSpec, media: &[&Read], capacity_place: &Place, problems: &Problems) {
    let knows = |r: &&&Read| r.medium.energy.is_some();
    if let (Some(one), Some(other)) = (media.iter().find(knows), media.iter().find(|r| !knows(r))) {
        let what = format!(
            "the energy of medium {:?} is given and that of {:?} is not; give both, or neither",
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
    let (physical, logical) = (spec.physical_bytes(), spec.logical_bytes());
    if logical == 0 {
        problems.add(capacity_place, "capacity: it leaves not one mapping unit to the host");
    } else if logical > physical {
        let cache = spec.slc_cache.map_or(0, |c| c.static_blocks);
        let less = if cache > 0 {
            format!(" ({cache} blocks a plane are a static SLC cache and store nothing)")
        } else {
            String::new()
        };
        problems.add(
            capacity_place,
            format!(
                "capacity.logical: {} is more than the flash holds in its densest mode, {}{less}",
                Bytes(logical),
                Bytes(physical)
            ),
        );
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
