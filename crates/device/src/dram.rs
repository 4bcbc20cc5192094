//! The table `[dram]` of a device file: what the drive keeps in RAM besides its map and buffers.

use crate::config::Section;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use wordline_units::Bytes;

/// What the drive keeps in RAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Dram {
    /// Size of the cache of pages that the host has read, in whole mapping units; zero for none.
    pub read_cache: Bytes,
}

impl Dram {
    /// Whether all of it is as without the table.
    pub fn is_off(&self) -> bool {
        *self == Dram::default()
    }
}

pub(crate) fn read(mut section: Section<'_>, unit: Bytes) -> Option<Dram> {
    let size = match section.text("read_cache") {
        Some(word) if word == "off" => None,
        _ => section.take_within("read_cache", Bytes(0)..=Bytes(1 << 40)),
    };
    let size = size.unwrap_or(Bytes(0));
    let whole = size.0.is_multiple_of(unit.0.max(1));
    if !whole {
        section.refuse("read_cache", format!("{size} is not a multiple of the mapping unit, {unit}"));
    }
    section.finish();
    whole.then_some(Dram { read_cache: size })
}

pub(crate) fn write(dram: &Dram, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[dram]\nread_cache = \"{}\"", dram.read_cache)
}
