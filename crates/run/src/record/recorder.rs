//! Recording of a run: the operation log with every use of arrays and buses, the completions, and a timeline
//! for a trace viewer. Rows are written as events happen; memory does not grow with the run.
//!
//! The log is CSV after one comment line of JSON that describes the drive, so that a separate program can
//! check it.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::record::completions::Completions;
use crate::record::output::Output;
use crate::record::timeline::{Timeline, Window};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use wordline_flash::ProgramRule;
use wordline_ftl::{EarlierBits, Ftl, OpKind, Part, RegionId};
use wordline_sim::{Begin, Completion, Event, Moment, Probe};
use wordline_units::{CellMode, PlaneId};

/// The columns of an operation log.
const LOG_COLUMNS: &str = "op,use,kind,cause,start_ns,end_ns,channel,die,plane,block,slot,slots,\
                           mode,page,region,bytes,data,retries";
/// The outputs of a recorded run. The files get their names after the run.
pub struct Recording {
    log: Option<Output>,
    completions: Option<Completions>,
    timeline: Option<Timeline>,
}

/// The possible output files of a run.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Every use of an array and a bus.
    pub log: Option<PathBuf>,
    /// Completions: Parquet if the name ends in `.parquet`, otherwise CSV.
    pub completions: Option<PathBuf>,
    /// A timeline of dies, buses and requests, as JSON for a trace viewer.
    pub timeline: Option<PathBuf>,
    /// The time window of the timeline.
    pub window: Window,
}

impl Files {
    /// Whether any output is requested.
    pub fn any(&self) -> bool {
        self.log.is_some() || self.completions.is_some() || self.timeline.is_some()
    }
}

impl Recording {
    /// Check that the files can be written; `.gz` and `.zst` compress them.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn open(files: &Files) -> Result<Recording, RunError> {
        let timeline = |path: &PathBuf| Timeline::open(path, files.window);
        Ok(Recording {
            log: files.log.as_deref().map(Output::open).transpose()?,
            completions: files.completions.as_deref().map(Completions::open).transpose()?,
            timeline: files.timeline.as_ref().map(timeline).transpose()?,
        })
    }
}

/// An operation in progress: the columns before and after those of its uses.
#[derive(Clone, Default)]
struct Under {
    op: Option<u64>,
    kind: String,
    behind: String,
    retries: u8,
}

/// Writes the rows of a run.
pub(crate) struct Recorder {
    log: Option<Output>,
    completions: Option<Completions>,
    timeline: Option<Timeline>,
    /// The first failure, after which nothing is written.
    failed: Option<RunError>,
    broken: Rc<Cell<bool>>,
    regions: Vec<String>,
    slot_mask: u32,
    slot_shift: u32,
    /// The operations of each plane, one per register.
    current: Vec<[Under; 2]>,
    line: String,
}

impl Recorder {
    pub(crate) fn new(recording: Recording, setup: &Setup) -> Recorder {
        Recorder {
            log: recording.log,
            completions: recording.completions,
            timeline: recording.timeline,
            failed: None,
            broken: Rc::default(),
            regions: vec![],
            slot_mask: (1 << setup.geometry.slot_shift) - 1,
            slot_shift: setup.geometry.slot_shift,
            current: vec![Default::default(); setup.geometry.planes as usize],
            line: String::new(),
        }
    }

    /// Start the files with everything known before the first request.
    pub(crate) fn begin_files(&mut self, setup: &Setup, scheme: &str, ftl: &Ftl) {
        self.regions = ftl.layout().regions.iter().map(|r| r.name.to_string()).collect();
        self.line = format!("# {}\n{LOG_COLUMNS}\n", log_header(setup, scheme, ftl));
        self.write_log();
        if let Some(out) = &mut self.completions {
            let begun = out.begin(setup, scheme);
            self.note(begun);
        }
        if let Some(out) = &mut self.timeline {
            let begun = out.begin(setup, scheme, &self.regions);
            self.note(begun);
        }
    }

    /// Keep the first failure.
    fn note(&mut self, written: Result<(), RunError>) {
        if let (None, Err(e)) = (&self.failed, written) {
            self.failed = Some(e);
            self.broken.set(true);
        }
    }

    fn write_log(&mut self) {
        if let (None, Some(out)) = (&self.failed, &mut self.log) {
            let written = out.write(&self.line);
            self.note(written);
        }
    }

    /// Let a timeline that is wanted see something.
    fn show(&mut self, see: impl FnOnce(&mut Timeline) -> Result<(), RunError>) {
        if let (None, Some(out)) = (&self.failed, &mut self.timeline) {
            let written = see(out);
            self.note(written);
        }
    }

    /// Set when a file cannot be written, so that the run can end.
    pub(crate) fn broken(&self) -> Rc<Cell<bool>> {
        self.broken.clone()
    }

    /// The failure, if there is one.
    pub(crate) fn failure(&mut self) -> Option<RunError> {
        self.failed.take()
    }

    /// Write the rest, and give the files their names.
    pub(crate) fn finish(self) -> Result<(), RunError> {
        self.log.map_or(Ok(()), Output::finish)?;
        self.completions.map_or(Ok(()), Completions::finish)?;
        self.timeline.map_or(Ok(()), Timeline::finish)
    }

    fn row(&mut self, op: u64, name: &str, plane: usize, start: u64, end: u64) {
        if self.log.is_none() {
            return;
        }
        let Some(under) = self.current[plane].iter().find(|under| under.op == Some(op)) else { return };
        let Under { kind, behind, retries, .. } = under;
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = writeln!(self.line, "{op},{name},{kind},{start},{end},{behind},{retries}");
        self.write_log();
    }

    /// The current operation of a plane, if any.
    fn under(&mut self, plane: PlaneId, op: u64) -> impl Iterator<Item = &mut Under> {
        self.current[plane.index()].iter_mut().filter(move |under| under.op == Some(op))
    }
}

impl Probe for Recorder {
    const WATCHES: bool = true;

    fn begin(&mut self, b: &Begin, parts: impl Iterator<Item = Part>) {
        self.show(|timeline| {
            timeline.op_begins(b);
            Ok(())
        });
        if self.log.is_none() {
            return;
        }
        let kind = b.kind.key();
        let page = if b.kind == OpKind::Erase { "" } else { b.page.key() };
        let [first, second] = &mut self.current[b.plane.index()];
        let under = if first.op.is_none() { first } else { second };
        under.op = Some(b.op);
        let Under { kind: what, behind, retries, .. } = under;
        what.clear();
        behind.clear();
        *retries = 0;
        let _ = write!(what, "{kind},{}", b.cause.key());
        let (block, slot) = (b.ppn.0 >> self.slot_shift, b.ppn.0 & self.slot_mask);
        let region = &self.regions[b.region.0 as usize];
        let _ = write!(
            behind,
            "{},{},{},{block},{slot},{},{},{page},{region},{},",
            b.channel,
            b.die,
            b.plane,
            b.slots,
            b.mode.key(),
            b.bytes
        );
        for (i, part) in parts.enumerate() {
            let gap = if i == 0 { "" } else { " " };
            let slot = part.ppn.0 & self.slot_mask;
            let _ = write!(behind, "{gap}{slot}:{}:{}:{}", part.lpn, part.sectors, part.cause.key());
        }
    }

    fn event(&mut self, event: Event) {
        self.show(|timeline| timeline.event(event));
        match event {
            Event::Array { op, plane, retries, start, end, .. } => {
                self.under(plane, op).for_each(|under| under.retries = retries);
                self.row(op, "array", plane.index(), start.0, end.0);
            }
            Event::Bus { op, plane, start, end, .. } => self.row(op, "bus", plane.index(), start.0, end.0),
            Event::Ready { op, plane, .. } => self.under(plane, op).for_each(|under| under.op = None),
        }
    }

    fn moment(&mut self, moment: Moment) {
        self.show(|timeline| timeline.moment(moment));
    }

    fn completion(&mut self, c: &Completion) {
        if let (None, Some(out)) = (&self.failed, &mut self.completions) {
            let written = out.row(c);
            self.note(written);
        }
        self.show(|timeline| timeline.completion(c));
    }
}

/// Geometry, times, regions, and data programmed before time 0: everything that a checker needs.
fn log_header(setup: &Setup, scheme: &str, ftl: &Ftl) -> Value {
    let (spec, layout) = (&setup.device, ftl.layout());
    let media: Vec<Value> = spec
        .media
        .iter()
        .map(|m| {
            let modes: serde_json::Map<String, Value> = CellMode::ALL
                .into_iter()
                .filter_map(|mode| Some((mode, m.mode(mode)?)))
                .map(|(mode, t)| {
                    let bits = mode.bits() as usize;
                    let by_page = |times: &[wordline_units::SimDuration]| -> Vec<u64> {
                        times[..bits].iter().map(|d| d.0).collect()
                    };
                    let mut times = json!({
                        "read_ns": by_page(&t.read),
                        "program_ns": by_page(&t.program),
                        "erase_ns": t.erase.0,
                    });
                    if let Some(time) = t.copy_back {
                        times["copy_back_ns"] = time.0.into();
                    }
                    (mode.key().to_string(), times)
                })
                .collect();
            json!({
                "name": m.name,
                "channels": m.topology.channels,
                "chips_per_channel": m.topology.chips_per_channel,
                "dies_per_chip": m.topology.dies_per_chip,
                "planes_per_die": m.topology.planes_per_die,
                "blocks_per_plane": m.blocks_per_plane,
                "wordlines_per_block": m.wordlines_per_block,
                "page_bytes": m.page.0,
                "bus": { "bytes": m.bus.bytes, "ns": m.bus.nanoseconds },
                "command_ns": {
                    "read": m.command.read.0,
                    "program": m.command.program.0,
                    "erase": m.command.erase.0,
                },
                "cache_register": m.cache_register.key(),
                "modes": modes,
            })
        })
        .collect();
    let regions: Vec<Value> = layout
        .regions
        .iter()
        .map(|r| {
            let (rule, pages) = match r.rule {
                ProgramRule::OneShot(k) => ("one-shot", k as u32),
                ProgramRule::Sequential => ("sequential", 1),
                ProgramRule::StrictDiagonal => ("strict-diagonal", 1),
                ProgramRule::Relaxed => ("relaxed", 1),
                ProgramRule::ReprogramWindow(_) => ("reprogram-window", 1),
            };
            let window = match r.rule {
                ProgramRule::ReprogramWindow(w) => json!({ "wordlines": w.wordlines, "layers": w.layers }),
                _ => Value::Null,
            };
            let reread_ns = match r.earlier_bits {
                EarlierBits::RereadIn(time) => json!(time.0),
                EarlierBits::Buffered | EarlierBits::Reread => Value::Null,
            };
            let medium = layout.pools[r.pool.0 as usize].medium;
            json!({
                "name": r.name,
                "medium": medium,
                "mode": r.mode.key(),
                "rule": rule,
                "pages_per_program": pages,
                "rereads_earlier_bits": r.earlier_bits == EarlierBits::Reread,
                "window": window,
                "reread_ns": reread_ns,
            })
        })
        .collect();
    json!({
        "log": "wordline.log/1",
        "version": crate::ask::spec::VERSION,
        "device": spec.name,
        "scheme": scheme,
        "workload": setup.workload.name(),
        "seed": setup.spec.seed,
        "unit_bytes": spec.unit.0,
        "sector_bytes": spec.sector.0,
        "parallel_unit": spec.parallel_unit.key(),
        "multiplane": spec.multiplane.key(),
        "multiplane_pages": spec.multiplane_pages.key(),
        "suspends": spec.service.suspension.is_some(),
        "errors": spec.errors.as_ref().map(|e| json!({
            "decode_ns": e.decode.0,
            "retransfer": e.retransfer,
            "most_retries": e.modes.iter().flatten().map(|m| m.most_retries).max(),
        })),
        "media": media,
        "regions": regions,
        "programmed": runs(ftl),
    })
}

/// Data programmed before time 0, as runs of equal neighboring blocks: first block, count, region, programmed
/// slots in each, and pages by bit under rules that distinguish bits.
fn runs(ftl: &Ftl) -> Vec<Value> {
    let mut runs: Vec<(u32, u32, RegionId, [u32; 4], bool)> = vec![];
    for (block, region, pages, direct) in ftl.inspect().programmed() {
        match runs.last_mut() {
            Some(r) if r.0 + r.1 == block.0 && (r.2, r.3, r.4) == (region, pages, direct) => r.1 += 1,
            _ => runs.push((block.0, 1, region, pages, direct)),
        }
    }
    let of = |(first, count, region, pages, direct): (u32, u32, RegionId, [u32; 4], bool)| {
        let laid_out = &ftl.layout().regions[region.0 as usize];
        let medium = ftl.layout().pools[laid_out.pool.0 as usize].medium;
        let slots = pages.iter().sum::<u32>() * ftl.view().geometry().units_per_page(medium);
        match laid_out.rule.by_bit() {
            true if direct => {
                json!([first, count, region.0, slots, pages[..laid_out.mode.bits() as usize], "direct"])
            }
            true => json!([first, count, region.0, slots, pages[..laid_out.mode.bits() as usize]]),
            false => json!([first, count, region.0, slots]),
        }
    };
    runs.into_iter().map(of).collect()
}
