//! Fixed work of which `make bench-count` counts the instructions: the case that the command line names is
//! prepared, and [`counted`] does the work, in which alone callgrind counts. It prints how many units of
//! what is counted the work came to, and which case's requests are not part of them.

#![allow(clippy::print_stdout)] // what it is for

#[path = "../engine/shape.rs"]
mod shape;

use shape::{LBAS, PAGE, PEERS, PEERS_HEAVY};
use std::convert::Infallible;
use wordline_device::DeviceSpec;
use wordline_ftl::{Counters, Initial, Mapped};
use wordline_hash::SplitMix64;
use wordline_sim::{Device, NoProbe, Pacing, Stop, drive};
use wordline_units::{Fraction, HostOp, HostRequest};

type Drive = Device<NoProbe>;

/// A case: how the drive begins, what it is asked first, and what is counted.
struct Case {
    name: &'static str,
    spec: fn() -> DeviceSpec,
    scheme: &'static str,
    /// How much of what the blocks in use hold is live, in percent; `None` for a drive that holds nothing.
    live: Option<u64>,
    queue_depth: u32,
    /// Random requests go to this share of the pages, one in so many.
    one_in: u64,
    warm_up: fn(&mut Host) -> Vec<HostRequest>,
    work: fn(&mut Host) -> Vec<HostRequest>,
    /// What is counted, by the counter that the work adds to.
    units: fn(&Counters) -> u64,
    /// The case whose instructions are taken off for each request.
    without: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "read",
        spec: || PEERS.spec(false),
        scheme: "conventional",
        live: Some(100),
        queue_depth: 16,
        one_in: 1,
        warm_up: Host::sweep,
        work: |host| host.random(30_000, HostOp::Read, 8),
        units: |c| c.host_requests[0],
        without: "",
    },
    Case {
        name: "write",
        spec: || PEERS.spec(false),
        scheme: "conventional",
        live: None,
        queue_depth: 128,
        one_in: 1,
        warm_up: |host| host.in_order(10_000, HostOp::Write, 1),
        work: |host| host.in_order(30_000, HostOp::Write, 1),
        units: |c| c.host_requests[1],
        without: "",
    },
    Case {
        name: "copied page",
        spec: || PEERS_HEAVY.spec(false),
        scheme: "conventional",
        live: Some(91),
        queue_depth: 128,
        one_in: 1,
        warm_up: |host| [host.sweep(), host.random(20_000, HostOp::Write, LBAS as u32)].concat(),
        work: |host| host.random(5_000, HostOp::Write, LBAS as u32),
        units: |c| c.collected_units,
        without: "write",
    },
    Case {
        name: "trimmed page",
        spec: || PEERS.spec(false),
        scheme: "conventional",
        live: Some(100),
        queue_depth: 16,
        one_in: 1,
        warm_up: |host| [host.sweep(), host.in_order(100, HostOp::Trim, 64)].concat(),
        work: |host| host.in_order(1_000, HostOp::Trim, 64),
        units: |c| c.host_bytes[2] / PAGE,
        without: "",
    },
    Case {
        name: "SLC cache write and migration",
        spec: || built_in("demo-8gb", &[("allocation.order", "CWDP")]),
        scheme: "slc-cache:when_full=wait",
        live: None,
        queue_depth: 128,
        one_in: 1,
        warm_up: |host| host.in_order(30_000, HostOp::Write, 1),
        work: |host| host.in_order(20_000, HostOp::Write, 1),
        units: |c| c.host_requests[1],
        without: "",
    },
    Case {
        name: "IPS reprogram",
        spec: || built_in("ips-384gb", &IPS_SMALL),
        scheme: "ips:window=128",
        live: None,
        queue_depth: 64,
        one_in: 1,
        warm_up: |host| host.in_order(31_000, HostOp::Write, 1),
        work: |host| host.in_order(20_000, HostOp::Write, 1),
        units: |c| c.regions[0].reprogrammed.pages.iter().sum(),
        without: "",
    },
    Case {
        name: "Hierarchy partial write",
        spec: || built_in("hierarchy-44gb", &HIERARCHY_SMALL),
        scheme: "hierarchy",
        live: None,
        queue_depth: 16,
        one_in: 8,
        warm_up: |host| host.random(40_000, HostOp::Write, 8),
        work: |host| host.random(20_000, HostOp::Write, 8),
        units: |c| c.host_requests[1],
        without: "",
    },
];

/// A cache that some thousand writes fill.
const IPS_SMALL: [(&str, &str); 4] = [
    ("medium.flash.chips_per_channel", "1"),
    ("medium.flash.dies_per_chip", "1"),
    ("medium.flash.blocks_per_plane", "16"),
    ("slc_cache.static_blocks", "2"),
];
const HIERARCHY_SMALL: [(&str, &str); 2] =
    [("medium.flash.blocks_per_plane", "64"), ("slc_cache.static_blocks", "8")];

fn built_in(name: &str, overrides: &[(&str, &str)]) -> DeviceSpec {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    wordline_device::find(name).expect("a built-in device").spec(&overrides).expect("its overrides")
}

/// Who asks: page after page, or anywhere.
struct Host {
    pages: u64,
    /// 512-byte units of a page.
    lbas: u64,
    next: u64,
    random: SplitMix64,
    /// Random requests go to this share of the pages, one in so many.
    one_in: u64,
}

impl Host {
    /// A read of each leaf of the map, so that the work finds it written out.
    fn sweep(&mut self) -> Vec<HostRequest> {
        (0..self.pages.div_ceil(64)).map(|i| HostRequest::new(HostOp::Read, i * 64 * self.lbas, 8)).collect()
    }

    /// Requests of so many pages, one after the other.
    fn in_order(&mut self, requests: u64, op: HostOp, pages: u64) -> Vec<HostRequest> {
        let first = self.next;
        self.next += requests * pages;
        assert!(self.next <= self.pages, "the drive is too small for the case");
        let at = |i| (first + i * pages) * self.lbas;
        (0..requests).map(|i| HostRequest::new(op, at(i), (pages * self.lbas) as u32)).collect()
    }

    /// Requests of so many 512-byte units, anywhere.
    fn random(&mut self, requests: u64, op: HostOp, lbas: u32) -> Vec<HostRequest> {
        let places = self.pages / self.one_in * self.lbas / lbas as u64;
        let mut at = || self.random.bits() % places * lbas as u64;
        (0..requests).map(|_| HostRequest::new(op, at(), lbas)).collect()
    }
}

/// The work, by a name that callgrind finds. The random numbers are drawn before.
#[inline(never)]
fn counted(drive: &mut Drive, requests: &[HostRequest], queue_depth: u32) {
    go(drive, requests, queue_depth);
}

fn go(device: &mut Drive, requests: &[HostRequest], queue_depth: u32) {
    let requests = requests.iter().copied().map(Ok::<_, Infallible>);
    drive(device, requests, Pacing::Closed { queue_depth }, Stop::default(), |_| {}).expect("run");
    device.drain().expect("drained");
}

impl Case {
    fn run(&self) {
        let spec = (self.spec)();
        let geometry = spec.geometry().expect("geometry");
        let scheme = wordline_schemes::build(self.scheme).expect("scheme");
        let mut drive: Drive = Device::new(&spec, &geometry, scheme, NoProbe).expect("device");
        let pages = spec.logical_bytes() / spec.unit.0;
        if let Some(live) = self.live {
            let all = Initial::holding(Mapped::First(pages as u32));
            let valid = Fraction::percent(live);
            drive.ftl_mut().setup().precondition(&Initial { valid, ..all }, 1).expect("initial state");
        }
        let mut host = Host {
            pages,
            lbas: spec.unit.0 / 512,
            next: 0,
            random: SplitMix64::new(29),
            one_in: self.one_in,
        };
        let (warm_up, work) = ((self.warm_up)(&mut host), (self.work)(&mut host));
        go(&mut drive, &warm_up, self.queue_depth);
        let before = drive.ftl().counters().clone();
        counted(&mut drive, &work, self.queue_depth);
        let after = drive.ftl().counters();
        let units = (self.units)(after) - (self.units)(&before);
        println!("{units} {} {}", work.len(), self.without);
    }
}

fn main() {
    let name = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    match CASES.iter().find(|c| Some(c.name) == name.as_deref()) {
        Some(case) => case.run(),
        None => CASES.iter().for_each(|c| println!("{}", c.name)),
    }
}
