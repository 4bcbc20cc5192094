//! The table `[dram]` of a device file: the drive's RAM without its buffers, and the cached part of the mapping table.

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use wordline_config::Section;
use wordline_units::Bytes;

/// Bytes of a mapping entry, which addresses flash with 32 bits.
pub const MAP_ENTRY: u64 = 4;

/// Bytes of a pending mapping change: the number of the logical page, and its place.
pub const JOURNAL_ENTRY: u64 = 4 + MAP_ENTRY;

/// Contents of the drive's RAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Dram {
    /// Size of the read cache, in whole mapping units; zero for none.
    pub read_cache: Bytes,
    /// Size of the mapping cache, in whole mapping units, each one page of the table; zero if the whole table is in
    /// RAM.
    #[serde(default, skip_serializing_if = "is_none")]
    pub map_cache: Bytes,
    /// Size of the journal of mapping changes that wait for their page of the table, [`JOURNAL_ENTRY`] bytes each;
    /// `None` without a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_journal: Option<Bytes>,
}

fn is_none(size: &Bytes) -> bool {
    size.0 == 0
}

impl Dram {
    /// Whether all of it is at its defaults.
    pub fn is_off(&self) -> bool {
        *self == Dram::default()
    }

    /// RAM for the mapping table of this many mapping units, in bytes: the whole table, or its cache with the flash
    /// address of each of its pages, and the journal if it is bounded.
    pub fn map_bytes(&self, units: u64, unit: Bytes) -> u64 {
        match self.map_cache.0 {
            0 => units * MAP_ENTRY,
            cache => cache + map_pages(units, unit) * MAP_ENTRY + self.map_journal.map_or(0, |bytes| bytes.0),
        }
    }
}

/// Pages of the mapping table of this many mapping units, each as large as a unit.
pub fn map_pages(units: u64, unit: Bytes) -> u64 {
    units.div_ceil((unit.0 / MAP_ENTRY).max(1))
}

pub(crate) fn read(mut section: Section<'_>, unit: Bytes) -> Option<Dram> {
    let read_cache = size(&mut section, "read_cache", unit);
    let map_cache = size(&mut section, "map_cache", unit);
    let map_journal = journal(&mut section, map_cache);
    section.finish();
    Some(Dram { read_cache: read_cache?, map_cache: map_cache?, map_journal })
}

/// The bound of the journal, or `unbounded`.
fn journal(section: &mut Section<'_>, map_cache: Option<Bytes>) -> Option<Bytes> {
    const KEY: &str = "map_journal";
    let is_off = map_cache == Some(Bytes(0));
    if section.text(KEY)? == "unbounded" {
        return None;
    }
    let size = section.take_within(KEY, Bytes(JOURNAL_ENTRY)..=Bytes(1 << 40));
    if is_off && !section.overrides("map_cache") {
        section.refuse(
            KEY,
            "requires map_cache, because otherwise the whole mapping table is in RAM; set \
                             it, or remove this key",
        );
    }
    size.filter(|_| !is_off)
}

/// A size in whole mapping units, or `off`.
fn size(section: &mut Section<'_>, key: &'static str, unit: Bytes) -> Option<Bytes> {
    let size = match section.text(key) {
        Some(word) if word == "off" => None,
        _ => section.take_within(key, Bytes(0)..=Bytes(1 << 40)),
    };
    let size = size.unwrap_or(Bytes(0));
    if !size.0.is_multiple_of(unit.0.max(1)) {
        section.refuse(key, format!("{size} is not a multiple of the mapping unit, {unit}"));
        return None;
    }
    Some(size)
}

pub(crate) fn write(dram: &Dram, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[dram]\nread_cache = \"{}\"", dram.read_cache)?;
    if dram.map_cache.0 > 0 {
        writeln!(out, "map_cache = \"{}\"", dram.map_cache)?;
    }
    if let Some(size) = dram.map_journal {
        writeln!(out, "map_journal = \"{size}\"")?;
    }
    Ok(())
}
