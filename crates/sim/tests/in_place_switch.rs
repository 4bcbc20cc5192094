//! In-place Switch: do windows, their collection and the baseline come to what the paper's arithmetic says?

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use wordline_device::DeviceSpec;
use wordline_ftl::{Cause, Initial, NoMedia, OpKind};
use wordline_sim::{Device, Event, Pacing, Probe, Stop, drive};
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

const GB: f64 = (1u64 << 30) as f64;

/// Blocks of each plane are the paper's over this, and so are the bytes written: the common rule of scaling,
/// which keeps parallelism, times and pages of a block.
const SCALE: u64 = 16;

/// Adds up how long arrays work on the host's programs.
#[derive(Default)]
struct Service {
    pages: u64,
    time: u64,
}

impl Probe for Service {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        if let Event::Array { kind: OpKind::Program, cause: Cause::Host, start, end, .. } = event {
            self.pages += 1;
            self.time += end.since(start).0;
        }
    }
}

/// What a burst came to.
struct Burst {
    /// Mean service of a host page, in ms.
    service: f64,
    /// How long the burst took, in s.
    took: f64,
    /// All programs over those the host asked for.
    wa: f64,
}

/// The paper's drive, or part of it.
fn device<P: Probe>(scale: u64, scheme: &str, set: &[(&str, String)], probe: P) -> Device<P, NoMedia> {
    let file = wordline_device::find("ips-384gb").unwrap();
    let blocks = 2048 / scale;
    let mut set: Vec<(String, String)> = set.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    set.push(("medium.flash.blocks_per_plane".into(), blocks.to_string()));
    if !set.iter().any(|(k, _)| k == "slc_cache.static_blocks") {
        set.push(("slc_cache.static_blocks".into(), (64 / scale).to_string()));
    }
    let spec = DeviceSpec::from_toml(file.text, file.name, &set).unwrap();
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut device = Device::new(&spec, &spec.geometry().unwrap(), scheme, probe).unwrap();
    device.ftl.precondition(&Initial::fresh(), 1).unwrap();
    device
}

/// Sequential 32 KB writes, 32 at a time, without a pause: SPEC of the burst mode. The writes begin anew
/// where the drive ends.
fn burst(scale: u64, scheme: &str, set: &[(&str, String)], gigabytes: f64) -> Burst {
    let mut d = device(scale, scheme, set, Service::default());
    let requests = (gigabytes * GB / 32768.0) as u64 / scale;
    let slots = d.ftl.view().logical_pages() as u64 / 8;
    let stream = (0..requests).map(|i| {
        Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Write, i % slots * 64, 64))
    });
    let summary = drive(&mut d, stream, Pacing::Closed { queue_depth: 32 }, Stop::default(), |_| {}).unwrap();
    assert_eq!((summary.completed, d.metrics.out_of_space), (requests, 0));
    let counters = d.ftl.counters();
    Burst {
        service: d.probe.time as f64 / d.probe.pages as f64 / 1e6,
        took: summary.end.0 as f64 / 1e9,
        wa: counters.programmed_bytes() as f64 / counters.host_bytes_page as f64,
    }
}

/// Bytes of so many blocks of each plane with so many SLC pages each, in GB.
fn slc(blocks: f64, pages: f64) -> f64 {
    128.0 * blocks * pages * 4096.0 / GB
}

/// Mean service in ms and write amplification of the baseline with a cache of `s` GB, for `w` GB.
fn baseline(w: f64, s: f64) -> (f64, f64) {
    ((w.min(s) * 0.5 + (w - s).max(0.0) * 3.0) / w, (w + w.min(s)) / w)
}

/// The same of windows of `s - d` GB with a traditional cache of `d` GB.
fn windows(w: f64, s: f64, d: f64) -> (f64, f64) {
    let further = (0.5 + 2.0 * 3.02) / 3.0;
    let service = (w.min(s) * 0.5 + (w - s).max(0.0) * further) / w;
    (service, (w + d.min((w - s + d).max(0.0))) / w)
}

fn near(what: &str, ours: f64, theory: f64) {
    println!("{what}: {ours:.4}, theory {theory:.4}, {:+.2} %", (ours / theory - 1.0) * 100.0);
    assert!((ours / theory - 1.0).abs() < 0.03, "{what}: {ours} for {theory}");
}

#[test]
fn burst_latency_and_write_amplification_are_those_of_the_closed_forms() {
    for w in [4.0, 6.0, 10.0, 20.0, 40.0] {
        let (base, ips) = (burst(SCALE, "turbo-write", &[], w), burst(SCALE, "ips", &[], w));
        let (theory_base, theory) = (baseline(w, slc(64.0, 128.0)), windows(w, slc(2048.0, 4.0), 0.0));
        near(&format!("W = {w}, baseline service"), base.service, theory_base.0);
        near(&format!("W = {w}, baseline WA"), base.wa, theory_base.1);
        near(&format!("W = {w}, service ratio"), ips.service / base.service, theory.0 / theory_base.0);
        near(&format!("W = {w}, duration ratio"), ips.took / base.took, theory.0 / theory_base.0);
        near(&format!("W = {w}, WA ratio"), ips.wa / base.wa, theory.1 / theory_base.1);
    }
}

#[test]
fn the_cooperative_cache_is_as_fast_and_as_thrifty_as_its_closed_forms() {
    // 64 GB of cache on both sides; the logical space is that of what then is left as TLC, 192 GB / 1.07.
    let room = ("capacity.logical", format!("{}B", (192u64 << 30) / SCALE * 100 / 107 / 4096 * 4096));
    let cache = ("slc_cache.static_blocks", (1024 / SCALE).to_string());
    let (t, u) = (991.0, 1057.0);
    let (d, s) = (slc(t, 128.0), slc(t, 128.0) + slc(u, 4.0));
    for w in [64.0, 72.0, 96.0, 136.0] {
        let set = [room.clone(), cache.clone()];
        let base = burst(SCALE, "turbo-write", &set, w);
        let ours = burst(SCALE, "ips-cooperative", &set, w);
        let (theory_base, theory) = (baseline(w, slc(1024.0, 128.0)), windows(w, s, d));
        near(&format!("W = {w}, baseline service"), base.service, theory_base.0);
        near(&format!("W = {w}, service ratio"), ours.service / base.service, theory.0 / theory_base.0);
        near(&format!("W = {w}, WA ratio"), ours.wa / base.wa, theory.1 / theory_base.1);
    }
}
