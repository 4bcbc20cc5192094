//! A device file from a few facts of a data sheet. Facts that the data sheet does not state are assumed and
//! marked.

use crate::make::sheet::Sheet;
use crate::tables::words::spaced;
use std::str::FromStr;
use wordline_config::ConfigErrors;
use wordline_flash::has_slot_numbers;
use wordline_units::{Bytes, CellMode, Fraction, QuantityError, Rate, SimDuration};

/// Known facts about a drive.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// Logical capacity.
    pub capacity: Bytes,
    /// Bits a cell holds.
    pub cell: CellMode,
    /// Channels of the controller.
    pub channels: u32,
    /// The link to the host.
    pub interface: Interface,
    /// Flash beyond what the host sees.
    pub over_provisioning: Option<Fraction>,
    /// Bytes of a page.
    pub page: Option<Bytes>,
    /// Transfers of one channel.
    pub bus: Option<Rate>,
    /// Time to sense a page.
    pub read: Option<SimDuration>,
    /// Time to program all pages of a wordline.
    pub program: Option<SimDuration>,
    /// Sequential write rate of the flash, from which the program time follows.
    pub write_rate: Option<Rate>,
    /// Time to erase a block.
    pub erase: Option<SimDuration>,
    /// Cycles that a block endures.
    pub endurance: Option<u32>,
    /// A static SLC cache, in bytes of the host.
    pub slc_cache: Option<Bytes>,
}

/// A link to the host, by its name or its rate.
#[derive(Clone, PartialEq, Debug)]
pub struct Interface {
    /// Its spelling.
    pub word: String,
    /// Its rate.
    pub rate: Rate,
}

impl Interface {
    /// Names, and the data rate of each.
    const NAMED: [(&'static str, u64); 5] =
        [("sata3", 560), ("pcie3x2", 1_750), ("pcie3x4", 3_500), ("pcie4x4", 7_000), ("pcie5x4", 14_000)];
}

impl FromStr for Interface {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Interface, QuantityError> {
        let named = Interface::NAMED.iter().find(|(name, _)| *name == text.to_lowercase());
        let rate = match named {
            Some((_, mb)) => Rate { bytes: mb * 1_000_000, nanoseconds: 1_000_000_000 },
            None => text.parse().map_err(|_| QuantityError {
                given: text.to_string(),
                expected: "an interface",
                hint: format!(
                    "give one of {}, or a rate such as 2000MB/s",
                    Interface::NAMED.map(|(name, _)| name).join(", ")
                ),
            })?,
        };
        Ok(Interface { word: text.to_string(), rate })
    }
}

/// Typical properties of flash of a cell mode.
struct Usual {
    read: u64,
    program: u64,
    erase: u64,
    endurance: u32,
    die: u64,
}

const GIB: u64 = 1 << 30;

const fn usual(cell: CellMode) -> Usual {
    let (read, program, erase, endurance, die) = match cell {
        CellMode::Slc => (25_000, 200_000, 2_000_000, 100_000, 16 * GIB),
        CellMode::Mlc => (50_000, 1_200_000, 3_500_000, 10_000, 32 * GIB),
        CellMode::Tlc => (60_000, 1_900_000, 5_000_000, 3_000, 64 * GIB),
        CellMode::Qlc => (85_000, 6_550_000, 10_000_000, 1_000, 128 * GIB),
    };
    Usual { read, program, erase, endurance, die }
}

const PLANES: u64 = 4;

/// Source of a value: given, or assumed.
fn source(asked: bool, why: &str) -> String {
    if asked { "Asked".to_string() } else { format!("ASSUMED: {why}") }
}

/// The smallest mapping unit, from a sector to a page, by which all slots of `blocks` of `block` bytes have numbers.
fn mapping_unit(sector: Bytes, page: Bytes, blocks: u64, block: u64) -> Bytes {
    let mut unit = sector.0;
    while unit < page.0 && !has_slot_numbers(blocks, block / unit) {
        unit *= 2;
    }
    Bytes(unit)
}

impl Draft {
    /// The device file, in which every value has its source.
    ///
    /// # Errors
    /// If no drive can be built from it, for instance because it has too few blocks.
    pub fn to_toml(&self) -> Result<String, ConfigErrors> {
        let text = self.sheet();
        crate::file::read::from_toml(&text, &format!("{}, created from options", self.name), &[])?;
        Ok(text)
    }

    fn sheet(&self) -> String {
        let (bits, usual) = (self.cell.bits() as u64, usual(self.cell));
        let page = self.page.unwrap_or(Bytes(16 << 10));
        let over = self.over_provisioning.unwrap_or(Fraction::percent(7));
        let raw = self.capacity.0.saturating_add(over.of(self.capacity.0));
        let channels = self.channels.max(1) as u64;
        let dies = raw.div_ceil(channels.saturating_mul(usual.die)).max(1);
        let planes = channels * dies * PLANES;
        // Blocks as large as they are today, and smaller ones where a plane had too few of them.
        let block = |wordlines: u64| (wordlines * bits).saturating_mul(page.0).max(1);
        let has_many = |wordlines: &u64| raw / planes / block(*wordlines) >= 128;
        let wordlines = [768, 384, 192, 96].into_iter().find(has_many).unwrap_or(48);
        let cache = self.slc_cache.map_or(0, |cache| cache.0.div_ceil(planes * block(wordlines) / bits));
        let blocks = raw.div_ceil(planes * block(wordlines)) + cache;
        let sector = page.min(Bytes(4 << 10));
        let unit = mapping_unit(sector, page, planes * blocks, block(wordlines));
        let program = match (self.program, self.write_rate) {
            (Some(time), _) => time,
            (None, Some(rate)) => rate.time_for(planes * bits * page.0),
            (None, None) => SimDuration(usual.program),
        };

        let remark = "Asked = what was given to `wordline device new`".to_string();
        let of = format!("{} of {} on {} channels", spaced(printed(self.capacity)), self.cell, self.channels);
        let mut sheet = Sheet::new(&[remark], &self.name, &of);
        sheet.table("medium.flash");
        sheet.put("channels", self.channels, "Asked");
        sheet.put("chips_per_channel", 1, "ASSUMED: one package per channel");
        sheet.put(
            "dies_per_chip",
            dies,
            format!(
                "ASSUMED: as few as hold it with up to {} each, usual for {}",
                Bytes(usual.die),
                self.cell
            ),
        );
        sheet.put("planes_per_die", PLANES, "ASSUMED: typical of dies of this size");
        let left = format!(
            "{} for the capacity and {over} over-provisioning{}",
            if self.over_provisioning.is_some() { "Asked: sized" } else { "ASSUMED: sized" },
            if cache > 0 { ", and the cache" } else { "" }
        );
        sheet.put("blocks_per_plane", blocks, left);
        let size = format!("ASSUMED: blocks of {}", Bytes(block(wordlines)));
        sheet.put("wordlines_per_block", wordlines, size);
        sheet.put_text("page", page, source(self.page.is_some(), "typical of current flash"));
        let bus = self.bus.map_or("1200MT/s".to_string(), |rate| rate.to_string());
        let bus = format!("{{ rate = \"{bus}\", width = 1 }}");
        sheet.put("bus", bus, source(self.bus.is_some(), "typical of current flash"));
        if self.cell != CellMode::Slc {
            let slc = self::usual(CellMode::Slc);
            sheet.table("medium.flash.slc");
            sheet.put_text("read", SimDuration(slc.read), "ASSUMED: typical of SLC mode");
            sheet.put_text("program", SimDuration(slc.program), "ASSUMED: typical of SLC mode");
            sheet.put_text("erase", SimDuration(slc.erase), "ASSUMED: typical of SLC mode");
            sheet.put("endurance", slc.endurance, "ASSUMED: typical of SLC mode");
        }
        sheet.table(&format!("medium.flash.{}", self.cell.key()));
        let usually = format!("usual for {}", self.cell);
        let read = self.read.unwrap_or(SimDuration(usual.read));
        sheet.put_text("read", read, source(self.read.is_some(), &usually));
        let from = match (self.program, self.write_rate) {
            (None, Some(rate)) => format!("Asked: gives {rate} over all planes"),
            (asked, _) => source(asked.is_some(), &usually),
        };
        sheet.put_text("program", program, from);
        if bits > 1 {
            sheet.put("one_shot", true, "ASSUMED: one-shot programs of whole wordlines, as on 3D flash");
        }
        let erase = self.erase.unwrap_or(SimDuration(usual.erase));
        sheet.put_text("erase", erase, source(self.erase.is_some(), &usually));
        let endurance = self.endurance.unwrap_or(usual.endurance);
        sheet.put("endurance", endurance, source(self.endurance.is_some(), &usually));
        sheet.table("mapping");
        sheet.put_text("sector", sector, "ASSUMED: typical of current drives");
        let why = if unit == sector { "typical of current drives" } else { "keeps map entries at 32 bits" };
        sheet.put_text("unit", unit, format!("ASSUMED: {why}"));
        if page.0 > unit.0 {
            sheet.put_text("packing", "page", "ASSUMED: units of several writes share a page");
        }
        sheet.table("capacity");
        sheet.put_text("logical", printed(self.capacity), "Asked");
        sheet.table("host");
        sheet.put_text("rate", self.interface.rate, format!("Asked: {}", self.interface.word));
        // A request occupies the link for this long, so that it bounds the requests a second: 2 M of them.
        sheet.put_text("read_overhead", "500ns", "ASSUMED: command and completion on the link");
        sheet.put_text("write_overhead", "500ns", "ASSUMED: command and completion on the link");
        sheet.put_text("read_latency", "4.5us", "ASSUMED: firmware, which works on many requests");
        sheet.put_text("write_latency", "4.5us", "ASSUMED: firmware, which works on many requests");
        sheet.table("parallel");
        sheet.put_text(
            "unit",
            "plane",
            "ASSUMED: represents multi-plane programs and independent plane reads",
        );
        sheet.table("allocation");
        sheet.put_text("order", "round-robin", "ASSUMED: writes go to all planes in turn, as a log");
        sheet.table("gc");
        sheet.put_text(
            "trigger",
            "free_blocks < 3%",
            "ASSUMED: below the over-provisioning, so that GC \
                                                       uses all of it",
        );
        sheet.put_text("class", "background", "ASSUMED: GC when idle, urgent when free blocks run short");
        sheet.table("ack");
        sheet.put_text("mode", "buffer", "ASSUMED: writes complete in protected RAM");
        sheet.put(
            "pages",
            (2 * planes * bits * (page.0 / unit.0)).max(64),
            "ASSUMED: two wordlines of every plane, which avoids padding",
        );
        if cache > 0 {
            sheet.table("slc_cache");
            sheet.put(
                "static_blocks",
                cache,
                format!("Asked: {} over {planes} planes", printed(self.slc_cache.unwrap_or_default())),
            );
            sheet.put_text("trigger", "free_blocks < 10%", "ASSUMED: not in data sheets");
            sheet.put_text("when_full", "direct", "ASSUMED: writes then bypass the cache");
        }
        sheet.finish()
    }
}

/// A size as data sheets have it: a capacity that is no multiple of 1 MiB in decimal units, `960.2GB`.
fn printed(size: Bytes) -> String {
    const MB: u64 = 1_000_000;
    if !size.0.is_multiple_of(MB) || size.0.is_multiple_of(1 << 20) {
        return size.to_string();
    }
    let (unit, megabytes) = match size.0 / MB {
        1_000_000.. => ("TB", 1_000_000),
        1_000.. => ("GB", 1_000),
        _ => ("MB", 1),
    };
    let (whole, rest) = (size.0 / MB / megabytes, size.0 / MB % megabytes);
    let digits = format!("{:06}", rest * (1_000_000 / megabytes));
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { format!("{whole}{unit}") } else { format!("{whole}.{digits}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed size is short, and is read as the same number of bytes.
    #[test]
    fn capacities_are_printed_as_they_are_asked() {
        for text in ["1TB", "960.2GB", "1.92TB", "24GB", "500MB", "1TiB", "512GiB", "23437501KiB"] {
            let size: Bytes = text.parse().unwrap();
            assert_eq!(printed(size), text);
        }
    }
}
