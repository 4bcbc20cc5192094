//! # RARO
//!
//! ## Source
//! Y. Wang, D. Yu, Y. Lv, Y. Song, Y. Zhao, L. Shi, "RARO: Reliability-Aware Read Optimization for Hybrid
//! Flash Storage", 2025, section IV, table II.
//!
//! ## Idea
//! Reading QLC is slow mostly because worn pages must be read again and again. So a block of QLC turns to
//! SLC or TLC, which costs capacity, only for data that are read often and take many retries.
//!
//! ## Algorithm
//! 1. Each page read by the host counts one for the place where it lies: warm from `warm` reads on, hot from
//!    `hot`, the read that is looked at included. Data that are moved begin anew where they come to lie, and so does a
//!    block that is erased. Counts are halved every `decay` pages read. By `class=period` the count is that at the end
//!    of the last period, so that the class is older than the read; by `class=distance` a page is hot or warm that was
//!    read so many pages ago or fewer.
//! 2. After a read, a hot page in QLC or TLC that took at least R1 retries moves to SLC.
//! 3. A warm page in QLC that took at least R2 retries moves to TLC. R2 depends on how worn the block is.
//! 4. The move takes what the register holds, brings out the rest of the page, and programs it in the
//!    background in the same plane. An erased block takes its mode when it is opened, the least erased first.
//! 5. Writes go to QLC. A page collected stays in its mode while it is warm or hot, and goes to QLC when it
//!    is cold, or when its plane is down to the reserve. An emptied block may be QLC again.
//! 6. The victim is the block that gives back the most wordlines, of any mode.
//! 7. With `reclaim` a die of an idle drive gives back a block, one in each idle time, page by page: of the full
//!    blocks of SLC and TLC that hold no page hot enough for their mode (hot in SLC, warm in TLC) and have done so
//!    for `decay / 2` pages read, the one that gains the most bytes for each page moved to QLC, and of equals the
//!    one read least. It waits while the host, by an exponentially weighted mean of its writes, would fill what is
//!    free in QLC within 10 s. Where the drive could hold less than `reclaim_below` more than it stores, the best
//!    such block is also what collection takes first, however long it has been cool and whatever the host writes.
//!    What is collected then stays in its mode only while it is hot enough for it.
//!
//! ## Symbols
//! X, Y, Z: the regions of SLC, TLC and QLC. R1, R2: thresholds of retries.
//!
//! ## Parameters
//! - `r1`: default 1 (section V-C).
//! - `r2_young`, `r2_middle`, `r2_old`: default 5, 7 and 11 (section V-C), for blocks that have used up to a
//!   third, to two thirds, and more of their life (table I).
//! - `warm`, `hot`: default 4 and 16, ASSUMED: the paper gives no classifier. The results hang on them.
//! - `class`: default read: "the hotness classifier determines the cold, warm, and hot attributes of the access
//!   frequency of the target physical page corresponding to the read request" (section IV-D), by which every page is
//!   warm before it is hot. Under period and distance hot data can be found in QLC, of which the abstract and
//!   section IV-C speak. The results hang on it, too.
//! - `period`: default 10000, ASSUMED.
//! - `hot_within`, `warm_within`: default 2000 and 10000, ASSUMED.
//! - `heat`: default physical: "the access frequency of the target physical page" (section IV-D). Under `logical` a
//!   page takes its count along.
//! - `decay`: default off, ASSUMED likewise; 4000000 with `reclaim`.
//! - `reclaim`: default off, as in the paper's runs.
//! - `reclaim_below`: default 10 %, ASSUMED: the paper names "the remaining space of the device".
//! - `idle_after`: how long the drive must have had no request before it reclaims; default 100ms, ASSUMED.
//!
//! ## Differs
//! The paper computes a page's retries from an aging model; here the drive knows how many it took, which is
//! the same model. Table II has "at least" and the text "exceeding"; this is the table. A conversion is
//! refused, and counted, where the blocks that stay QLC could not take back all that the host may store.
//! The paper's Base is `conventional` on the same drive. Section IV-E names what reclaim by temperature must weigh,
//! the space that is left, what collection gains and what the host writes, and has no formula: (7) is one. It is
//! decided on when an idle time begins, so where the host has just written much it waits for the next.
//!
//! ## Not modelled
//! What it takes the controller to count heat and to decide.
//!
//! ## Checked by
//! `a hot page of many retries is found in slc and its old place is stale` (figures 8 to 11),
//! `blocks whose data have cooled give their capacity back and hot ones stay`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::read_class::Class;
use crate::parts::read_heat::{self, ByReadHeat, X, Y};
use crate::registry::Entry;
use wordline_ftl::{
    Collect, DriveInfo, IdleWork, Layout, Memory, Move, Need, Parcel, Place, ReadSeen, Refusal, Scheme, Tag,
    View,
};
use wordline_units::{CellMode, HostRequest, PlaneId};

pub(crate) const NAME: &str = "raro";

/// How it stands in the registry.
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
        Some(&mut self.heat.learnt)
    }
}
