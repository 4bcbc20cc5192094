//! Five columns: the form that SSDSim, MQSim, DiskSim (ASCII), Microsoft's converted production
//! traces and block replayers share. The file says neither the unit of time nor that of addresses,
//! so both are found by evidence (see `plausible`) or told.

use super::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, spaced_up_to};
use super::plausible::{Extents, Times, address_unit, time_unit};
use super::writing::{Keeps, Naming, RecordWriter, Row, Writing};
use super::{Confidence, Detection, Format, Miss, Order, Reading, Record, Sample, Settings, Volumes};
use crate::numbers::{grouped, leading, readable_bytes, time, unsigned};
use crate::pages::PageSet;
use crate::parameter::Parameter;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "five-columns",
    title: "time dev lba size op: SSDSim, MQSim, DiskSim ASCII, replayers",
    grammar: "\
time dev lba size op              (white space between)

time  integer or with decimals; the unit is not in the file (option time)
dev   device number; each has its own address space
lba   first 512-byte sector, or first byte (option unit)
size  512-byte sectors, or bytes (option unit)
op    0 = write, 1 = read (option op)

No header line. SSDSim and MQSim write ns, DiskSim and replayers ms with decimals. It is written in ns and
sectors if nothing else is told.",
    parameters: &[
        Parameter {
            key: "time",
            unit: "word",
            default: "by evidence",
            allowed: "ns, us, ms, s",
            choices: &["ns", "us", "ms", "s"],
            about: "unit of the time column",
        },
        Parameter {
            key: "unit",
            unit: "word",
            default: "by evidence",
            allowed: "sector, byte",
            choices: &["sector", "byte"],
            about: "unit of the lba and size columns; a sector is 512 bytes",
        },
        Parameter {
            key: "op",
            unit: "word",
            default: "0:write",
            allowed: "0:write, 0:read",
            choices: &["0:write", "0:read"],
            about: "what an op of 0 means; 1 is then the other",
        },
    ],
    order: Order::Kept,
    detect,
    open: |settings, input| LineReader::open(FiveColumns::of(settings), Volumes::default(), input),
    write: |settings| {
        let columns = FiveColumns::of(settings);
        let keeps = Keeps { unit: columns.address_bytes, ..KEEPS };
        let mut read_with = settings.clone();
        read_with.entry("time").or_insert_with(|| "ns".to_string());
        read_with.entry("unit").or_insert_with(|| "sector".to_string());
        Ok(Writing { read_with, ..Writing::new(keeps, columns) })
    },
};

const PAGE: u64 = 4096;
const TIME_UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
const ADDRESS_UNITS: [(&str, u64); 2] = [("sector", 512), ("byte", 1)];

struct FiveColumns {
    time_ns: u64,
    address_bytes: u64,
    zero: HostOp,
    one: HostOp,
}

impl FiveColumns {
    fn of(settings: &Settings) -> FiveColumns {
        let value = |key: &str, known: &[(&str, u64)], otherwise: u64| {
            let told = settings.get(key);
            told.and_then(|t| known.iter().find(|(k, _)| k == t)).map_or(otherwise, |(_, v)| *v)
        };
        let (zero, one) = match settings.get("op").map(String::as_str) {
            Some("0:read") => (HostOp::Read, HostOp::Write),
            _ => (HostOp::Write, HostOp::Read),
        };
        FiveColumns {
            time_ns: value("time", &TIME_UNITS, 1),
            address_bytes: value("unit", &ADDRESS_UNITS, 512),
            zero,
            one,
        }
    }
}

/// The five fields of a line, or how many there are instead.
fn fields(line: &[u8]) -> Result<[&[u8]; 5], usize> {
    let mut out: [&[u8]; 5] = [&[]; 5];
    match spaced_up_to(line, &mut out) {
        5 => Ok(out),
        n => Err(n),
    }
}

impl LineFormat for FiveColumns {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        match self.usual(line) {
            Some((record, device)) => {
                let volume = volumes.number_of(device)?;
                Ok(Parsed::Request(Record { volume, ..record }))
            }
            None => self.unusual(line, volumes),
        }
    }
}

/// A number and the one space or tab after it; the number's text and the rest of the line.
#[inline]
fn number_and_space(text: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (value, length) = leading(text)?;
    matches!(text.get(length)?, b' ' | b'\t').then(|| (value, &text[..length], &text[length + 1..]))
}

impl FiveColumns {
    /// A well-formed line with an integer time and single spaces, in one pass.
    #[inline]
    fn usual<'a>(&self, line: &'a [u8]) -> Option<(Record, &'a [u8])> {
        let (when, _, rest) = number_and_space(line)?;
        let (_, device, rest) = number_and_space(rest)?;
        let (lba, _, rest) = number_and_space(rest)?;
        let (size, _, rest) = number_and_space(rest)?;
        let op = match rest {
            b"0" => self.zero,
            b"1" => self.one,
            _ => return None,
        };
        let time = when.checked_mul(self.time_ns)?;
        let offset = lba.checked_mul(self.address_bytes)?;
        let bytes = size.checked_mul(self.address_bytes)?;
        Some((Record { time, offset, bytes, op, attributes: Attributes::NONE, volume: 0 }, device))
    }

    /// Anything else: decimals, other spacing, a fault to be named.
    fn unusual(&self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let [when, dev, lba, size, op] = fields(line).map_err(|n| format!("{n} columns instead of 5"))?;
        let time = time(when, self.time_ns).map_err(|e| e.of("time", when))?;
        if !dev.iter().all(u8::is_ascii_digit) {
            return Err("the device is not a number".to_string());
        }
        let offset = scaled("address", lba, self.address_bytes)?;
        let bytes = scaled("size", size, self.address_bytes)?;
        let op = match op {
            b"0" => self.zero,
            b"1" => self.one,
            _ => return Err("the op is neither 0 nor 1".to_string()),
        };
        let volume = volumes.number_of(dev)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

/// Reads the sample with its smallest written time digit as the unit.
fn measure(sample: &Sample) -> (Times, Extents) {
    let rows = || sample.lines().filter_map(|l| fields(l).ok());
    let decimals_of = |t: &[u8]| memchr::memchr(b'.', t).map_or(0, |dot| t.len() - dot - 1);
    let decimals = rows().map(|r| decimals_of(r[0])).max().unwrap_or(0).min(9) as u32;
    let (mut times, mut extents) = (Times { decimals, gaps: Vec::new() }, Extents::default());
    let mut previous = None;
    for [when, _, lba, size, _] in rows() {
        let (Ok(now), Ok(lba), Ok(size)) = (time(when, 10u64.pow(decimals)), unsigned(lba), unsigned(size))
        else {
            continue;
        };
        if let Some(before) = previous
            && now >= before
        {
            times.gaps.push(now - before);
        }
        previous = Some(now);
        extents.rows += 1;
        extents.both_of_512 += u64::from(lba % 512 == 0 && size % 512 == 0);
        extents.largest_size = extents.largest_size.max(size);
        extents.total_size = extents.total_size.saturating_add(size);
        extents.highest_end = extents.highest_end.max(lba.saturating_add(size));
    }
    (times, extents)
}

/// Requests longer than this do not make the sampled footprint longer.
const LONGEST_SAMPLED: u64 = 64 << 20;

/// Bytes in the distinct 4 KiB pages that the sample touches, if it counts in `unit` bytes.
fn touched(sample: &Sample, unit: u64) -> u64 {
    let mut pages = PageSet::default();
    for [_, _, lba, size, _] in sample.lines().filter_map(|l| fields(l).ok()) {
        let (Ok(lba), Ok(size)) = (unsigned(lba), unsigned(size)) else { continue };
        let (Some(first), Some(bytes)) = (lba.checked_mul(unit), size.checked_mul(unit)) else { continue };
        if let Some(past) = first.checked_add(bytes.min(LONGEST_SAMPLED)) {
            pages.insert(first / PAGE..past.div_ceil(PAGE));
        }
    }
    pages.count() * PAGE
}

const KEEPS: Keeps = Keeps { volumes: Naming::Number, ..Keeps::TRANSFERS };

impl RecordWriter for FiveColumns {
    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let volume = volumes.get(r.volume as usize).map_or("0", String::as_str);
        out.fixed(r.time, self.time_ns.ilog10() as usize).text(" ").text(volume).text(" ");
        out.number(r.offset / self.address_bytes).text(" ").number(r.bytes / self.address_bytes);
        out.text(if r.op == self.zero { " 0\n" } else { " 1\n" });
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, FiveColumns::of(told), Volumes::default()).at_least_half()?;
    let (times, extents) = measure(sample);
    let told_time = told.get("time").map(String::as_str);
    let told_unit = told.get("unit").map(String::as_str);
    let mut open = Vec::new();
    let mut given_up = Vec::new();
    for (unit, unit_bytes) in ADDRESS_UNITS.into_iter().filter(|u| told_unit.is_none_or(|t| t == u.0)) {
        let against_unit =
            if told_unit.is_some() { Vec::new() } else { address_unit(&extents, unit == "sector") };
        let footprint = touched(sample, unit_bytes);
        for (time, ns) in TIME_UNITS.into_iter().filter(|u| told_time.is_none_or(|t| t == u.0)) {
            if told_time.is_none() && time == "ns" && times.decimals > 0 {
                continue;
            }
            let bytes = extents.total_size.saturating_mul(unit_bytes);
            let (claim, against_time) = time_unit(&times, ns, bytes);
            let against_time = if told_time.is_some() { Vec::new() } else { against_time };
            let meaning = format!(
                "{}, requests up to {}, addresses up to {}, {} touched in the first {} rows",
                claim.describe(),
                readable_bytes(extents.largest_size.saturating_mul(unit_bytes)),
                readable_bytes(extents.highest_end.saturating_mul(unit_bytes)),
                readable_bytes(footprint),
                grouped(extents.rows)
            );
            let against = against_unit.iter().chain(&against_time).cloned().collect::<Vec<_>>();
            let reading = (unit, time, meaning, against);
            if reading.3.is_empty() { open.push(reading) } else { given_up.push(reading) }
        }
    }
    let layout = format!("{} have five columns, the last 0 or 1", tally.share());
    let mut settings = told.clone();
    if let [(unit, time, meaning, _)] = open.as_slice() {
        let mut reason = format!("{layout}; with time={time} and unit={unit} it is {meaning}");
        for (key, chosen, is_told) in
            [("time", *time, told_time.is_some()), ("unit", *unit, told_unit.is_some())]
        {
            settings.insert(key, chosen.to_string());
            if is_told {
                continue;
            }
            for (other_unit, other_time, _, against) in &given_up {
                let other = if key == "time" { other_time } else { other_unit };
                let rest_same = if key == "time" { other_unit == unit } else { other_time == time };
                if rest_same && let Some(first) = against.first() {
                    reason += &format!("; not {key}={other}: {first}");
                }
            }
        }
        let all_told = told_time.is_some() && told_unit.is_some();
        let confidence = if all_told { Confidence::Certain } else { Confidence::Likely };
        return Ok(Detection { confidence, reason, settings, readings: Vec::new() });
    }
    let candidates = if open.is_empty() { given_up } else { open };
    let same_unit = candidates.iter().all(|r| r.0 == candidates[0].0);
    let same_time = candidates.iter().all(|r| r.1 == candidates[0].1);
    if same_unit && let Some(r) = candidates.first() {
        settings.insert("unit", r.0.to_string());
    }
    if same_time && let Some(r) = candidates.first() {
        settings.insert("time", r.1.to_string());
    }
    let readings = candidates
        .into_iter()
        .map(|(unit, time, meaning, against)| Reading {
            options: match (same_unit, same_time) {
                (true, _) => format!("time={time}"),
                (false, true) => format!("unit={unit}"),
                (false, false) => format!("time={time},unit={unit}"),
            },
            meaning,
            against: against.join("; "),
        })
        .collect();
    Ok(Detection { confidence: Confidence::Possible, reason: layout, settings, readings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, settings: &[(&'static str, &str)]) -> Result<Record, String> {
        let settings = settings.iter().map(|(k, v)| (*k, v.to_string())).collect();
        match FiveColumns::of(&settings).parse(line.as_bytes(), &mut Volumes::default())? {
            Parsed::Request(r) => r.checked(),
            _ => Err("no request".into()),
        }
    }

    #[test]
    fn zero_is_a_write_unless_told_otherwise() {
        assert_eq!(parse("0 0 8 8 0", &[]).unwrap().op, HostOp::Write);
        assert_eq!(parse("0 0 8 8 1", &[]).unwrap().op, HostOp::Read);
        assert_eq!(parse("0 0 8 8 0", &[("op", "0:read")]).unwrap().op, HostOp::Read);
        assert_eq!(parse("0 0 8 8 1", &[("op", "0:read")]).unwrap().op, HostOp::Write);
    }

    #[test]
    fn units_of_time_and_address_are_applied() {
        let r = parse("5265.313\t0  6357144 8 0", &[("time", "ms")]).unwrap();
        assert_eq!((r.time, r.offset, r.bytes), (5_265_313_000, 6_357_144 * 512, 4096));
        let r = parse("7 0 4096 512 1", &[("time", "us"), ("unit", "byte")]).unwrap();
        assert_eq!((r.time, r.offset, r.bytes), (7_000, 4096, 512));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("1 0 8 8", "4 columns"),
            ("1 0 8 8 0 9", "6 columns"),
            ("x 0 8 8 0", "time"),
            ("1 a 8 8 0", "device"),
            ("1 0 99999999999999999999 8 0", "too large"),
            ("1 0 9999999999999999999 8 0", "too large"),
            ("1 0 8 0 0", "length zero"),
            ("1 0 8 99999999 0", "is more than"),
            ("1 0 8 8 2", "neither 0 nor 1"),
        ] {
            let e = parse(line, &[]).unwrap_err();
            assert!(e.contains(word), "{line}: {e}");
        }
    }

    #[test]
    fn a_short_file_has_several_readings_and_says_what_each_would_mean() {
        let sample = Sample { bytes: b"0 0 0 8 0\n1000 0 8 8 1\n", complete: true };
        let d = detect(&sample, &Settings::new()).ok().unwrap();
        assert!(d.readings.len() >= 3);
        assert!(
            d.readings.iter().all(|r| r.options.starts_with("time=") && r.meaning.contains("requests/s"))
        );
        assert_eq!(d.settings.get("unit").map(String::as_str), Some("sector"));
        let told = [("time", "us".to_string())].into_iter().collect();
        assert!(detect(&sample, &told).ok().unwrap().readings.is_empty());
    }
}
