//! The verdict on a fitted twin: the figures of trace and twin with their tolerances, and a sentence on what
//! the twin represents.

use crate::fitting::check::{Criterion, Row, Unit, indented};
use crate::fitting::common::of_both;
use crate::fitting::fitting::{Fallback, Fitted};
use crate::fitting::piece::PAGE;
use crate::generators::twin::in_bursts::InBursts;
use crate::generators::twin::statistics::Statistics;
use wordline_trace::readable_bytes;
use wordline_units::grouped;
use wordline_units::{HostOp, SimDuration};

/// Minimum number of windows of a length for its dispersion to be compared.
pub(crate) const JUDGED: u64 = 30;
/// With fewer requests, random variation moves shares by more than a point.
const FEW: u64 = 10_000;

/// An aspect in which a twin can represent its trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aspect {
    /// The numbers of requests by kind and size.
    Mix,
    /// Which addresses are accessed, how often, and in which order.
    Locality,
    /// Which parts of pages are accessed, and whether updates repeat them.
    WithinPages,
    /// The arrival times.
    Arrivals,
    /// The files to which requests of a burst go.
    Files,
    /// The write amplification on a drive.
    Amplification,
    /// The latencies on a drive.
    Latency,
}

impl Aspect {
    const ALL: [Aspect; 7] = [
        Aspect::Mix,
        Aspect::Locality,
        Aspect::WithinPages,
        Aspect::Arrivals,
        Aspect::Files,
        Aspect::Amplification,
        Aspect::Latency,
    ];

    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Mix => "counts, mix and sizes",
            Aspect::Locality => "footprint, sequentiality and hit curve",
            Aspect::WithinPages => "locality within pages",
            Aspect::Arrivals => "arrivals",
            Aspect::Files => "files in bursts",
            Aspect::Amplification => "write amplification",
            Aspect::Latency => "latencies",
        }
    }
}

/// The comparison of a trace with its twin.
#[derive(Clone, Debug)]
pub struct Verdict {
    rows: Vec<(Aspect, Row)>,
    fallbacks: Vec<Fallback>,
    requests: u64,
    /// The drive on which both were run.
    drive: String,
    /// Why the drive, or its write amplification, was not compared.
    untried: Option<String>,
}

impl Verdict {
    /// The figures of trace and twin with their tolerances.
    pub fn of(fitted: &Fitted) -> Verdict {
        let mut v = Verdict {
            rows: vec![],
            fallbacks: fitted.fallbacks.clone(),
            requests: fitted.trace.requests(),
            drive: String::new(),
            untried: None,
        };
        let both = [&fitted.trace, &fitted.twin];
        v.mix(both);
        v.locality(both, &fitted.caches);
        v.within_pages(both);
        v.arrivals(both);
        v.files(both);
        v
    }

    /// Add a figure, if both have it.
    pub fn add(
        &mut self,
        aspect: Aspect,
        statistic: &str,
        unit: Unit,
        [trace, twin]: [Option<f64>; 2],
        criterion: Criterion,
    ) {
        if let (Some(trace), Some(twin)) = (trace, twin) {
            self.rows.push((aspect, Row::new(statistic, unit, Some(trace), twin, criterion)));
        }
    }

    /// Note the drive on which trace and twin were run.
    pub fn on(&mut self, drive: String) {
        self.drive = drive;
        self.untried = None;
    }

    /// Note why write amplification, or the whole drive, was not compared.
    pub fn untried(&mut self, why: String) {
        self.untried = Some(why);
    }

    fn compare(
        &mut self,
        aspect: Aspect,
        statistic: &str,
        unit: Unit,
        both: [&Statistics; 2],
        criterion: Criterion,
        figure: impl Fn(&Statistics) -> Option<f64>,
    ) {
        self.add(aspect, statistic, unit, both.map(figure), criterion);
    }

    fn mix(&mut self, both: [&Statistics; 2]) {
        use Criterion::{Exact, Percent, Points};
        let aspect = Aspect::Mix;
        let mut row = |what: &str, unit, criterion, figure: &dyn Fn(&Statistics) -> Option<f64>| {
            self.compare(aspect, what, unit, both, criterion, figure);
        };
        let volume = |bytes: u64| Some(bytes as f64).filter(|b| *b > 0.0);
        row("requests", Unit::Count, Exact, &|s| Some(s.requests() as f64));
        row("write ratio", Unit::Share, Points(0.5), &|s| Some(s.write_share()));
        row("consecutive requests of one kind", Unit::Number, Percent(10.0), &|s| Some(s.run()));
        row("mean read size", Unit::Bytes, Percent(2.0), &Statistics::read_mean);
        row("mean write size", Unit::Bytes, Percent(2.0), &Statistics::write_mean);
        row("bytes read", Unit::Volume, Percent(3.0), &|s| volume(s.volumes().0));
        row("bytes written", Unit::Volume, Percent(3.0), &|s| volume(s.volumes().1));
    }

    fn locality(&mut self, both: [&Statistics; 2], caches: &[u64]) {
        use Criterion::{Percent, Points};
        let mut row = |what: &str, unit, criterion, figure: &dyn Fn(&Statistics) -> Option<f64>| {
            self.compare(Aspect::Locality, what, unit, both, criterion, figure);
        };
        let pages =
            |s: &Statistics, which: usize| s.footprints().map(|f| f[which] as f64).filter(|b| *b > 0.0);
        row("distinct pages touched", Unit::Volume, Percent(10.0), &|s| pages(s, 0));
        row("distinct pages read", Unit::Volume, Percent(10.0), &|s| pages(s, 1));
        row("distinct pages written", Unit::Volume, Percent(10.0), &|s| pages(s, 2));
        row("written pages that are also read", Unit::Share, Points(5.0), &|s| {
            pages(s, 1).zip(pages(s, 2)).map(|(_, written)| of_both(s) / written)
        });
        let continued = |s: &Statistics, which: usize, some: bool| some.then(|| s.continued_shares()[which]);
        row("sequential reads", Unit::Share, Points(3.0), &|s| {
            continued(s, 0, s.side(HostOp::Read).requests() > 0)
        });
        row("sequential writes", Unit::Share, Points(3.0), &|s| {
            continued(s, 1, s.side(HostOp::Write).requests() > 0)
        });
        row("reads of previously written pages", Unit::Share, Points(5.0), &|s| {
            s.read_written_share().filter(|_| s.side(HostOp::Read).requests() > 0)
        });
        for cache in caches {
            let what = format!("LRU write hits, {}", readable_bytes(*cache));
            row(&what, Unit::Share, Points(3.0), &|s| Some(s.hits(&[*cache])?[0]));
        }
    }

    fn within_pages(&mut self, both: [&Statistics; 2]) {
        let page = readable_bytes(PAGE);
        let points = Criterion::Points(5.0);
        let mut row = |what: String, figure: &dyn Fn(&Statistics) -> Option<f64>| {
            self.compare(Aspect::WithinPages, &what, Unit::Share, both, points, figure);
        };
        let written = |s: &Statistics, share: f64| (s.side(HostOp::Write).requests() > 0).then_some(share);
        row(format!("writes across several {page} pages"), &|s| written(s, s.large_share()));
        row(format!("partial writes of {page} pages"), &|s| written(s, s.partial_share()));
        row("partial updates of all written sectors".to_string(), &|s| Some(s.stable_shares()?[0]));
        row("partial updates of the same sectors".to_string(), &|s| Some(s.stable_shares()?[1]));
    }

    fn arrivals(&mut self, both: [&Statistics; 2]) {
        let mut row = |what: &str, unit, criterion, figure: &dyn Fn(&Statistics) -> Option<f64>| {
            self.compare(Aspect::Arrivals, what, unit, both, criterion, figure);
        };
        let timed = |s: &Statistics| s.span_s() > 0.0;
        row("duration", Unit::Seconds, Criterion::Percent(5.0), &|s| timed(s).then(|| s.span_s()));
        row("simultaneous with the previous request", Unit::Share, Criterion::Points(2.0), &|s| {
            timed(s).then(|| s.group_share())
        });
        row("variation of interarrival times", Unit::Number, Criterion::Percent(20.0), &|s| {
            s.gap_variation()
        });
        for (length, _, windows) in both[0].dispersion() {
            let criterion = if windows >= JUDGED { Criterion::Factor(1.5) } else { Criterion::Told };
            row(&format!("dispersion, {} windows", SimDuration(length)), Unit::Number, criterion, &|s| {
                s.dispersion().iter().find(|d| d.0 == length).map(|d| d.1)
            });
        }
    }

    /// Add the figures of bursts and files; those of files only if either has files.
    fn files(&mut self, both: [&Statistics; 2]) {
        use Criterion::{Factor, Points};
        for (op, name) in [(HostOp::Write, "writes"), (HostOp::Read, "reads")] {
            let found = both.map(|s| InBursts::of(s, op));
            let mut row = |what: String, unit, criterion, of: &dyn Fn(&InBursts) -> Option<f64>| {
                let figures = found.map(|f| f.as_ref().and_then(of));
                self.add(Aspect::Files, &what, unit, figures, criterion);
            };
            row(format!("{name} in bursts"), Unit::Share, Points(5.0), &|f| Some(f.bursts));
            if found.iter().flatten().all(|f| f.length.is_none()) {
                continue;
            }
            row(format!("file {name} in bursts"), Unit::Share, Points(5.0), &|f| Some(f.files));
            row(format!("file {name} outside bursts"), Unit::Share, Points(5.0), &|f| Some(f.files_apart));
            row(format!("{name} per file"), Unit::Number, Factor(1.5), &|f| f.length);
            row(format!("file {name} that start at a page boundary"), Unit::Share, Points(10.0), &|f| {
                f.aligned
            });
            row(format!("files of {name} near the previous file"), Unit::Share, Points(10.0), &|f| f.near);
        }
    }

    fn rows_of(&self, aspect: Aspect) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |(a, _)| *a == aspect).map(|(_, row)| row)
    }

    /// Whether all figures of an aspect are within their tolerances. `None` if nothing was compared.
    pub fn holds(&self, aspect: Aspect) -> Option<bool> {
        self.rows_of(aspect).map(Row::holds).reduce(|all, one| all && one)
    }

    /// The table, the properties that could not be fitted, and the verdict.
    pub fn render(&self) -> String {
        let heads = ["", "trace", "twin", "difference", "bound", "verdict"].map(str::to_string);
        let mut rows = vec![heads];
        let mut on_drive = false;
        for aspect in Aspect::ALL {
            let of = || self.rows_of(aspect);
            if of().next().is_none() {
                continue;
            }
            let drives = aspect >= Aspect::Amplification;
            let mut title = aspect.name().to_string();
            if drives && !on_drive && !self.drive.is_empty() {
                title += &format!(" on {}", self.drive);
                on_drive = true;
            }
            rows.push([title, String::new(), String::new(), String::new(), String::new(), String::new()]);
            rows.extend(of().map(|row| {
                let mut cells = row.cells();
                cells[0].insert_str(0, "  ");
                cells
            }));
        }
        let mut out = indented(&rows);
        for fallback in &self.fallbacks {
            out += &format!("\n{fallback}.");
        }
        if !self.fallbacks.is_empty() {
            out.push('\n');
        }
        out + "\n" + &self.sentence() + "\n"
    }

    /// A sentence on what the twin can and cannot be used for.
    pub fn sentence(&self) -> String {
        let with = |wanted: bool| -> Vec<String> {
            let all = Aspect::ALL.into_iter().filter(|a| self.holds(*a) == Some(wanted));
            all.map(|a| if wanted { a.name().to_string() } else { self.how_far(a) }).collect()
        };
        let (good, bad) = (with(true), with(false));
        let mut said = match (good.is_empty(), bad.is_empty()) {
            (false, true) => format!("This twin represents its trace in {}", good.join(", ")),
            (true, _) => {
                format!("This twin does not represent its trace: outside the bounds are {}", bad.join(", "))
            }
            (false, false) => {
                format!("This twin represents its trace in {}; not in {}", good.join(", "), bad.join(", "))
            }
        };
        if let Some(why) = &self.untried {
            said += &format!("; {why}");
        }
        if self.holds(Aspect::Latency) == Some(false) {
            said += "; do not quote its latencies for the trace";
        }
        if self.requests < FEW {
            let off = 100.0 / libm::sqrt(self.requests.max(1) as f64);
            said += &format!(
                "; with {} requests, random variation alone moves shares by up to {off:.1} points",
                grouped(self.requests)
            );
        }
        said + "."
    }

    /// An aspect with the figure that deviates most in relation to its tolerance.
    fn how_far(&self, aspect: Aspect) -> String {
        let excess = |row: &Row| match row.criterion {
            Criterion::Points(bound) | Criterion::Percent(bound) => {
                row.deviation().map_or(f64::INFINITY, |d| d.abs() / bound)
            }
            Criterion::Factor(bound) => row.factor().map_or(f64::INFINITY, |f| f / bound),
            _ => 0.0,
        };
        let outside = self.rows_of(aspect).filter(|r| !r.holds());
        let Some(worst) = outside.max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
            return aspect.name().to_string();
        };
        let [what, trace, twin, ..] = worst.cells();
        format!("{} ({what}: {twin} for {trace})", aspect.name())
    }
}
