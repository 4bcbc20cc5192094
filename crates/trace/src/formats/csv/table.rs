//! A table that no format fits: its delimiter, titles and rows, and what each column holds by its title and
//! contents.

use crate::formats::csv::plan::decoded;
use crate::formats::csv::rows::split;
use crate::reading::detection::Sample;
use crate::text::numbers::{date, hexadecimal, time};

/// Number of lines to examine.
pub(crate) const LINES: usize = 400;

/// Columns of a line. White space of any length is one delimiter, and quotes are removed.
fn cells(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let mut fields = vec![];
    match split(line, delimiter, &mut fields) {
        Ok(()) => fields.iter().map(|(from, to)| line[*from as usize..*to as usize].trim_ascii()).collect(),
        Err(_) => vec![],
    }
}

/// Digits in groups of three with commas between them, as in `4,096`.
pub(crate) fn is_grouped(cell: &[u8]) -> bool {
    let whole = cell.split(|c| *c == b'.').next().unwrap_or_default();
    let groups: Vec<&[u8]> = whole.split(|c| *c == b',').collect();
    let digits = |g: &[u8]| !g.is_empty() && g.iter().all(u8::is_ascii_digit);
    groups.len() > 1
        && groups.iter().all(|g| digits(g))
        && groups[0].len() <= 3
        && !groups[0].starts_with(b"0")
        && groups[1..].iter().all(|g| g.len() == 3)
        && cell[whole.len()..].iter().skip(1).all(u8::is_ascii_digit)
}

/// A number whose comma can only be a decimal comma, as in `0,25`.
fn has_comma(cell: &[u8]) -> bool {
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let parts: Vec<&[u8]> = cell.split(|c| *c == b',').collect();
    matches!(parts[..], [whole, parts] if digits(whole) && digits(parts)) && !is_grouped(cell)
}

pub(crate) fn is_number(cell: &[u8]) -> bool {
    if is_grouped(cell) || has_comma(cell) {
        return true;
    }
    let digits = cell.iter().any(u8::is_ascii_digit);
    digits && cell.iter().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'e' | b'E' | b'+'))
}

/// A table in the content: its title row, if there is one, and rows.
pub(crate) struct Table<'a> {
    pub titles: Option<Vec<String>>,
    pub rows: Vec<Vec<&'a [u8]>>,
    pub delimiter: u8,
    /// Whether numbers have decimal commas.
    pub has_commas: bool,
}

/// Titles of columns whose cells may contain spaces.
const NAMES: [&str; 5] = ["comm", "process", "task", "program", "name"];

/// Whether a row consists of titles.
fn is_title(row: &[&[u8]]) -> bool {
    !row.iter().any(|c| is_number(c) || c.starts_with(b"0x"))
}

/// Finds a table: three consecutive lines with the same number of columns, at least three.
pub(crate) fn find<'a>(sample: &Sample<'a>) -> Option<Table<'a>> {
    let lines: Vec<&[u8]> = sample.lines().take(LINES).filter(|l| !l.trim_ascii().is_empty()).collect();
    [b';', b'\t', b',', b'|', b' '].into_iter().find_map(|delimiter| {
        let all: Vec<Vec<&[u8]>> = lines.iter().map(|l| cells(l, delimiter)).collect();
        let at = all.windows(3).position(|w| {
            let n = w[0].len();
            // A name with spaces makes a row longer than the title row.
            let fits =
                |row: &Vec<&[u8]>| row.len() == n || delimiter == b' ' && is_title(&w[0]) && row.len() > n;
            n >= 3 && fits(&w[1]) && fits(&w[2])
        })?;
        let width = all[at].len();
        let is_titled = is_title(&all[at]);
        let row_has_number = |row: &Vec<&[u8]>| row.iter().any(|c| is_number(c));
        // Prose has words in columns too.
        if !all.get(at + 1).is_some_and(row_has_number) {
            return None;
        }
        let titles: Option<Vec<String>> = is_titled.then(|| {
            let first = all[at].iter().map(|c| c.strip_prefix(b"\xef\xbb\xbf").unwrap_or(c));
            first.map(|c| decoded(c).trim_matches('"').to_string()).collect()
        });
        let from = at + usize::from(is_titled);
        let named = |t: &String| NAMES.iter().any(|n| t.to_lowercase().contains(n));
        let spare = titles.as_ref().and_then(|t| t.iter().position(named));
        let rows = all[from..].iter().filter_map(|row| match (row.len(), spare) {
            (n, _) if n == width => Some(row.clone()),
            (n, Some(spare)) if n > width && delimiter == b' ' => {
                let mut row = row.clone();
                row.drain(spare + 1..spare + 1 + n - width);
                Some(row)
            }
            _ => None,
        });
        let rows: Vec<Vec<&[u8]>> = rows.collect();
        let has_commas = delimiter != b',' && rows.iter().flatten().any(|c| has_comma(c));
        Some(Table { titles, rows, delimiter, has_commas })
    })
}

/// The role of a column according to its title.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Time,
    Offset,
    Size,
    Op,
    Device,
    /// Not part of a request: a latency, a rate, a process.
    Other,
}

/// Words of titles. Words that exclude other roles come first.
const TITLES: [(Role, &str); 6] = [
    (
        Role::Other,
        "lat latency response resp service elapsed duration wait await queue que qd depth pid tid cpu util \
         iops rate status error result key tier phase comm process user line nr id seq index dur delay finish \
         end completion complete thread hit miss score percent temperature version cost",
    ),
    (Role::Time, "time timestamp stamp ts init when arrival arrive date issue start"),
    (Role::Op, "op type kind rw rwbs command cmd dir direction action operation t opcode request"),
    (Role::Size, "size length len bytes nblk sectors nsec nlb count blocks pages npages"),
    (
        Role::Offset,
        "offset lba lbn slba address addr sector block blk blkno pos position lbablock page pageno lpn lpa",
    ),
    (Role::Device, "disk dev device volume vol lun asu diskno disknumber"),
];

/// Whether a cell is a well-known word for an operation.
pub(crate) fn is_word(cell: &[u8]) -> bool {
    const WORDS: [&str; 10] = ["r", "w", "read", "write", "rd", "wr", "d", "discard", "trim", "flush"];
    WORDS.iter().any(|w| w.as_bytes().eq_ignore_ascii_case(cell))
}

/// SCSI command codes of reads and of writes.
const READS: [&str; 4] = ["0x08", "0x28", "0x88", "0xa8"];
const WRITES: [&str; 4] = ["0x0a", "0x2a", "0x8a", "0xaa"];

/// Units of offsets and sizes at the end of titles.
const UNITS: [&str; 8] = ["byte", "bytes", "kb", "mb", "gb", "kib", "mib", "gib"];

impl Table<'_> {
    pub fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    pub fn column(&self, n: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(move |r| r.get(n).copied())
    }

    pub fn all(&self, n: usize, is: impl Fn(&[u8]) -> bool) -> bool {
        let (count, fit) = self.column(n).fold((0, 0), |(all, fit), c| (all + 1, fit + usize::from(is(c))));
        count > 0 && fit * 20 >= count * 19
    }

    pub fn numbers(&self, n: usize) -> Vec<u64> {
        let in_units = |unit: u64| -> Vec<Option<u64>> {
            let number = |c: &[u8]| time(&self.plain(c), unit).ok().or_else(|| hexadecimal(c).ok());
            self.column(n).map(number).collect()
        };
        // Millionths, or whole numbers where millionths of one are beyond 64 bits, such as Unix time in nanoseconds.
        let (fine, whole) = (in_units(1_000_000), in_units(1));
        let all = if fine.iter().flatten().count() < whole.iter().flatten().count() { whole } else { fine };
        all.into_iter().flatten().collect()
    }

    /// A cell with a decimal point and without grouping commas.
    fn plain(&self, cell: &[u8]) -> Vec<u8> {
        let groups = !self.has_commas && is_grouped(cell);
        let kept = cell.iter().filter(|c| **c != b',' || !groups);
        kept.map(|c| if *c == b',' { b'.' } else { *c }).collect()
    }

    pub fn distinct(&self, n: usize) -> usize {
        let mut values: Vec<&[u8]> = self.column(n).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    }

    /// The words of a title in lower case: `Object_Size_Bytes` and `startTime(us)` have several.
    pub fn words(&self, n: usize) -> Vec<String> {
        let title = self.titles.as_ref().and_then(|t| t.get(n)).map_or("", String::as_str);
        let mut words = vec![String::new()];
        let mut before = ' ';
        for c in title.chars() {
            let parts = !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase();
            if parts {
                words.push(String::new());
            }
            if c.is_alphanumeric()
                && let Some(last) = words.last_mut()
            {
                last.extend(c.to_lowercase());
            }
            before = c;
        }
        words.retain(|w| !w.is_empty());
        words
    }

    /// The role that a column's title implies. Nothing without a known word or without titles.
    pub fn titled(&self, n: usize) -> Option<Role> {
        let mut words = self.words(n);
        // `t_us` is a time, and so is `T` alone where its numbers rise; else that may be the operation. `nr_sectors`
        // counts sectors.
        let is_timed = || self.time_unit(n).is_some() || words.len() == 1 && self.is_time(n);
        if words.first().is_some_and(|w| w == "t") && is_timed() {
            return Some(Role::Time);
        }
        if words.len() > 1 {
            words.retain(|w| w != "nr");
        }
        // `start` alone is a time.
        if words.iter().any(|w| w == "start") && words.iter().any(|w| w.starts_with("sector") || w == "lba") {
            return Some(Role::Offset);
        }
        let role = |words: &[String]| {
            let has = |known: &str| known.split(' ').any(|known| words.iter().any(|word| word == known));
            TITLES.iter().find(|(_, known)| has(known)).map(|(role, _)| *role)
        };
        // `Offset (bytes)` is not a size.
        let before =
            words.split_last().filter(|(last, _)| UNITS.contains(&last.as_str())).map(|(_, before)| before);
        before.and_then(role).or_else(|| role(&words))
    }

    /// The columns whose titles have a role. If there are none, the columns without a known title.
    pub fn of_role(&self, role: Role, is: impl Fn(usize) -> bool) -> Vec<usize> {
        let fit: Vec<usize> = (0..self.width()).filter(|n| is(*n)).collect();
        let titled: Vec<usize> = fit.iter().copied().filter(|n| self.titled(*n) == Some(role)).collect();
        if titled.is_empty() {
            fit.into_iter().filter(|n| self.titled(*n).is_none()).collect()
        } else {
            titled
        }
    }

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

    /// Whether a column holds operations: words, or flags of 0 and 1.
    pub fn is_op(&self, n: usize) -> bool {
        self.all(n, is_word) || self.is_flag(n)
    }

    /// Whether a column has grouped digits.
    pub fn has_groups(&self, n: usize) -> bool {
        !self.has_commas && self.column(n).any(is_grouped)
    }

    /// The latency column of a table printed by bcc's biosnoop, whose times are those of completion.
    pub fn latency(&self) -> Option<usize> {
        let titles = self.titles.as_ref()?;
        let has = |title: &str| titles.iter().position(|t| t == title);
        has("TIME(s)").and(has("COMM")).and(has("SECTOR"))?;
        has("LAT(ms)")
    }

    pub fn is_flag(&self, n: usize) -> bool {
        self.all(n, |c| matches!(c, b"0" | b"1")) && self.distinct(n) == 2
    }

    pub fn is_date(&self, n: usize) -> bool {
        self.all(n, |c| date(c, b'.').is_ok())
    }

    pub fn is_hex(&self, n: usize) -> bool {
        self.column(n).next().is_some_and(|c| c.starts_with(b"0x"))
    }

    /// Whether numbers increase and hardly ever decrease.
    pub fn rises(&self, n: usize) -> bool {
        let numbers = self.numbers(n);
        let falls = numbers.windows(2).filter(|w| w[1] < w[0]).count();
        falls * 50 <= numbers.len() && numbers.last() > numbers.first() && self.distinct(n) > 2
    }

    pub fn is_time(&self, n: usize) -> bool {
        self.is_date(n) || self.all(n, is_number) && self.rises(n)
    }

    /// Whether it is a time, or its title says so and its numbers only lack the order, which rows are sorted into.
    pub fn is_arrival(&self, n: usize) -> bool {
        let is_titled = || self.titled(n) == Some(Role::Time) && self.all(n, is_number);
        let numbers = || self.numbers(n);
        self.is_time(n)
            || is_titled() && self.distinct(n) * 2 > self.rows.len() && numbers().last() > numbers().first()
    }

    /// Whether a column holds whole numbers that are not flags.
    pub fn is_whole(&self, n: usize) -> bool {
        let whole = |c: &[u8]| {
            let float = c.strip_suffix(b".0").unwrap_or(c);
            let grouped = !self.has_commas && is_grouped(c) && !c.contains(&b'.');
            !c.is_empty() && (float.iter().all(u8::is_ascii_digit) || grouped)
                || hexadecimal(c).is_ok() && c.starts_with(b"0x")
        };
        self.all(n, whole) && !self.is_flag(n)
    }

    /// Whether a column's title says that it counts sectors, and no unit in brackets contradicts it.
    pub fn counts_sectors(&self, n: usize) -> bool {
        let title = self.titles.as_ref().and_then(|t| t.get(n)).map_or("", String::as_str);
        let sectors = |w: &String| matches!(w.as_str(), "sector" | "sectors" | "lba" | "lbn" | "nsec");
        !title.contains('(') && self.words(n).iter().any(sectors)
    }

    /// Whether a column's title is that of a command's number of logical blocks in NVMe.
    pub fn counts_nvme_blocks(&self, n: usize) -> bool {
        self.words(n).iter().any(|w| w == "nlb")
    }

    /// The unit of time at the end of a title: `timestamp_ms`.
    pub fn time_unit(&self, n: usize) -> Option<String> {
        let last = self.words(n).pop()?;
        let long = [("sec", "s"), ("seconds", "s"), ("msec", "ms"), ("usec", "us"), ("nsec", "ns")];
        let unit = long.iter().find(|(word, _)| *word == last).map_or(last.as_str(), |(_, unit)| unit);
        ["s", "ms", "us", "ns"].contains(&unit).then(|| unit.to_string())
    }

    pub fn name(&self, n: usize) -> String {
        match self.titles.as_ref().and_then(|t| t.get(n)) {
            Some(title) if title.contains(',') => format!("\"{title}\""),
            Some(title) => title.clone(),
            None => format!("#{}", n + 1),
        }
    }
}
