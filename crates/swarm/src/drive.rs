//! A device that a scheme takes, and how much of it the host can have.

use std::fmt::{self, Display, Formatter};
use wordline_device::{Capacity, DeviceSpec};
use wordline_flash::{Geometry, ProgramRule};
use wordline_ftl::{DriveInfo, Ftl, Layout, MapKind, MovedIn, Region, Scheme, trim_log_pages};
use wordline_sim::Queues;
use wordline_units::Bytes;

/// A scheme, and the words that it is made of.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// As [`Registry::build`](wordline_schemes::Registry::build) takes it.
    pub spelling: String,
    /// As it is before it has seen a drive.
    pub scheme: Box<dyn Scheme>,
}

impl Display for Spelled {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

/// What a drive is drawn for.
pub(crate) struct Wanted<'a> {
    /// The scheme that is to take it.
    pub scheme: &'a Spelled,
    /// Whether it has two media.
    pub two_media: bool,
    /// Blocks of each plane beyond those of other drives.
    pub further_blocks: u32,
}

/// A device that a scheme takes.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The device.
    pub spec: DeviceSpec,
    /// Its numbering.
    pub geometry: Geometry,
    /// The scheme.
    pub scheme: Spelled,
    /// How the scheme divides the device.
    pub layout: Layout,
    /// Whether there is so much space that a write without a place is a bug.
    pub roomy: bool,
}

impl Drive {
    /// A device under a scheme.
    ///
    /// # Errors
    /// When the device is none, or the scheme or the mechanism refuses it; with the reason.
    pub fn of(spec: DeviceSpec, scheme: &Spelled, roomy: bool) -> Result<Drive, String> {
        // By way of a device file, as a user's would come.
        let spec = spec.checked("drawn.toml").map_err(|e| e.to_string())?;
        let geometry = spec.geometry().map_err(|e| e.to_string())?;
        let layout = laid_out(&spec, &geometry, &*scheme.scheme)?;
        Ok(Drive { spec, geometry, scheme: scheme.clone(), layout, roomy })
    }

    /// The same with a change of its device; without it where the scheme does not take the changed one.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(&mut DeviceSpec)) -> Drive {
        let mut spec = self.spec.clone();
        change(&mut spec);
        Drive::of(spec, &self.scheme, self.roomy).unwrap_or(self)
    }

    /// A copy of its scheme, which has not seen it yet.
    pub fn scheme(&self) -> Box<dyn Scheme> {
        self.scheme.scheme.clone()
    }

    /// Logical pages of the host.
    pub fn logical_pages(&self) -> u32 {
        logical_pages(&self.spec)
    }

    /// Whether its map knows whole pages alone.
    pub fn by_page(&self) -> bool {
        self.layout.map == MapKind::Page
    }

    /// The queues in front of it, where it takes turns, and how many requests it works on in parallel.
    pub fn queues(&self) -> Option<(Queues, u32)> {
        let turns = self.spec.arbitration.as_ref()?;
        let each = turns.queues.iter().map(|q| (q.class.unwrap_or_default(), q.depth.unwrap_or(u32::MAX)));
        Some((Queues::new(turns.order, turns.burst, each), self.spec.host.queue_depth))
    }

    /// Whether every block is programmed from its first page to its last.
    pub(crate) fn in_order(&self) -> bool {
        let mut rules = self.layout.regions.iter().map(|r| r.rule);
        rules.all(|rule| matches!(rule, ProgramRule::Sequential | ProgramRule::OneShot(_)))
    }

    /// Wordlines of a window and bits of a wordline, by region, where the rule is that of windows.
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

/// How a scheme lays a device out, if neither it nor the mechanism refuses.
fn laid_out(spec: &DeviceSpec, geometry: &Geometry, scheme: &dyn Scheme) -> Result<Layout, String> {
    let drive = DriveInfo { spec, geometry, logical_pages: logical_pages(spec) };
    let ftl: Ftl = Ftl::new(&drive, scheme.clone_box()).map_err(|e| e.to_string())?;
    Ok(ftl.layout().clone())
}

/// How much of a device the host gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// Room to spare.
    Ample,
    /// All that the rule of docs/progress.md leaves it, and not a page more.
    Edge,
    /// All that the home region holds: a write may find no place.
    None,
}

/// Give the host this many per cent of what a scheme's home region holds.
///
/// # Errors
/// When the scheme refuses the device, or its home holds nothing.
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
        // Its tables are data, too, and any plane may have one page more of them than another.
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

/// How many logical pages of a device a scheme can promise the host, whatever that does with them: the rule of
/// docs/progress.md.
///
/// # Errors
/// When the scheme refuses the device, or can promise none.
pub fn promised_pages(spec: &DeviceSpec, spelling: &str, scheme: &dyn Scheme) -> Result<u64, String> {
    let mut spec = spec.clone();
    let scheme = Spelled { spelling: spelling.to_string(), scheme: scheme.clone_box() };
    give_room(&mut spec, &scheme, Room::Edge, 100)?;
    Ok(u64::from(logical_pages(&spec)))
}

/// Logical units that the home region holds.
fn home_units(geometry: &Geometry, layout: &Layout, room: Room) -> Option<u64> {
    let home = &layout.regions[layout.home.0 as usize];
    let pool = layout.pools[home.pool.0 as usize];
    let per_page = geometry.units_per_page(pool.medium);
    let medium = &geometry.media[pool.medium];
    let program = per_page * home.rule.pages_per_program();
    let block = medium.pages_per_block(home.mode) * per_page;
    // A block whose live pages leave less than one program free gives nothing back.
    let (spare, block) = match room {
        Room::Ample => (spare_blocks(layout), block - program),
        Room::Edge => (least_spare_blocks(layout), block - program),
        Room::None => (0, block),
    };
    let blocks = pool.blocks_per_plane.checked_sub(spare)?;
    let units = medium.topology.planes() as u64 * blocks as u64 * block as u64;
    // Under a map of sectors each of them may take a whole slot, and nothing joins them.
    let spread = room != Room::None && layout.map == MapKind::Sector;
    // Where what is moved has a page to itself, each unit may come to take a whole one.
    let alone = room == Room::Edge && home.moved_in == MovedIn::Alone;
    let units = if alone { units / per_page as u64 } else { units };
    let units = if spread { units / geometry.sectors_per_unit as u64 / 2 } else { units };
    (units > 0).then_some(units)
}

/// Blocks of a plane that the home region of a roomy drive does without: for each region of its pool a block to open, one
/// to collect and one in reserve, and what the others may own; and one for pages that were padded.
fn spare_blocks(layout: &Layout) -> u32 {
    others(layout).map(|quota| quota.map_or(3, |quota| quota + 3)).sum::<u32>() + 4
}

/// Blocks of a plane without which the home region goes on still: its own in reserve, and of each other region of its pool
/// one in reserve and one that is open, or what that may own.
fn least_spare_blocks(layout: &Layout) -> u32 {
    others(layout).map(|quota| 1 + quota.unwrap_or(1)).sum::<u32>() + 1
}

/// What each other region of the home region's pool may own of a plane, where that is not all of it.
fn others(layout: &Layout) -> impl Iterator<Item = Option<u32>> {
    let home = &layout.regions[layout.home.0 as usize];
    let all = layout.pools[home.pool.0 as usize].blocks_per_plane;
    let others = layout.regions.iter().filter(|r| r.pool == home.pool && r.name != home.name);
    others.map(move |r| (r.quota < all).then_some(r.quota))
}
