//! Proposes `csv:` options for a table that no format fits. Columns are guessed by title and content, and the
//! sample is read with each guess. A proposal has passed as a trace: whole sectors, and sizes and rates that
//! drives have. If several guesses pass, none is chosen, and what only the user can know is listed.

use crate::formats::csv::missing::missing;
use crate::formats::csv::plan::{Meaning, ZERO_BASED, meaning, of_either, titled_unit, unit_of, words_of};
use crate::formats::csv::table::{LINES, Role, Table, find, is_number};
use crate::reading::detection::{Sample, Settings};
use crate::reading::format::Format;
use crate::reading::readings::{Reading, settle};
use crate::reading::record::{Event, Record};
use crate::text::numbers::{excerpt, hexadecimal, time};
use crate::text::parameter::unquoted_parts;
use std::collections::VecDeque;
use std::io::Cursor;
use wordline_units::HostOp;

/// Maximum number of columns to show.
const SHOWN: usize = 24;
/// Maximum length of a request that hosts send.
const LONGEST: u64 = 64 << 20;

/// A guess at the columns, and at the units of offset and size.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Guess {
    time: Option<usize>,
    offset: usize,
    size: usize,
    op: Option<usize>,
    device: Option<usize>,
    /// Possible units of offset and size. Only the user can choose among several.
    units: Vec<(Unit, Unit)>,
}

/// The unit of a column of offsets or sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// Bytes, or the unit of the title, as the format reads it.
    Said,
    Sector,
    /// A unit given with the column: its word and its bytes.
    Of(&'static str, u64),
    /// Such a unit, of which the column has one less than the count.
    LessOne(&'static str),
}

impl Unit {
    fn suffix(self) -> String {
        match self {
            Unit::Said => String::new(),
            Unit::Sector => ":sector".to_string(),
            Unit::Of(word, _) => format!(":{word}"),
            Unit::LessOne(word) => format!(":{word}{ZERO_BASED}"),
        }
    }

    /// Whether the unit was applied to values that were already in bytes: all are multiples of the squared
    /// unit.
    fn is_twice(self, values: &[u64]) -> bool {
        let bytes = match self {
            Unit::Said | Unit::LessOne(_) => return false,
            Unit::Sector => 512,
            Unit::Of(_, bytes) => bytes,
        };
        values.iter().all(|v| v.is_multiple_of(bytes * bytes))
    }
}

impl Guess {
    /// All ways to read the columns that their titles and contents permit.
    fn all(table: &Table) -> Vec<Guess> {
        let op = table.op();
        // If operations are in unknown words, they must not be ignored.
        if op.is_none() && table.has_role(Role::Op) {
            return vec![];
        }
        let times: Vec<Option<usize>> = {
            let found = table.of_role(Role::Time, |n| Some(n) != op && table.is_arrival(n));
            let has_none = found.is_empty() && !(0..table.width()).any(|n| table.may_be_time(n));
            if has_none { vec![None] } else { found.into_iter().map(Some).collect() }
        };
        let few = |n: usize| {
            let distinct = table.distinct(n);
            (distinct <= 8 || distinct * 2 <= table.rows.len())
                && !table.column(n).any(|c| c.contains(&b'.') && is_number(c))
        };
        let is_device =
            |n: &usize| table.titled(*n) == Some(Role::Device) && table.words(*n).len() <= 2 && few(*n);
        let device = (0..table.width()).find(is_device);
        let mut all = vec![];
        for time in times {
            let free =
                |n: usize| Some(n) != time && Some(n) != op && Some(n) != device && is_extent(table, n);
            for offset in table.of_role(Role::Offset, free) {
                for size in table.of_role(Role::Size, |n| n != offset && free(n)) {
                    for units in units(table, offset, size) {
                        all.push(Guess { time, offset, size, op, device, units });
                    }
                }
            }
        }
        all
    }

    /// Its `csv:` options. `zero_reads` says whether a flag of 0 means a read.
    fn spelling(&self, table: &Table, units: (Unit, Unit), zero_reads: bool, always: &str) -> String {
        let time = match self.time {
            Some(n) if table.is_date(n) => format!("{}:date", table.name(n)),
            Some(n) => table.name(n),
            None => "none".to_string(),
        };
        let extent = |n: usize, unit: Unit| {
            format!("{}{}{}", table.name(n), unit.suffix(), if table.is_hex(n) { ":hex" } else { "" })
        };
        let op = self.op.map_or(format!("always:{always}"), |n| table.name(n));
        let (offset, size) = (extent(self.offset, units.0), extent(self.size, units.1));
        let mut out = format!("time={time},offset={offset},size={size},op={op}");
        if self.op.is_some_and(|n| table.is_flag(n)) {
            out += if zero_reads { ",read=0,write=1" } else { ",read=1,write=0" };
        }
        if let Some((read, write)) = self.op.and_then(|n| table.codes(n)) {
            let words = [("read", read), ("write", write)];
            let given = words.iter().filter(|(_, words)| !words.is_empty());
            out += &given.map(|(key, words)| format!(",{key}={}", words.join("/"))).collect::<String>();
        }
        if let Some(device) = self.device {
            out += &format!(",device={}", table.name(device));
        }
        if let Some(latency) = table.latency() {
            out += &format!(",latency={}", table.name(latency));
        }
        if [self.time, Some(self.offset), Some(self.size)].into_iter().flatten().any(|n| table.has_groups(n))
        {
            out += ",thousands=comma";
        }
        if table.has_commas {
            out += ",decimal=comma";
        }
        if table.titles.is_none() && table.delimiter == b' ' {
            out += ",delimiter=space";
        }
        out
    }

    /// The alternatives among which only the user can choose: the meaning of a flag, or the operation of all
    /// rows.
    fn spellings(&self, table: &Table, units: (Unit, Unit)) -> Vec<String> {
        let flag_says = |n: usize| {
            let words = table.words(n);
            let has = |word: &str| words.iter().any(|w| w == word);
            match (has("write"), has("read")) {
                (true, false) => vec![true],
                (false, true) => vec![false],
                _ => vec![false, true],
            }
        };
        match self.op {
            Some(n) if table.is_flag(n) => {
                flag_says(n).into_iter().map(|zero| self.spelling(table, units, zero, "")).collect()
            }
            Some(_) => vec![self.spelling(table, units, false, "")],
            None => ["read", "write"].map(|always| self.spelling(table, units, false, always)).to_vec(),
        }
    }

    /// Whether an unused column looks more like addresses than the columns in use: all values are whole
    /// sectors.
    fn leaves_addresses(&self, table: &Table) -> bool {
        let read = [self.time, Some(self.offset), Some(self.size), self.op, self.device];
        (0..table.width()).filter(|n| !read.contains(&Some(*n)) && table.titled(*n).is_none()).any(|n| {
            let aligned = |c: &[u8]| time(c, 1).is_ok_and(|x| x.is_multiple_of(4096));
            table.is_whole(n) && table.distinct(n) > 4 && table.all(n, aligned)
        })
    }
}

/// The units of offset and size that their titles permit. Each element is a guess with its alternatives.
fn units(table: &Table, offset: usize, size: usize) -> Vec<Vec<(Unit, Unit)>> {
    let same = |units: &[Unit]| units.iter().map(|unit| (*unit, *unit)).collect::<Vec<_>>();
    if table.counts_nvme_blocks(size) {
        return vec![of_nvme(table, offset, size)];
    }
    match (units_said(table, offset).as_slice(), units_said(table, size).as_slice()) {
        ([], []) => vec![same(&[Unit::Said]), same(&[Unit::Sector])],
        // Sizes are in the unit of offsets, or in bytes.
        (said, []) => vec![said.iter().map(|unit| (*unit, Unit::Said)).collect(), same(said)],
        ([], said) => vec![said.iter().map(|unit| (Unit::Said, *unit)).collect()],
        (one, other) if one == other => vec![same(one)],
        (one, other) => vec![one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b))).collect()],
    }
}

/// The units of a column NLB. NVMe has one less than the count there, while scripts may write the count, and a
/// block has 512 bytes or 4 KiB. What makes half of the requests multiples of 4 KiB in blocks of 512 bytes is
/// meant; if nothing does, only the user knows. No request but a FLUSH is empty.
fn of_nvme(table: &Table, offset: usize, size: usize) -> Vec<(Unit, Unit)> {
    let (words, op) = (words_of(&Settings::new()), table.op());
    let is_flush = |row: &[&[u8]]| {
        let word = op.and_then(|n| row.get(n));
        word.is_some_and(|w| meaning(&words, w) == Some(Meaning::Is(HostOp::Flush)))
    };
    let cells = table.rows.iter().filter(|row| !is_flush(row)).filter_map(|row| row.get(size));
    let fields: Vec<u64> = cells.filter_map(|c| time(c, 1).or_else(|_| hexadecimal(c)).ok()).collect();
    let in_pages =
        |more: &u64| fields.iter().filter(|n| (**n + more).is_multiple_of(8)).count() * 2 >= fields.len();
    let mores = if fields.contains(&0) { vec![1] } else { vec![0, 1] };
    let of_sectors: Vec<u64> = mores.iter().copied().filter(in_pages).collect();
    let said = units_said(table, offset).into_iter().find(|unit| *unit != Unit::Sector);
    let pairs = |block: Unit, word: &'static str, mores: &[u64]| {
        let count = |more: &u64| if *more == 1 { Unit::LessOne(word) } else { block };
        mores.iter().map(|more| (said.unwrap_or(block), count(more))).collect::<Vec<_>>()
    };
    if of_sectors.is_empty() {
        [pairs(Unit::Sector, "sector", &mores), pairs(of(("4KiB", 4 << 10)), "4KiB", &mores)].concat()
    } else {
        pairs(Unit::Sector, "sector", &of_sectors)
    }
}

/// The units that a title permits. Empty if it names none.
fn units_said(table: &Table, n: usize) -> Vec<Unit> {
    if table.counts_sectors(n) {
        return vec![Unit::Sector];
    }
    if table.counts_pages(n) {
        return [("4KiB", 4 << 10), ("8KiB", 8 << 10), ("16KiB", 16 << 10)].map(of).to_vec();
    }
    let title = table.titles.as_ref().and_then(|t| t.get(n)).map(String::as_str).unwrap_or_default();
    // A title that is nothing but its unit.
    let whole = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    if let Some(unit) = whole.into_iter().find(|(unit, _)| unit.eq_ignore_ascii_case(title.trim())) {
        return vec![of(unit)];
    }
    match unit_of(title) {
        Some(word) if titled_unit(word).is_some() => vec![Unit::Said],
        Some(word) => of_either(word).map(|units| units.map(of).to_vec()).unwrap_or_default(),
        None => vec![],
    }
}

/// Whether a column can hold offsets or sizes: whole numbers, or such of a large unit that its title says.
fn is_extent(table: &Table, n: usize) -> bool {
    table.is_whole(n)
        || table.all(n, is_number) && !table.is_flag(n) && matches!(units_said(table, n)[..], [_, ..])
}

fn of((word, bytes): (&'static str, u64)) -> Unit {
    Unit::Of(word, bytes)
}

/// The options of a text, parsed as those of a table.
fn settings_of(format: &Format, options: &str) -> Settings {
    let known = format.parameters;
    let pairs = unquoted_parts(options).filter_map(|part| part.split_once('='));
    let own = |(key, value): (&str, &str)| {
        known.iter().find(|p| p.key == key).map(|p| (p.key, value.replace('"', "")))
    };
    pairs.filter_map(own).collect()
}

/// The requests of the sample under these options, if almost all rows are valid.
fn requests(format: &Format, sample: &Sample, settings: &Settings) -> Option<Vec<Record>> {
    let mut reader = (format.open)(settings, Box::new(Cursor::new(sample.whole_lines().to_vec())));
    let (mut all, mut unusable) = (vec![], 0);
    while let Ok(Some(event)) = reader.next() {
        match event {
            Event::Request(r) if matches!(r.op, HostOp::Read | HostOp::Write) => all.push(r),
            Event::Unusable(_) | Event::Lost(..) => unusable += 1,
            _ => {}
        }
        if all.len() + unusable > 20 * LINES {
            break;
        }
    }
    (!all.is_empty() && unusable * 50 <= all.len()).then_some(all)
}

/// Whether numbers read as sectors may be bytes, as of requests to files: many sizes are odd, although hosts
/// send multiples of 4 KiB.
fn may_be_bytes(requests: &[Record]) -> bool {
    requests.iter().filter(|r| (r.bytes / 512) % 2 == 1).count() * 4 > requests.len()
}

/// Whether addresses and sizes look like those of requests: multiples of a block, no request of many megabytes,
/// and addresses that are more numerous and further apart than sizes.
fn is_plausible(requests: &[Record], units: (Unit, Unit), block: u64) -> bool {
    let distinct = |of: fn(&Record) -> u64| {
        let mut values: Vec<u64> = requests.iter().map(of).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (offsets, sizes) = (distinct(|r| r.offset), distinct(|r| r.bytes));
    let (Some(largest), Some(highest)) = (sizes.last(), offsets.last()) else { return false };
    let whole = |r: &&Record| r.bytes > 0 && r.offset.is_multiple_of(block) && r.bytes.is_multiple_of(block);
    let in_sectors = requests.iter().filter(whole).count() * 100 >= requests.len() * 99;
    in_sectors
        && *largest <= LONGEST
        && highest >= largest
        && offsets.len() >= sizes.len()
        && offsets.len() > 1
        // If all numbers are whole sectors when read as bytes, they do not count sectors.
        && !(units.0.is_twice(&offsets) || units.1.is_twice(&sizes))
}

/// The options of a guess under which the sample is a valid trace, including alternatives for the unit of
/// time.
fn passing(format: &Format, table: &Table, sample: &Sample, guess: &Guess) -> Vec<String> {
    let mut passed = vec![];
    let spelled = |units: (Unit, Unit), block: u64| {
        guess.spellings(table, units).into_iter().map(move |spelling| (units, spelling, block))
    };
    let mut all: VecDeque<_> = guess.units.iter().flat_map(|units| spelled(*units, 512)).collect();
    let mut is_open = units(table, guess.offset, guess.size).len() > 1;
    while let Some((units, spelling, block)) = all.pop_front() {
        let settings = settings_of(format, &spelling);
        let Ok(detection) = (format.detect)(sample, &settings) else { continue };
        let Some(read) = requests(format, sample, &detection.settings) else { continue };
        if !is_plausible(&read, units, block) {
            continue;
        }
        if is_open && units == (Unit::Sector, Unit::Sector) && may_be_bytes(&read) {
            all.extend(spelled((Unit::Said, Unit::Said), 1));
            is_open = false;
        }
        let settled = settle(format, sample, detection, &settings);
        if settled.readings.is_empty() {
            passed.push(spelling);
            continue;
        }
        let column = settings.get("time").cloned().unwrap_or_default();
        // A unit in the title is used if the times are plausible in it.
        let said = guess.time.and_then(|n| table.time_unit(n)).map(|unit| format!("time={column}:{unit}"));
        let times = || settled.readings.iter().filter(|r| r.against.is_empty());
        let is_said = |r: &&Reading| said.as_ref().is_some_and(|s| r.options.split(',').any(|o| o == s));
        if let (Some(_), Some(time)) = (times().find(is_said), &said) {
            passed.push(spelling.replacen(&format!("time={column}"), time, 1));
            continue;
        }
        for reading in times() {
            // The options of a reading give the time column with its unit.
            if let Some(time) = reading.options.split(',').find(|o| o.starts_with("time=")) {
                passed.push(spelling.replacen(&format!("time={column}"), time, 1));
            }
        }
    }
    passed
}

/// The `csv:` options for a table that no format fits, if the content is a table.
pub(crate) fn proposed(format: &Format, sample: &Sample) -> Option<String> {
    let table = find(sample)?;
    let columns = match &table.titles {
        Some(titles) => {
            let shown = titles.iter().take(SHOWN).map(|t| t.replace(char::is_control, " "));
            format!("it is a table with the columns {}", shown.collect::<Vec<_>>().join(" | "))
        }
        None => {
            let row = table.rows.first().map(|r| {
                let cells = r.iter().take(SHOWN).enumerate();
                cells.map(|(n, c)| format!("#{} {}", n + 1, excerpt(c, 24))).collect::<Vec<_>>().join(" | ")
            });
            format!("it is a table without titles, whose columns are {}", row.unwrap_or_default())
        }
    };
    let passed: Vec<Vec<String>> = (Guess::all(&table).iter())
        .filter(|guess| !guess.leaves_addresses(&table))
        .map(|guess| passing(format, &table, sample, guess))
        .filter(|spellings| !spellings.is_empty())
        .collect();
    let quoted = |spelling: &String| format!("--format 'csv:{}'", spelling.replace('\'', "'\\''"));
    let explained = "`wordline explain csv` describes the options for columns and units";
    Some(match passed.as_slice() {
        [only] => match only.as_slice() {
            [spelling] => format!("{columns}; perhaps {} ({explained})", quoted(spelling)),
            several => format!(
                "{columns}; choose one of these: {} ({explained})",
                several.iter().map(quoted).collect::<Vec<_>>().join(" | ")
            ),
        },
        [] => format!(
            "{columns}; {}, so no suggestion is made. If it is a trace, name its columns and their units: \
             {explained}",
            missing(&table)
        ),
        _ => format!(
            "{columns}; several interpretations are possible; name the columns of time, offset, size and \
             operation with their units: {explained}"
        ),
    })
}
