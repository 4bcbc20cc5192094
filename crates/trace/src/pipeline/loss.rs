//! Conversion of requests to what a format can represent, and its losses. Nothing is lost silently: losses
//! are counted, and the caller decides whether they are permitted.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::formats::FORMATS;
use crate::pipeline::flow::Flow;
use crate::pipeline::form::{Form, Losses};
use crate::reading::detection::Settings;
use crate::reading::record::Record;
use crate::reading::writing::{Clock, Keeps, Naming};
use crate::text::numbers::{grouped, readable_bytes};
use wordline_units::{HostOp, LatencyHint};

/// Concatenated volumes begin at multiples of this many bytes.
const STEP: u64 = 1 << 20;
/// Unix time 2001-09-09, the origin of clocks without Unix time.
const UNIX_EPOCH_NS: u64 = 1_000_000_000_000_000_000;
/// Unix times that a format with such a clock accepts.
const UNIX_NS: std::ops::Range<u64> = UNIX_EPOCH_NS..3 * UNIX_EPOCH_NS;
const HIGHEST_ADDRESS: u64 = crate::reading::record::HIGHEST_ADDRESS;

/// Counted losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Lost {
    flushes: u64,
    trims: u64,
    fua: u64,
    hints: u64,
    streams: u64,
    /// Volumes that were merged into one.
    volumes: u64,
    /// Times truncated to the format's unit.
    times: u64,
    /// Requests that were rounded to the format's unit.
    extents: u64,
    /// Requests that were split.
    split: u64,
}

pub(crate) struct Fitted {
    keeps: Keeps,
    volumes: Vec<String>,
    renamed: Vec<(String, String)>,
    /// Start of each volume, if volumes are concatenated.
    bases: Vec<u64>,
    /// Values subtracted from and added to every time, once the first time is known.
    clock: Option<(u64, u64)>,
    lost: Lost,
}

impl Fitted {
    pub fn new(flow: &dyn Flow, keeps: Keeps, losses: Losses) -> Result<Fitted, WorkloadError> {
        let labels = flow.volumes();
        let naming = keeps.volumes;
        let (mut volumes, mut renamed) = (labels.to_vec(), Vec::new());
        let mut bases = Vec::new();
        let mut lost = Lost::default();
        if naming == Naming::None {
            if labels.len() > 1 {
                lost.volumes = labels.len() as u64;
                // The end of a volume is known only when all of it has been read.
                bases = if losses == Losses::Drop { side_by_side(flow)? } else { vec![0; labels.len()] };
            }
            volumes = vec![String::new()];
        } else if !labels.iter().all(|l| naming.allows(l)) {
            // Invent names for all volumes or none, so that no invented name equals a given one.
            volumes = (0..labels.len()).map(|n| naming.invented(n)).collect();
            renamed = labels.iter().cloned().zip(volumes.iter().cloned()).filter(|(a, b)| a != b).collect();
        }
        Ok(Fitted { keeps, volumes, renamed, bases, clock: None, lost })
    }

    /// The names of the volumes in the output.
    pub fn volumes(&self) -> &[String] {
        &self.volumes
    }

    pub fn renamed(&self) -> &[(String, String)] {
        &self.renamed
    }

    /// Passes the request to `write` as the format can represent it: once, several times if it is too long,
    /// or not at all.
    #[inline]
    pub fn each(
        &mut self,
        mut r: Record,
        mut write: impl FnMut(&Record, &[String]),
    ) -> Result<(), &'static str> {
        let keeps = &self.keeps;
        if r.op == HostOp::Flush && !keeps.flush {
            self.lost.flushes += 1;
            return Ok(());
        }
        if r.op == HostOp::Trim && !keeps.trim {
            self.lost.trims += 1;
            return Ok(());
        }
        if r.attributes.is_fua() && !keeps.fua {
            self.lost.fua += 1;
            r.attributes = r.attributes.with_fua(false);
        }
        if r.attributes.hint() != LatencyHint::None && !keeps.hints {
            self.lost.hints += 1;
            r.attributes = r.attributes.with_hint(LatencyHint::None);
        }
        if r.attributes.stream() != 0 && !keeps.streams {
            self.lost.streams += 1;
            r.attributes = r.attributes.with_stream(0);
        }
        let (from, to) = *self.clock.get_or_insert_with(|| match keeps.clock {
            Clock::Own => (0, 0),
            Clock::FromStart => (r.time, 0),
            Clock::Unix if UNIX_NS.contains(&r.time) => (0, 0),
            Clock::Unix => (r.time, UNIX_EPOCH_NS),
        });
        r.time = (r.time - from).checked_add(to).ok_or("a time exceeds the range of Unix time")?;
        if keeps.tick > 1 {
            let finer = r.time % keeps.tick;
            self.lost.times += u64::from(finer > 0);
            r.time -= finer;
        }
        if let Some(base) = self.bases.get(r.volume as usize) {
            r.offset += if r.op == HostOp::Flush { 0 } else { *base };
            r.volume = 0;
        }
        if !r.offset.is_multiple_of(keeps.unit) || !r.bytes.is_multiple_of(keeps.unit) {
            self.lost.extents += 1;
            let Some(rounded) = in_units(r, keeps.unit) else { return Ok(()) };
            r = rounded;
        }
        if r.bytes <= keeps.longest {
            write(&r, &self.volumes);
            return Ok(());
        }
        self.lost.split += 1;
        while r.bytes > 0 {
            let part = Record { bytes: r.bytes.min(keeps.longest), ..r };
            write(&part, &self.volumes);
            r.offset += part.bytes;
            r.bytes -= part.bytes;
        }
        Ok(())
    }

    /// The losses, one sentence each.
    pub fn losses(&self) -> Vec<String> {
        let n = |count: u64, one: &str, many: &str| {
            if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
        };
        let (lost, keeps) = (&self.lost, &self.keeps);
        let unit = readable_bytes(keeps.unit);
        let tick = match keeps.tick {
            t if t >= 1_000_000_000 => "seconds".to_string(),
            1_000 => "microseconds".to_string(),
            t => format!("ticks of {t} ns"),
        };
        let all = [
            (lost.flushes, n(lost.flushes, "flush", "flushes")),
            (lost.trims, n(lost.trims, "trim", "trims")),
            (lost.fua, format!("the FUA of {}", n(lost.fua, "write", "writes"))),
            (lost.hints, format!("the latency hints of {}", n(lost.hints, "request", "requests"))),
            (lost.streams, format!("the streams of {}", n(lost.streams, "write", "writes"))),
            (lost.volumes, format!("the names of {} volumes, which are concatenated", grouped(lost.volumes))),
            (lost.times, format!("times finer than {tick} of {}", n(lost.times, "request", "requests"))),
            (
                lost.extents,
                format!(
                    "the exact byte ranges of {}: they are rounded to {unit}, reads and writes outward",
                    n(lost.extents, "request", "requests")
                ),
            ),
            (
                lost.split,
                format!(
                    "that {} of more than {} were single requests",
                    n(lost.split, "request", "requests"),
                    readable_bytes(keeps.longest)
                ),
            ),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).map(|(_, what)| what).collect()
    }

    /// Return an error if something was lost that must not be.
    pub fn judge(&self, label: &str, form: &Form) -> Result<(), WorkloadError> {
        if form.losses == Losses::Drop || self.lost == Lost::default() {
            return Ok(());
        }
        let mut what = format!("{} cannot represent the whole trace; it would lose", form.format.name);
        for loss in self.losses() {
            what += &format!("\n    {loss}");
        }
        let keep = FORMATS.iter().filter(|f| {
            (f.write)(&Settings::new()).is_ok_and(|writing| self.would_be_kept_by(&writing.keeps))
        });
        let keep: Vec<&str> = keep.map(|f| f.name).collect();
        Err(Problem::new(ErrorKind::Option, label, what)
            .allowed(format!("a format that can represent it: {}", keep.join(", ")))
            .hint("--lossy drops it")
            .into())
    }

    /// Whether a format keeps all that this one loses.
    fn would_be_kept_by(&self, other: &Keeps) -> bool {
        let (lost, own) = (&self.lost, &self.keeps);
        (lost.flushes == 0 || other.flush)
            && (lost.trims == 0 || other.trim)
            && (lost.fua == 0 || other.fua)
            && (lost.hints == 0 || other.hints)
            && (lost.streams == 0 || other.streams)
            && (lost.volumes == 0 || other.volumes != Naming::None)
            && (lost.times == 0 || other.tick < own.tick)
            && (lost.extents == 0 || other.unit < own.unit)
            && (lost.split == 0 || other.longest > own.longest)
    }
}

/// Rounded to whole units: reads and writes outward, trims inward. Nothing for a trim of less than a unit.
fn in_units(r: Record, unit: u64) -> Option<Record> {
    let end = r.offset + r.bytes;
    let (first, past) = match r.op {
        HostOp::Trim => (r.offset.div_ceil(unit), end / unit),
        _ => (r.offset / unit, end.div_ceil(unit)),
    };
    (past > first).then(|| Record { offset: first * unit, bytes: (past - first) * unit, ..r })
}

fn side_by_side(flow: &dyn Flow) -> Result<Vec<u64>, WorkloadError> {
    let mut ends = vec![0u64; flow.volumes().len()];
    for record in flow.open()? {
        let r = record?;
        if let Some(end) = ends.get_mut(r.volume as usize) {
            *end = (*end).max(r.offset + r.bytes);
        }
    }
    let mut next = 0u64;
    let mut bases = Vec::with_capacity(ends.len());
    for end in ends {
        bases.push(next);
        let past = end.next_multiple_of(STEP).checked_add(next).filter(|p| *p <= HIGHEST_ADDRESS);
        next = past.ok_or_else(|| {
            Problem::new(ErrorKind::Content, flow.label(), "the concatenated volumes exceed 2^62 bytes")
                .hint("trace cut --volume selects one of them")
        })?;
    }
    Ok(bases)
}
