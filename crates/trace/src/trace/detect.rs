//! Detects the format of a trace. Every format examines a sample of the content and returns its confidence
//! and the reason. File names are ignored. Ambiguities are left to the user, with the meaning of each choice.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::formats::FORMATS;
use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::format::{Extents, Format, Timing};
use crate::reading::readings::{Judged, Reading, Settled, settle, table};
use crate::source::source::{Part, STANDARD_INPUT, Source};
use crate::text::numbers::{excerpt, grouped};
use std::io::Read;
use wordline_units::{Listed, Message};

/// Bytes of content used for detection, and of the further files of a trace.
const SAMPLE: u64 = 2 << 20;
const FURTHER_SAMPLE: u64 = 64 << 10;

/// A trace whose format is known.
#[derive(Clone)]
pub(crate) struct Identified {
    pub format: &'static Format,
    pub confidence: Confidence,
    pub reason: String,
    pub settings: Settings,
    /// Files of a folder or archive that are not part of the trace, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Keys of the given settings. The others were detected.
    pub told: Vec<&'static str>,
    /// The unit of time, if it was not given.
    pub judged: Option<Judged>,
}

impl Identified {
    /// Whether the format or its settings permit files without times.
    pub fn may_lack_clock(&self) -> bool {
        (self.format.quirks.may_lack_clock)(&self.settings)
    }
}

/// The beginning of a part, decompressed, and whether it is the whole part.
fn beginning(part: &Part, most: u64) -> Result<(Vec<u8>, bool), WorkloadError> {
    let mut bytes = Vec::new();
    let outcome = part.open()?.take(most).read_to_end(&mut bytes);
    if let Err(e) = outcome
        && bytes.is_empty()
    {
        return Err(part.broken(format!("{}, byte 0", part.label), &e));
    }
    let complete = (bytes.len() as u64) < most;
    Ok((bytes, complete))
}

/// Detects the format of `source`, or uses the given one. If there are several files, the largest determines
/// it and the others must agree. A file of a folder or archive without any match is left out.
pub(crate) fn identify(
    source: &mut Source,
    told_format: Option<&'static Format>,
    told: &Settings,
) -> Result<Identified, WorkloadError> {
    let parts = source.parts();
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by_key(|n| (std::cmp::Reverse(parts[*n].bytes), *n));
    let mut first_fault = None;
    let mut found = None;
    for n in &by_size {
        match identify_part(source, &parts[*n], told_format, told) {
            Ok(identified) => {
                found = Some((*n, identified));
                break;
            }
            Err(e) if parts[*n].named || e.kind() != ErrorKind::Format => return Err(e),
            Err(e) => first_fault = first_fault.or(Some(e)),
        }
    }
    let Some((chosen, mut identified)) = found else {
        let none = || Problem::new(ErrorKind::Empty, source.label(), "the input is empty").into();
        return Err(first_fault.unwrap_or_else(none));
    };
    let mut out = Vec::new();
    for (n, part) in parts.iter().enumerate().filter(|(n, _)| *n != chosen) {
        let (bytes, complete) = beginning(part, FURTHER_SAMPLE)?;
        let sample = Sample { bytes: &bytes, complete };
        if let Err(miss) = (identified.format.detect)(&sample, &identified.settings) {
            if part.named || miss.fits > 0 {
                return Err(not_that_format(&part.label, identified.format, &miss));
            }
            let reason = if miss.reason.is_empty() { "no line is a request".into() } else { miss.reason };
            identified.left_out.push((part.name.clone(), reason));
            out.push(n);
        }
    }
    if parts.len() > 1 {
        let largest = &parts[chosen].name;
        let all = grouped(parts.len() as u64);
        identified.reason = format!("of {all} files, in the largest ({largest}) {}", identified.reason);
    }
    source.leave_out(&out);
    Ok(identified)
}

fn not_that_format(label: &str, format: &Format, miss: &Miss) -> WorkloadError {
    if let Some(fault) = &miss.option {
        return Problem::new(ErrorKind::Option, label, miss.reason.clone())
            .allowed(format!("{}: {}", fault.key, fault.allowed))
            .hint(format!("`wordline explain {}` describes the grammar", format.name))
            .into();
    }
    let hint = if format.needs_settings() {
        format!("`wordline explain {}` describes the grammar", format.name)
    } else {
        "omit format to detect it".to_string()
    };
    let what = format!("the content is not {}: {}", format.name, miss.reason);
    Problem::new(ErrorKind::Format, label, what).hint(hint).into()
}

fn identify_part(
    source: &Source,
    part: &Part,
    told_format: Option<&'static Format>,
    told: &Settings,
) -> Result<Identified, WorkloadError> {
    let (bytes, complete) = beginning(part, SAMPLE)?;
    let label = part.label.as_str();
    if bytes.is_empty() {
        return Err(Problem::new(ErrorKind::Empty, label, "the decompressed content is empty")
            .allowed("at least one request")
            .into());
    }
    let sample = Sample { complete, bytes: &bytes };
    let mut hits: Vec<(&'static Format, Detection)> = Vec::new();
    let mut misses = Vec::new();
    let candidates = FORMATS.iter().copied().filter(|f| match told_format {
        Some(told) => told.name == f.name,
        None => !f.needs_settings(),
    });
    for format in candidates {
        match (format.detect)(&sample, told) {
            Ok(d) => hits.push((format, d)),
            Err(miss) => misses.push((format, miss)),
        }
    }
    if told_format.is_none() && has_titles(&sample) {
        // A format that states its title row is certain; any other would take the columns for its own.
        let (titled, untitled): (Vec<_>, Vec<_>) =
            hits.into_iter().partition(|(_, d)| d.confidence == Confidence::Certain);
        hits = titled;
        let miss = || Miss::new(990, "line 1 is a title row, which the format does not have");
        misses.extend(untitled.into_iter().map(|(format, _)| (format, miss())));
    }
    hits.sort_by_key(|(_, d)| std::cmp::Reverse(d.confidence));
    if let (Some(format), [], Some((_, miss))) = (told_format, hits.as_slice(), misses.first()) {
        return Err(not_that_format(label, format, miss));
    }
    if hits.is_empty()
        && let Some(torn) = source.torn_archive()
    {
        return Err(Problem::new(ErrorKind::Io, label, torn)
            .allowed("a complete archive")
            .hint("fetch it again, or test it with tar -t")
            .into());
    }
    if let [(a, one), (b, other), ..] = hits.as_slice()
        && one.confidence == other.confidence
    {
        return Err(two_formats(label, [(a, one), (b, other)]));
    }
    let Some((format, detection)) = hits.into_iter().next() else {
        return Err(no_format(label, &sample, misses));
    };
    let Settled { detection, readings, rows, judged } = settle(format, &sample, detection, told);
    if !readings.is_empty() {
        return Err(ambiguous(label, format, &readings, rows, proposal(&sample)));
    }
    let confidence = if told_format.is_some() { Confidence::Told } else { detection.confidence };
    let mut reason = detection.reason;
    if let Some(torn) = source.torn_archive() {
        reason += &format!("; {torn}, so it is read as plain text");
    }
    Ok(Identified {
        format,
        confidence,
        reason,
        settings: detection.settings,
        left_out: Vec::new(),
        told: told.keys().copied().collect(),
        judged,
    })
}

/// Options with which content that no format fits could be read.
fn proposal(sample: &Sample) -> Option<String> {
    FORMATS.iter().find_map(|format| format.quirks.proposal.and_then(|propose| propose(format, sample)))
}

fn no_format(label: &str, sample: &Sample, mut misses: Vec<(&'static Format, Miss)>) -> WorkloadError {
    misses.sort_by_key(|(_, m)| std::cmp::Reverse(m.fits));
    let nearest = misses.first().filter(|(_, m)| m.fits > 0).map_or(String::new(), |(f, m)| {
        format!("; the closest is {} ({} % matches; {})", f.name, m.fits / 10, m.reason)
    });
    let begins = excerpt(sample.bytes, 48);
    let hint = archive_hint(sample.bytes).or_else(|| unlike_a_trace(sample)).map(str::to_string);
    let hint = hint.or_else(|| proposal(sample)).map(Message::from);
    Problem::new(
        ErrorKind::Format,
        label,
        format!(
            "no trace format matches; the file begins \
                                                    \"{begins}\"{nearest}"
        ),
    )
    .hint(hint.unwrap_or_else(|| Listed::Formats.by() + " describes the grammar of each"))
    .into()
}

/// Whether the first line has titles, of as many columns as the next one, which has a number.
fn has_titles(sample: &Sample) -> bool {
    let mut lines = sample.lines().filter(|line| !line.trim_ascii().is_empty());
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    b",;\t| ".iter().any(|delimiter| {
        let cells = |line: &'_ [u8]| -> Vec<Vec<u8>> {
            let cells = line.trim_ascii().split(|c| c == delimiter).map(|c| c.trim_ascii().to_vec());
            cells.filter(|cell| !cell.is_empty() || *delimiter != b' ').collect()
        };
        let (titles, row) = (cells(first), cells(second));
        titles.len() >= 3
            && titles.len() == row.len()
            && titles.iter().all(|t| t.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'"'))
            && row.iter().any(|cell| cell.first().is_some_and(u8::is_ascii_digit))
            && !titles.iter().any(|title| title.iter().all(|c| c.is_ascii_hexdigit()))
    })
}

/// What content without requests in any format looks like.
fn unlike_a_trace(sample: &Sample) -> Option<&'static str> {
    let mut lines = sample.lines().filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next()?.trim_ascii();
    if first.starts_with(b"{") || first.starts_with(b"[{") || first == b"[" {
        return Some(
            "JSON is not a trace format; convert its requests to a table with jq, which csv reads \
             (`wordline explain csv`). A result of fio has no requests, but its job file is a workload",
        );
    }
    let words: Vec<&[u8]> = first.split(|c| b",;\t|".contains(c)).collect();
    let is_title = |word: &&[u8]| {
        word.iter().any(u8::is_ascii_alphabetic) && !word.first().is_some_and(u8::is_ascii_digit)
    };
    (sample.complete && lines.next().is_none() && words.len() > 2 && words.iter().all(is_title))
        .then_some("the file has a title row but no requests")
}

/// How the user spelled the trace that messages call `label`.
pub(crate) fn typed(label: &str) -> &str {
    if label == STANDARD_INPUT { "-" } else { label }
}

fn two_formats(label: &str, found: [(&&'static Format, &Detection); 2]) -> WorkloadError {
    let [(a, one), (b, other)] = found;
    let what = format!(
        "the content matches two formats:\n    format={}  {}\n    format={}  {}",
        a.name, one.reason, b.name, other.reason
    );
    Problem::new(ErrorKind::Ambiguous, label, what)
        .allowed(format!("format={} | format={}", a.name, b.name))
        .hint(format!("choose one, for example {}:format={}", typed(label), a.name))
        .into()
}

/// The error if the user must choose the units of `format`.
pub(crate) fn ambiguous(
    label: &str,
    format: &Format,
    readings: &[Reading],
    rows: usize,
    guess: Option<String>,
) -> WorkloadError {
    let name = format.name;
    let plausible: Vec<&Reading> = readings.iter().filter(|r| r.against.is_empty()).collect();
    let what = match (format.timing, plausible.len()) {
        (Timing::Stated { unit, .. }, 0) => {
            format!("{name} has times in {unit}, but no interpretation of this file is plausible")
        }
        (Timing::Stated { unit, .. }, _) => {
            let in_sectors = matches!(format.extents, Extents::Sectors | Extents::SectorsAndBytes);
            let addresses = if in_sectors { " and addresses in sectors" } else { "" };
            format!("{name} has times in {unit}{addresses}, but this file cannot be read this way")
        }
        (_, 0) => format!("{name} format, but no interpretation of its columns is plausible"),
        (_, 1) => format!("{name} format, but its units are not certain"),
        _ => format!("{name} format, but several interpretations are possible"),
    };
    let what = format!("{what} (from the first {} requests):{}", grouped(rows as u64), table(readings));
    let shown = if plausible.is_empty() { readings.iter().collect() } else { plausible.clone() };
    let file = typed(label);
    // A single candidate is proposed; none of several.
    let hint = match (plausible.as_slice(), guess) {
        ([], Some(guess)) => format!("the columns may be in another order: {guess}"),
        ([], None) => "to force an interpretation, append it to the name after a colon".to_string(),
        ([only], _) if format.needs_settings() => format!("use {}{}", only.options, instead(&only.options)),
        ([only], _) => format!("use {file}:{0} or --format '{name}:{0}'", only.options),
        ([first, ..], _) if format.needs_settings() => {
            format!("choose one of them{}", instead(&first.options))
        }
        (_, _) => "choose one of them and append it to the name after a colon".to_string(),
    };
    Problem::new(ErrorKind::Ambiguous, label, what)
        .allowed(shown.iter().map(|r| r.options.as_str()).collect::<Vec<_>>().join(" | "))
        .hint(hint)
        .into()
}

/// Where to put options of a table with named columns.
fn instead(options: &str) -> &'static str {
    if options.contains("time=") {
        ", instead of the present time="
    } else {
        ", in addition to the present columns"
    }
}

fn archive_hint(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'P', b'K', 3, 4, ..] => Some(
            "zip archives are not supported; unpack the archive and pass its \
                                        files",
        ),
        [b'P', b'A', b'R', b'1', ..] => Some("this is a Parquet file; convert it to CSV"),
        [0x7f, b'E', b'L', b'F', ..] => Some("this is a program, not a trace"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("this is text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8")
        }
        _ => None,
    }
}
