//! # In-place Switch with advanced collection
//!
//! ## Source
//! X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs",
//! 2024, section IV-B. Advanced collection: M. Jung, R. Prabhakar, M. T. Kandemir, "Taking Garbage
//! Collection Overheads off the Critical Path in SSDs", Middleware 2012.
//!
//! ## Idea
//! Collection has to move pages anyhow. Done in idle time, and into used SLC pages as their further bits,
//! it makes new SLC cache for the writes to come, and a write that arrives waits for one page at most.
//!
//! ## Algorithm
//! 1. Host writes and collection on demand are those of `ips`.
//! 2. In an idle die, while a plane has windows that are full as SLC, the block with the most invalid
//!    pages gives up its next live page, which reprograms. The block is no destination any more.
//! 3. After each page the die is asked again; as soon as a request comes it does no more.
//! 4. A block that is empty is erased, in idle time too. Where slots run short, collection on demand goes
//!    on with what idle time has begun.
//!
//! ## Symbols
//! W: the region of windows.
//!
//! ## Parameters
//! - `window`, `layers`, `mode`, `reprogram_read`: those of `ips`.
//! - `idle_after`: that of `turbo-write`.
//!
//! ## Differs
//! The planes of a die take turns, a page each. Whether a copy was worth making is told by two figures:
//! WA_full counts every program, WA_paper leaves out idle copies whose page the host did not overwrite
//! before collection on demand would have moved it. The paper seems to count so.
//!
//! ## Not modelled
//! As `ips`.
//!
//! ## Checked by
//! `idle collection gives windows their further bits and stops when the host comes`, `reference model`,
//! golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::windows::{self, Windows};
use crate::registry::Entry;
use wordline_ftl::{
    DriveInfo, Gather, IdleWork, Layout, Origin, Parcel, Place, PlanePick, Refusal, Scheme, View,
};
use wordline_units::{PlaneId, SimDuration};

pub(crate) const NAME: &str = "ips-agc";

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "ips with idle-time GC that reprograms used SLC pages", |p| {
        Box::new(IpsAgc::from_parameters(p))
    })
    .docs(include_str!("ips_agc.rs"))
    .takes(windows::WINDOW)
    .takes(windows::LAYERS)
    .takes(layout::MODE)
    .takes(windows::REPROGRAM_READ)
    .takes(layout::idle_at_once())
    .small("window=3,layers=1,idle_after=100us")
    .small("window=2,idle_after=100us")
}

/// Windows that idle collection reprograms.
#[derive(Clone, Debug)]
pub struct IpsAgc {
    windows: Windows,
    idle_after: SimDuration,
}

impl IpsAgc {
    fn from_parameters(p: &mut Parameters) -> IpsAgc {
        IpsAgc { windows: Windows::from_parameters(p), idle_after: layout::take_idle_after(p) }
    }
}

#[wordline_ftl::hooks]
impl Scheme for IpsAgc {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let layout = self.windows.layout(drive, layout::refuser(NAME, drive))?;
        Ok(Layout { idle_after: self.idle_after, ..layout })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => windows::host(), // (1)
            Origin::Collected(_) | Origin::Moved(_) => windows::collected(), // (2)
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        if view.draining() { None } else { windows::advance(plane, view) } // (2), (3), (4)
    }
}
