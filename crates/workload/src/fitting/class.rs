//! Arrivals and alignment that traces of a workload class have in common, fitted to all of each trace. To
//! test the reliability of such a fit, the first half of each trace is fitted and compared with the second
//! half.

use crate::fitting::check::{Criterion, Row, Unit, indented};
use crate::fitting::fitting::{Fitted, fit_piece};
use crate::fitting::piece::Piece;
use crate::fitting::verdict::JUDGED;
use crate::generators::twin::description::{Description, Memory};
use crate::generators::twin::statistics::{Depth, Statistics};
use crate::generators::twin::stream::requests_of;
use crate::generators::twin::windows::WINDOWS;
use std::fmt::Write;
use wordline_trace::{ErrorKind, Problem, WorkloadError};
use wordline_units::{Fraction, HostOp, LBA_BYTES, SimDuration};

const SEED: u64 = 1;
/// With fewer requests of a kind, its dispersions are random.
const FEW: u64 = 50;
/// With fewer partial updates, the shares of stable ones are random.
const FEW_UPDATES: u64 = 100;

/// A fitted class of workload.
pub struct Class {
    /// How the numbers of requests vary.
    pub memory: Memory,
    /// Share of requests simultaneous with the previous one.
    pub group: Fraction,
    /// Share of hot requests that go to the same place each time.
    pub stable: Fraction,
    /// The second half of each trace, compared with a twin with the class of the first halves.
    pub judged: Vec<(String, Vec<Row>)>,
}

/// A weighted mean of figures.
#[derive(Clone, Copy, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn add(&mut self, figure: f64, weight: f64) {
        (self.sum, self.weight) = (self.sum + figure * weight, self.weight + weight);
    }

    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Fits a class to traces, and compares their second halves with twins fitted to the first halves.
/// Dispersions are means weighted by requests, as for merged independent streams.
///
/// # Errors
/// An invalid trace; a trace whose requests are all simultaneous, or all in one half; no traces.
pub fn fit_class(traces: &[String]) -> Result<Class, WorkloadError> {
    let (mut wholes, mut firsts, mut seconds) = (vec![], vec![], vec![]);
    for text in traces {
        let piece = Piece::whole(text)?;
        let whole = fit_piece(&piece, "the whole")?;
        let middle = (whole.trace.span_s() * 5e8) as u64;
        let [first, second] = [piece.within(0..middle), piece.within(middle..u64::MAX)];
        let second = second.statistics()?;
        if middle == 0 || second.span_s() == 0.0 {
            let what = "all requests, or those of one half, arrive at one instant";
            return Err(Problem::new(ErrorKind::Content, text, what).allowed("a trace with times").into());
        }
        wholes.push(whole);
        firsts.push(fit_piece(&first, "the first half")?);
        seconds.push(second);
    }
    let mut class = Class::of(&wholes);
    let of_halves = Class::of(&firsts);
    for ((text, first), second) in traces.iter().zip(&firsts).zip(&seconds) {
        let twin = of_halves.twin_of(&first.description, second)?;
        class.judged.push((text.to_string(), rows(second, &twin)));
    }
    Ok(class)
}

impl Class {
    /// Common properties of fitted traces.
    fn of(fitted: &[Fitted]) -> Class {
        let none = || vec![Weighted::default(); WINDOWS.len()];
        let (mut reads, mut writes, mut together) = (none(), none(), none());
        let (mut group, mut stable) = (Weighted::default(), Weighted::default());
        for Fitted { trace, description, .. } in fitted {
            let [read, written] = [HostOp::Read, HostOp::Write].map(|op| trace.side(op).requests());
            group.add(trace.group_share(), trace.requests() as f64);
            if trace.updates() >= FEW_UPDATES {
                stable.add(description.writes.stable.as_f64(), written as f64);
            }
            for (length, v) in trace.variations() {
                let at = WINDOWS.iter().position(|w| *w == length).unwrap_or_default();
                for (curve, op, n) in
                    [(&mut reads, HostOp::Read, read), (&mut writes, HostOp::Write, written)]
                {
                    if let Some(d) = v.dispersion_of(op).filter(|_| n >= FEW) {
                        curve[at].add(d, n as f64);
                    }
                }
                if let Some(c) = v.together().filter(|_| read.min(written) >= FEW) {
                    together[at].add(c, trace.requests() as f64);
                }
            }
        }
        let known: Vec<usize> =
            (0..WINDOWS.len()).filter(|i| reads[*i].weight + writes[*i].weight > 0.0).collect();
        let curve = |of: &[Weighted], chance: f64| {
            let mut last = chance;
            let found = known.iter().map(|i| {
                // Where no trace is long enough, use the value of the windows before.
                last = of[*i].mean().unwrap_or(last);
                last
            });
            found.collect::<Vec<f64>>()
        };
        let memory = Memory {
            windows: known.iter().map(|i| SimDuration(WINDOWS[*i])).collect(),
            reads: curve(&reads, 1.0),
            writes: curve(&writes, 1.0),
            together: curve(&together, 0.0),
        };
        let share = |w: Weighted| Fraction((w.mean().unwrap_or(0.0) * 1e9).round() as u64);
        Class { memory, group: share(group), stable: share(stable), judged: vec![] }
    }

    /// The figures of a twin with the request counts of one half, the addresses of the other, and the
    /// arrivals of the class.
    fn twin_of(&self, first: &Description, second: &Statistics) -> Result<Statistics, WorkloadError> {
        let mut d = first.clone();
        d.requests = second.requests();
        d.write = Fraction((second.write_share() * 1e9).round() as u64);
        d.arrivals.span = SimDuration((second.span_s() * 1e9) as u64);
        d.arrivals.envelope = None;
        d.arrivals.memory = Some(self.memory.clone());
        d.arrivals.group = self.group;
        d.writes.stable = self.stable;
        let mut found = Statistics::new(d.writes.page * LBA_BYTES, Depth::Full);
        for request in requests_of(&d, SEED, None)? {
            found.add(&request);
        }
        Ok(found)
    }

    /// The lines for a twin's file, and the comparison of each trace's second half with a twin.
    pub fn render(&self) -> String {
        let m = &self.memory;
        let joined = |numbers: &[f64], digits: usize| {
            numbers.iter().map(|x| format!("{x:.digits$}")).collect::<Vec<_>>().join("/")
        };
        let windows: Vec<String> = m.windows.iter().map(SimDuration::to_string).collect();
        let mut out = format!(
            "[arrivals]\ngroup = \"{}\"\nwindows = \"{}\"\nread_dispersion = \"{}\"\nwrite_dispersion = \"{}\"\n\
             together = \"{}\"\n\n[write]\nstable = \"{}\"\n",
            rounded(self.group),
            windows.join("/"),
            joined(&m.reads, 1),
            joined(&m.writes, 1),
            joined(&m.together, 2),
            rounded(self.stable)
        );
        for (text, rows) in &self.judged {
            let heads = ["", "trace", "twin", "difference", "bound", "verdict"].map(str::to_string);
            let cells: Vec<_> = std::iter::once(heads).chain(rows.iter().map(Row::cells)).collect();
            let _ = write!(
                out,
                "\nsecond half of {}, and a twin by the first halves\n{}",
                name_of(text),
                indented(&cells)
            );
        }
        out
    }
}

/// A share, rounded to tenths of a percent.
fn rounded(share: Fraction) -> Fraction {
    Fraction((share.0 + 500_000) / 1_000_000 * 1_000_000)
}

/// The name of a trace's file.
fn name_of(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// Criteria of a class: dispersions, and shares of updates within pages.
fn rows(trace: &Statistics, twin: &Statistics) -> Vec<Row> {
    let mut rows = vec![];
    for (length, target, windows) in trace.dispersion() {
        let criterion = if windows >= JUDGED { Criterion::Factor(1.5) } else { Criterion::Told };
        if let Some(found) = twin.dispersion().iter().find(|d| d.0 == length) {
            let what = format!("dispersion, {} windows", SimDuration(length));
            rows.push(Row::new(what, Unit::Number, Some(target), found.1, criterion));
        }
    }
    if let (Some(of_trace), Some(of_twin)) = (trace.stable_shares(), twin.stable_shares()) {
        let enough = trace.updates() >= FEW_UPDATES;
        let criterion = if enough { Criterion::Points(10.0) } else { Criterion::Told };
        for (i, what) in ["partial updates of all written sectors", "partial updates of the same sectors"]
            .into_iter()
            .enumerate()
        {
            rows.push(Row::new(what, Unit::Share, Some(of_trace[i]), of_twin[i], criterion));
        }
    }
    if let (Some(target), Some(found)) = (trace.read_written_share(), twin.read_written_share()) {
        rows.push(Row::new(
            "reads of previously written pages",
            Unit::Share,
            Some(target),
            found,
            Criterion::Told,
        ));
    }
    rows
}
