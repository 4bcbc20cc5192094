//! The tables of the media: the geometry and capabilities of their chips.

use crate::tables::wear::SWITCH;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wordline_config::{Place, Section};
use wordline_flash::{
    CacheRegister, CommandOverhead, MAX_BITS, Medium, MediumEnergy, ModeEnergy, ModeTiming, Topology,
};
use wordline_units::{Bytes, CellMode, Energy, Rate, SimDuration};

/// Longer than any flash operation, so that sums of times fit 64 bits.
pub(crate) const LONGEST: SimDuration = SimDuration(3_600_000_000_000);

/// More than the energy of any flash operation, so that sums of energies fit 64 bits.
const MOST_ENERGY: Energy = Energy(1_000_000_000_000);
pub(crate) const TIMES: RangeInclusive<SimDuration> = SimDuration::ZERO..=LONGEST;
pub(crate) const COUNT: RangeInclusive<u32> = 1..=1 << 24;

/// A medium and the place of its keys, for problems between keys.
pub(crate) struct Read {
    pub(crate) medium: Medium,
    pub(crate) place: Place,
    pub(crate) page: Place,
    pub(crate) wordlines: Place,
}

pub(crate) fn media(root: &mut Section<'_>) -> Vec<Option<Read>> {
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
        section.refuse(
            "program",
            "a one-shot program has one time for all pages of a wordline; give one \
                                   value",
        );
    }
    if !section.has("erase") {
        section.missing("erase", "\"10ms\"");
    }
    let erase = section.take_within("erase", TIMES);
    let copy_back = section.take_within("copy_back", TIMES);
    if one_shot && copy_back.is_some() {
        section.refuse("copy_back", "copy-back does not support one-shot programs");
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

/// Array times of a mode.
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

/// The energy of every operation of a medium is known, or of none: a partial sum would look like a total.
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
            let what = "other modes of this medium have energy values; add energy = { read, program, erase \
                        } here";
            section.refuse(mode.key(), format!("{what}, or remove the others"));
        }
    }
    if byte.is_none() {
        section.refuse("bus", "the array has energy values; add energy = \"40pJ\", per byte transferred");
    }
    Some(MediumEnergy { byte: byte?, modes: energies })
}

/// Whether a link is as fast as the slowest allowed one; with a slower one, sums of times would exceed 64
/// bits.
pub(crate) fn moves(section: &Section<'_>, rate: Rate) -> bool {
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
        section.refuse(key, format!("{high} exceeds {most}, the longest time of a flash operation"));
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
