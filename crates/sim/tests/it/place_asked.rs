//! How often a scheme is asked where one page goes: what `Scheme::place` says of it, held by a scheme that counts.

use crate::support::one_die;
use std::sync::{Arc, Mutex};
use wordline_device::DeviceSpec;
use wordline_flash::SlotClass;
use wordline_ftl::{
    DriveInfo, Gather, Layout, Origin, Parcel, Place, PlanePick, Refusal, RegionId, Route, Scheme, View,
};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

const D: RegionId = RegionId(0);

/// `conventional`, counting what it is asked of the host's pages and of collected ones.
#[derive(Clone, Debug)]
struct Counting {
    inner: Box<dyn Scheme>,
    /// Where collected pages go.
    collected: Route,
    asked: Arc<Mutex<Asked>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Asked {
    host: u64,
    collected: u64,
}

#[wordline_ftl::hooks]
impl Scheme for Counting {
    fn name(&self) -> &str {
        "counting"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        self.inner.layout(drive)
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let mut asked = self.asked.lock().unwrap();
        let (count, route) = match parcel.origin {
            Origin::Host(_) => (&mut asked.host, Route::to(D, SlotClass::Next)),
            _ => (&mut asked.collected, self.collected),
        };
        *count += 1;
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

/// A scheme that counts, and a drive under it.
fn drive(keys: &[(&str, &str)], collected: Route) -> (Arc<Mutex<Asked>>, Device<NoProbe>, DeviceSpec) {
    let spec = one_die::spec(keys);
    let asked = Arc::default();
    let inner = wordline_schemes::build("conventional:mode=tlc").unwrap();
    let scheme = Counting { inner, collected, asked: Arc::clone(&asked) };
    let device = Device::new(&spec, &spec.geometry().unwrap(), Box::new(scheme), NoProbe).unwrap();
    (asked, device, spec)
}

/// Write whole pages, one after the other: the first so many, and then some of them again. Returns how many.
fn write(d: &mut Device<NoProbe>, first: u64, again: u64) -> u64 {
    for i in (0..first).chain((0..again).map(|i| i * 7919 % first)) {
        let now = d.now();
        d.submit(HostRequest::new(HostOp::Write, i * 32, 32).at(now), now).unwrap();
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    }
    d.drain().unwrap();
    first + again
}

/// Times asked of collected pages, and how many pages were collected, of which copied within their plane.
fn overwritten(keys: &[(&str, &str)], collected: Route) -> (u64, u64, u64) {
    let (asked, mut d, spec) = drive(keys, collected);
    let pages = spec.logical_bytes() / spec.unit.0;
    let written = write(&mut d, pages, 2 * pages);
    let (asked, counters) = (*asked.lock().unwrap(), d.ftl().counters());
    assert_eq!(asked.host, written, "a page of the host is asked of once");
    (asked.collected, counters.collected_units, counters.regions.iter().map(|r| r.ops.copy_backs).sum())
}

#[test]
fn a_page_is_asked_of_once_when_it_has_been_read() {
    let (asked, collected, copied) = overwritten(&[], Route::to(D, SlotClass::Next));
    assert!(collected > 0 && copied == 0);
    assert_eq!(asked, collected);
}

#[test]
fn page_copied_within_its_plane_is_asked_about_once() {
    let copies = [("medium.flash.tlc.copy_back", "1ms")];
    let (asked, collected, copied) = overwritten(&copies, Route::to(D, SlotClass::Next));
    assert!(collected > 0);
    assert_eq!((asked, copied), (collected, collected));
}

// Once it has been read.
#[test]
fn page_that_cannot_be_copied_is_asked_about_again() {
    // Which of two slots it gets is known only when its program begins, so that it cannot be a copy.
    let either = Route::to(D, SlotClass::Next).or(D, SlotClass::Next);
    let (asked, collected, copied) = overwritten(&[("medium.flash.tlc.copy_back", "1ms")], either);
    assert!(collected > 0 && copied == 0);
    // Of those asked of once more, a few are overwritten before they have been read.
    assert!((2 * collected..2 * collected + collected / 1000).contains(&asked), "{asked} for {collected}");
}

#[test]
fn block_that_frees_nothing_is_asked_about_unmoved() {
    let (asked, mut d, spec) = drive(&[("gc.trigger", "free_blocks:90%")], Route::to(D, SlotClass::Next));
    let pages = spec.logical_bytes() / spec.unit.0;
    write(&mut d, pages, 0);
    assert_eq!(d.ftl().counters().collected_units, 0, "all that was written is live");
    assert!(asked.lock().unwrap().collected > 0);
}
