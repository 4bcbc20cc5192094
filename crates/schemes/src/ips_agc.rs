//! # In-place Switch with advanced GC
//!
//! ## Source
//! X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs", 2024, section
//! IV-B. Advanced GC: M. Jung, R. Prabhakar, M. T. Kandemir, "Taking Garbage Collection Overheads off the Critical Path
//! in SSDs", Middleware 2012.
//!
//! ## Idea
//! GC has to copy pages anyway. If it copies them in idle time and reprograms used SLC pages with them, it frees new SLC
//! cache, and a host write waits for one page at most.
//!
//! ## Algorithm
//! 1. Host writes and on-demand GC are as in `ips`.
//! 2. While a die is idle and a plane has windows whose SLC pages are used up, the next valid page of the block with the
//!    most invalid pages reprograms one of them. That block takes no further data.
//! 3. After each page the die checks for requests and stops as soon as one arrives.
//! 4. An empty block is erased, also in idle time. If slots run short, on-demand GC continues what idle time has begun.
//!
//! ## Symbols
//! W: the region of windows.
//!
//! ## Parameters
//! - `window`, `layers`, `mode`, `reprogram_read`: as in `ips`.
//! - `idle_after`: as in `turbo-write`.
//!
//! ## Differs
//! The planes of a die alternate page by page. Two figures show whether idle copies were useful: WA_full counts every
//! program, and WA_paper omits idle copies of pages that on-demand GC would have copied before the host overwrote them.
//! The paper appears to count like WA_paper.
//!
//! ## Not modelled
//! As `ips`.
//!
//! ## Checked by
//! `idle gc adds bits to windows until the host comes`, `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::windows::{self, Windows};
use crate::registry::Entry;
use wordline_ftl::{
    DriveInfo, Gather, IdleWork, Layout, Origin, Parcel, Place, PlanePick, Refusal, Scheme, View,
};
use wordline_units::{PlaneId, SimDuration};

pub(crate) const NAME: &str = "ips-agc";

/// Its entry in the registry.
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

    fn idle_is_local(&self) -> bool {
        true
    }
}
