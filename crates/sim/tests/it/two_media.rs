//! A drive of two media with pages of different size: writes go to the fast one, collection moves
//! them to the dense one, two units to a page.

use wordline_flash::SlotClass;
use wordline_ftl::{
    Bytes, DriveInfo, Fault, Gather, Layout, Outcome, Parcel, Place, PlanePick, Refusal, RegionId, Route,
    Scheme, View,
};
use wordline_sim::{Device, DeviceError, NoProbe};
use wordline_swarm::stress::FastThenDense;
use wordline_units::{HostOp, HostRequest, SimTime};

#[test]
fn data_moved_between_media_read_back() {
    let overrides: Vec<(String, String)> = [
        ("medium.slc.channels", "4"),
        ("medium.slc.blocks_per_plane", "6"),
        ("medium.slc.wordlines_per_block", "4"),
        ("medium.tlc.blocks_per_plane", "10"),
        ("medium.tlc.wordlines_per_block", "4"),
        ("capacity.logical", "2MiB"),
        ("gc.trigger", "free_blocks:30%"),
    ]
    .map(|(k, v)| (k.to_string(), v.to_string()))
    .into();
    let spec = wordline_device::find("hyssd-st").unwrap().spec(&overrides).unwrap_or_else(|e| panic!("{e}"));
    let geometry = spec.geometry().unwrap();
    assert_eq!((geometry.units_per_page(0), geometry.units_per_page(1)), (1, 2));
    let mut device = Device::over(&spec, &geometry, Box::new(FastThenDense), NoProbe, Bytes::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let sector = geometry.sector as usize;
    let (units, per_sector) = (512u64, geometry.sector / 512);
    let sectors_per_unit = geometry.sectors_per_unit as u64;
    let mut model = vec![0u64; (units * sectors_per_unit) as usize];
    let mut rng = 7u64;
    for stamp in 1..4000u64 {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let first = (rng >> 33) % model.len() as u64;
        let last = (first + 1 + (rng >> 20) % 3).min(model.len() as u64);
        model[first as usize..last as usize].fill(stamp);
        let data = stamp.to_le_bytes().repeat(sector / 8 * (last - first) as usize);
        let request =
            HostRequest::new(HostOp::Write, first * per_sector, ((last - first) * per_sector) as u32);
        let now = device.now();
        device.submit_with(request.at(now), now, &data).unwrap();
        while device.outstanding() >= 8 {
            assert_eq!(device.next_completion(SimTime::NEVER).unwrap().unwrap().outcome, Outcome::Done);
        }
    }
    device.drain().unwrap();
    while device.poll().is_some() {}
    device.ftl_mut().tables().check().unwrap();
    assert!(device.ftl().inspect().is_quiet(), "{}", device.ftl().inspect().leftovers());
    let now = device.now();
    let blocks = (model.len() as u64 * per_sector) as u32;
    device.submit(HostRequest::new(HostOp::Read, 0, blocks).at(now), now).unwrap();
    let read = device.next_completion(SimTime::NEVER).unwrap().unwrap();
    let found: Vec<u64> =
        read.data.chunks(sector).map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect();
    assert_eq!(found, model);
    let counters = device.ftl().counters();
    assert!(
        counters.erases[0] > 0 && counters.regions[1].ops.program_operations > 0,
        "nothing moved to the dense medium"
    );
}

/// Sends what it collects from the dense medium to a region that has no blocks in that plane.
#[derive(Clone, Debug)]
struct Astray;

#[wordline_ftl::hooks]
impl Scheme for Astray {
    fn name(&self) -> &str {
        "astray"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let mut layout = FastThenDense.layout(drive)?;
        layout.regions[1].quota = 1; // so that the second target is soon tried
        Ok(layout)
    }
    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        // Home is in the dense medium, where the first target exists and the second does not.
        let route = Route::to(RegionId(1), SlotClass::Next).or(RegionId(0), SlotClass::Next);
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

#[test]
fn route_to_a_region_without_blocks_is_illegal() {
    let overrides: Vec<(String, String)> = [
        ("medium.*.channels", "1"),
        ("medium.*.chips_per_channel", "1"),
        ("medium.*.dies_per_chip", "1"),
        ("medium.*.planes_per_die", "1"),
        ("medium.*.blocks_per_plane", "6"),
        ("medium.*.wordlines_per_block", "4"),
        ("capacity.logical", "128KiB"),
        ("gc.hard_reserve", "1"),
    ]
    .map(|(k, v)| (k.to_string(), v.to_string()))
    .into();
    let spec = wordline_device::find("hyssd-st").unwrap().spec(&overrides).unwrap_or_else(|e| panic!("{e}"));
    let mut device: Device<NoProbe> =
        Device::new(&spec, &spec.geometry().unwrap(), Box::new(Astray), NoProbe).unwrap();
    let pages = spec.logical_bytes() / spec.unit.0;
    let per_page = (spec.unit.0 / 512) as u32;
    let write = |i| HostRequest::new(HostOp::Write, i % pages * per_page as u64, per_page);
    let submitted = (0..pages * 8).find_map(|i| device.submit(write(i), SimTime(0)).err());
    let fault = submitted.or_else(|| device.drain().err());
    let Some(DeviceError::Fault(Fault::IllegalDecision { scheme, decision, state, .. })) = fault else {
        panic!("it ends with {fault:?}");
    };
    assert_eq!((scheme.as_str(), decision.as_str()), ("astray", "route to region 0"));
    assert!(state.contains("no blocks of region 0"), "{state}");
}
