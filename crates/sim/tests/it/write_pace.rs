//! Host writes paced by what garbage collection frees: as fast as without, with shorter stalls, and never for ever.

use wordline_device::DeviceSpec;
use wordline_ftl::{Initial, Mapped, Order};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

const PAGE: u64 = 16 << 10;
const PLANES: u64 = 8;
const BLOCKS: u64 = 64;
const PAGES: u64 = 48;

type Drive = Device<NoProbe>;

/// A drive of eight planes, a tenth of it spare, with this `[gc]` and `[ack]`, full of data in random order.
fn drive(gc: &str, ack: &str) -> Drive {
    let text = format!(
        r#"
[device]
name = "paced"
[medium.flash]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = {BLOCKS}
wordlines_per_block = {PAGES}
page = "16KiB"
bus = {{ rate = "1200MT/s", width = 1 }}
[medium.flash.slc]
read = "40us"
program = "300us"
erase = "3ms"
[mapping]
unit = "16KiB"
[capacity]
logical = "{}KiB"
[parallel]
unit = "plane"
[allocation]
order = "dynamic"
[gc]
trigger = "free_blocks < 12.5%"
{gc}
[ack]
{ack}
"#,
        PLANES * BLOCKS * PAGES * 16 * 80 / 100
    );
    let spec = DeviceSpec::from_toml(&text, "paced.toml", &[]).unwrap();
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut device = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = (spec.logical_bytes() / PAGE) as u32;
    device.ftl.precondition(&Initial::holding(Mapped::First(pages)), 1).unwrap();
    device
}

#[test]
fn explore_pace() {
    for ack in ["mode = \"program\"", "mode = \"buffer\"\npages = 64"] {
        for class in ["host", "background", "urgent"] {
            for below in ["off", "8", "6"] {
                for qd in [8, 64] {
                    let mut d = drive(&format!("class = \"{class}\"\npace_below = \"{below}\""), ack);
                    let pages = d.ftl.logical_lbas() / 32;
                    let (mut x, mut n, mut t0) = (1u64, 0u64, 0);
                    let mut lat = vec![];
                    let mut fly = 0;
                    while n < 60_000 {
                        while fly < qd {
                            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                            let page = (x >> 33) % pages;
                            let now = d.now();
                            d.submit(HostRequest::new(HostOp::Write, page * 32, 32).at(now), now).unwrap();
                            fly += 1;
                            n += 1;
                            if n == 30_000 {
                                t0 = d.now().0;
                            }
                        }
                        let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
                        fly -= 1;
                        if n >= 30_000 {
                            lat.push(c.at.since(c.request.arrival).0 / 1000);
                        }
                    }
                    let span = d.now().0 - t0;
                    lat.sort_unstable();
                    let q = |p: f64| lat[((lat.len() - 1) as f64 * p) as usize];
                    eprintln!(
                        "{} {class} below {below} qd {qd}: {:.2} MB/s p50 {} p99 {} p99.9 {} max {} us paced {:?}",
                        &ack[8..15], 30_000.0 * PAGE as f64 / span as f64 * 1e3, q(0.5), q(0.99), q(0.999), q(1.0),
                        d.ftl.counters().host.writes_paced
                    );
                }
            }
        }
    }
}
