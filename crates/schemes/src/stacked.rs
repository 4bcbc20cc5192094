//! One scheme over another, spelled `FRONT+DENSE`: the front keeps its caches and decides what goes where, and
//! its dense region is laid out, programmed and looked after by the other.
//!
//! The regions of the drive are the front's, but for its home, which is the dense scheme's home; further regions
//! of the dense scheme come behind. Both see the drive in their own numbers.

use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io;
use std::ops::Range;
use wordline_flash::ProgramRule;
use wordline_ftl::{
    Collect, Command, DriveInfo, Hooks, IdleWork, Layout, Memory, Metrics, Move, Need, Origin, Parcel, Place,
    Pool, ReadSeen, Refusal, Region, RegionId, Route, Scheme, Span, Tag, View,
};
use wordline_units::{HostRequest, Lpn, PlaneId, SectorMask};

/// Bits of a tag that are the front's; the others are the dense scheme's.
const FRONT_BITS: u32 = 4;

/// A scheme whose dense region another one has.
#[derive(Clone, Debug)]
pub(crate) struct Stacked {
    name: String,
    front: Box<dyn Scheme>,
    dense: Box<dyn Scheme>,
    /// The front's home, set by `layout`.
    home: RegionId,
    /// The regions of the dense scheme, as the drive numbers them.
    names: Vec<RegionId>,
    /// The dense scheme's own home.
    dense_home: RegionId,
    front_hooks: Hooks,
    dense_hooks: Hooks,
    /// The planes of the dense scheme's blocks.
    planes: Range<u32>,
}

impl Stacked {
    pub fn new(front: Box<dyn Scheme>, dense: Box<dyn Scheme>) -> Stacked {
        Stacked {
            name: format!("{}+{}", front.name(), dense.name()),
            front,
            dense,
            home: RegionId(0),
            names: vec![],
            dense_home: RegionId(0),
            front_hooks: Hooks::NONE,
            dense_hooks: Hooks::NONE,
            planes: 0..0,
        }
    }

    fn refuse(&self, drive: &DriveInfo, reason: impl Display) -> Refusal {
        let (scheme, device) = (self.name.clone(), drive.spec.name.clone());
        Refusal { scheme, device, reason: reason.to_string(), has_failed: false }
    }

    /// What the dense scheme makes of the blocks of the front's home.
    fn dense_layout(&mut self, drive: &DriveInfo, pool: Pool) -> Result<Layout, Refusal> {
        let mut medium = drive.geometry.media[pool.medium].clone();
        medium.blocks_per_plane = pool.blocks_per_plane;
        let mut spec = drive.spec.clone();
        spec.media = vec![medium];
        let geometry = spec.geometry().map_err(|e| self.refuse(drive, e))?;
        let part = DriveInfo { spec: &spec, geometry: &geometry, logical_pages: drive.logical_pages };
        self.dense.laid_out(&part).map_err(|r| self.refuse(drive, format!("{} says: {}", r.scheme, r.reason)))
    }

    /// Why the two cannot be combined, if so.
    fn conflict(&self, front: &Layout, dense: &Layout) -> Option<String> {
        let (over, under) = (self.front.name(), self.dense.name());
        let (ours, theirs) = (&front.regions[self.home.0 as usize], &dense.regions[dense.home.0 as usize]);
        if !matches!(ours.rule, ProgramRule::Sequential | ProgramRule::OneShot(_)) {
            Some(format!(
                "{over} uses its own program rule, {:?}, for its TLC/QLC region, which {under} would \
                 replace",
                ours.rule
            ))
        } else if dense.pools.len() != 1 || !dense.map.is_by_page() {
            Some(format!("{under} defines a layout of its own and cannot be combined with {over}"))
        } else if ours.mode != theirs.mode {
            Some(format!(
                "{over} uses {} mode in its TLC/QLC region but {under} uses {}; set one of them, as in \
                 {under}:mode={}",
                ours.mode,
                theirs.mode,
                ours.mode.key()
            ))
        } else if dense.enabled_hooks.contains(Hooks::MAKE_ROOM) {
            Some(format!("{under} moves data before host writes, but {over} places host writes"))
        } else if front.tick_every_writes.min(dense.tick_every_writes) > 0
            && front.tick_every_writes != dense.tick_every_writes
        {
            Some(format!(
                "{over} has a tick every {} writes but {under} every {}",
                front.tick_every_writes, dense.tick_every_writes
            ))
        } else {
            None
        }
    }

    /// A region of the drive in the dense scheme's numbers, if it is one of its.
    fn own(&self, region: RegionId) -> Option<RegionId> {
        self.names.iter().position(|name| *name == region).map(|own| RegionId(own as u8))
    }

    fn named(&self, own: RegionId) -> RegionId {
        self.names.get(own.0 as usize).copied().unwrap_or(RegionId::OTHER)
    }

    /// Whether the front would have something programmed in its home.
    fn leads_home(&self, route: Route) -> bool {
        !route.is_into_buffer() && route.targets().any(|t| t.region == self.home)
    }

    /// Where the dense scheme places a parcel. What comes out of the front's regions has been moved, to it.
    fn within(&mut self, parcel: &Parcel, view: &View) -> Place {
        let origin = match parcel.origin {
            Origin::Host(tag) => Origin::Host(Tag(tag.0 >> FRONT_BITS)),
            Origin::Collected(region) => {
                self.own(region).map_or(Origin::Moved(self.dense_home), Origin::Collected)
            }
            Origin::Moved(region) => Origin::Moved(self.own(region).unwrap_or(self.dense_home)),
            Origin::Sealed => Origin::Moved(self.dense_home),
        };
        let place = self.dense.place(&Parcel { origin, ..*parcel }, &view.named(&self.names));
        Place { route: place.route.renamed(|own| self.named(own)), ..place }
    }

    /// A move that the front wants: what goes to its home, the dense scheme places.
    fn placed(&mut self, m: Move, view: &View) -> Move {
        if !self.leads_home(m.route) {
            return m;
        }
        let mask = SectorMask::first(view.geometry().sectors_per_unit);
        let (home, region) = view.owner(m.seen);
        let spans = [Span { lpn: m.lpn, mask, offset: 0 }];
        let parcel = Parcel { origin: Origin::Moved(region), spans: &spans, home };
        Move { route: m.route.exchanged(self.home, self.within(&parcel, view).route), ..m }
    }

    /// What the dense scheme wants, in the drive's numbers.
    fn moved(&self, m: Move) -> Move {
        Move { route: m.route.renamed(|own| self.named(own)), ..m }
    }

    fn collected(&self, c: Collect) -> Collect {
        Collect { region: self.named(c.region), ..c }
    }
}

#[wordline_ftl::hooks]
impl Scheme for Stacked {
    fn name(&self) -> &str {
        &self.name
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let mut layout =
            self.front.laid_out(drive).map_err(|r| Refusal { scheme: self.name.clone(), ..r })?;
        self.home = layout.home;
        if layout.regions.len() == 1 {
            let (over, under) = (self.front.name(), self.dense.name());
            let reason = format!("{over} has a single region and cannot be combined with {under}");
            return Err(self.refuse(drive, reason));
        }
        let pool = layout.regions[self.home.0 as usize].pool;
        let mut dense = self.dense_layout(drive, layout.pools[pool.0 as usize])?;
        if let Some(reason) = self.conflict(&layout, &dense) {
            return Err(self.refuse(drive, reason));
        }
        self.planes = drive.geometry.planes_of_medium(layout.pools[pool.0 as usize].medium);
        layout.pools[pool.0 as usize].free = dense.pools[0].free;
        self.dense_home = dense.home;
        let mut next = layout.regions.len() as u8;
        self.names = (0..dense.regions.len() as u8)
            .map(|own| {
                if RegionId(own) == dense.home {
                    return self.home;
                }
                next += 1;
                RegionId(next - 1)
            })
            .collect();
        let theirs = dense.regions.remove(dense.home.0 as usize);
        let ours = &mut layout.regions[self.home.0 as usize];
        // What comes in from the front, and when it is padded, is its own.
        let Region {
            name, pool, pad_after, pad_host_after, protected, evicts_to_other_pool, moved_in, ..
        } = ours.clone();
        *ours = Region {
            name,
            pool,
            pad_after,
            pad_host_after,
            protected,
            evicts_to_other_pool,
            moved_in,
            ..theirs
        };
        layout.regions.extend(dense.regions.into_iter().map(|r| Region { pool, ..r }));
        (self.front_hooks, self.dense_hooks) = (layout.enabled_hooks, dense.enabled_hooks);
        layout.tick_every_writes = layout.tick_every_writes.max(dense.tick_every_writes);
        if !layout.enabled_hooks.contains(Hooks::IDLE) {
            (layout.idle_after, layout.idle_hold) = (dense.idle_after, dense.idle_hold);
            layout.idle_rate = dense.idle_rate;
        }
        layout.enabled_hooks = layout.enabled_hooks.union(dense.enabled_hooks);
        Ok(layout)
    }

    fn admit(&mut self, request: &HostRequest, view: &View) -> Tag {
        let dense = self.dense.admit(request, &view.named(&self.names));
        Tag(self.front.admit(request, view).0 | dense.0 << FRONT_BITS)
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        // What lies in the dense scheme's own regions the front does not know.
        if let Origin::Collected(region) | Origin::Moved(region) = parcel.origin
            && region != self.home
            && self.own(region).is_some()
        {
            return self.within(parcel, view);
        }
        let origin = match parcel.origin {
            Origin::Host(tag) => Origin::Host(Tag(tag.0 & ((1 << FRONT_BITS) - 1))),
            other => other,
        };
        let place = self.front.place(&Parcel { origin, ..*parcel }, view);
        if !self.leads_home(place.route) {
            return place;
        }
        Place { route: place.route.exchanged(self.home, self.within(parcel, view).route), ..place }
    }

    fn make_room(&mut self, parcel: &Parcel, view: &View, out: &mut Vec<Move>) {
        let first = out.len();
        self.front.make_room(parcel, view, out);
        for m in &mut out[first..] {
            *m = self.placed(*m, view);
        }
    }

    fn split_write(&mut self, span: &Span, view: &View) -> SectorMask {
        self.front.split_write(span, view)
    }

    fn read(&mut self, seen: &ReadSeen, view: &View) -> Option<Move> {
        let front = if self.front_hooks.contains(Hooks::READ) { self.front.read(seen, view) } else { None };
        let front = front.map(|m| self.placed(m, view));
        let ours = self.dense_hooks.contains(Hooks::READ) && self.own(view.owner(seen.ppn).1).is_some();
        let dense = if ours { self.dense.read(seen, &view.named(&self.names)) } else { None };
        front.or(dense.map(|m| self.moved(m)))
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        let own = self.own(need.region);
        if self.front_hooks.contains(Hooks::COLLECT)
            && (own.is_none() || need.region == self.home)
            && let Some(collect) = self.front.collect(need, view)
        {
            return Some(collect);
        }
        let need = Need { region: own?, ..need };
        if !self.dense_hooks.contains(Hooks::COLLECT) {
            return None;
        }
        self.dense.collect(need, &view.named(&self.names)).map(|c| self.collected(c))
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        if self.front_hooks.contains(Hooks::IDLE)
            && let Some(work) = self.front.idle(plane, view)
        {
            return Some(match work {
                IdleWork::Move(m) => IdleWork::Move(self.placed(m, view)),
                IdleWork::Collect(..) => work,
            });
        }
        if !self.dense_hooks.contains(Hooks::IDLE) || !self.planes.contains(&plane.0) {
            return None;
        }
        Some(match self.dense.idle(plane, &view.named(&self.names))? {
            IdleWork::Move(m) => IdleWork::Move(self.moved(m)),
            IdleWork::Collect(c, grain) => IdleWork::Collect(self.collected(c), grain),
        })
    }

    fn idle_is_local(&self) -> bool {
        [(&self.front, self.front_hooks), (&self.dense, self.dense_hooks)]
            .iter()
            .all(|(scheme, hooks)| !hooks.contains(Hooks::IDLE) || scheme.idle_is_local())
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        let first = out.len();
        self.front.tick(view, out);
        for command in &mut out[first..] {
            if let Command::Enqueue(m) = command {
                *m = self.placed(*m, view);
            }
        }
        let mut dense = vec![];
        self.dense.tick(&view.named(&self.names), &mut dense);
        out.extend(dense.into_iter().map(|command| match command {
            Command::SetQuota(region, blocks) => Command::SetQuota(self.named(region), blocks),
            Command::SetSlotQuota(region, slots) => Command::SetSlotQuota(self.named(region), slots),
            Command::Enqueue(m) => Command::Enqueue(self.moved(m)),
        }));
    }

    fn seed(&mut self, seed: u64) {
        self.front.seed(seed);
        self.dense.seed(seed);
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.front.on_trim(lpn);
        self.dense.on_trim(lpn);
    }

    fn metrics(&self) -> Metrics<'_> {
        let mut metrics = self.front.metrics();
        metrics.extend(self.dense.metrics());
        metrics
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        let learns = self.front.memory().is_some() || self.dense.memory().is_some();
        learns.then_some(self as &mut dyn Memory)
    }
}

/// What both have learnt.
#[derive(Serialize, Deserialize)]
struct Learnt {
    front: Option<Vec<u8>>,
    dense: Option<Vec<u8>>,
}

impl Memory for Stacked {
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let of = |scheme: &dyn Scheme| scheme.clone_box().memory().map(|m| m.to_bytes()).transpose();
        Learnt { front: of(&*self.front)?, dense: of(&*self.dense)? }.to_bytes()
    }

    fn set(&mut self, bytes: &[u8]) -> bool {
        let mut both = Learnt { front: None, dense: None };
        let set = |scheme: &mut dyn Scheme, bytes: Option<Vec<u8>>| match (scheme.memory(), bytes) {
            (Some(memory), Some(bytes)) => memory.set(&bytes),
            (None, None) => true,
            _ => false,
        };
        both.set(bytes) && set(&mut *self.front, both.front) && set(&mut *self.dense, both.dense)
    }
}
