//! The steady state of a drive in simulated time. The order of writes does not decide how far collection lags behind, how
//! much is padded, or which pages are overwritten on their way. So a drive like it runs for a while, in the regime that
//! was measured on the one before, and the run begins with what its blocks then hold.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::host::load::{Bounds, StreamError, drive_workload, failure};
use crate::plane_shares::{PARTS_PER_DRIVE, Shown};
use std::cell::Cell;
use std::rc::Rc;
use wordline_ftl::{Begun, Cause, Contents, Known, OpKind, Part, Reason, Regime};
use wordline_sim::{Begin, Completion, Device, DriveError, Event, Moment, Probe};
use wordline_units::{BlockId, HostOp};

/// The most that is written in simulated time, over all drives: a quarter of the data.
const BUDGET: u64 = 4;
/// Drives that run, at most.
const ROUNDS: u64 = 3;
/// The part of what is left after which a drive in another regime than it began in gives way to one that begins in that.
/// The last has the rest, and runs for as large a part of all at least: what lies in the blocks takes longer to settle than
/// the regime.
const SHOWN: u64 = 4;
/// Windows that the data of a drive make, at most.
const WINDOWS_PER_DATA: u64 = 400;
/// Windows until a regime can be said to stand still. The later half of them counts, in which the change to it is over.
const WINDOWS: usize = 6;
/// Blocks of host pages for each plane after which a short drive shows what planes are given.
const BLOCKS_SHOWN: u64 = 16;
/// In fewer, chance and the cycle of collection hide it: a plane must hold 32 times as many.
const BLOCKS_MIN: u64 = 4;
/// By how much two regimes that are called alike differ: free space as a victim is chosen, in blocks of a plane, and
/// slots of padding for each page and its padding.
const STILL: (f64, f64) = (0.25, 0.02);
/// By how much write amplification may differ from that of the untimed writes before these are no longer trusted, and by
/// how much of it free space may grow or shrink, in slots for each page of the host.
const LAW: f64 = 0.02;

/// What is counted while the host writes a given number of pages.
#[derive(Clone, Copy, Default)]
struct Window {
    /// Collections begun for want of space, and free slots of their planes then.
    collections: u64,
    free_slots: u64,
    /// Pages that the host wrote, those of it that were programmed, slots of padding, and all slots programmed.
    written: u64,
    pages: u64,
    padding: u64,
    slots: u64,
    /// Slots that were erased.
    erased: u64,
}

impl Window {
    fn of(windows: &[Window]) -> Window {
        windows.iter().fold(Window::default(), |sum, w| Window {
            collections: sum.collections + w.collections,
            free_slots: sum.free_slots + w.free_slots,
            written: sum.written + w.written,
            pages: sum.pages + w.pages,
            padding: sum.padding + w.padding,
            slots: sum.slots + w.slots,
            erased: sum.erased + w.erased,
        })
    }

    /// The regime in it, for blocks of this many slots; where nothing was collected, free space is as before.
    fn regime(&self, before: Regime, block: u64) -> Regime {
        let free_blocks = match self.collections {
            0 => before.free_blocks,
            n => self.free_slots as f64 / n as f64 / block as f64,
        };
        let padding = self.padding as f64 / self.pages.max(1) as f64;
        let programmed_share = self.pages as f64 / self.written.max(1) as f64;
        Regime { free_blocks, padding, programmed_share }
    }

    /// Write amplification with free space as it is: if that grew or shrank, collection did more or less than the host
    /// asked for. A victim with a share u of live slots gives 1 - u of a block for u of copies.
    fn waf(&self) -> f64 {
        let of_host = self.pages + self.padding;
        let copies = self.slots.saturating_sub(of_host) as f64;
        let gained = 1.0 - copies / self.erased.max(1) as f64;
        let slots = if gained > 0.0 && self.erased > 0 { of_host as f64 / gained } else { self.slots as f64 };
        slots / self.written.max(1) as f64
    }

    /// By how many slots free space grew for each page that the host wrote.
    fn growth(&self) -> f64 {
        (self.erased as f64 - self.slots as f64) / self.written.max(1) as f64
    }
}

/// Whether two regimes are alike, or this many times as far from it.
fn alike(a: Regime, b: Regime, times: f64) -> bool {
    (a.free_blocks - b.free_blocks).abs() <= times * STILL.0
        && (a.padding - b.padding).abs() <= times * STILL.1 * (1.0 + a.padding)
}

/// Watches a drive until it is in a regime that stands still.
pub(crate) struct RegimeProbe {
    begun: Option<Begun>,
    /// Slots of a block, and blocks of the host's addresses in a page.
    block: u64,
    page: u64,
    /// Pages of the host in a window, in all, and of these at most.
    pages_per_window: u64,
    pages: u64,
    pages_max: u64,
    /// Pages before which it has not settled.
    pages_min: u64,
    /// Pages until which another drive may run in its place.
    replaced_until: u64,
    now: Window,
    ended: Vec<Window>,
    /// Pages of the host that each plane programmed in the window, and in those that ended.
    inflow: Vec<u64>,
    inflows: Vec<Vec<u64>>,
    /// The block that each plane collects.
    collected: Vec<Option<BlockId>>,
    /// Whether it has seen enough.
    done: Rc<Cell<bool>>,
}

impl RegimeProbe {
    fn new(setup: &Setup, pages_max: u64) -> RegimeProbe {
        RegimeProbe {
            begun: None,
            block: 1,
            page: setup.shape.unit_blocks(),
            pages_per_window: u64::MAX,
            pages: 0,
            pages_max,
            pages_min: 0,
            replaced_until: 0,
            now: Window::default(),
            ended: vec![],
            inflow: vec![0; setup.geometry.planes as usize],
            inflows: vec![],
            collected: vec![None; setup.geometry.planes as usize],
            done: Rc::default(),
        }
    }

    /// The later half of its windows, in two halves.
    fn halves(&self) -> [Window; 2] {
        let n = self.ended.len();
        [n / 2..n - n / 4, n - n / 4..n].map(|part| Window::of(&self.ended[part]))
    }

    /// The later half of its windows.
    fn later(&self) -> Window {
        Window::of(&self.halves())
    }

    fn regime_in(&self, window: &Window) -> Regime {
        let before = self.begun.map_or(Regime::default(), |begun| begun.regime);
        window.regime(before, self.block)
    }

    fn regime(&self) -> Regime {
        self.regime_in(&self.later())
    }

    /// What part of the pages of the host each plane programmed in each window, in multiples of an equal one.
    fn inflow_shares(&self) -> Vec<Vec<f64>> {
        let shares = |pages: &Vec<u64>| {
            let mean = pages.iter().sum::<u64>().max(1) as f64 / pages.len() as f64;
            pages.iter().map(|pages| *pages as f64 / mean).collect()
        };
        self.inflows.iter().map(shares).collect()
    }

    /// Whether the drive runs in another regime than it began in.
    fn is_in_another(&self) -> bool {
        !self.begun.is_some_and(|begun| alike(begun.regime, self.regime(), 2.0))
    }

    /// Whether its regime stands still, and free space neither grows nor shrinks as far as can be told: that of each plane
    /// goes up and down by a block, so that a difference of two instants varies by a sixth of its square.
    fn is_still(&self) -> bool {
        let [before, after] = self.halves();
        let later = self.later();
        let unknown =
            (self.collected.len() as f64 / 6.0).sqrt() * self.block as f64 / later.written.max(1) as f64;
        self.ended.len() >= WINDOWS
            && alike(self.regime_in(&before), self.regime_in(&after), 1.0)
            && later.growth().abs() + unknown <= LAW * later.waf()
    }

    /// Whether it amplifies as the untimed writes did.
    fn follows_law(&self) -> bool {
        self.begun.is_some_and(|begun| (self.later().waf() / begun.waf - 1.0).abs() <= LAW)
    }

    /// Whether another drive is to run in its place, in the regime that this one shows.
    fn is_replaced(&self) -> bool {
        let (is_early, is_over) =
            (self.pages <= self.replaced_until, self.pages + self.pages_per_window > self.replaced_until);
        is_early && self.is_in_another() && (is_over || self.is_still())
    }

    fn end_window(&mut self) {
        self.ended.push(std::mem::take(&mut self.now));
        let planes = self.inflow.len();
        self.inflows.push(std::mem::replace(&mut self.inflow, vec![0; planes]));
        let settled =
            || self.pages >= self.pages_min && !self.is_in_another() && self.is_still() && self.follows_law();
        if self.is_replaced() || settled() || self.pages >= self.pages_max {
            self.done.set(true);
        }
    }
}

impl Probe for RegimeProbe {
    const WATCHES: bool = true;

    fn event(&mut self, _: Event) {}

    fn begin(&mut self, begin: &Begin, parts: impl Iterator<Item = Part>) {
        if self.done.get() {
            return;
        }
        if begin.kind == OpKind::Erase {
            self.now.erased += self.block;
        }
        if begin.kind != OpKind::Program {
            return;
        }
        let (mut all, mut of_host) = (0, 0);
        for part in parts {
            all += 1;
            of_host += u64::from(part.cause == Cause::Host);
        }
        self.pages += of_host;
        self.now.pages += of_host;
        self.inflow[begin.plane.index()] += of_host;
        self.now.slots += u64::from(begin.slots);
        self.now.padding += u64::from(begin.slots).saturating_sub(all);
        if self.now.pages >= self.pages_per_window {
            self.end_window();
        }
    }

    fn moment(&mut self, moment: Moment) {
        let Moment::Queued { plane, empties: Some(collecting), .. } = moment else { return };
        let collected = &mut self.collected[plane.index()];
        if *collected == Some(collecting.block) {
            return;
        }
        *collected = Some(collecting.block);
        if collecting.reason == Reason::Shortage {
            self.now.collections += 1;
            self.now.free_slots += collecting.free_slots;
        }
    }

    fn completion(&mut self, completion: &Completion) {
        let request = &completion.request;
        if request.op == HostOp::Write {
            let end = request.lba.0 + u64::from(request.blocks);
            self.now.written += end.div_ceil(self.page) - request.lba.0 / self.page;
        }
    }
}

/// What ran in simulated time before a run.
pub(crate) struct Ran {
    /// Its last regime.
    pub regime: Regime,
    /// What its blocks held at its end, where the workload is a law.
    pub contents: Option<Contents>,
    /// What the drives were written with, in multiples of their data.
    pub drive_writes: f64,
    /// Write amplification over the later half of its windows.
    pub waf: Option<f64>,
}

/// How a drive is begun, and what its blocks hold after a while.
pub(crate) trait Beginning {
    /// Put a drive into the steady state of what is known of it.
    fn begin(&self, device: &mut Device<RegimeProbe>, known: Known) -> Result<Begun, RunError>;
    /// What the blocks of a drive hold that began so; `None` where the workload is not a law.
    fn contents(
        &self,
        device: &mut Device<RegimeProbe>,
        begun: Begun,
        is_uneven: bool,
    ) -> Result<Option<Contents>, RunError>;
    /// The part of the data that is rewritten in this many drive writes; `None` where the workload is not a law.
    fn replaced(&self, drive_writes: f64) -> Option<f64>;
}

/// Slots of a block of the home region, and of half a block of all its planes.
fn slots(device: &Device<RegimeProbe>) -> (u64, u64) {
    let (layout, view) = (device.ftl.layout(), device.ftl.view());
    let home = &layout.regions[layout.home.0 as usize];
    let medium = &view.geometry().media[layout.pools[home.pool.0 as usize].medium];
    let block = medium.block_bytes(home.mode) / view.geometry().unit;
    (block, block * u64::from(medium.topology.planes()) / 2)
}

/// How long a drive runs.
#[derive(Clone, Copy)]
enum Length {
    /// For this many pages, in parts.
    Pages(u64),
    /// Until it has settled, or another is to run in its place; the last is replaced by no other.
    Settled { is_last: bool },
    /// For all that is left.
    Rest,
}

/// Drives that run one after another before a run.
struct TimedDrives<'a> {
    setup: &'a Setup,
    spelling: &'a str,
    beginning: &'a dyn Beginning,
    /// What a closed loop keeps outstanding, from which the first regime is estimated.
    outstanding: Option<u32>,
    /// Pages that hold data, and those that may yet be written.
    data: u64,
    left: u64,
}

impl<'a> TimedDrives<'a> {
    fn new(
        setup: &'a Setup,
        spelling: &'a str,
        outstanding: Option<u32>,
        beginning: &'a dyn Beginning,
    ) -> TimedDrives<'a> {
        let data = setup.state.mapped.count() as u64;
        TimedDrives { setup, spelling, beginning, outstanding, data, left: data / BUDGET }
    }

    fn built(&self) -> Result<Device<RegimeProbe>, RunError> {
        let scheme = self.setup.spec.registry.build(self.spelling)?;
        let probe = RegimeProbe::new(self.setup, self.left);
        Ok(Device::new(&self.setup.device, &self.setup.geometry, scheme, probe)?)
    }

    fn known<'s>(&self, at: Option<Regime>, shares: &'s [f64]) -> Known<'s> {
        match at {
            Some(regime) => Known::Regime(regime, shares),
            None => Known::Outstanding(self.outstanding, shares),
        }
    }

    /// Let a drive run.
    fn run(&mut self, known: Known, length: Length) -> Result<(Device<RegimeProbe>, Begun), RunError> {
        let (setup, data, left) = (self.setup, self.data, self.left);
        let mut device = self.built()?;
        let begun = self.beginning.begin(&mut device, known)?;
        let (block, half_of_all) = slots(&device);
        let (probe, window) = (&mut device.probe, half_of_all.max(data / WINDOWS_PER_DATA));
        (probe.begun, probe.block) = (Some(begun), block);
        let shown = (window * WINDOWS as u64).max(left / SHOWN).min(left / 2);
        probe.pages_per_window = window.min(shown / WINDOWS as u64).max(1);
        match length {
            Length::Pages(pages) => {
                (probe.pages_min, probe.pages_max) = (pages, pages);
                probe.pages_per_window = (pages / PARTS_PER_DRIVE as u64).max(1);
            }
            Length::Settled { is_last } => {
                probe.pages_min = (data / BUDGET / SHOWN).min(left);
                probe.replaced_until = if is_last { 0 } else { shown };
            }
            Length::Rest => probe.pages_min = left,
        }
        let done = probe.done.clone();
        let going_on = || match done.get() || wordline_units::is_interrupted() {
            true => Err(StreamError::Interrupted),
            false => Ok(()),
        };
        match drive_workload(setup, &mut device, Bounds::Caller, &going_on, |_| {}) {
            Ok(_) => {}
            Err(DriveError::Workload(StreamError::Interrupted)) if done.get() => {}
            Err(e) => return Err(failure(setup, self.spelling, e)),
        }
        self.left = left.saturating_sub(device.probe.pages);
        Ok((device, begun))
    }

    /// The shares that planes come to hold, and the regime then, where equal ones do not last. Planes have until half of the
    /// budget is written to begin to part, and the last quarter is left. `None` where equal ones last, as far as can be told.
    fn parted(&mut self) -> Result<Option<(Regime, Vec<f64>)>, RunError> {
        let device = self.built()?;
        let spread = device.ftl.spread(self.data);
        if !spread.is_free || self.beginning.replaced(0.0).is_none() {
            return Ok(None);
        }
        let block_each = slots(&device).1 * 2;
        let pages = (block_each * BLOCKS_SHOWN).clamp(self.data / 64, self.data / 32);
        if pages < block_each * BLOCKS_MIN {
            return Ok(None);
        }
        drop(device);
        let replaced = |drive_writes| self.beginning.replaced(drive_writes).unwrap_or(0.0);
        let (mut at, mut shares, mut began) = (None, vec![], vec![]);
        let (mut is_parting, budget) = (false, self.left);
        while self.left >= budget / 4 + pages {
            if !is_parting && self.left < budget / 2 + pages {
                return Ok(None);
            }
            let known = self.known(at, &shares);
            let device = match self.run(known, Length::Pages(pages)) {
                Ok((device, _)) => device,
                Err(e) if at.is_none() => return Err(e),
                Err(_) => break,
            };
            if device.probe.inflows.is_empty() {
                return Ok(None);
            }
            let shown =
                Shown { held: device.ftl.spread(self.data).shares, inflow: device.probe.inflow_shares() };
            is_parting |= shown.is_parting(spread.spare);
            at = Some(device.probe.regime());
            began = std::mem::replace(&mut shares, shown.next(spread.spare, &replaced));
        }
        let Some(at) = at.filter(|_| is_parting) else { return Ok(None) };
        // Where planes have no room to part any further, they begin as far apart as they did.
        let has_room = self.beginning.begin(&mut self.built()?, self.known(Some(at), &shares)).is_ok();
        Ok(Some((at, if has_room { shares } else { began })))
    }
}

/// Run drives under the workload, each in the regime of the one before, until one stays in the regime that it began in.
///
/// # Errors
/// Those of the beginning and of the run.
pub(crate) fn settle(
    setup: &Setup,
    spelling: &str,
    outstanding: Option<u32>,
    beginning: &dyn Beginning,
) -> Result<Ran, RunError> {
    let mut drives = TimedDrives::new(setup, spelling, outstanding, beginning);
    let data = drives.data;
    let (mut at, shares) = drives.parted()?.map_or((None, vec![]), |(at, shares)| (Some(at), shares));
    for round in 1.. {
        let known = drives.known(at, &shares);
        let is_last = round == ROUNDS;
        let length = if shares.is_empty() { Length::Settled { is_last } } else { Length::Rest };
        let (mut device, begun) = drives.run(known, length)?;
        let regime = device.probe.regime();
        if device.probe.is_replaced() && drives.left > 0 {
            at = Some(regime);
            continue;
        }
        let waf = (device.probe.ended.len() >= WINDOWS).then(|| device.probe.later().waf());
        let contents = beginning.contents(&mut device, begun, !shares.is_empty())?;
        let drive_writes = (data / BUDGET - drives.left) as f64 / data.max(1) as f64;
        return Ok(Ran { regime, contents, drive_writes, waf });
    }
    unreachable!("the last round returns")
}

/// The shares of the data that planes come to hold where equal ones do not last.
#[cfg(test)]
pub(crate) fn parted_shares(
    setup: &Setup,
    spelling: &str,
    outstanding: Option<u32>,
    beginning: &dyn Beginning,
) -> Result<Option<Vec<f64>>, RunError> {
    Ok(TimedDrives::new(setup, spelling, outstanding, beginning).parted()?.map(|(_, shares)| shares))
}
