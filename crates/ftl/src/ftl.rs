//! The translation layer as the device sees it: requests and completions enter, operations leave. It has neither clock
//! nor queue: it is called at a time ([`Ftl::at`]).

use crate::file::saved::{Saved, saved};
use crate::flow::begin::contents::{Spread, spread};
use crate::flow::dispatch::submit;
use crate::flow::emit::entry_of;
use crate::flow::host::submit::{pages_of, prefetch, release};
use crate::flow::power::cut::{power_cut, worn};
use crate::flow::power::power_loss_image::{PowerLossImage, Worn};
use crate::flow::power::recover::recover;
use crate::flow::program::array::{are_alike, begin_on_array, repeat, transfer_sectors, will_repeat};
use crate::inspect::{Inspect, Operation};
use crate::layer::Layer;
use crate::media::boxed::{BoxedMedia, OtherMedia};
use crate::media::host_data::HostData;
use crate::media::seam::Media;
use crate::plan::layout::{DriveInfo, Layout, Refusal};
use crate::scheme::Scheme;
use crate::setup::Setup;
use crate::state::counters::Counters;
use crate::state::latency::LatencyBreakdown;
use crate::state::op::{Op, OpId, QueueEntry};
use crate::state::request::{Fault, Pending, Prefetch, RequestError, RequestId};
use crate::state::times::ArrayTime;
use crate::tables::Tables;
use crate::view::View;
use std::fmt;
use wordline_units::{DieId, HostOp, HostRequest, Lpn, SimTime};

/// The translation layer.
pub struct Ftl {
    layer: Layer,
}

impl Saved for Ftl {
    saved! { Ftl, values: [], parts: [layer], rebuilt: [] }
}

impl fmt::Debug for Ftl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ftl")
            .field("scheme", &self.layer.seat.scheme)
            .field("media", self.media())
            .finish_non_exhaustive()
    }
}

impl Ftl {
    /// A fresh, empty drive under a scheme, which stores only times and counts.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn new(drive: &DriveInfo, scheme: Box<dyn Scheme>) -> Result<Ftl, Refusal> {
        Ftl::over(drive, scheme, BoxedMedia::none())
    }

    /// The same over empty media.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn over(
        drive: &DriveInfo,
        scheme: Box<dyn Scheme>,
        media: impl Into<BoxedMedia>,
    ) -> Result<Ftl, Refusal> {
        Ok(Ftl { layer: Layer::new(drive, scheme, media.into())? })
    }

    /// Power on: rebuild every table from flash and protected RAM, and continue. Returns the drive, and the time at
    /// which it is ready: every programmed page is sensed once, dies in parallel, because there is no faster way.
    ///
    /// # Errors
    /// A refusal if the scheme does not support the device or did not write the flash, or if the media keep no
    /// metadata.
    pub fn recover(
        drive: &DriveInfo,
        scheme: Box<dyn Scheme>,
        image: PowerLossImage,
        at: SimTime,
    ) -> Result<(Ftl, SimTime), Refusal> {
        let (layer, ready) = recover(drive, scheme, image, at)?;
        Ok((Ftl { layer }, ready))
    }

    /// Cut the power while the arrays work on `spoiled`. All other work in progress leaves no trace, except in
    /// protected RAM.
    pub fn power_cut(self, spoiled: &[OpId]) -> PowerLossImage {
        power_cut(self.layer, spoiled)
    }

    /// The parts, for the loop of [`drive`](crate::drive).
    #[inline(always)]
    pub(crate) fn parts(&self) -> &Layer {
        &self.layer
    }

    /// The parts, mutable.
    #[inline(always)]
    pub(crate) fn parts_mut(&mut self) -> &mut Layer {
        &mut self.layer
    }

    /// The drive outside of its operation: what it holds before its first request, and its age.
    pub fn setup(&mut self) -> Setup<'_> {
        Setup::of(&mut self.layer)
    }

    /// The tables, to be looked up in: that may unfold a part of them.
    pub fn tables(&mut self) -> Tables<'_> {
        Tables::of(&mut self.layer)
    }

    /// Admit a request that [`Self::validate`] has accepted and that arrived at `request.arrival`. `data` are the bytes
    /// of a write, if the media store data. A worn-out drive accepts no writes.
    #[inline(always)]
    pub fn submit(&mut self, request: HostRequest, number: u64, data: HostData<'_>) -> RequestId {
        submit(&mut self.layer, request, number, data)
    }

    /// Whether the drive can accept a request at all.
    ///
    /// # Errors
    /// If the request exceeds the drive's capacity or is empty.
    pub fn validate(&self, request: &HostRequest, number: u64) -> Result<(), RequestError> {
        if request.op == HostOp::Flush {
            return Ok(());
        }
        if request.blocks == 0 {
            return Err(RequestError::Empty { number });
        }
        let config = &self.layer.state.config;
        let end = u64::from(config.logical_pages) * config.addressing.lbas_per_page();
        if request.lba.0.checked_add(u64::from(request.blocks)).is_none_or(|last| last > end) {
            let from = request.lba.0.saturating_mul(512);
            let to = from.saturating_add(request.bytes());
            return Err(RequestError::BeyondDrive { number, from, to, end: end * 512 });
        }
        Ok(())
    }

    /// Prefetch into the CPU cache what will be needed soon. Nothing depends on it but speed.
    #[inline(always)]
    pub fn prefetch(&self, what: Prefetch) {
        prefetch(&self.layer.state, &self.layer.requests, what);
    }

    /// First and last page of a request.
    #[inline(always)]
    pub fn pages_of(&self, request: &HostRequest) -> (Lpn, Lpn) {
        pages_of(&self.layer.state.config, request)
    }

    /// Remove a completed request; its number may be reused. Returns what it read, where media keep bytes.
    #[inline(always)]
    pub fn release(&mut self, id: RequestId) -> Vec<u8> {
        release(&mut self.layer, id)
    }

    /// Start an operation on an array, and return its duration. A read determines its number of retries, which take
    /// array time, too, unless each attempt includes a transfer.
    #[inline(always)]
    pub fn begin_on_array(&mut self, id: OpId) -> ArrayTime {
        begin_on_array(&mut self.layer.state, id)
    }

    /// The data of a read have been transferred: whether they must be read again, since the decoder at the other end of
    /// the bus has failed.
    #[inline(always)]
    pub fn repeat(&mut self, id: OpId) -> bool {
        repeat(&self.layer.state.config, &mut self.layer.state.ops, id)
    }

    /// Whether a sensed read must be sensed again after its transfer.
    pub fn will_repeat(&self, id: OpId) -> bool {
        will_repeat(&self.layer.state.config, &self.layer.state.ops, id)
    }

    /// Whether two operations in different planes can be one multi-plane command: of the same kind, cell mode and time;
    /// with [`MultiplanePages::Same`](wordline_device::MultiplanePages::Same) also on pages with the same number in
    /// their blocks, except for erases.
    pub fn are_alike(&self, one: OpId, other: OpId) -> bool {
        are_alike(&self.layer.state, one, other)
    }

    /// Sectors that an operation transfers: the wanted ones of a read, whole pages of a program, since the register
    /// must be filled.
    #[inline(always)]
    pub fn transfer_sectors(&self, id: OpId) -> u32 {
        transfer_sectors(&self.layer.state.geometry, &self.layer.state.ops, id)
    }

    /// Distribution of this many pages over the planes of the home region.
    pub fn spread(&self, pages: u64) -> Spread {
        spread(&self.layer.state.config, &self.layer.state.blocks, pages)
    }

    /// Wear of the flash.
    pub fn worn(&self) -> Worn {
        worn(&self.layer.state)
    }

    /// The layer at a time, for calls. Time never runs backwards.
    #[inline(always)]
    pub fn at(&mut self, now: SimTime) -> &mut Ftl {
        self.layer.state.now = now;
        self
    }

    /// Whether a call has left effects or completed requests to process.
    #[inline(always)]
    pub fn has_effects(&self) -> bool {
        !self.layer.out.is_empty()
    }

    /// Requests whose last part has ended and that have not completed yet.
    pub fn completed(&self) -> &[RequestId] {
        self.layer.out.completed()
    }

    /// A refused decision, failed media, or a broken invariant. It ends the run.
    #[inline(always)]
    pub fn fault(&self) -> Option<&Fault> {
        self.layer.out.fault()
    }

    /// An operation.
    #[inline(always)]
    pub fn op(&self, id: OpId) -> &Op {
        &self.layer.state.ops[id]
    }

    /// The request that an operation is a part of, if any.
    #[inline(always)]
    pub fn request_of(&self, id: OpId) -> Option<RequestId> {
        self.layer.state.ops[id].owner.request()
    }

    /// Latency parts of the operation that ends in the next call; set them if a host request may wait for it.
    #[inline(always)]
    pub fn breakdown_mut(&mut self) -> &mut LatencyBreakdown {
        &mut self.layer.state.breakdown
    }

    /// A request in flight.
    #[inline(always)]
    pub fn pending(&self, id: RequestId) -> &Pending {
        &self.layer.requests[id]
    }

    /// The same, with what is known at its completion.
    #[inline(always)]
    pub fn pending_mut(&mut self, id: RequestId) -> &mut Pending {
        &mut self.layer.requests[id]
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.layer.state.counters
    }

    /// The layout of the drive by its scheme.
    pub fn layout(&self) -> &Layout {
        &self.layer.seat.layout
    }

    /// The scheme.
    pub fn scheme(&self) -> &dyn Scheme {
        self.layer.seat.scheme.as_ref()
    }

    /// The state of the drive, as a scheme sees it.
    pub fn view(&self) -> View<'_> {
        View::of(&self.layer.state)
    }

    /// The drive, read-only, for reports and checks.
    pub fn inspect(&self) -> Inspect<'_> {
        Inspect::of(&self.layer)
    }

    /// What an operation works on.
    pub fn operation(&self, id: OpId) -> Operation<'_> {
        Operation::new(&self.layer.state, id, self.layer.state.config.array.has_windows)
    }

    /// Requests that were admitted and are not yet released.
    #[inline(always)]
    pub fn outstanding(&self) -> u32 {
        self.layer.state.outstanding
    }

    /// Whether a job holds a die, so that only its own operations run there.
    #[inline(always)]
    pub fn is_held(&self, die: DieId) -> bool {
        self.layer.held_dies.is_held(die)
    }

    /// The media.
    pub fn media(&self) -> &BoxedMedia {
        self.layer.store.media()
    }

    /// The media by their type, mutable.
    ///
    /// # Errors
    /// When they are of another type, or there are none.
    pub fn media_mut<M: Media>(&mut self) -> Result<&mut M, OtherMedia> {
        self.layer.store.media_mut().get_mut()
    }

    /// The part of an operation that a queue needs.
    #[inline(always)]
    pub fn entry_of(&self, id: OpId) -> QueueEntry {
        entry_of(&self.layer.state.config, &self.layer.state.ops, id)
    }
}
