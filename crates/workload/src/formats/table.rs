//! What a table that no format knows may be: its columns, and a `csv:` spelling that reads it. The
//! columns are guessed by their titles and by what stands in them; a guess is only ever a hint.

use crate::formats::detection::Sample;
use crate::text::numbers::{excerpt, hexadecimal, time};

/// Lines that are looked at.
const LINES: usize = 400;
/// Columns that are shown.
const SHOWN: usize = 24;

/// A title row as people read it: UTF-8, or Latin-1 where it is not; both micro signs are one.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    };
    text.replace('\u{3bc}', "\u{b5}")
}

/// Columns of a line between delimiters; white space of any length is one.
fn cells(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    if delimiter == b' ' {
        return line.split(|c| matches!(c, b' ' | b'\t')).filter(|w| !w.is_empty()).collect();
    }
    line.split(|c| *c == delimiter).map(<[u8]>::trim_ascii).collect()
}

fn is_number(cell: &[u8]) -> bool {
    let digits = cell.iter().any(u8::is_ascii_digit);
    digits && cell.iter().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'e' | b'E' | b'+'))
}

/// A table in the content: its title row, if there is one, and rows.
struct Table<'a> {
    titles: Option<Vec<String>>,
    rows: Vec<Vec<&'a [u8]>>,
    delimiter: u8,
}

/// Three lines in a row with the same number of columns, three or more.
fn find<'a>(sample: &Sample<'a>) -> Option<Table<'a>> {
    let lines: Vec<&[u8]> = sample.lines().take(LINES).filter(|l| !l.trim_ascii().is_empty()).collect();
    [b';', b'\t', b',', b'|', b' '].into_iter().find_map(|delimiter| {
        let all: Vec<Vec<&[u8]>> = lines.iter().map(|l| cells(l, delimiter)).collect();
        let at = all.windows(3).position(|w| {
            let n = w[0].len();
            n >= 3 && w[1].len() == n && w[2].len() == n
        })?;
        let width = all[at].len();
        let is_title = !all[at].iter().any(|c| is_number(c) || c.starts_with(b"0x"));
        let row_has_number = |row: &Vec<&[u8]>| row.iter().any(|c| is_number(c));
        // Prose has words in columns, too.
        if !all.get(at + 1).is_some_and(row_has_number) {
            return None;
        }
        let titles = is_title.then(|| {
            let first = all[at].iter().map(|c| c.strip_prefix(b"\xef\xbb\xbf").unwrap_or(c));
            first.map(|c| decoded(c).trim_matches('"').to_string()).collect()
        });
        let from = at + usize::from(is_title);
        let rows = all[from..].iter().filter(|r| r.len() == width).cloned().collect();
        Some(Table { titles, rows, delimiter })
    })
}

/// What a column may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Time,
    Offset,
    Size,
    Op,
    Device,
}

const TITLES: [(Role, &[&str]); 5] = [
    (Role::Time, &["time", "stamp", "ts", "init", "when", "arrival", "date"]),
    (Role::Op, &["op", "type", "kind", "rw", "command", "cmd", "direction", "action"]),
    (Role::Size, &["size", "length", "len", "bytes", "count", "nblk", "sectors"]),
    (Role::Offset, &["offset", "lba", "lbn", "address", "addr", "sector", "block", "blk"]),
    (Role::Device, &["disk", "dev", "volume", "host", "lun", "asu", "vol"]),
];

impl Table<'_> {
    fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    fn column(&self, n: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(move |r| r.get(n).copied())
    }

    fn all(&self, n: usize, is: impl Fn(&[u8]) -> bool) -> bool {
        let (count, fit) = self.column(n).fold((0, 0), |(all, fit), c| (all + 1, fit + usize::from(is(c))));
        count > 0 && fit * 10 >= count * 9
    }

    fn numbers(&self, n: usize) -> Vec<u64> {
        self.column(n).filter_map(|c| time(c, 1_000_000).ok().or_else(|| hexadecimal(c).ok())).collect()
    }

    fn distinct(&self, n: usize) -> usize {
        let mut values: Vec<&[u8]> = self.column(n).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    }

    /// Columns of words or of 0 and 1 that say what is asked.
    fn is_op(&self, n: usize) -> bool {
        const WORDS: [&str; 10] = ["r", "w", "read", "write", "rd", "wr", "d", "discard", "trim", "flush"];
        let word = |c: &[u8]| WORDS.iter().any(|w| w.as_bytes().eq_ignore_ascii_case(c));
        self.all(n, word) || self.all(n, |c| matches!(c, b"0" | b"1")) && self.distinct(n) == 2
    }

    /// Whether numbers hardly ever fall, and do rise.
    fn rises(&self, n: usize) -> bool {
        let numbers = self.numbers(n);
        let falls = numbers.windows(2).filter(|w| w[1] < w[0]).count();
        falls * 50 <= numbers.len() && numbers.last() > numbers.first() && self.distinct(n) > 2
    }

    /// The column that a role is taken for: by its title, else by its content.
    fn guess(&self, role: Role, taken: &[usize]) -> Option<usize> {
        let free = || (0..self.width()).filter(|n| !taken.contains(n));
        if let Some(titles) = &self.titles {
            let words = TITLES.iter().find(|t| t.0 == role).map_or(&[][..], |t| t.1);
            let parts = |n: usize| -> Vec<String> {
                let title = titles.get(n).map_or(String::new(), |t| t.to_lowercase());
                title.split(|c: char| !c.is_alphanumeric()).map(str::to_string).collect()
            };
            // A whole word goes before a part of one.
            let whole = words.iter().find_map(|w| free().find(|n| parts(*n).iter().any(|p| p == w)));
            let part = |w: &&str| free().find(|n| w.len() > 2 && parts(*n).iter().any(|p| p.contains(*w)));
            let titled = whole.or_else(|| words.iter().find_map(part));
            if titled.is_some() {
                return titled;
            }
        }
        let numeric = |n: &usize| self.all(*n, |c| is_number(c) || c.starts_with(b"0x"));
        match role {
            Role::Time => free().filter(numeric).filter(|n| self.rises(*n)).max_by_key(|n| {
                (self.column(*n).any(|c| c.contains(&b'.')), self.distinct(*n), std::cmp::Reverse(*n))
            }),
            Role::Op => free().find(|n| self.is_op(*n)),
            Role::Offset => free().filter(numeric).max_by_key(|n| self.distinct(*n)),
            Role::Size => free()
                .filter(numeric)
                .filter(|n| {
                    let numbers = self.numbers(*n);
                    self.distinct(*n) <= numbers.len().max(2) && numbers.iter().all(|x| *x > 0)
                })
                .max_by_key(|n| (self.distinct(*n) > 1, std::cmp::Reverse(*n))),
            Role::Device => None,
        }
    }

    /// Whether a column's title says that it counts sectors, and no unit in brackets says otherwise.
    fn counts_sectors(&self, n: usize) -> bool {
        let title = self.titles.as_ref().and_then(|t| t.get(n)).map_or(String::new(), |t| t.to_lowercase());
        let mut words = title.split(|c: char| !c.is_alphanumeric());
        !title.contains('(') && words.any(|w| matches!(w, "sector" | "sectors" | "lba" | "lbn"))
    }

    fn name(&self, n: usize) -> String {
        match self.titles.as_ref().and_then(|t| t.get(n)) {
            Some(title) if title.contains(',') => format!("\"{title}\""),
            Some(title) => title.clone(),
            None => format!("#{}", n + 1),
        }
    }

    /// The `csv:` spelling that the guesses come to; words in capitals stand for what is not found.
    fn spelling(&self) -> String {
        let mut taken = Vec::new();
        let mut found = |role: Role| {
            let at = self.guess(role, &taken);
            taken.extend(at);
            at
        };
        // The rest is told apart more easily when time and operation are gone.
        let (time, op) = (found(Role::Time), found(Role::Op));
        let (offset, size) = (found(Role::Offset), found(Role::Size));
        let device = found(Role::Device);
        let named = |at: Option<usize>, unknown: &str| at.map_or(unknown.to_string(), |n| self.name(n));
        let hex = |at: Option<usize>| {
            let is_hex = at.is_some_and(|n| self.column(n).next().is_some_and(|c| c.starts_with(b"0x")));
            if is_hex { ":hex" } else { "" }
        };
        let unit =
            |at: Option<usize>| if at.is_some_and(|n| self.counts_sectors(n)) { ":sector" } else { "" };
        let mut out = format!(
            "csv:time={},offset={}{}{},size={}{}{},op={}",
            named(time, "none"),
            named(offset, "COLUMN"),
            unit(offset),
            hex(offset),
            named(size, "always:4KiB"),
            unit(size),
            hex(size),
            named(op, "always:read")
        );
        if op.is_some_and(|n| self.all(n, |c| matches!(c, b"0" | b"1"))) {
            out += ",read=1,write=0";
        }
        if let Some(device) = device {
            out += &format!(",device={}", self.name(device));
        }
        if self.titles.is_none() && self.delimiter == b' ' {
            out += ",delimiter=space";
        }
        out
    }
}

/// How a table that no format knows would be read, if the content is one.
pub(crate) fn table_hint(sample: &Sample) -> Option<String> {
    let table = find(sample)?;
    let spelling = table.spelling();
    let quoted = spelling.replace('\'', "'\\''");
    Some(match &table.titles {
        Some(titles) => {
            let shown = titles.iter().take(SHOWN).map(|t| t.replace(char::is_control, " "));
            let shown = shown.collect::<Vec<_>>().join(" | ");
            format!(
                "it is a table with the columns {shown}; perhaps --format '{quoted}' (wordline explain csv says how columns and units are named)"
            )
        }
        None => {
            let row = table.rows.first().map(|r| {
                let cells = r.iter().take(SHOWN).enumerate();
                cells.map(|(n, c)| format!("#{} {}", n + 1, excerpt(c, 24))).collect::<Vec<_>>().join(" | ")
            });
            format!(
                "it is a table without titles, whose columns are {}; perhaps --format '{quoted}' (wordline explain csv says how columns and units are named)",
                row.unwrap_or_default()
            )
        }
    })
}
