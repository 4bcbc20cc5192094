//! A drive so small that its times are found by hand: RARO's with a single die of a plane, whose pages of 16 KiB take
//! 20,480 ns on the bus.

use wordline_device::DeviceSpec;
use wordline_ftl::{Initial, Mapped};
use wordline_sim::{Completion, Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Its file, with further keys.
pub fn spec(keys: &[(&str, &str)]) -> DeviceSpec {
    let small = [
        ("medium.flash.channels", "1"),
        ("medium.flash.dies_per_chip", "1"),
        ("medium.flash.blocks_per_plane", "16"),
        ("capacity.logical", "128MiB"),
    ];
    let overrides: Vec<_> = small.iter().chain(keys).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    wordline_device::find("raro-16gb").unwrap().spec(&overrides).unwrap()
}

/// An empty drive.
pub fn empty(spec: &DeviceSpec, scheme: &str) -> Device<NoProbe> {
    let scheme = wordline_schemes::build(scheme).unwrap();
    Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
}

/// One that holds its first so many pages at time 0.
pub fn holding(spec: &DeviceSpec, scheme: &str, pages: u32) -> Device<NoProbe> {
    let mut d = empty(spec, scheme);
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 7).unwrap();
    d
}

/// One that holds all of its pages at time 0.
pub fn full(spec: &DeviceSpec, scheme: &str) -> Device<NoProbe> {
    holding(spec, scheme, (spec.logical_bytes() / spec.unit.0) as u32)
}

/// Whole pages, each of its own, asked of a drive at a time each; their completions in the order of the requests.
pub fn serve(d: &mut Device<NoProbe>, asked: &[(HostOp, u64)]) -> Vec<Completion> {
    for (page, (op, at)) in (0..).zip(asked) {
        d.submit(HostRequest::new(*op, page * 32, 32), SimTime(*at)).unwrap();
    }
    let mut done: Vec<_> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).collect();
    done.sort_by_key(|c| c.number);
    for c in &done {
        assert_eq!(c.parts.total(), c.at.since(c.request.arrival).0, "{c:?}");
    }
    done
}
