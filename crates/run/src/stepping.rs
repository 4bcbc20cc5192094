//! A drive that advances only by calls: requests are submitted one by one, and at any moment the drive can be forked,
//! or tried under a workload.

use crate::ask::saved::{FromState, Moment};
use crate::ask::setup::Setup;
use crate::ask::spec::RunSpec;
use crate::error::RunError;
use crate::execute::{Progress, perform, ready};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::Instant;
use wordline_device::DeviceSpec;
use wordline_ftl::{BlockLife, Cause, RegionId};
use wordline_report::Report;
use wordline_sim::{Completion, Device, DeviceError, NoProbe};
use wordline_units::{BlockId, HostRequest, SimTime};

/// The blocks of a drive, by column.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Block, plane, live bytes, erases.
    pub numbers: [Vec<i64>; 4],
    /// Region, mode, and whether the block is erased, open, full, being emptied, or retired.
    pub words: [Vec<String>; 3],
    /// Shares of life used of the blocks.
    pub life_used: Vec<f64>,
}

impl Blocks {
    /// The names of the columns of numbers.
    pub const NUMBERS: [&str; 4] = ["block", "plane", "live_bytes", "erases"];
    /// The names of the columns of words.
    pub const WORDS: [&str; 3] = ["region", "mode", "state"];
}

fn life_word(life: BlockLife) -> &'static str {
    match life {
        BlockLife::Erased => "erased",
        BlockLife::Open => "open",
        BlockLife::Full => "full",
        BlockLife::Emptied => "emptied",
        BlockLife::Retired => "retired",
    }
}

/// A drive under one scheme, with its clock.
pub struct SteppedDrive {
    setup: Setup,
    spelling: String,
    device: Device<NoProbe>,
    /// The state of the drive, kept for forks until it changes.
    moment: Option<Moment>,
}

impl SteppedDrive {
    /// The drive with which a run begins.
    ///
    /// # Errors
    /// As for [`crate::run`].
    pub fn new(spec: &RunSpec) -> Result<SteppedDrive, RunError> {
        let setup = Setup::resolve(spec)?;
        let spelling = setup.spelling(&setup.spec.scheme)?;
        let (device, _) = ready(&setup, &spelling, NoProbe)?;
        Ok(SteppedDrive { setup, spelling, device, moment: None })
    }

    /// Its scheme with all parameters that were given.
    pub fn scheme(&self) -> &str {
        &self.spelling
    }

    /// Its time.
    pub fn now(&self) -> SimTime {
        self.device.now()
    }

    /// Submitted requests, and outstanding ones.
    pub fn requests(&self) -> (u64, u32) {
        (self.device.submitted(), self.device.outstanding())
    }

    /// Submit a request at its arrival, after all earlier events. Returns its number.
    ///
    /// # Errors
    /// If the time is in the past, or the request is beyond the drive.
    pub fn submit(&mut self, request: HostRequest) -> Result<u64, RunError> {
        self.submit_at(request, request.arrival)
    }

    /// The same of a request that has arrived before, and has waited outside until a time.
    pub(crate) fn submit_at(&mut self, request: HostRequest, at: SimTime) -> Result<u64, RunError> {
        self.moment = None;
        self.device.submit(request, at).map_err(|e| self.told(e))
    }

    /// Description of the drive.
    pub(crate) fn device(&self) -> &DeviceSpec {
        &self.setup.device
    }

    /// The next request to end by a time. Without one, the time is reached, or with [`SimTime::NEVER`] no event is
    /// left.
    ///
    /// # Errors
    /// A fault of the scheme or of Wordline.
    pub fn next(&mut self, until: SimTime) -> Result<Option<Completion>, RunError> {
        let ended = self.next_by(until)?;
        if ended.is_none() && until < SimTime::NEVER {
            self.device.advance_to(until).map_err(|e| self.told(e))?;
        }
        Ok(ended)
    }

    /// The next request to end by a time. Without one, the drive stays at its last event.
    pub(crate) fn next_by(&mut self, until: SimTime) -> Result<Option<Completion>, RunError> {
        self.moment = None;
        self.device.next_completion(until).map_err(|e| self.told(e))
    }

    /// A request that has ended already.
    pub(crate) fn poll(&mut self) -> Option<Completion> {
        self.device.poll()
    }

    /// Complete all outstanding work, and idle work until none is left.
    ///
    /// # Errors
    /// A fault of the scheme or of Wordline.
    pub fn drain(&mut self) -> Result<(), RunError> {
        self.moment = None;
        self.device.drain().map_err(|e| self.told(e))
    }

    /// State of the drive: its time, requests, contents, and each region with its counters.
    pub fn look(&self) -> Value {
        let (ftl, (submitted, outstanding)) = (self.device.ftl(), self.requests());
        let by_cause = |counts: &[u64]| -> Value {
            let pairs =
                Cause::ALL.iter().zip(counts).map(|(cause, n)| (cause.key().to_string(), (*n).into()));
            Value::Object(pairs.collect())
        };
        let counters = &ftl.counters().regions;
        let regions = ftl.layout().regions.iter().zip(counters).enumerate().map(|(i, (region, counted))| {
            let id = RegionId(i as u8);
            json!({
                "name": region.name,
                "mode": region.mode.key(),
                "blocks": ftl.inspect().owned_blocks(id),
                "free_share": ftl.inspect().free_share(id),
                "erases": counted.counts.erases,
                "programmed_bytes": by_cause(&counted.program_bytes),
                "reads": by_cause(&counted.reads),
            })
        });
        let (sector, view) = (self.setup.geometry.sector, ftl.view());
        let live: u64 =
            (0..self.setup.geometry.blocks).map(|b| u64::from(view.live_sectors(BlockId(b)))).sum();
        json!({
            "now_ns": self.now().0,
            "submitted": submitted,
            "outstanding": outstanding,
            "scheme": self.spelling,
            "logical_bytes": self.setup.device.logical_bytes(),
            "live_bytes": live * sector,
            "usable_bytes": ftl.inspect().usable_bytes().0,
            "host_page_bytes": ftl.counters().host.write_page_bytes,
            "regions": regions.collect::<Vec<Value>>(),
        })
    }

    /// Every block, by column.
    pub fn blocks(&self) -> Blocks {
        let (ftl, geometry) = (self.device.ftl(), &self.setup.geometry);
        let view = ftl.view();
        let mut found = Blocks::default();
        for (i, (_, erases)) in ftl.inspect().wear().enumerate() {
            let block = BlockId(i as u32);
            let status = ftl.inspect().block_status(block);
            found.numbers[0].push(i as i64);
            found.numbers[1].push(geometry.plane_of(block).0 as i64);
            found.numbers[2].push((view.live_sectors(block) as u64 * geometry.sector) as i64);
            found.numbers[3].push(erases as i64);
            found.words[0].push(ftl.layout().regions[status.region.0 as usize].name.to_string());
            found.words[1].push(status.mode.key().to_string());
            found.words[2].push(life_word(status.life).to_string());
            found.life_used.push(view.life_used(block));
        }
        found
    }

    fn told(&self, e: DeviceError) -> RunError {
        match e {
            DeviceError::Request(_) | DeviceError::Late { .. } => RunError::Input(e.to_string()),
            DeviceError::Fault(_) | DeviceError::Stuck { .. } => RunError::Fault {
                what: e.to_string(),
                replay: self.setup.spec.with_scheme(&self.spelling).shell_command(),
            },
        }
    }

    /// The state of the drive, from which others are forked. It is written down once, however many do.
    fn moment(&mut self) -> Result<Moment, RunError> {
        if let Some(moment) = &self.moment {
            return Ok(moment.clone());
        }
        let label = self.setup.label(&self.spelling);
        let moment = Moment::of(&self.device, label, self.setup.spec.seed)?;
        self.moment = Some(moment.clone());
        Ok(moment)
    }

    /// A copy of the drive with its outstanding work: both continue independently and share unchanged data.
    ///
    /// # Errors
    /// If memory is short, or the drive has failed.
    pub fn fork(&mut self) -> Result<SteppedDrive, RunError> {
        let moment = self.moment()?;
        let label = self.setup.label(&self.spelling);
        let device = moment.device(&self.setup.spec.registry, label, &self.setup.geometry)?;
        Ok(SteppedDrive {
            setup: self.setup.clone(),
            spelling: self.spelling.clone(),
            device,
            moment: Some(moment),
        })
    }

    /// Run a workload on a fork of the drive, with time and counters from zero: its report, and the fork afterwards.
    /// Of the specification, device, scheme and initial state are those of the drive.
    ///
    /// # Errors
    /// If the drive has outstanding work, or as for [`crate::run`].
    pub fn play(
        &mut self,
        asked: &RunSpec,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Report, SteppedDrive), RunError> {
        let begin = Instant::now();
        let moment = self.moment()?;
        let setup = Setup::beginning_with(asked, self.setup.device.clone(), FromState::of(moment))?;
        let (mut device, start) = ready(&setup, &self.spelling, NoProbe)?;
        let report = perform(&setup, &self.spelling, 0, (&mut device, start), begin, progress)?;
        Ok((report, SteppedDrive { setup, spelling: self.spelling.clone(), device, moment: None }))
    }
}
