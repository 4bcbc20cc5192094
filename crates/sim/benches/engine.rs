//! The engine on fixed work, one core: `make bench`. Each line gives requests and flash operations a
//! second, bytes a mapped page and the result hash, so that a figure can be told from a change of
//! behaviour. Run it beside the naked loop and quote the ratio.

#![allow(clippy::print_stdout)] // what a bench is for

use std::time::Instant;
use wordline_device::DeviceSpec;
use wordline_ftl::{Initial, Mapped, NoMedia};
use wordline_sim::{Device, NoProbe, Pacing, Stop, drive};
use wordline_units::{HostOp, HostRequest, SimTime};

/// 8 channels x 4 chips of one die and one plane, 16 KiB pages, 256 pages a block.
fn spec(gib: u64, over_provisioning: &str) -> DeviceSpec {
    let blocks = gib * (1 << 30) / (32 * 256 * 16_384);
    let text = format!(
        r#"
[device]
name = "bench"
description = "fixed work"
[medium.flash]
channels = 8
chips_per_channel = 4
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {blocks}
wordlines_per_block = 256
page = "16KiB"
bus = {{ rate = "1200MT/s", width = 1 }}
[medium.flash.slc]
read = "40us"
program = "200us"
erase = "3ms"
[mapping]
unit = "16KiB"
sector = "4KiB"
[capacity]
over_provisioning = "{over_provisioning}"
[gc]
trigger = "free_blocks < 1%"
hard_reserve = 2
"#
    );
    DeviceSpec::from_toml(&text, "bench", &[]).expect("the bench's own device")
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 as u128 * n as u128) >> 64) as u64
    }
}

#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    gib: u64,
    over_provisioning: &'static str,
    op: HostOp,
    blocks: u32,
    pacing: Pacing,
    requests: u64,
    /// Requests before the clock starts, in drive writes of the logical pages.
    warm: f64,
    rate: Option<u64>,
}

fn run(case: Case) {
    let spec = spec(case.gib, case.over_provisioning);
    let geometry = spec.geometry().expect("geometry");
    let scheme = wordline_schemes::build("conventional").expect("scheme");
    let begin = Instant::now();
    let mut device: Device<NoProbe, NoMedia> =
        Device::new(&spec, &geometry, scheme, NoProbe).expect("device");
    let pages = (spec.logical_bytes() / 16_384) as u32;
    device.ftl.precondition(&Initial::holding(Mapped::First(pages)), 1).expect("initial state");
    let start_up = begin.elapsed();
    let mut rng = Rng(88_172_645_463_325_252);
    let per_page = 16_384 / 512;
    let parts = per_page / case.blocks as u64;
    let mut time = 0u64;
    let mut request = move || {
        let at = rng.below(pages as u64) * per_page + rng.below(parts) * case.blocks as u64;
        let mut r = HostRequest::new(case.op, at, case.blocks);
        if let Some(rate) = case.rate {
            time += 1 + rng.below(2_000_000_000 / rate);
            r.arrival = SimTime(time);
        }
        Ok::<_, std::convert::Infallible>(r)
    };
    let warm = (case.warm * pages as f64) as u64;
    let mut stream = std::iter::from_fn(move || Some(request()));
    if case.op == HostOp::Read {
        // Materialise the map, so that the run measures reads and not the image.
        for page in 0..pages as u64 {
            let r = HostRequest::new(HostOp::Read, page * per_page, 8);
            device.submit(r, device.now()).expect("read");
            while device.outstanding() >= 64 {
                device.next_completion(SimTime::NEVER).expect("warm-up");
            }
            while device.poll().is_some() {}
        }
        device.drain().expect("drain");
        while device.poll().is_some() {}
    } else if warm > 0 {
        let stop = Stop { requests: Some(warm), ..Stop::default() };
        drive(&mut device, &mut stream, Pacing::Closed { queue_depth: 256 }, stop, |_| {}).expect("warm-up");
    }
    let before = device.ftl.counters().clone();
    let offset = device.now();
    let mut stream = stream.map(|r| r.map(|r| r.at(SimTime(r.arrival.0 + offset.0))));
    let begin = Instant::now();
    let stop = Stop { requests: Some(case.requests), ..Stop::default() };
    drive(&mut device, &mut stream, case.pacing, stop, |_| {}).expect("run");
    let seconds = begin.elapsed().as_secs_f64();
    let after = device.ftl.counters();
    let ops = after.flash_ops() - before.flash_ops();
    let waf = (after.programmed_bytes() - before.programmed_bytes()) as f64
        / (after.host_bytes_page - before.host_bytes_page).max(1) as f64;
    let (map, _) = device.ftl.table_bytes();
    println!(
        "{:<28} {:>7.3} M requests/s  {:>7.3} M flash ops/s  WAF {:>5.2}  {:>5.2} B/page  start {:>6.1} ms  {}",
        case.name,
        case.requests as f64 / seconds / 1e6,
        ops as f64 / seconds / 1e6,
        waf,
        map as f64 / device.ftl.mapped() as f64,
        start_up.as_secs_f64() * 1e3,
        device.metrics.result_hash(&after.integers()),
    );
}

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let closed = |queue_depth| Pacing::Closed { queue_depth };
    let read = Case {
        name: "read 4 KiB QD16, 64 GiB",
        gib: 64,
        over_provisioning: "7%",
        op: HostOp::Read,
        blocks: 8,
        pacing: closed(16),
        requests: 10_000_000,
        warm: 0.0,
        rate: None,
    };
    let write =
        Case { op: HostOp::Write, blocks: 32, pacing: closed(256), requests: 4_000_000, warm: 3.0, ..read };
    let cases = [
        read,
        Case { name: "read 4 KiB QD128, 64 GiB", pacing: closed(128), ..read },
        Case { name: "write WAF 2.2, 16 GiB", gib: 16, over_provisioning: "37%", ..write },
        Case { name: "write WAF 4.5, 16 GiB", gib: 16, over_provisioning: "14%", ..write },
        Case { name: "write WAF 2.2, 64 GiB", over_provisioning: "37%", ..write },
        Case { name: "write WAF 4.5, 64 GiB", over_provisioning: "14%", ..write },
        Case {
            name: "open loop, 300 k reads/s",
            pacing: Pacing::Open { queue_depth: 1024 },
            rate: Some(300_000),
            ..read
        },
    ];
    let small = [
        Case { name: "small reads", gib: 4, requests: 100_000, pacing: closed(128), ..read },
        Case { name: "small writes", gib: 4, over_provisioning: "14%", requests: 3_000, warm: 0.1, ..write },
    ];
    let cases = cases.into_iter().chain(small);
    for case in cases.into_iter().filter(|c| c.name.contains(&filter)) {
        run(case);
    }
}
