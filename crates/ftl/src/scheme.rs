//! What a scheme is: the hooks that it answers.
//!
//! A scheme only decides. It sees a read-only [`View`] and returns values; the mechanism acts on
//! them, and refuses what is illegal with an error that names scheme, decision, time and state.

use crate::file::saved::{Loader, Memory, Saved, Saver};
use crate::file::state_file::StateError;
use crate::plan::decision::{Collect, Command, IdleWork, Move, Need, Parcel, Place, ReadSeen, Tag};
use crate::plan::layout::{Answers, DriveInfo, Layout, Refusal};
use crate::plan::map_kind::MapKind;
use crate::plan::span::Span;
use crate::view::View;
use std::borrow::Cow;
use std::fmt::Debug;
use std::io;
use wordline_device::PartialPages;
use wordline_units::{HostRequest, Lpn, PlaneId, SectorMask};

/// What a scheme has followed: names, and host page writes with the value from then on.
pub type Metrics<'a> = Vec<(Cow<'static, str>, Cow<'a, [[f64; 2]]>)>;

/// A scheme: it has a `name`, a `layout` and answers `place`; the other hooks have defaults. Its `impl` begins with
/// `#[wordline_ftl::hooks]`, which notes those that it has, and it derives `Clone`. A hook that cannot decide answers with
/// [`View::answer`].
pub trait Scheme: CloneScheme + Debug + Send {
    /// Its name in the registry.
    fn name(&self) -> &str;

    /// Divide the drive into pools and regions.
    ///
    /// # Errors
    /// A refusal with its reason where the device does not suit the scheme.
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal>;

    /// Find a home for host data or for a collected page.
    ///
    /// It may be asked more than once for one page, and each time the answer counts as it is: what a scheme counts,
    /// draws or forgets here happens as often. Of host data it is asked once for each parcel, when that is written or,
    /// with a write buffer, leaves it; and again
    /// - for a page that the host has completed part by part in the merge buffer, as the host's;
    /// - for a page of the merge buffer, when it is sealed, as [`Origin::Sealed`](crate::Origin::Sealed);
    /// - for what protected RAM kept through a power cut, as the host's.
    ///
    /// Of a collected page it is asked once when it has been read and is still live; and before that
    /// - for the first live page of a block whose collection would free nothing, to see whether the data would leave the
    ///   pool: as often as the region runs short, and perhaps nothing moves;
    /// - under a page map, where the flash copies pages within a plane, before the page is read. If it is copied, that
    ///   was the only time.
    ///
    /// A page that the scheme itself moves has its place in the [`Move`]; as [`Origin::Moved`](crate::Origin::Moved) only
    /// a scheme that stands behind another is asked, when that one decides. (The answers are not kept from one time to
    /// the next: free space, heat and the page itself may have changed until the page has been read.)
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place;

    /// Which optional hooks it has. Written by [`hooks`](macro@crate::hooks) and not by hand: the others are never
    /// called.
    fn answers(&self) -> Answers;

    /// Mark a host write, once, when it is admitted.
    fn admit(&mut self, _request: &HostRequest, _view: &View) -> Tag {
        Tag::default()
    }

    /// Host data are about to be placed: moves that must come first. The program waits until the data of
    /// each have left their place, for flash or for protected RAM, or turn out not to be there any more.
    fn make_room(&mut self, _parcel: &Parcel, _view: &View, _out: &mut Vec<Move>) {}

    /// The host writes a part of a page: the sectors of it that are placed together first. It is asked again
    /// for the rest.
    fn split_write(&mut self, span: &Span, _view: &View) -> SectorMask {
        span.mask
    }

    /// A host read of a page has ended; perhaps it should move.
    fn read(&mut self, _seen: &ReadSeen, _view: &View) -> Option<Move> {
        None
    }

    /// A region runs short: what to collect. `None` leaves it to the region's own rule.
    fn collect(&mut self, _need: Need, _view: &View) -> Option<Collect> {
        None
    }

    /// A die is idle, or the drive is draining at the end of a run: one job for this plane.
    fn idle(&mut self, _plane: PlaneId, _view: &View) -> Option<IdleWork> {
        None
    }

    /// The controller loop; see [`Layout::tick_every_writes`].
    fn tick(&mut self, _view: &View, _out: &mut Vec<Command>) {}

    /// Begin the scheme's stream of random numbers, where it has one. Asked before the first request.
    fn seed(&mut self, _seed: u64) {}

    /// The host has trimmed a page.
    fn on_trim(&mut self, _lpn: Lpn) {}

    /// What the scheme has followed through the run, for reports.
    fn metrics(&self) -> Metrics<'_> {
        vec![]
    }

    /// What the scheme has learnt since `layout`: a field, or the scheme itself, that serde can write
    /// and read back. A scheme whose decisions follow from the view alone keeps the default.
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        None
    }
}

impl dyn Scheme {
    /// Its layout, with the optional hooks enabled that it has and wants.
    ///
    /// # Errors
    /// As [`Scheme::layout`].
    pub fn laid_out(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let layout = self.layout(drive)?;
        let enabled_hooks = layout.enabled_hooks.intersection(self.answers().hooks());
        let map = match (layout.map, drive.spec.partial) {
            (MapKind::Page, PartialPages::ValidSectors) => MapKind::ValidSectors,
            (map, _) => map,
        };
        Ok(Layout { enabled_hooks, map, ..layout })
    }
}

/// A scheme that can be copied behind a `Box`: each that is `Clone`.
pub trait CloneScheme {
    /// A copy with the same state, for forks of a run.
    fn clone_box(&self) -> Box<dyn Scheme>;
}

impl<S: Scheme + Clone + 'static> CloneScheme for S {
    fn clone_box(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Scheme> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl Saved for Box<dyn Scheme> {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        let bytes = self.clone().memory().map(|m| m.to_bytes()).transpose()?;
        to.value(&bytes)
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        let bytes: Option<Vec<u8>> = from.value("scheme")?;
        let taken = match (self.memory(), &bytes) {
            (Some(memory), Some(bytes)) => memory.set(bytes),
            (memory, bytes) => memory.is_none() && bytes.is_none(),
        };
        if taken { Ok(()) } else { Err(from.other("memory of the scheme")) }
    }
}
