//! Which format a file is in. Every format looks at a sample of the content and says how sure it
//! is and why; file names count for nothing. What the content leaves open is asked for, with what
//! each answer would mean.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::formats::{Confidence, Detection, FORMATS, Format, Sample, Settings};
use crate::numbers::excerpt;
use crate::source::Source;
use std::io::Read;

/// Bytes of content that are looked at.
const SAMPLE: u64 = 2 << 20;

/// A file whose format is known.
#[derive(Clone)]
pub(crate) struct Identified {
    pub format: &'static Format,
    pub confidence: Confidence,
    pub reason: String,
    pub settings: Settings,
}

/// Finds the format of `source`, or takes the one told.
pub(crate) fn identify(
    source: &Source,
    told_format: Option<&'static Format>,
    told: &Settings,
) -> Result<Identified, WorkloadError> {
    let mut bytes = Vec::new();
    let outcome = source.open()?.take(SAMPLE).read_to_end(&mut bytes);
    if let Err(e) = outcome
        && bytes.is_empty()
    {
        return Err(source.broken(format!("{}, byte 0", source.label()), &e));
    }
    if bytes.is_empty() {
        return Err(Problem::new(ErrorKind::Empty, source.label(), "the decompressed content is empty")
            .allowed("at least one request")
            .into());
    }
    let sample = Sample { complete: (bytes.len() as u64) < SAMPLE, bytes: &bytes };
    let mut hits: Vec<(&'static Format, Detection)> = Vec::new();
    let mut misses = Vec::new();
    for format in FORMATS.iter().copied().filter(|f| told_format.is_none_or(|t| t.name == f.name)) {
        match (format.detect)(&sample, told) {
            Ok(d) => hits.push((format, d)),
            Err(miss) => misses.push((format, miss)),
        }
    }
    hits.sort_by_key(|(_, d)| std::cmp::Reverse(d.confidence));
    let told_but_unfit = told_format.filter(|_| hits.is_empty());
    if let Some(format) = told_but_unfit {
        let miss = misses.first().map_or(String::new(), |(_, m)| m.reason.clone());
        let what = format!("the content is not {}: {miss}", format.name);
        return Err(Problem::new(ErrorKind::Format, source.label(), what)
            .hint("leave format out to have it detected")
            .into());
    }
    let Some((format, detection)) = hits.into_iter().next() else {
        misses.sort_by_key(|(_, m)| std::cmp::Reverse(m.fits));
        let nearest = misses.first().filter(|(_, m)| m.fits > 0).map_or(String::new(), |(f, m)| {
            format!("; nearest is {} ({} % of it fits; {})", f.name, m.fits / 10, m.reason)
        });
        let names = FORMATS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
        return Err(Problem::new(
            ErrorKind::Format,
            source.label(),
            format!("no trace format fits; it begins \"{}\"{nearest}", excerpt(&bytes, 48)),
        )
        .allowed(names)
        .hint(
            archive_hint(&bytes)
                .unwrap_or("wordline list formats shows each grammar; format=NAME insists on one"),
        )
        .into());
    };
    if !detection.readings.is_empty() {
        return Err(ambiguous(source, format, &detection));
    }
    let confidence = if told_format.is_some() { Confidence::Told } else { detection.confidence };
    Ok(Identified { format, confidence, reason: detection.reason, settings: detection.settings })
}

fn ambiguous(source: &Source, format: &Format, detection: &Detection) -> WorkloadError {
    let mut what = format!("{} format, but the file can be read in several ways:", format.name);
    let width = detection.readings.iter().map(|r| r.options.len()).max().unwrap_or(0);
    for r in &detection.readings {
        what += &format!("\n    {:width$}  {}", r.options, r.meaning);
        if !r.against.is_empty() {
            what += &format!(" (but {})", r.against);
        }
    }
    let first = &detection.readings[0].options;
    Problem::new(ErrorKind::Ambiguous, source.label(), what)
        .allowed(detection.readings.iter().map(|r| r.options.as_str()).collect::<Vec<_>>().join(" | "))
        .hint(format!("say which, for example {}:{first}", source.label()))
        .into()
}

fn archive_hint(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(257..262) == Some(b"ustar") {
        return Some("this is a tar archive: unpack it and give one file of it");
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] => Some("this is a zip archive: unpack it and give one file of it"),
        [b'P', b'A', b'R', b'1', ..] => Some("this is a Parquet file; convert it to CSV"),
        [0x7f, b'E', b'L', b'F', ..] => Some("this is a program, not a trace"),
        _ => None,
    }
}
