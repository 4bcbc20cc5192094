//! The tables of the database, and how the slots of a block are written in a row.

use std::fmt::Write;
use wordline_ftl::SlotFound;
use wordline_units::CellMode;

/// The application id of the database: "WLDR".
pub(crate) const APPLICATION: i32 = 0x574c_4452;
/// The version of the format: bytes of pages are in a file of their own.
pub(crate) const FORMAT: i32 = 3;
/// The first version of the format: bytes of pages are in the database. In this one, rows have no checksums and there is no
/// log.
pub(crate) const FIRST_FORMAT: i32 = 1;

/// The tables, and a view for people that shows the spare area of each page.
pub(crate) const TABLES: &str = "
CREATE TABLE drive (key TEXT PRIMARY KEY, value ANY) STRICT;
CREATE TABLE page (
  id INTEGER PRIMARY KEY,        -- physical page * 32 + part
  logical_page INTEGER NOT NULL,
  sectors INTEGER NOT NULL,      -- a bit each
  offset INTEGER NOT NULL,       -- the first of them in the physical page
  version INTEGER NOT NULL,      -- the host write that they come from
  sequence INTEGER NOT NULL,     -- the order in which programs ended
  checksum INTEGER,              -- CRC-32 of the bytes
  at INTEGER,                    -- the place of the bytes in the file of pages, with the first part of each logical page
  bytes INTEGER
) STRICT;
CREATE TABLE block (
  block INTEGER PRIMARY KEY,
  region INTEGER,                -- its header, written beside its first page
  mode TEXT,
  erases_then INTEGER,
  opened INTEGER,
  erases INTEGER NOT NULL,
  slots TEXT NOT NULL,           -- runs of programmed (p), torn (t) and blank (b) ones
  half_erased INTEGER NOT NULL,
  base INTEGER NOT NULL          -- holds what it held at time 0
) STRICT;
CREATE TABLE trim_page (
  physical_page INTEGER PRIMARY KEY,
  versions BLOB NOT NULL         -- of the newest trim of each entry, 64 bits each, least byte first
) STRICT;
CREATE TABLE protected_write (
  id INTEGER PRIMARY KEY,        -- logical page * 32 + sector
  version INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE protected_trim (entry INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;
CREATE VIEW spare_area AS
  SELECT id / 32 AS physical_page, id % 32 AS part, logical_page, sectors, offset, version, sequence, checksum,
         at, bytes
  FROM page;
";

/// Tables added later: sectors that a power cut left different from their pages, and damaged sectors.
pub(crate) const LATER: &str = "
CREATE TABLE IF NOT EXISTS after_cut (sector INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS damaged (sector INTEGER PRIMARY KEY) STRICT;
";

/// Slots as runs: `3p 1t 2b`.
pub(crate) fn runs(slots: &[SlotFound]) -> String {
    let letter = |s: SlotFound| match s {
        SlotFound::Blank => 'b',
        SlotFound::Programmed => 'p',
        SlotFound::Torn => 't',
    };
    let (mut text, mut rest) = (String::new(), slots);
    while let Some(first) = rest.first() {
        let length = equal(rest, *first);
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{length}{}", letter(*first));
        rest = &rest[length..];
    }
    text
}

/// How many slots are like this one, from the start on. Blocks have many, and change with each record.
fn equal(slots: &[SlotFound], as_this: SlotFound) -> usize {
    let is_equal = |together: &&[SlotFound]| together.iter().fold(true, |all, slot| all & (*slot == as_this));
    let whole = 32 * slots.chunks_exact(32).take_while(is_equal).count();
    whole + slots[whole..].iter().take_while(|slot| **slot == as_this).count()
}

/// Parse runs of slots. Nothing if the text is invalid or has more than `most` slots.
pub(crate) fn slots(runs: &str, most: usize) -> Option<Vec<SlotFound>> {
    let mut slots = vec![];
    for run in runs.split_whitespace() {
        let at = run.len().checked_sub(1)?;
        let what = match run.get(at..)? {
            "b" => SlotFound::Blank,
            "p" => SlotFound::Programmed,
            "t" => SlotFound::Torn,
            _ => return None,
        };
        let count: usize = run[..at].parse().ok()?;
        if count > most - slots.len() {
            return None;
        }
        slots.resize(slots.len() + count, what);
    }
    Some(slots)
}

/// The cell mode with this name.
pub(crate) fn mode(key: &str) -> Option<CellMode> {
    CellMode::ALL.into_iter().find(|mode| mode.key() == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_as_they_were_written() {
        use SlotFound::{Blank, Programmed, Torn};
        let many = |programmed: usize| [vec![Programmed; programmed], vec![Blank; 100 - programmed]].concat();
        for found in [vec![], vec![Programmed; 3], vec![Programmed, Programmed, Torn, Blank, Programmed]] {
            assert_eq!(slots(&runs(&found), 5), Some(found));
        }
        for found in [0, 1, 31, 32, 33, 63, 64, 65, 99, 100].map(many) {
            assert_eq!(slots(&runs(&found), 100), Some(found));
        }
        assert_eq!(runs(&[Programmed, Programmed, Torn]), "2p 1t");
        for wrong in ["p", "2x", "-1p", "6p", "3p 3p", "1p 99999999999999999999p", "é"] {
            assert_eq!(slots(wrong, 5), None, "{wrong}");
        }
    }
}
