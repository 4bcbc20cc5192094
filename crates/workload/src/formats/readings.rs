//! Which units a file is read in. Each reading that the grammar leaves, or states, is held against
//! what hosts and drives do (`plausible`). Told units are never doubted; a stated one is taken if it
//! is plausible; of an open one the only plausible reading is taken. Everything else is asked, with
//! the figures of each reading.

use crate::formats::addresses::LENGTH;
use crate::formats::claim::Claim;
use crate::formats::detection::{Confidence, Detection, Sample, Settings};
use crate::formats::format::{Extents, Format, Timing};
use crate::formats::plausible::Evidence;
use crate::formats::units::{ADDRESS_UNITS, TIME_UNITS, time_ns, unit_bytes};
use crate::text::numbers::{grouped, readable_bytes};
use wordline_units::Bytes;

/// One way to read a file, with what it would be and what speaks against it.
#[derive(Clone)]
pub(crate) struct Reading {
    /// The options that choose it.
    pub options: String,
    /// Span, requests/s, requests in the busiest millisecond, MB/s.
    pub cells: [String; 4],
    /// Longest request, highest address and bytes touched, where the unit of addresses is open.
    pub extents: Option<[String; 3]>,
    pub against: Vec<String>,
}

/// A file's units: settled, or to be asked for.
pub(crate) struct Settled {
    pub detection: Detection,
    /// Not empty if it is for the user to say.
    pub readings: Vec<Reading>,
    /// Requests that have been looked at.
    pub rows: usize,
    /// The unit of time that was not told, to be checked against the whole file.
    pub judged: Option<Judged>,
}

/// A unit of time that has been taken without being told.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub unit: &'static str,
    /// Requests on which that rests.
    pub rows: usize,
}

/// What every request of a list of addresses asks for.
fn length_of(settings: &Settings) -> u64 {
    settings.get("size").and_then(|s| s.parse::<Bytes>().ok()).map_or(LENGTH, |b| b.0)
}

/// Finds the units of a file in `format`.
pub(crate) fn settle(format: &Format, sample: &Sample, mut detection: Detection, told: &Settings) -> Settled {
    let told_time = if format.timing == Timing::Told {
        if format.tells_time(told) { Some(String::new()) } else { None }
    } else {
        // Of some grammars the content itself says the unit.
        told.get("time").or(detection.settings.get("time")).cloned()
    };
    let told_time = told_time.as_deref();
    let told_unit = told.get("unit").map(String::as_str).filter(|_| format.extents != Extents::Fixed);
    let fixed_time = matches!(format.timing, Timing::Exact(_) | Timing::Absent) || told_time == Some("");
    if fixed_time && (format.extents == Extents::Fixed || told_unit.is_some()) {
        return Settled { detection, readings: Vec::new(), rows: 0, judged: None };
    }
    let mut settings = detection.settings.clone();
    if told_unit.is_none() && matches!(format.extents, Extents::Open | Extents::Sectors) {
        settings.insert("unit", "byte".to_string());
    }
    let mut evidence = Evidence::of(format, &settings, sample);
    if format.timing == Timing::Absent {
        evidence.forget_sizes(length_of(&settings));
    }
    let case = Case { format, evidence: &evidence, told, told_time, told_unit, fixed_time };
    let found = case.readings();
    let taken = case.choose(&found);
    match taken {
        Some(at) => {
            case.explain(&found, at, &mut detection);
            let judged = found[at].time.filter(|_| told_time.is_none() && !fixed_time);
            let judged = judged.map(|unit| Judged { unit, rows: evidence.rows() });
            Settled { detection, readings: Vec::new(), rows: evidence.rows(), judged }
        }
        None => {
            detection.confidence = Confidence::Possible;
            let readings = case.to_ask(&found);
            Settled { detection, readings, rows: evidence.rows(), judged: None }
        }
    }
}

/// Whether rates over the whole file are what drives do, if more of it has been read than the
/// beginning; else each reading with its figures.
pub(crate) fn judge_whole(
    judged: Judged,
    requests: u64,
    bytes: u64,
    span_ns: u64,
    devices: usize,
) -> Vec<Reading> {
    let Some(taken) = time_ns(judged.unit).filter(|_| requests > 2 * judged.rows as u64) else {
        return Vec::new();
    };
    let claim = |ns: u64| {
        let seconds = span_ns as f64 / 1e9 * ns as f64 / taken as f64;
        let claim = Claim::of(requests, bytes, seconds, None);
        (claim, claim.too_fast(devices, ns as f64 / 1e9))
    };
    if span_ns == 0 || claim(taken).1.is_empty() {
        return Vec::new();
    }
    let mut readings: Vec<Reading> = (TIME_UNITS.iter())
        .map(|(unit, ns)| {
            let (claim, against) = claim(*ns);
            Reading { options: format!("time={unit}"), cells: claim.cells(), extents: None, against }
        })
        .collect();
    readings.sort_by_key(|r| !r.against.is_empty());
    readings
}

struct Case<'a> {
    format: &'a Format,
    evidence: &'a Evidence,
    told: &'a Settings,
    told_time: Option<&'a str>,
    told_unit: Option<&'a str>,
    fixed_time: bool,
}

/// A combination of units.
struct Found {
    time: Option<&'static str>,
    unit: Option<&'static str>,
    /// Whether it is what the grammar states or, of an open grammar, one of the usual units.
    usual: bool,
    claim: Claim,
    cells: [String; 4],
    date: Option<String>,
    /// What neither hosts nor drives do.
    against: Vec<String>,
    /// What is merely unusual.
    unusual: Vec<String>,
}

impl Found {
    fn is_plausible(&self) -> bool {
        self.against.is_empty() && self.unusual.is_empty()
    }
}

impl Case<'_> {
    fn stated(&self) -> Option<(&'static str, bool)> {
        match self.format.timing {
            Timing::Stated { unit, decimals } => Some((unit, decimals)),
            _ => None,
        }
    }

    /// Whether the grammar leaves a unit to evidence.
    fn is_open(&self) -> bool {
        self.format.extents == Extents::Open || self.stated().is_none() && !self.fixed_time
    }

    /// Every combination of units, the usual ones first.
    fn readings(&self) -> Vec<Found> {
        let times: Vec<Option<&'static str>> = match self.told_time {
            _ if self.fixed_time => vec![None],
            Some(told) => TIME_UNITS.iter().filter(|u| u.0 == told).map(|u| Some(u.0)).collect(),
            None => TIME_UNITS.iter().map(|u| Some(u.0)).collect(),
        };
        let mut all = Vec::new();
        for (unit, bytes, usual_unit, against_unit) in self.units() {
            for time in &times {
                all.push(self.reading(*time, unit, bytes, usual_unit, &against_unit));
            }
        }
        self.mind_dates(&mut all);
        all
    }

    fn reading(
        &self,
        time: Option<&'static str>,
        unit: Option<&'static str>,
        unit_bytes: u64,
        usual_unit: bool,
        against_unit: &[String],
    ) -> Found {
        let e = self.evidence;
        let ns = time.and_then(time_ns).unwrap_or(1);
        let bytes = e.bytes(unit_bytes);
        let claim = e.claim(ns, bytes);
        let (mut against, mut unusual) = (against_unit.to_vec(), Vec::new());
        if self.is_open() && e.rows() == 0 {
            against.push("no row would be a request".to_string());
        }
        if self.told_time.is_none() && !self.fixed_time {
            // Where the grammar has dates and there are such, rates decide nothing.
            let is_dated = self.format.dated && self.stated().map(|s| s.0) == time && e.date(ns).is_some();
            if !is_dated {
                against.extend(e.impossible(ns, bytes));
            }
            unusual = e.unusual(ns);
        }
        let date = time.filter(|_| against.is_empty()).and_then(|_| e.date(ns));
        let mut usual = usual_unit;
        match self.stated() {
            _ if self.told_time.is_some() || self.fixed_time => {}
            Some((stated, decimals)) => {
                usual &= time == Some(stated);
                if time == Some(stated) {
                    against.extend(self.misshapen(decimals));
                }
            }
            None => usual &= time != Some("100ns") || date.is_some(),
        }
        Found { time, unit, usual, claim, cells: claim.cells(), date, against, unusual }
    }

    /// What in the digits is not as the grammar writes times.
    fn misshapen(&self, decimals: bool) -> Option<String> {
        let e = self.evidence;
        let name = self.format.name;
        if e.rows() < 20 || e.is_instant() {
            return None;
        }
        if decimals == (e.decimals > 0) {
            let is_fine = self.stated().and_then(|s| time_ns(s.0)).is_some_and(|ns| ns <= 1_000);
            let slow = is_fine && !self.format.dated && e.is_unresolved();
            return slow.then(|| "requests would come as fast as its clock ticks, on and on".to_string());
        }
        Some(if decimals {
            format!("times are whole numbers, and {name} writes decimals")
        } else {
            format!("times have decimals, and {name} writes whole numbers")
        })
    }

    /// Units of addresses: their word, bytes, whether they are usual, and what speaks against them.
    fn units(&self) -> Vec<(Option<&'static str>, u64, bool, Vec<String>)> {
        let e = self.evidence;
        let word = |w: &str| ADDRESS_UNITS.iter().find(|u| u.0 == w).map(|u| u.0);
        if let Some(told) = self.told_unit {
            // The evidence has been read in it.
            return vec![(word(told), 1, true, Vec::new())];
        }
        let shorter = "nine of ten requests would be shorter than 512 bytes".to_string();
        match self.format.extents {
            Extents::Fixed => vec![(None, 1, true, Vec::new())],
            Extents::Open if self.format.timing == Timing::Absent => {
                let units = [("byte", 1), ("sector", 512), ("4KiB", 4096)];
                units.map(|(w, bytes)| (word(w), bytes, true, e.unusual_addresses(bytes))).to_vec()
            }
            Extents::Open => {
                let mut units: Vec<_> = [("sector", 512), ("byte", 1)]
                    .into_iter()
                    .map(|(w, bytes)| (word(w), bytes, true, e.unusual_extents(bytes)))
                    .collect();
                if e.counts_pages() {
                    units.push((word("4KiB"), 4096, true, e.unusual_extents(4096)));
                }
                units
            }
            Extents::Bytes if e.below_a_sector() => vec![
                (None, 1, true, vec![shorter]),
                (word("sector"), 512, false, e.unusual_extents(512)),
                (word("4KiB"), 4096, false, e.unusual_extents(4096)),
            ],
            Extents::Bytes => vec![(None, 1, true, Vec::new())],
            Extents::Sectors => {
                let against = e.unusual_extents(512);
                let mut units = vec![(None, 512, true, against.clone())];
                if !against.is_empty() {
                    units.push((word("byte"), 1, false, e.unusual_extents(1)));
                }
                units
            }
        }
    }

    /// Times that are dates in one unit are not times in another, unless the grammar has times from a
    /// start, which may look like a date by chance.
    fn mind_dates(&self, all: &mut [Found]) {
        let Some((unit, date)) = all.iter().find_map(|f| Some((f.time?, f.date.clone()?))) else { return };
        let against = format!("in {unit} the first request came on {date}");
        for found in all.iter_mut().filter(|f| f.time != Some(unit)) {
            if self.stated().is_none() || self.format.dated {
                found.against.push(against.clone());
            } else {
                found.unusual.push(against.clone());
            }
        }
    }

    fn choose(&self, found: &[Found]) -> Option<usize> {
        if !self.is_open() {
            // What is merely unusual does not speak against the grammar.
            return found.iter().position(|f| f.usual && f.against.is_empty());
        }
        let mut open = found.iter().enumerate().filter(|(_, f)| f.usual && f.is_plausible());
        match (open.next(), open.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    }

    /// Settings, reason and confidence of the reading that is taken.
    fn explain(&self, found: &[Found], at: usize, detection: &mut Detection) {
        let taken = &found[at];
        let e = self.evidence;
        if !self.is_open() {
            self.explain_stated(found, at, detection);
            return;
        }
        let unit = taken.unit.unwrap_or_default();
        let told = (self.fixed_time || self.told_time.is_some())
            && (self.told_unit.is_some() || self.format.extents != Extents::Open);
        let mut with = Vec::new();
        if let Some(time) = taken.time {
            detection.settings = self.format.with_time(&detection.settings, time);
            with.push(format!("time={time}"));
        }
        if self.format.extents == Extents::Open {
            detection.settings.insert("unit", unit.to_string());
            with.push(format!("unit={unit}"));
        }
        let with = with.join(" and ");
        let bytes = if self.told_unit.is_some() { 1 } else { unit_bytes(unit).unwrap_or(1) };
        let (longest, highest) = e.reach(bytes);
        let mut reason = format!(
            "{}; with {with} it is {}, requests up to {}, addresses up to {}, {} touched in the first {} rows",
            detection.reason,
            taken.claim.describe(),
            readable_bytes(longest),
            readable_bytes(highest),
            readable_bytes(e.touched(bytes)),
            grouped(e.rows() as u64)
        );
        if let Some(date) = taken.date.as_ref().filter(|_| self.told_time.is_none()) {
            reason += &format!(", from {date} on");
        }
        for other in found.iter().filter(|f| f.usual) {
            let key = match (other.time == taken.time, other.unit == taken.unit) {
                (false, true) => format!("time={}", other.time.unwrap_or_default()),
                (true, false) => format!("unit={}", other.unit.unwrap_or_default()),
                _ => continue,
            };
            if let Some(first) = other.against.iter().chain(&other.unusual).next() {
                reason += &format!("; not {key}: {first}");
            }
        }
        detection.reason = reason;
        let most = if told { Confidence::Certain } else { Confidence::Likely };
        detection.confidence = if told { most } else { detection.confidence.min(most) };
    }

    fn explain_stated(&self, found: &[Found], at: usize, detection: &mut Detection) {
        let taken = &found[at];
        let Some((unit, _)) = self.stated().filter(|_| self.told_time.is_none()) else { return };
        if self.evidence.is_instant() || self.evidence.rows() == 0 {
            return;
        }
        let stated = match (&taken.date, self.format.dated) {
            (Some(date), true) => format!("times in {unit} begin on {date}"),
            _ => format!("times are in {unit}, as the grammar states: {}", taken.claim.describe()),
        };
        detection.reason += &format!("; {stated}");
        if taken.date.is_some() && self.format.dated {
            return;
        }
        let others: Vec<String> = (found.iter())
            .filter(|f| {
                f.unit == taken.unit && f.time != taken.time && f.time != Some("100ns") && f.is_plausible()
            })
            .map(|f| format!("time={} would be {}", f.time.unwrap_or_default(), f.claim.describe()))
            .collect();
        if !others.is_empty() {
            detection.reason += &format!(" ({})", others.join("; "));
        }
        if !others.is_empty() || self.evidence.rows() < 20 {
            detection.confidence = detection.confidence.min(Confidence::Likely);
        }
    }

    /// The option that says a unit of time.
    fn option(&self, time: &str) -> String {
        let settings = self.format.with_time(self.told, time);
        format!("time={}", settings.get("time").map_or(time, String::as_str))
    }

    /// What the user is shown: plausible readings first, all of them if there is none.
    fn to_ask(&self, found: &[Found]) -> Vec<Reading> {
        let open = |f: &&Found| f.is_plausible();
        let mut shown: Vec<&Found> = found.iter().collect();
        shown.sort_by_key(|f| (!open(f), !f.usual));
        // A unit of addresses in which nothing is plausible is not a question where another is.
        if shown.first().is_some_and(open) {
            let units: Vec<_> = shown.iter().filter(|f| open(f)).map(|f| f.unit).collect();
            shown.retain(|f| units.contains(&f.unit));
        }
        let one_unit = shown.iter().all(|f| f.unit == shown[0].unit);
        let one_time = shown.iter().all(|f| f.time == shown[0].time);
        let is_open = self.format.extents == Extents::Open || !one_unit;
        let reading = |f: &Found| {
            let mut options = Vec::new();
            if let Some(time) = f.time.filter(|_| !one_time || self.told_time.is_none()) {
                options.push(self.option(time));
            }
            if let Some(unit) = f.unit.filter(|_| !one_unit && self.told_unit.is_none()) {
                options.push(format!("unit={unit}"));
            }
            let bytes = match f.unit {
                Some(_) if self.told_unit.is_some() => 1,
                Some(unit) => unit_bytes(unit).unwrap_or(1),
                None if self.format.extents == Extents::Sectors => 512,
                None => 1,
            };
            let (longest, highest) = self.evidence.reach(bytes);
            let touched = self.evidence.touched(bytes);
            Reading {
                options: options.join(","),
                cells: f.cells.clone(),
                extents: is_open.then(|| [longest, highest, touched].map(readable_bytes)),
                against: f.against.iter().chain(&f.unusual).cloned().collect(),
            }
        };
        shown.into_iter().map(reading).collect()
    }
}

/// The readings as a table, a line each.
pub(crate) fn table(readings: &[Reading]) -> String {
    let mut rows: Vec<Vec<String>> =
        vec![["", "span", "requests/s", "busiest ms", "MB/s"].map(str::to_string).to_vec()];
    let has_extents = readings.iter().any(|r| r.extents.is_some());
    if has_extents {
        rows[0].extend(["longest", "reaches to", "touches"].map(str::to_string));
    }
    for r in readings {
        let mut row = vec![r.options.clone()];
        row.extend(r.cells.iter().cloned());
        row.extend(r.extents.iter().flatten().cloned());
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|c| rows.iter().map(|r| r.get(c).map_or(0, |t| t.chars().count())).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for (n, row) in rows.iter().enumerate() {
        let mut line = format!("    {:1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        if let Some(against) =
            n.checked_sub(1).and_then(|n| readings.get(n)).filter(|r| !r.against.is_empty())
        {
            line += &format!("  but {}", against.against.join("; "));
        }
        out += "\n";
        out += line.trim_end();
    }
    out
}
