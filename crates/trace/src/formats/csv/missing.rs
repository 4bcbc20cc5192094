//! Why no way to read a table is proposed: which part of a request none of its columns holds, or holds in an
//! unsupported form.

use crate::formats::csv::table::{Role, Table, is_word};
use crate::text::numbers::{excerpt, hexadecimal};

/// Number of a column's words to show.
const SHOWN: usize = 4;
/// SCSI command codes of reads and of writes.
const READS: [&str; 4] = ["0x08", "0x28", "0x88", "0xa8"];
const WRITES: [&str; 4] = ["0x0a", "0x2a", "0x8a", "0xaa"];

impl Table<'_> {
    /// Whether the title of any column implies a role.
    pub fn has_role(&self, role: Role) -> bool {
        (0..self.width()).any(|n| self.titled(n) == Some(role))
    }

    /// The column of operations.
    pub fn op(&self) -> Option<usize> {
        self.of_role(Role::Op, |n| self.is_op(n) || self.codes(n).is_some()).first().copied()
    }

    /// The words in a column of SCSI command codes: those that read and those that write.
    pub fn codes(&self, n: usize) -> Option<(Vec<String>, Vec<String>)> {
        let (mut reads, mut writes) = (vec![], vec![]);
        for cell in self.column(n) {
            let word = String::from_utf8_lossy(cell);
            let is = |codes: [&str; 4]| codes.iter().any(|c| c.eq_ignore_ascii_case(&word));
            let to = if is(READS) {
                &mut reads
            } else if is(WRITES) {
                &mut writes
            } else {
                return None;
            };
            if !to.iter().any(|known| *known == word) {
                to.push(word.into_owned());
            }
        }
        Some((reads, writes)).filter(|(reads, writes)| !(reads.is_empty() && writes.is_empty()))
    }

    /// Whether a column may hold the times of requests in a form that cannot be read.
    pub fn may_be_time(&self, n: usize) -> bool {
        let has_digits = |c: &[u8]| c.iter().any(u8::is_ascii_digit);
        match self.titled(n) {
            Some(role) => role == Role::Time,
            None => self.all(n, has_digits) && !self.is_whole(n) && self.distinct(n) * 2 > self.rows.len(),
        }
    }

    /// Whether a column's title says that it counts pages, without their size.
    pub fn counts_pages(&self, n: usize) -> bool {
        const PAGES: [&str; 6] = ["page", "pageno", "pages", "npages", "lpn", "lpa"];
        self.words(n).iter().any(|w| PAGES.contains(&w.as_str()))
    }

    /// Why no proposal was made.
    pub fn missing(&self) -> String {
        let titled = |role: Role| (0..self.width()).find(|n| self.titled(*n) == Some(role));
        if let (None, Some(n)) = (self.op(), titled(Role::Op)) {
            let unknown = shown(self.column(n).filter(|c| !is_word(c)));
            return format!(
                "{} has unknown operations ({unknown}); map them with the options read, write, flush, \
                 trim, fua and ignore",
                self.name(n)
            );
        }
        let is_negative = |n: usize| self.column(n).any(|c| c.starts_with(b"-"));
        if let Some(n) = titled(Role::Time).filter(|n| !self.is_time(*n) || is_negative(*n)) {
            let negative = is_negative(n);
            let why = if negative { "negative times" } else { "times that are invalid or not ascending" };
            return format!("{} has {why} ({})", self.name(n), self.examples(n));
        }
        for (role, what) in [(Role::Offset, "addresses"), (Role::Size, "sizes")] {
            let found = self.of_role(role, |n| Some(n) != self.op() && self.is_whole(n));
            let Some(n) = titled(role) else {
                match found.is_empty() {
                    true => {
                        return format!("no column has a title or values that look like request {what}");
                    }
                    false => continue,
                }
            };
            if found.is_empty() {
                let is_hex = self.all(n, |c| hexadecimal(c).is_ok());
                let why =
                    if is_hex { "is hexadecimal; add :hex to its name" } else { "has no whole numbers" };
                return format!("{} {why} ({})", self.name(n), self.examples(n));
            }
        }
        "no choice of columns yields requests of whole sectors".to_string()
    }

    /// The first distinct words of a column.
    fn examples(&self, n: usize) -> String {
        shown(self.column(n))
    }
}

/// The first distinct words among some cells.
fn shown<'a>(cells: impl Iterator<Item = &'a [u8]>) -> String {
    let mut found: Vec<&[u8]> = vec![];
    for cell in cells {
        if !found.contains(&cell) && found.len() < SHOWN {
            found.push(cell);
        }
    }
    found.iter().map(|c| excerpt(c, 24)).collect::<Vec<_>>().join(", ")
}
