//! A device that a scheme accepts, and how much of it the host can have.

use std::fmt::{self, Display, Formatter};
use wordline_device::{Capacity, DeviceSpec};
use wordline_flash::{Geometry, ProgramRule};
use wordline_ftl::{DriveInfo, Ftl, Layout, MapKind, MovedIn, Region, Scheme, trim_log_pages};
use wordline_sim::Queues;
use wordline_units::Bytes;

/// A scheme, and how it is spelled.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// Its spelling, as for [`Registry::build`](wordline_schemes::Registry::build).
    pub spelling: String,
    /// The scheme before it has seen a drive.
    pub scheme: Box<dyn Scheme>,
}

impl Display for Spelled {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

/// What to draw a drive for.
pub(crate) struct Wanted<'a> {
    /// The scheme that must accept it.
    pub scheme: &'a Spelled,
    /// Whether it has two media.
    pub two_media: bool,
    /// Blocks per plane in addition to those of other drives.
    pub further_blocks: u32,
}

/// A device that a scheme accepts.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The device.
    pub spec: DeviceSpec,
    /// Its geometry.
    pub geometry: Geometry,
    /// The scheme.
    pub scheme: Spelled,
    /// How the scheme divides the device.
    pub layout: Layout,
    /// Whether there is so much space that a write without space is a bug.
    pub roomy: bool,
}

impl Drive {
    /// A device under a scheme.
    ///
    /// # Errors
    /// If the device is invalid, or the scheme or the mechanism refuses it, with the reason.
    pub fn of(spec: DeviceSpec, scheme: &Spelled, roomy: bool) -> Result<Drive, String> {
        // Through a device file, as a user's device comes.
        let spec = wordline_device::checked(&spec, "drawn.toml").map_err(|e| e.to_string())?;
        let geometry = spec.geometry().map_err(|e| e.to_string())?;
        let layout = laid_out(&spec, &geometry, &*scheme.scheme)?;
        Ok(Drive { spec, geometry, scheme: scheme.clone(), layout, roomy })
    }

    /// The drive with a changed device, or the same drive if the scheme refuses the change.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(&mut DeviceSpec)) -> Drive {
        let mut spec = self.spec.clone();
        change(&mut spec);
        Drive::of(spec, &self.scheme, self.roomy).unwrap_or(self)
    }

    /// A copy of its scheme that has not seen a drive yet.
    pub fn scheme(&self) -> Box<dyn Scheme> {
        self.scheme.scheme.clone()
    }

    /// Logical capacity in pages.
    pub fn logical_pages(&self) -> u32 {
        logical_pages(&self.spec)
    }

    /// Whether its mapping table only covers whole pages.
    pub fn by_page(&self) -> bool {
        self.layout.map == MapKind::Page
    }

    /// Its host queues, if it has several, and how many requests it processes in parallel.
    pub fn queues(&self) -> Option<(Queues, u32)> {
        let turns = self.spec.arbitration.as_ref()?;
        let each = turns.queues.iter().map(|q| (q.class.unwrap_or_default(), q.depth.unwrap_or(u32::MAX)));
        Some((Queues::new(turns.order, turns.burst, each), self.spec.host.queue_depth))
    }

    /// Whether every block is programmed in page order.
    pub(crate) fn in_order(&self) -> bool {
        let mut rules = self.layout.regions.iter().map(|r| r.rule);
        rules.all(|rule| matches!(rule, ProgramRule::Sequential | ProgramRule::OneShot(_)))
    }

    /// Wordlines per window and bits per wordline of each region with the window rule.
    pub(crate) fn windows(&self) -> Vec<Option<(u32, u32)>> {
        let of = |r: &Region| match r.rule {
            ProgramRule::ReprogramWindow(w) => Some((w.wordlines as u32, r.mode.bits())),
            _ => None,
        };
        self.layout.regions.iter().map(of).collect()
    }
}

fn logical_pages(spec: &DeviceSpec) -> u32 {
    (spec.logical_bytes() / spec.unit.0) as u32
}

/// The layout of a scheme on a device, unless the scheme or the mechanism refuses.
fn laid_out(spec: &DeviceSpec, geometry: &Geometry, scheme: &dyn Scheme) -> Result<Layout, String> {
    let drive = DriveInfo { spec, geometry, logical_pages: logical_pages(spec) };
    let ftl: Ftl = Ftl::new(&drive, scheme.clone_box()).map_err(|e| e.to_string())?;
    Ok(ftl.layout().clone())
}

/// How much of a device the host gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// Leave room to spare.
    Ample,
    /// All that the rule of docs/progress.md allows.
    Edge,
    /// All that the home region holds: a write may find no space.
    None,
}

/// Set the logical capacity to this percentage of what the scheme's home region holds.
///
/// # Errors
/// If the scheme refuses the device, or the home region holds nothing.
pub(crate) fn give_room(
    spec: &mut DeviceSpec,
    scheme: &Spelled,
    room: Room,
    percent: u64,
) -> Result<(), String> {
    spec.capacity = Capacity::Logical(spec.unit);
    let geometry = spec.geometry().map_err(|e| e.to_string())?;
    let layout = laid_out(spec, &geometry, &*scheme.scheme)?;
    let units = home_units(&geometry, &layout, room).ok_or("its home region is too small")?;
    let most = spec.physical_bytes() / spec.unit.0;
    let mut given = (units * percent / 100).clamp(1, most);
    if room == Room::Edge {
        // The mapping table's pages take space too, and any plane may hold one more of them than another.
        let home = &layout.regions[layout.home.0 as usize];
        let medium = layout.pools[home.pool.0 as usize].medium;
        let planes = u64::from(geometry.media[medium].topology.planes());
        let log = |pages: u64| u64::from(trim_log_pages(&geometry, layout.map, pages as u32));
        let fits = |pages: u64| (pages + log(pages)).div_ceil(planes) * planes <= units;
        given = (1..=given).rev().find(|pages| fits(*pages)).ok_or("its tables leave the host no page")?;
    }
    spec.capacity = Capacity::Logical(Bytes(given * spec.unit.0));
    Ok(())
}

/// Number of logical pages that a scheme can guarantee under any workload, by the rule of docs/progress.md.
///
/// # Errors
/// If the scheme refuses the device, or can guarantee none.
pub fn promised_pages(spec: &DeviceSpec, spelling: &str, scheme: &dyn Scheme) -> Result<u64, String> {
    let mut spec = spec.clone();
    let scheme = Spelled { spelling: spelling.to_string(), scheme: scheme.clone_box() };
    give_room(&mut spec, &scheme, Room::Edge, 100)?;
    Ok(u64::from(logical_pages(&spec)))
}

/// Number of logical units that the home region holds.
fn home_units(geometry: &Geometry, layout: &Layout, room: Room) -> Option<u64> {
    let home = &layout.regions[layout.home.0 as usize];
    let pool = layout.pools[home.pool.0 as usize];
    let per_page = geometry.units_per_page(pool.medium);
    let medium = &geometry.media[pool.medium];
    let program = per_page * home.rule.pages_per_program();
    let block = medium.pages_per_block(home.mode) * per_page;
    // A block whose valid pages leave less than one program free yields no space.
    let (spare, block) = match room {
        Room::Ample => (spare_blocks(layout), block - program),
        Room::Edge => (least_spare_blocks(layout), block - program),
        Room::None => (0, block),
    };
    let blocks = pool.blocks_per_plane.checked_sub(spare)?;
    let units = medium.topology.planes() as u64 * blocks as u64 * block as u64;
    // Under a sector map, a sector may take a whole slot, and nothing merges them.
    let spread = room != Room::None && layout.map == MapKind::Sector;
    // If moved data are written one unit per page, each unit may take a whole page.
    let alone = room == Room::Edge && home.moved_in == MovedIn::Alone;
    let units = if alone { units / per_page as u64 } else { units };
    let units = if spread { units / geometry.sectors_per_unit as u64 / 2 } else { units };
    (units > 0).then_some(units)
}

/// Blocks per plane that the home region of a roomy drive does not use. For each region of its pool: one open
/// block, one victim and one in reserve, plus the quotas of the other regions. One more covers padded pages.
fn spare_blocks(layout: &Layout) -> u32 {
    others(layout).map(|quota| quota.map_or(3, |quota| quota + 3)).sum::<u32>() + 4
}

/// Minimum number of blocks per plane that the home region must leave unused: its own reserve, and for each other
/// region of its pool one in reserve and its quota, or one open block.
fn least_spare_blocks(layout: &Layout) -> u32 {
    others(layout).map(|quota| 1 + quota.unwrap_or(1)).sum::<u32>() + 1
}

/// The quota per plane of each other region of the home region's pool, if it is less than all blocks.
fn others(layout: &Layout) -> impl Iterator<Item = Option<u32>> {
    let home = &layout.regions[layout.home.0 as usize];
    let all = layout.pools[home.pool.0 as usize].blocks_per_plane;
    let others = layout.regions.iter().filter(|r| r.pool == home.pool && r.name != home.name);
    others.map(move |r| (r.quota < all).then_some(r.quota))
}
