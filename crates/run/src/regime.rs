//! The steady state of a drive in simulated time. The order of writes does not decide how far collection lags behind, how
//! much is padded, or which pages are overwritten on their way. So a drive like it runs for a while, in the regime that
//! was measured on the one before, and the run begins with what its blocks then hold.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::host::load::{Bounds, StreamError, drive_workload, failure};
use std::cell::Cell;
use std::rc::Rc;
use wordline_ftl::{Begun, Cause, Contents, Known, NoMedia, OpKind, Part, Reason, Regime};
use wordline_sim::{Begin, Completion, Device, DriveError, Event, Moment, Probe};
use wordline_units::{BlockId, HostOp};

/// The most that is written in simulated time, over all drives: a quarter of the data.
const BUDGET: u64 = 4;
/// Drives that run, at most.
const ROUNDS: u64 = 3;
/// Windows that the data of a drive make, at most.
const WINDOWS_PER_DATA: u64 = 400;
/// Windows until a regime can be said to stand still, half of which are compared with the other half.
const WINDOWS: usize = 6;
/// By how much two regimes that are called alike differ: free space as a victim is chosen, in blocks of a plane, and
/// slots of padding for each page and its padding.
const STILL: (f64, f64) = (0.25, 0.02);
/// By how much write amplification may differ from that of the untimed writes before these are no longer trusted.
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
        })
    }

    /// The regime in it, for blocks of so many slots; where nothing was collected, free space is as before.
    fn regime(&self, before: Regime, block: u64) -> Regime {
        let free_blocks = match self.collections {
            0 => before.free_blocks,
            n => self.free_slots as f64 / n as f64 / block as f64,
        };
        let padding = self.padding as f64 / self.pages.max(1) as f64;
        let programmed_share = self.pages as f64 / self.written.max(1) as f64;
        Regime { free_blocks, padding, programmed_share }
    }

    fn waf(&self) -> f64 {
        self.slots as f64 / self.written.max(1) as f64
    }
}

/// Whether two regimes are alike, or so many times as far from it.
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
    /// Whether another drive may run in its place.
    may_restart: bool,
    now: Window,
    ended: Vec<Window>,
    /// The block that each plane collects.
    collected: Vec<Option<BlockId>>,
    /// Whether it has seen enough.
    done: Rc<Cell<bool>>,
}

impl RegimeProbe {
    fn new(setup: &Setup, pages_max: u64, may_restart: bool) -> RegimeProbe {
        RegimeProbe {
            begun: None,
            block: 1,
            page: setup.shape.unit_blocks(),
            pages_per_window: u64::MAX,
            pages: 0,
            pages_max,
            may_restart,
            now: Window::default(),
            ended: vec![],
            collected: vec![None; setup.geometry.planes as usize],
            done: Rc::default(),
        }
    }

    /// The last so many windows but the last so many of them.
    fn windows(&self, last: usize, but: usize) -> Window {
        let n = self.ended.len();
        Window::of(&self.ended[n.saturating_sub(last)..n.saturating_sub(but)])
    }

    fn regime(&self, last: usize, but: usize) -> Regime {
        let before = self.begun.map_or(Regime::default(), |begun| begun.regime);
        self.windows(last, but).regime(before, self.block)
    }

    /// Whether the drive runs in another regime than it began in, and that stands still.
    fn is_in_another(&self) -> bool {
        let now = self.regime(WINDOWS, 0);
        self.is_still() && !self.begun.is_some_and(|begun| alike(begun.regime, now, 2.0))
    }

    fn is_still(&self) -> bool {
        let half = WINDOWS / 2;
        self.ended.len() >= WINDOWS && alike(self.regime(WINDOWS, half), self.regime(half, 0), 1.0)
    }

    /// Whether it amplifies as the untimed writes did.
    fn follows_law(&self) -> bool {
        let waf = self.windows(WINDOWS, 0).waf();
        self.begun.is_some_and(|begun| (waf / begun.waf - 1.0).abs() <= LAW)
    }

    fn end_window(&mut self) {
        self.ended.push(std::mem::take(&mut self.now));
        let enough =
            if self.is_in_another() { self.may_restart } else { self.is_still() && self.follows_law() };
        if enough || self.pages >= self.pages_max {
            self.done.set(true);
        }
    }
}

impl Probe for RegimeProbe {
    const WATCHES: bool = true;

    fn event(&mut self, _: Event) {}

    fn begin(&mut self, begin: &Begin, parts: impl Iterator<Item = Part>) {
        if begin.kind != OpKind::Program || self.done.get() {
            return;
        }
        let (mut all, mut of_host) = (0, 0);
        for part in parts {
            all += 1;
            of_host += u64::from(part.cause == Cause::Host);
        }
        self.pages += of_host;
        self.now.pages += of_host;
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
    /// Write amplification over the last windows.
    pub waf: Option<f64>,
}

/// How a drive is begun, and what its blocks hold after a while.
pub(crate) trait Beginning {
    /// Put a drive into the steady state of what is known of it.
    fn begin(&self, device: &mut Device<RegimeProbe, NoMedia>, known: Known) -> Result<Begun, RunError>;
    /// What the blocks of a drive hold that began so; `None` where the workload is no law.
    fn contents(
        &self,
        device: &mut Device<RegimeProbe, NoMedia>,
        begun: Begun,
    ) -> Result<Option<Contents>, RunError>;
}

/// Slots of a block of the home region, and of half a block of all its planes.
fn slots(device: &Device<RegimeProbe, NoMedia>) -> (u64, u64) {
    let (layout, view) = (device.ftl.layout(), device.ftl.view());
    let home = &layout.regions[layout.home.0 as usize];
    let medium = &view.geometry().media[layout.pools[home.pool.0 as usize].medium];
    let block = medium.block_bytes(home.mode) / view.geometry().unit;
    (block, block * u64::from(medium.topology.planes()) / 2)
}

/// Run drives under the workload, each in the regime of the one before, until one stays in the regime that it began in.
///
/// # Errors
/// Those of the beginning and of the run.
pub(crate) fn settle(
    setup: &Setup,
    spelling: &str,
    first: Known,
    beginning: &dyn Beginning,
) -> Result<Ran, RunError> {
    let data = setup.state.mapped.count() as u64;
    let (mut known, mut left) = (first, data / BUDGET);
    for round in 1.. {
        let last = round == ROUNDS;
        let most = if last { left } else { left / 2 };
        let scheme = setup.spec.registry.build(spelling)?;
        let probe = RegimeProbe::new(setup, most, !last);
        let mut device = Device::over(&setup.device, &setup.geometry, scheme, probe, NoMedia)?;
        let begun = beginning.begin(&mut device, known)?;
        let (block, half_of_all) = slots(&device);
        let (probe, window) = (&mut device.probe, half_of_all.max(data / WINDOWS_PER_DATA));
        (probe.begun, probe.block) = (Some(begun), block);
        probe.pages_per_window = window.min(most / WINDOWS as u64).max(1);
        let done = probe.done.clone();
        let going_on = || match done.get() || wordline_units::is_interrupted() {
            true => Err(StreamError::Interrupted),
            false => Ok(()),
        };
        match drive_workload(setup, &mut device, Bounds::Caller, &going_on, |_| {}) {
            Ok(_) => {}
            Err(DriveError::Workload(StreamError::Interrupted)) if done.get() => {}
            Err(e) => return Err(failure(setup, spelling, e)),
        }
        left = left.saturating_sub(device.probe.pages);
        let regime = device.probe.regime(WINDOWS, 0);
        if device.probe.is_in_another() && !last && left > 0 {
            known = Known::Regime(regime);
            continue;
        }
        let waf = (device.probe.ended.len() >= WINDOWS).then(|| device.probe.windows(WINDOWS, 0).waf());
        let contents = beginning.contents(&mut device, begun)?;
        let drive_writes = (data / BUDGET - left) as f64 / data.max(1) as f64;
        return Ok(Ran { regime, contents, drive_writes, waf });
    }
    unreachable!("the last round returns")
}
