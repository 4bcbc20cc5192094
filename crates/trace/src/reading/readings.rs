//! Determines the units of a file. Each interpretation that the grammar permits is compared with the limits
//! of hosts and drives (`plausible`). Units given by the user are never questioned. A stated unit is taken if
//! it is plausible. If the unit is open, the only plausible interpretation is taken. Everything else is left
//! to the user, with the figures of each interpretation.

use crate::reading::claim::Claim;
use crate::reading::detection::{Confidence, Detection, Sample, Settings};
use crate::reading::format::{Extents, Format, Timing};
use crate::reading::plausible::{Evidence, Scale};
use crate::reading::units::{ADDRESS_UNITS, TIME_UNITS, time_ns};
use crate::text::numbers::{grouped, readable_bytes};
use crate::text::table::aligned;

/// One interpretation of a file, with its properties and the evidence against it.
#[derive(Clone)]
pub(crate) struct Reading {
    /// The options that select it.
    pub options: String,
    /// Span, requests/s, requests in the busiest millisecond, MB/s.
    pub cells: [String; 4],
    /// Longest request, highest address and bytes touched, if the unit of addresses is open.
    pub extents: Option<[String; 3]>,
    pub against: Vec<String>,
}

/// The units of a file: determined, or left to the user.
pub(crate) struct Settled {
    pub detection: Detection,
    /// The interpretations among which the user must choose. Empty if the units are determined.
    pub readings: Vec<Reading>,
    /// Number of requests examined.
    pub rows: usize,
    /// The unit of time if it was inferred, to be verified with the whole file.
    pub judged: Option<Judged>,
}

/// An inferred unit of time.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub unit: &'static str,
    /// Number of requests on which it is based.
    pub rows: usize,
}

/// Determines the units of a file in `format`.
pub(crate) fn settle(format: &Format, sample: &Sample, mut detection: Detection, told: &Settings) -> Settled {
    let told_time = match format.timing {
        Timing::Told => (format.quirks.tells_time)(told).then(String::new),
        // In some grammars, the content states the unit.
        _ => told.get("time").or(detection.settings.get("time")).cloned(),
    };
    let fixed_time =
        matches!(format.timing, Timing::Exact(_) | Timing::Absent) || told_time.as_deref() == Some("");
    let told_unit = told.get("unit").map(String::as_str).filter(|_| format.extents != Extents::Fixed);
    if fixed_time && (format.extents == Extents::Fixed || told_unit.is_some()) {
        return Settled { detection, readings: Vec::new(), rows: 0, judged: None };
    }
    let mut settings = detection.settings.clone();
    if told_unit.is_none()
        && matches!(format.extents, Extents::Open | Extents::Sectors | Extents::SectorsAndBytes)
    {
        settings.insert("unit", "byte".to_string());
    }
    let evidence = Evidence::of(format, &settings, sample);
    let stated = match format.timing {
        Timing::Stated { unit, decimals } => Some((unit, decimals)),
        _ => None,
    };
    let case = Case {
        format,
        evidence: &evidence,
        told,
        times: match told_time.as_deref() {
            _ if fixed_time => vec![None],
            told => {
                (TIME_UNITS.iter().filter(|u| told.is_none_or(|t| t == u.0))).map(|u| Some(u.0)).collect()
            }
        },
        told_unit,
        untold: told_time.is_none() && !fixed_time,
        stated,
        is_open: format.extents == Extents::Open || stated.is_none() && !fixed_time,
    };
    let found = case.readings();
    let (mut readings, mut judged) = (Vec::new(), None);
    if let Some(taken) = case.choose(&found) {
        case.explain(&found, taken, &mut detection);
        judged = taken.time.filter(|_| case.untold).map(|unit| Judged { unit, rows: evidence.rows() });
    } else {
        detection.confidence = Confidence::Possible;
        readings = case.to_ask(&found);
    }
    Settled { detection, readings, rows: evidence.rows(), judged }
}

/// Whether rates over the whole file are plausible, if only its beginning was examined before. Otherwise the
/// interpretations with their figures.
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
        let claim = Claim { requests, bytes, seconds, busiest_ms: None };
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
    /// Candidate units of time; empty if the unit is known.
    times: Vec<Option<&'static str>>,
    told_unit: Option<&'a str>,
    /// Whether the unit of time is neither given nor fixed.
    untold: bool,
    /// The unit that the grammar states, and whether times have decimals.
    stated: Option<(&'static str, bool)>,
    /// Whether the grammar leaves a unit open.
    is_open: bool,
}

/// A combination of units.
struct Found {
    time: Option<&'static str>,
    unit: Option<&'static str>,
    /// Units in which addresses and sizes were read.
    scale: Scale,
    /// Whether it is the grammar's unit or, if there is none, one of the usual units.
    usual: bool,
    claim: Claim,
    date: Option<String>,
    /// Impossible properties.
    against: Vec<String>,
    /// Unusual properties.
    unusual: Vec<String>,
}

impl Found {
    fn is_plausible(&self) -> bool {
        self.against.is_empty() && self.unusual.is_empty()
    }
}

/// A unit of addresses: its word, its bytes and those of sizes, whether it is usual, and the evidence against it.
type Unit = (Option<&'static str>, Scale, bool, Vec<String>);

impl Case<'_> {
    /// All combinations of units, usual ones first.
    fn readings(&self) -> Vec<Found> {
        let units = self.units();
        let mut all: Vec<Found> =
            units.iter().flat_map(|unit| self.times.iter().map(|time| self.reading(*time, unit))).collect();
        self.mind_dates(&mut all);
        all
    }

    fn reading(&self, time: Option<&'static str>, (unit, scale, usual, against): &Unit) -> Found {
        let e = self.evidence;
        let ns = time.and_then(time_ns).unwrap_or(1);
        let bytes = e.bytes(scale.size);
        let is_stated = self.stated.is_some_and(|(stated, _)| Some(stated) == time);
        let (mut against, mut unusual, mut usual) = (against.clone(), Vec::new(), *usual);
        if self.is_open && e.rows() == 0 {
            against.push("no row would be a request".to_string());
        }
        if self.untold {
            // If the grammar has dates and the times are dates, rates are not decisive.
            if !(self.format.quirks.dated && is_stated && e.date(ns).is_some()) {
                against.extend(e.impossible(ns, bytes));
            }
            unusual = e.unusual(ns);
        }
        let date = time.filter(|_| against.is_empty()).and_then(|_| e.date(ns));
        match self.stated {
            _ if !self.untold => {}
            None => usual &= time != Some("100ns") || date.is_some(),
            Some((_, decimals)) => {
                usual &= is_stated;
                against.extend(self.misshapen(decimals).filter(|_| is_stated));
            }
        }
        let claim = e.claim(ns, bytes);
        Found { time, unit: *unit, scale: *scale, usual, claim, date, against, unusual }
    }

    /// How the digits differ from those of the grammar's times.
    fn misshapen(&self, decimals: bool) -> Option<String> {
        let e = self.evidence;
        let name = self.format.name;
        if e.rows() < 20 || e.is_instant() {
            return None;
        }
        if decimals == (e.decimals > 0) {
            let is_fine = self.stated.and_then(|s| time_ns(s.0)).is_some_and(|ns| ns <= 1_000);
            let slow = is_fine && !self.format.quirks.dated && e.is_unresolved();
            return slow.then(|| "requests would arrive at every clock tick".to_string());
        }
        Some(if decimals {
            format!("times are whole numbers, and {name} writes decimals")
        } else {
            format!("times have decimals, and {name} writes whole numbers")
        })
    }

    /// Units of addresses.
    fn units(&self) -> Vec<Unit> {
        let e = self.evidence;
        let read_in = |word: &str, usual: bool| {
            let (word, bytes) = *ADDRESS_UNITS.iter().find(|u| u.0 == word).unwrap_or(&ADDRESS_UNITS[0]);
            (Some(word), Scale::both(bytes), usual, e.unusual_extents(bytes))
        };
        match (self.told_unit, self.format.extents) {
            // The evidence was read in this unit.
            (Some(told), _) => vec![(read_in(told, true).0, Scale::both(1), true, Vec::new())],
            (_, Extents::Open) if e.has_addresses_alone() => {
                ["byte", "sector", "4KiB"].map(|word| read_in(word, true)).to_vec()
            }
            (_, Extents::Open) => {
                let words =
                    ["sector", "byte", "4KiB"].into_iter().filter(|w| *w != "4KiB" || e.counts_pages());
                words.map(|word| read_in(word, true)).collect()
            }
            (_, Extents::Bytes | Extents::SectorsAndBytes) if e.below_a_sector() => {
                let shorter = "nine of ten requests would be shorter than 512 bytes".to_string();
                let stated = (None, Scale::both(1), true, vec![shorter]);
                vec![stated, read_in("sector", false), read_in("4KiB", false)]
            }
            (_, Extents::Bytes | Extents::Fixed) => vec![(None, Scale::both(1), true, Vec::new())],
            (_, extents @ (Extents::Sectors | Extents::SectorsAndBytes)) => {
                let (scale, against) = match extents {
                    Extents::Sectors => (Scale::both(512), e.unusual_extents(512)),
                    _ => (Scale { address: 512, size: 1 }, e.sectors_like_bytes()),
                };
                let bytes = (!against.is_empty()).then(|| read_in("byte", false));
                [(None, scale, true, against)].into_iter().chain(bytes).collect()
            }
        }
    }

    /// Times that are dates in one unit are not times in another, unless the grammar counts times from a
    /// start, which may look like a date by chance.
    fn mind_dates(&self, all: &mut [Found]) {
        let Some((unit, date)) = all.iter().find_map(|f| Some((f.time?, f.date.clone()?))) else { return };
        let against = format!("in {unit} the first request arrived on {date}");
        for found in all.iter_mut().filter(|f| f.time != Some(unit)) {
            if self.stated.is_none() || self.format.quirks.dated {
                found.against.push(against.clone());
            } else {
                found.unusual.push(against.clone());
            }
        }
    }

    /// The longest request, the highest address and the bytes touched.
    fn extents(&self, found: &Found) -> [String; 3] {
        let (longest, highest) = self.evidence.reach(found.scale);
        [longest, highest, self.evidence.touched(found.scale)].map(readable_bytes)
    }

    fn choose<'f>(&self, found: &'f [Found]) -> Option<&'f Found> {
        if !self.is_open {
            // Unusual properties are no evidence against the grammar.
            return found.iter().find(|f| f.usual && f.against.is_empty());
        }
        let mut open = found.iter().filter(|f| f.usual && f.is_plausible());
        open.next().filter(|_| open.next().is_none())
    }

    /// Settings, reason and confidence of the reading that is taken.
    fn explain(&self, found: &[Found], taken: &Found, detection: &mut Detection) {
        if !self.is_open {
            self.explain_stated(found, taken, detection);
            return;
        }
        let unit = taken.unit.unwrap_or_default();
        let told = !self.untold && (self.told_unit.is_some() || self.format.extents != Extents::Open);
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
        let [longest, highest, touched] = self.extents(taken);
        let mut reason = format!(
            "{}; with {with} it is {}, requests up to {longest}, addresses up to {highest}, {touched} touched in the first {} rows",
            detection.reason,
            taken.claim.describe(),
            grouped(self.evidence.rows() as u64)
        );
        if let Some(date) = taken.date.as_ref().filter(|_| self.untold) {
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
        detection.confidence =
            if told { Confidence::Certain } else { detection.confidence.min(Confidence::Likely) };
    }

    fn explain_stated(&self, found: &[Found], taken: &Found, detection: &mut Detection) {
        let Some((unit, _)) = self.stated.filter(|_| self.untold) else { return };
        if self.evidence.is_instant() || self.evidence.rows() == 0 {
            return;
        }
        let stated = match (&taken.date, self.format.quirks.dated) {
            (Some(date), true) => format!("times in {unit} begin on {date}"),
            _ => format!("times are in {unit}, as the grammar states: {}", taken.claim.describe()),
        };
        detection.reason += &format!("; {stated}");
        if taken.date.is_some() && self.format.quirks.dated {
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

    /// The option that sets a unit of time.
    fn option(&self, time: &str) -> String {
        let settings = self.format.with_time(self.told, time);
        format!("time={}", settings.get("time").map_or(time, String::as_str))
    }

    /// The candidates for the user to choose from: plausible ones first, or all if none is plausible.
    fn to_ask(&self, found: &[Found]) -> Vec<Reading> {
        let open = |f: &&Found| f.is_plausible();
        let mut shown: Vec<&Found> = found.iter().collect();
        shown.sort_by_key(|f| (!open(f), !f.usual));
        // A unit of addresses with no plausible candidate is left out if another one has some, but not that of the grammar.
        if shown.first().is_some_and(open) {
            let units: Vec<_> = shown.iter().filter(|f| open(f)).map(|f| f.unit).collect();
            shown.retain(|f| units.contains(&f.unit) || f.usual && self.stated.is_some());
        }
        // Nor is the grammar's unit of time in question, if addresses alone contradict it.
        let is_stated = |f: &Found| f.time.is_some() && f.time == self.stated.map(|(unit, _)| unit);
        if shown.iter().any(|f| open(f) && is_stated(f)) {
            shown.retain(|f| is_stated(f));
        }
        let one_unit = shown.iter().all(|f| f.unit == shown[0].unit);
        let one_time = shown.iter().all(|f| f.time == shown[0].time);
        let is_open = self.format.extents == Extents::Open || !one_unit;
        let reading = |f: &Found| {
            let mut options = Vec::new();
            if let Some(time) = f.time.filter(|_| !one_time || self.untold) {
                options.push(self.option(time));
            }
            // A unit other than the grammar's is never taken without its option.
            let is_found = one_unit && self.format.extents == Extents::Open;
            if let Some(unit) = f.unit.filter(|_| self.told_unit.is_none() && !is_found) {
                options.push(format!("unit={unit}"));
            }
            Reading {
                options: options.join(","),
                cells: f.claim.cells(),
                extents: is_open.then(|| self.extents(f)),
                against: f.against.iter().chain(&f.unusual).cloned().collect(),
            }
        };
        shown.into_iter().map(reading).collect()
    }
}

/// The interpretations as a table, one per line.
pub(crate) fn table(readings: &[Reading]) -> String {
    let mut heads = vec!["", "span", "requests/s", "busiest ms", "MB/s"];
    if readings.iter().any(|r| r.extents.is_some()) {
        heads.extend(["longest", "reaches to", "touches"]);
    }
    let cells = |r: &Reading| {
        let extents = r.extents.iter().flatten();
        std::iter::once(&r.options).chain(&r.cells).chain(extents).cloned().collect::<Vec<_>>()
    };
    let heads = heads.into_iter().map(str::to_string).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(readings.iter().map(cells)).collect();
    let against = std::iter::once(String::new()).chain(readings.iter().map(|r| match r.against.as_slice() {
        [] => String::new(),
        all => format!("  but {}", all.join("; ")),
    }));
    aligned(&rows).into_iter().zip(against).map(|(line, but)| format!("\n    {line}{but}")).collect()
}
