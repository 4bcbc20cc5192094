//! A drive that works without end while nothing comes of it stops, and says what it was about.

use crate::support::one_die;
use wordline_flash::SlotClass;
use wordline_ftl::{
    DriveInfo, Fault, Hooks, IdleWork, Layout, Move, Parcel, Place, PlanePick, Refusal, RegionId, Route,
    Scheme, View,
};
use wordline_sim::{Device, DeviceError, NoProbe};
use wordline_units::{HostOp, HostRequest, Lpn, PlaneId, SimTime};

/// `conventional`, which moves its first page whenever a die has nothing to do.
#[derive(Clone, Debug)]
struct NeverAtRest(Box<dyn Scheme>);

#[wordline_ftl::hooks]
impl Scheme for NeverAtRest {
    fn name(&self) -> &str {
        "never-at-rest"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        Ok(Layout { enabled_hooks: Hooks::IDLE, ..self.0.layout(drive)? })
    }
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.0.place(parcel, view)
    }
    fn idle(&mut self, _: PlaneId, view: &View) -> Option<IdleWork> {
        let route = Route::to(RegionId(0), SlotClass::Next);
        let lpn = Lpn(0);
        view.locate(lpn).map(|seen| IdleWork::Move(Move { lpn, seen, plane: PlanePick::Home, route }))
    }
}

#[test]
fn idle_work_without_end_is_told_and_ends_the_run() {
    let spec = one_die::spec(&[]);
    let inner = wordline_schemes::build("conventional:mode=tlc").unwrap();
    let geometry = spec.geometry().unwrap();
    let mut d: Device<NoProbe> =
        Device::new(&spec, &geometry, Box::new(NeverAtRest(inner)), NoProbe).unwrap();
    d.submit(HostRequest::new(HostOp::Write, 0, 32).at(SimTime(0)), SimTime(0)).unwrap();
    let error = d.drain().unwrap_err();
    let text = error.to_string();
    let DeviceError::Fault(Fault::NoProgress { erases, .. }) = error else { panic!("{text}") };
    assert_eq!(erases, 64 * geometry.blocks + 1);
    assert!(text.contains("livelock") && text.contains("if this is your scheme, make sure that its idle work ends; otherwise please report the command"), "{text}");
}
