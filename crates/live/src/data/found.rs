//! The contents of a drive's folder when the drive is served again.

use crate::data::flash::Flash;
use crate::data::folder::Folder;
use crate::data::row_id::{of_row_id, row_id};
use crate::data::rows::{mode, slots};
use crate::error::ServeError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use wordline_ftl::{
    BlockFound, BlockHeader, BoxedMedia, Ftl, Media, Metadata, Oob, PageData, ProtectedWrite, RegionId, Span,
    Worn,
};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask, SimTime};

/// A sector by its number, and its bytes.
pub(crate) type Sector = (u64, Vec<u8>);
/// Number of a damaged sector, and where its data are, in words.
pub(crate) type Damage = (u64, String);

/// A drive as of the last commit.
pub(crate) struct Found {
    pub media: BoxedMedia,
    pub writes: Vec<ProtectedWrite>,
    pub trims: Vec<(u64, u64)>,
    pub wear: Option<Worn>,
    pub now: SimTime,
    /// Damaged sectors of the drive by number, and where, in words.
    pub damaged: Vec<Damage>,
}

impl Found {
    /// The same without the bytes of pages, for a drive that is never read.
    pub(crate) fn without_bytes(self) -> Found {
        let Found { media, writes, trims, wear, now, damaged } = self;
        let without = |write| ProtectedWrite { page: PageData::default(), ..write };
        let writes = writes.into_iter().map(without).collect();
        let media = media.metadata().cloned().unwrap_or_default().into();
        Found { media, writes, trims, wear, now, damaged }
    }
}

/// Sizes of the served drive, which must match the folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    blocks: u32,
    slot_shift: u32,
    sector: usize,
    /// Sectors per logical page.
    sectors: u64,
    /// Logical pages, including those of the drive's own tables.
    pages: u32,
}

impl Sizes {
    pub(crate) fn of(ftl: &Ftl) -> Sizes {
        let (view, pages) = (ftl.view(), ftl.inspect().own_pages().end);
        let geometry = view.geometry();
        Sizes {
            blocks: geometry.blocks,
            slot_shift: geometry.slot_shift,
            sector: geometry.sector as usize,
            sectors: u64::from(geometry.sectors_per_unit),
            pages,
        }
    }
}

/// Description of the folder's drive, as its first server resolved it. Nothing in a new folder.
pub(crate) fn identity(folder: &Folder) -> Result<Option<String>, ServeError> {
    folder.noted("drive").map_err(|e| unread(folder, &e.to_string()))
}

/// Contents of the folder except the bytes of pages, and those in protected RAM.
pub(crate) fn find(folder: &mut Folder, sizes: Sizes) -> Result<Found, ServeError> {
    let mut metadata = Metadata::default();
    let broken = |e: rusqlite::Error| unread(folder, &e.to_string());
    each(folder, "SELECT * FROM block", |row| {
        let block: u32 = row.get(0)?;
        let found = block_found(row, sizes)?.filter(|_| block < sizes.blocks);
        Ok(found.map(|found| metadata.insert_block(BlockId(block), found)).ok_or(format!("block {block}")))
    })?;
    let sql = "SELECT id, logical_page, sectors, offset, version, sequence FROM page ORDER BY id";
    each(folder, sql, |row| {
        let (place, part) = of_row_id(row.get(0)?);
        let span = Span { lpn: Lpn(row.get(1)?), mask: SectorMask(row.get(2)?), offset: row.get(3)? };
        let oob = Oob { span, version: row.get(4)?, sequence: row.get(5)? };
        let fits = place >> sizes.slot_shift < sizes.blocks
            && metadata.page(Ppn(place)).len() == part as usize
            && span.lpn.0 < sizes.pages;
        let noted = fits.then(|| metadata.program(Ppn(place), oob, PageData::default()));
        Ok(noted.and_then(Result::ok).ok_or(format!("physical page {place}")))
    })?;
    each(folder, "SELECT physical_page, versions FROM trim_page", |row| {
        let (place, bytes): (u32, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let versions: Vec<u64> =
            (bytes.chunks_exact(8)).map(|b| u64::from_le_bytes(std::array::from_fn(|i| b[i]))).collect();
        let noted = metadata.record_trims(Ppn(place), versions.into());
        Ok(noted.map_err(|_| format!("page {place} of the trim log")))
    })?;
    let (writes, damaged) = protected_writes(folder, sizes)?;
    let mut trims: Vec<(u64, u64)> = vec![];
    each(folder, "SELECT entry, version FROM protected_trim", |row| {
        trims.push((row.get(0)?, row.get(1)?));
        Ok(Ok(()))
    })?;
    let wear: Option<Vec<u8>> = folder.noted("wear").map_err(broken)?;
    let wear = wear.map(|bytes| postcard::from_bytes(&bytes)).transpose();
    let wear = wear.map_err(|e| unread(folder, &format!("wear of the blocks: {e}")))?;
    let now = folder.noted("now_ns").map_err(broken)?.unwrap_or(0);
    let sectors = writes.iter().flat_map(|w| w.mask.iter().map(|s| row_id(w.lpn.0, s as usize)));
    folder.note_rows(sectors.collect(), trims.iter().map(|(entry, _)| *entry).collect());
    let media = Flash::of(metadata, Arc::new(folder.pages())).into();
    Ok(Found { media, writes, trims, wear, now: SimTime(now), damaged })
}

/// Sectors that are known to be damaged.
pub(crate) fn damaged(folder: &Folder) -> Result<BTreeSet<u64>, ServeError> {
    let mut sectors = BTreeSet::new();
    each(folder, "SELECT sector FROM damaged", |row| {
        sectors.insert(row.get(0)?);
        Ok(Ok(()))
    })?;
    Ok(sectors)
}

/// Sectors that a power cut left different from flash, and which of them are damaged.
pub(crate) fn left(folder: &Folder) -> Result<(Vec<Sector>, Vec<u64>), ServeError> {
    let mut rows: Vec<(u64, Vec<u8>)> = vec![];
    let mut damaged = vec![];
    each(folder, "SELECT sector, checksum, data FROM after_cut", |row| {
        let (sector, data): (u64, Vec<u8>) = (row.get(0)?, row.get(2)?);
        let fits = crc32fast::hash(&data) == row.get::<_, u32>(1)?;
        damaged.extend((!fits).then_some(sector));
        rows.push((sector, data));
        Ok(Ok(()))
    })?;
    Ok((rows, damaged))
}

/// Sectors in protected RAM, grouped by page and version in the order of versions, and the damaged ones.
fn protected_writes(folder: &Folder, sizes: Sizes) -> Result<(Vec<ProtectedWrite>, Vec<Damage>), ServeError> {
    let mut damaged = vec![];
    let mut rows: Vec<(u64, Lpn, u32, Vec<u8>)> = vec![];
    each(folder, "SELECT id, version, checksum, data FROM protected_write", |row| {
        let (lpn, sector) = of_row_id(row.get(0)?);
        let lpn = Lpn(lpn);
        let data: Vec<u8> = row.get(3)?;
        let fits = data.len() == sizes.sector && lpn.0 < sizes.pages && u64::from(sector) < sizes.sectors;
        if crc32fast::hash(&data) != row.get::<_, u32>(2)? {
            let place = format!("sector {sector} of page {} in protected RAM: checksum mismatch", lpn.0);
            damaged.push((u64::from(lpn.0) * sizes.sectors + u64::from(sector), place));
        }
        rows.push((row.get(1)?, lpn, sector, data));
        Ok(if fits { Ok(()) } else { Err(format!("sector {sector} of page {} in protected RAM", lpn.0)) })
    })?;
    rows.sort_by_key(|(version, lpn, sector, _)| (*version, *lpn, *sector));
    let together = rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let write = |rows: &[(u64, Lpn, u32, Vec<u8>)]| {
        let (version, lpn, ..) = rows[0];
        let mask = rows.iter().fold(SectorMask::EMPTY, |m, (_, _, s, _)| m.union(SectorMask(1 << s)));
        let mut page: Vec<u8> = vec![];
        for (_, _, sector, data) in rows {
            page.resize((*sector as usize) * sizes.sector, 0);
            page.extend(data);
        }
        ProtectedWrite { lpn, mask, page: page.into(), version }
    };
    Ok((together.map(write).collect(), damaged))
}

/// Read every row. For an unreadable row, report which data it held.
fn each(
    folder: &Folder,
    sql: &str,
    mut read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<Result<(), String>>,
) -> Result<(), ServeError> {
    let mut all = || -> rusqlite::Result<Result<(), String>> {
        let mut query = folder.database().prepare(sql)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let Err(what) = read(row)? {
                return Ok(Err(what));
            }
        }
        Ok(Ok(()))
    };
    match all() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(what)) => Err(unread(folder, &format!("{what}: malformed"))),
        Err(e) => Err(unread(folder, &e.to_string())),
    }
}

fn unread(folder: &Folder, what: &str) -> ServeError {
    let fix = "restore the folder from a copy, or start a new one";
    ServeError::Input(format!("--data {}: cannot be read: {what}\n  hint: {fix}", folder.path().display()))
}

/// A block of a row; nothing if the row is invalid.
fn block_found(row: &rusqlite::Row<'_>, sizes: Sizes) -> rusqlite::Result<Option<BlockFound>> {
    let region: Option<u8> = row.get(1)?;
    let key: Option<String> = row.get(2)?;
    let (erases, opened): (Option<u32>, Option<u64>) = (row.get(3)?, row.get(4)?);
    let header = match (region, key.as_deref(), erases, opened) {
        (None, None, None, None) => None,
        (Some(region), Some(key), Some(erases), Some(opened)) => {
            let Some(mode) = mode(key) else { return Ok(None) };
            Some(BlockHeader { region: RegionId(region), mode, erases, opened })
        }
        _ => return Ok(None),
    };
    let runs: String = row.get(6)?;
    let Some(slots) = slots(&runs, 1 << sizes.slot_shift) else { return Ok(None) };
    Ok(Some(BlockFound { header, erases: row.get(5)?, slots, half_erased: row.get(7)?, base: row.get(8)? }))
}

/// What differs first between two identities, in words.
pub(crate) fn other(then: &Value, now: &Value) -> Option<String> {
    fn first(at: String, then: &Value, now: &Value) -> Option<String> {
        match (then, now) {
            (Value::Object(then), Value::Object(now)) => {
                let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
                let value =
                    |of: &serde_json::Map<String, Value>, key: &str| of.get(key).cloned().unwrap_or_default();
                let below = |key: &str| if at.is_empty() { key.to_string() } else { format!("{at}.{key}") };
                keys.into_iter().find_map(|key| first(below(key), &value(then, key), &value(now, key)))
            }
            _ if then == now => None,
            _ => Some(format!("{at} is {then} in the folder but {now} in the command")),
        }
    }
    // Settings that a user named come before those that follow from them.
    let named = ["/device/name", "/scheme/spelling", "/seed", "/initial"].into_iter().find_map(|at| {
        let value = |of: &Value| of.pointer(at).cloned().unwrap_or_default();
        first(at[1..].replace('/', "."), &value(then), &value(now))
    });
    named.or_else(|| first(String::new(), then, now))
}
