//! # RARO
//!
//! ## Source
//! Y. Wang, D. Yu, Y. Lv, Y. Song, Y. Zhao, L. Shi, "RARO: Reliability-Aware Read Optimization for Hybrid Flash
//! Storage", 2025, section IV, table II.
//!
//! ## Idea
//! Reads of QLC are slow mainly because worn pages need retries. A QLC block is therefore converted to SLC or TLC, which
//! costs capacity, only for data that are read often and need many retries.
//!
//! ## Algorithm
//! 1. Each page read by the host increments the count of its physical page. A page is warm from `warm` reads on and hot
//!    from `hot`, the current read included. The count starts at 0 after a move or an erase and is halved every `decay`
//!    pages read. With `class=period`, the count at the end of the last period decides, so the class is older than the
//!    read. With `class=distance`, the reuse distance decides: a page is hot or warm if at most this many pages were
//!    read since its last read.
//! 2. After a read, a hot page in QLC or TLC that took at least R1 retries moves to SLC.
//! 3. A warm page in QLC that took at least R2 retries moves to TLC. R2 depends on the wear of the block.
//! 4. The move uses the data in the page register, reads the rest of the page, and programs it in the background in the
//!    same plane. An erased block gets its mode when it is opened; the block with the fewest erases comes first.
//! 5. Writes go to QLC. GC keeps a warm or hot page in its mode, and copies it to QLC if it is cold or its plane has only
//!    the GC reserve left. An erased block can become QLC again.
//! 6. The victim is the block that frees the most wordlines, in any mode.
//! 7. With `reclaim`, a die of an idle drive converts one block back in each idle time, page by page. Candidates are full
//!    SLC and TLC blocks that for `decay / 2` pages read have held no page hot enough for their mode (hot in SLC, warm in
//!    TLC). The one that gains the most bytes per page moved to QLC is chosen; ties go to the block with the fewest reads.
//!    Reclaim waits while the host, by an exponentially weighted mean of its writes, would fill the free QLC space within
//!    10 s. If the free capacity is less than `reclaim_below` of the stored data, GC also takes the best such block first,
//!    however recently it cooled and whatever the host writes, and then keeps a page in its mode only if it is hot enough
//!    for it.
//!
//! ## Symbols
//! X, Y, Z: the regions of SLC, TLC and QLC. R1, R2: thresholds of retries.
//!
//! ## Parameters
//! - `r1`: default 1 (section V-C).
//! - `r2_young`, `r2_middle`, `r2_old`: default 5, 7 and 11 (section V-C), for blocks in the first, second and last third
//!   of their life (table I).
//! - `warm`, `hot`: default 4 and 16, ASSUMED: the paper gives no classifier. The results depend on them.
//! - `class`: default read: "the hotness classifier determines the cold, warm, and hot attributes of the access frequency
//!   of the target physical page corresponding to the read request" (section IV-D), so that every page is warm before it
//!   is hot. Under period and distance, QLC can hold hot data, of which the abstract and section IV-C speak. The results
//!   depend on this, too.
//! - `period`: default 10000, ASSUMED.
//! - `hot_within`, `warm_within`: default 2000 and 10000, ASSUMED.
//! - `heat`: default physical: "the access frequency of the target physical page" (section IV-D). Under `logical` a page
//!   keeps its count when it moves.
//! - `decay`: default off, ASSUMED; 4000000 with `reclaim`.
//! - `reclaim`: default off, as in the paper's runs.
//! - `reclaim_below`: default 10 %, ASSUMED: the paper names "the remaining space of the device".
//! - `idle_after`: idle time before reclaim starts; default 100ms, ASSUMED.
//!
//! ## Differs
//! The paper computes the retries of a page from an aging model; here the drive knows the retries of each read, which
//! follow the same model. Table II says "at least" and the text "exceeding"; this is the table. A conversion is refused,
//! and counted, if the remaining QLC blocks could not hold everything that the host may store. The paper's Base is
//! `conventional` on the same drive. Section IV-E names what reclaim must weigh, the free space, the gain and the host
//! writes, but no formula: step 7 is one. It decides when an idle time starts, so after heavy writes it waits for the next.
//!
//! ## Not modelled
//! Controller time for counting heat and for decisions.
//!
//! ## Checked by
//! `hot page of many retries moves to slc` (figures 8 to 11),
//! `cooled blocks return capacity and hot ones stay`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::read_class::Class;
use crate::parts::read_class::{X, Y};
use crate::parts::read_heat::{self, ByReadHeat};
use crate::registry::Entry;
use wordline_ftl::{
    Collect, DriveInfo, IdleWork, Layout, Memory, Move, Need, Parcel, Place, ReadSeen, Refusal, Scheme, Tag,
    View,
};
use wordline_units::{CellMode, HostRequest, PlaneId};

pub(crate) const NAME: &str = "raro";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(
        NAME,
        "QLC with blocks converted to TLC or SLC for data that are read often and need many retries",
        |p| Box::new(Raro::from_parameters(p)),
    )
    .docs(include_str!("raro.rs"))
    .takes(Parameter::new("r1", "1", "least retries of a hot page that moves to SLC"))
    .takes(Parameter::new(
        "r2_young",
        "5",
        "least retries of a warm page that moves to TLC, for blocks in the first third of their life",
    ))
    .takes(Parameter::new("r2_middle", "7", "as r2_young, in the second third"))
    .takes(Parameter::new("r2_old", "11", "as r2_young, in the last third"))
    .takes_all(read_heat::PARAMETERS)
    .small("warm=1,hot=2,r1=0,r2_young=0")
    .small("warm=1,hot=2,r1=0,r2_young=0,class=period,period=16")
}

/// Moves by heat and retries.
#[derive(Clone, Debug)]
pub struct Raro {
    heat: ByReadHeat,
    r1: u32,
    /// By third of a block's life.
    r2: [u32; 3],
}

impl Raro {
    fn from_parameters(p: &mut Parameters) -> Raro {
        let r1 = p.whole("r1", 0..=255);
        let r2 = ["r2_young", "r2_middle", "r2_old"].map(|key| p.whole(key, 0..=255));
        Raro { heat: ByReadHeat::from_parameters(p), r1, r2 }
    }

    fn r2(&self, seen: &ReadSeen, view: &View) -> u32 {
        let life = view.life_used(view.geometry().block_of(seen.ppn));
        self.r2[((life * 3.0) as usize).min(2)]
    }
}

#[wordline_ftl::hooks]
impl Scheme for Raro {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        self.heat.layout(drive, layout::refuser(NAME, drive))
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.heat.place(parcel, view) // (5)
    }

    fn read(&mut self, seen: &ReadSeen, view: &View) -> Option<Move> {
        let retries = seen.retries as u32;
        let region = match (seen.mode, self.heat.read(seen, view)) {
            // (1)
            (CellMode::Qlc | CellMode::Tlc, Class::Hot) if retries >= self.r1 => X, // (2)
            (CellMode::Qlc, Class::Warm) if retries >= self.r2(seen, view) => Y,    // (3)
            _ => return None,
        };
        Some(ByReadHeat::to(seen, region)) // (4)
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        self.heat.collect(need, view) // (6)
    }

    fn admit(&mut self, request: &HostRequest, view: &View) -> Tag {
        self.heat.admit(request, view.now); // (7)
        Tag::default()
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        self.heat.idle(plane, view) // (7)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(self.heat.memory())
    }
}
