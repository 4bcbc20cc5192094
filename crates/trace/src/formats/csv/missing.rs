//! Why no way to read a table is proposed: which part of a request none of its columns holds, or holds in an
//! unsupported form.

use crate::formats::csv::table::{Role, Table, is_word};
use crate::text::numbers::{excerpt, hexadecimal};

/// Number of a column's words to show.
const SHOWN: usize = 4;

/// Why no proposal was made.
pub(crate) fn missing(table: &Table) -> String {
    let titled = |role: Role| (0..table.width()).find(|n| table.titled(*n) == Some(role));
    if let (None, Some(n)) = (table.op(), titled(Role::Op)) {
        let unknown = shown(table.column(n).filter(|c| !is_word(c)));
        return format!(
            "{} has unknown operations ({unknown}); map them with the options read, write, flush, \
             trim, fua and ignore",
            table.name(n)
        );
    }
    let is_negative = |n: usize| table.column(n).any(|c| c.starts_with(b"-"));
    if let Some(n) = titled(Role::Time).filter(|n| !table.is_arrival(*n) || is_negative(*n)) {
        let negative = is_negative(n);
        let why = if negative { "negative times" } else { "times that are invalid or do not rise" };
        return format!("{} has {why} ({})", table.name(n), shown(table.column(n)));
    }
    for (role, what) in [(Role::Offset, "addresses"), (Role::Size, "sizes")] {
        let found = table.of_role(role, |n| Some(n) != table.op() && table.is_whole(n));
        let Some(n) = titled(role) else {
            match found.is_empty() {
                true => {
                    return format!("no column has a title or values that look like request {what}");
                }
                false => continue,
            }
        };
        if found.is_empty() {
            let is_hex = table.all(n, |c| hexadecimal(c).is_ok());
            let why = if is_hex { "is hexadecimal; add :hex to its name" } else { "has no whole numbers" };
            return format!("{} {why} ({})", table.name(n), shown(table.column(n)));
        }
    }
    "no choice of columns yields requests of whole sectors".to_string()
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
