//! Row numbers of the database.

/// Maximum numbers of sectors of a logical page, and of parts of a physical page.
const SECTORS: u64 = 32;
/// The last part.
pub(crate) const LAST_PART: usize = SECTORS as usize - 1;

/// Row number of a sector of a logical page, or of a part of a physical page.
pub(crate) fn row_id(page: u32, part: usize) -> u64 {
    u64::from(page) * SECTORS + part as u64
}

/// The page of a row number, and the sector or part of it.
pub(crate) fn of_row_id(id: u64) -> (u32, u32) {
    ((id / SECTORS) as u32, (id % SECTORS) as u32)
}
