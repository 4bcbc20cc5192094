//! The steady state of a drive in simulated time. The order of writes does not determine how far GC lags, how much is
//! padded, or which pages are overwritten in flight. So a similar drive runs for a while in the regime measured on the
//! previous one, and the run starts with the contents of its blocks.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::host::load::{Bounds, StreamError, drive_workload, failure};
use crate::plane_shares::{PARTS_PER_DRIVE, Shown};
use std::cell::Cell;
use std::rc::Rc;
use wordline_ftl::{Begun, Cause, Contents, Known, OpKind, Part, Reason, Regime};
use wordline_sim::{Begin, Completion, Device, DriveError, Event, Moment, Probe};
use wordline_units::{BlockId, HostOp};

/// Maximum writes in simulated time over all drives: a quarter of the data.
const BUDGET: u64 = 4;
/// Drives that run, at most.
const ROUNDS: u64 = 3;
/// The part of the remaining budget after which a drive in a changed regime is replaced by one that starts in that
/// regime. The last drive gets the rest, and at least as large a part of the whole: block contents take longer to
/// settle than the regime.
const SHOWN: u64 = 4;
/// Maximum number of windows.
const WINDOWS_PER_DATA: u64 = 400;
/// Windows needed to call a regime stable. Only the later half of them counts, after the transition.
const WINDOWS: usize = 6;
/// Blocks of host pages per plane after which a short drive shows the shares of planes.
const BLOCKS_SHOWN: u64 = 16;
/// With fewer, chance and the GC cycle hide them: a plane must hold 32 times as many.
const BLOCKS_MIN: u64 = 4;
/// Tolerances between two equal regimes: free space at victim selection, in blocks of a plane, and slots of padding per
/// page.
const STILL: (f64, f64) = (0.25, 0.02);
/// Tolerance of the WAF against the untimed writes before these are no longer trusted, and maximum change of free
/// space, in slots per host page.
const LAW: f64 = 0.02;

/// Counters of a window of host pages.
#[derive(Clone, Copy, Default)]
struct Window {
    /// GC jobs started for want of space, and the free slots of their planes at that time.
    collections: u64,
    free_slots: u64,
    /// Pages written by the host, those programmed, slots of padding, and all programmed slots.
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

    /// The regime in it, for blocks of this many slots; without GC, free space is unchanged.
    fn regime(&self, before: Regime, block: u64) -> Regime {
        let free_blocks = match self.collections {
            0 => before.free_blocks,
            n => self.free_slots as f64 / n as f64 / block as f64,
        };
        let padding = self.padding as f64 / self.pages.max(1) as f64;
        let programmed_share = self.pages as f64 / self.written.max(1) as f64;
        Regime { free_blocks, padding, programmed_share }
    }

    /// WAF at constant free space: if it grew or shrank, GC did more or less than the host required. A victim with a
    /// share u of valid slots frees 1 - u of a block for u of copies.
    fn waf(&self) -> f64 {
        let of_host = self.pages + self.padding;
        let copies = self.slots.saturating_sub(of_host) as f64;
        let gained = 1.0 - copies / self.erased.max(1) as f64;
        let slots = if gained > 0.0 && self.erased > 0 { of_host as f64 / gained } else { self.slots as f64 };
        slots / self.written.max(1) as f64
    }

    /// Growth of free space in slots per host page.
    fn growth(&self) -> f64 {
        (self.erased as f64 - self.slots as f64) / self.written.max(1) as f64
    }
}

/// Distance of two regimes in tolerances.
fn alike(a: Regime, b: Regime, times: f64) -> bool {
    (a.free_blocks - b.free_blocks).abs() <= times * STILL.0
        && (a.padding - b.padding).abs() <= times * STILL.1 * (1.0 + a.padding)
}

/// Watches a drive until its regime is stable.
pub(crate) struct RegimeProbe {
    begun: Option<Begun>,
    /// Slots of a block, and mapping blocks per page.
    block: u64,
    page: u64,
    /// Host pages per window, in total, and the maximum of these.
    pages_per_window: u64,
    pages: u64,
    pages_max: u64,
    /// Pages before which it has not settled.
    pages_min: u64,
    /// Host pages after which another drive may replace it.
    replaced_until: u64,
    now: Window,
    ended: Vec<Window>,
    /// Host pages programmed by each plane in the current window, and in previous ones.
    inflow: Vec<u64>,
    inflows: Vec<Vec<u64>>,
    /// The block that each plane collects.
    collected: Vec<Option<BlockId>>,
    /// Whether it has measured enough.
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

    /// Share of host pages programmed by each plane in each window, in multiples of an equal share.
    fn inflow_shares(&self) -> Vec<Vec<f64>> {
        let shares = |pages: &Vec<u64>| {
            let mean = pages.iter().sum::<u64>().max(1) as f64 / pages.len() as f64;
            pages.iter().map(|pages| *pages as f64 / mean).collect()
        };
        self.inflows.iter().map(shares).collect()
    }

    /// Whether the regime differs from the initial one.
    fn is_in_another(&self) -> bool {
        !self.begun.is_some_and(|begun| alike(begun.regime, self.regime(), 2.0))
    }

    /// Whether the regime and free space are stable within error: the free space of a plane varies by a block, so that
    /// a difference of two instants has a variance of a sixth of its square.
    fn is_still(&self) -> bool {
        let [before, after] = self.halves();
        let later = self.later();
        let unknown =
            (self.collected.len() as f64 / 6.0).sqrt() * self.block as f64 / later.written.max(1) as f64;
        self.ended.len() >= WINDOWS
            && alike(self.regime_in(&before), self.regime_in(&after), 1.0)
            && later.growth().abs() + unknown <= LAW * later.waf()
    }

    /// Whether its WAF equals that of the untimed writes.
    fn follows_law(&self) -> bool {
        self.begun.is_some_and(|begun| (self.later().waf() / begun.waf - 1.0).abs() <= LAW)
    }

    /// Whether another drive should replace it, in the measured regime.
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

/// Writes in simulated time before a run.
pub(crate) struct Ran {
    /// Its last regime.
    pub regime: Regime,
    /// Its block contents at the end, if the workload is an address distribution.
    pub contents: Option<Contents>,
    /// Writes of the drives, in multiples of their data.
    pub drive_writes: f64,
    /// WAF over the later half of its windows.
    pub waf: Option<f64>,
}

/// How a drive starts, and the contents of its blocks after a while.
pub(crate) trait Beginning {
    /// Start a drive in its predicted steady state.
    fn begin(&self, device: &mut Device<RegimeProbe>, known: Known) -> Result<Begun, RunError>;
    /// The block contents of a drive with this start; `None` where the workload is not a law.
    fn contents(
        &self,
        device: &mut Device<RegimeProbe>,
        begun: Begun,
        is_uneven: bool,
    ) -> Result<Option<Contents>, RunError>;
    /// The part of the data that this many drive writes rewrite; `None` where the workload is not a law.
    fn replaced(&self, drive_writes: f64) -> Option<f64>;
}

/// Slots of a block of the home region, and of half a block in all its planes.
fn slots(device: &Device<RegimeProbe>) -> (u64, u64) {
    let (layout, view) = (device.ftl().layout(), device.ftl().view());
    let home = &layout.regions[layout.home.0 as usize];
    let medium = &view.geometry().media[layout.pools[home.pool.0 as usize].medium];
    let block = medium.block_bytes(home.mode) / view.geometry().unit;
    (block, block * u64::from(medium.topology.planes()) / 2)
}

/// Duration of a drive.
#[derive(Clone, Copy)]
enum Length {
    /// For this many pages, in parts.
    Pages(u64),
    /// Until it has settled, or another should replace it; the last is never replaced.
    Settled { is_last: bool },
    /// For all that is left.
    Rest,
}

/// Drives that run one after another before a run.
struct TimedDrives<'a> {
    setup: &'a Setup,
    spelling: &'a str,
    beginning: &'a dyn Beginning,
    /// Queue depth of a closed loop, from which the first regime is estimated.
    outstanding: Option<u32>,
    /// Pages with data, and those that may still be written.
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
        let (probe, window) = (device.probe_mut(), half_of_all.max(data / WINDOWS_PER_DATA));
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
        self.left = left.saturating_sub(device.probe().pages);
        Ok((device, begun))
    }

    /// The stable shares of planes, with their regime, if equal shares are unstable. Divergence must start within half
    /// of the budget; the last quarter is reserved. `None` if equal shares appear stable.
    fn parted(&mut self) -> Result<Option<(Regime, Vec<f64>)>, RunError> {
        let device = self.built()?;
        let spread = device.ftl().spread(self.data);
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
            if device.probe().inflows.is_empty() {
                return Ok(None);
            }
            let shown =
                Shown { held: device.ftl().spread(self.data).shares, inflow: device.probe().inflow_shares() };
            is_parting |= shown.is_parting(spread.spare);
            at = Some(device.probe().regime());
            began = std::mem::replace(&mut shares, shown.next(spread.spare, &replaced));
        }
        let Some(at) = at.filter(|_| is_parting) else { return Ok(None) };
        // Where planes have no room to part any further, they begin as far apart as they did.
        let has_room = self.beginning.begin(&mut self.built()?, self.known(Some(at), &shares)).is_ok();
        Ok(Some((at, if has_room { shares } else { began })))
    }
}

/// Run drives under the workload, each in the regime of the previous one, until a drive stays in its initial regime.
///
/// # Errors
/// Those of the start and of the run.
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
        let regime = device.probe().regime();
        if device.probe().is_replaced() && drives.left > 0 {
            at = Some(regime);
            continue;
        }
        let waf = (device.probe().ended.len() >= WINDOWS).then(|| device.probe().later().waf());
        let contents = beginning.contents(&mut device, begun, !shares.is_empty())?;
        let drive_writes = (data / BUDGET - drives.left) as f64 / data.max(1) as f64;
        return Ok(Ran { regime, contents, drive_writes, waf });
    }
    unreachable!("the last round returns")
}

/// The stable shares of planes, if equal ones are unstable.
#[cfg(test)]
pub(crate) fn parted_shares(
    setup: &Setup,
    spelling: &str,
    outstanding: Option<u32>,
    beginning: &dyn Beginning,
) -> Result<Option<Vec<f64>>, RunError> {
    Ok(TimedDrives::new(setup, spelling, outstanding, beginning).parted()?.map(|(_, shares)| shares))
}
