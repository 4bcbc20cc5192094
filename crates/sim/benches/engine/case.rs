//! One case: a drive, a load of fixed work, and what it cost.

use crate::shape::{LBAS, PAGE, Shape};
use std::convert::Infallible;
use std::time::Instant;
use wordline_ftl::{Initial, Mapped};
use wordline_sim::{Device, NoProbe, Pacing, Stop, drive};
use wordline_units::{Fraction, HostOp, HostRequest};

/// Logical pages of which the map is written out together.
const MAP_LEAF: u64 = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Of so many 512-byte units, anywhere.
    RandomReads(u32),
    /// Of whole pages, anywhere.
    RandomWrites,
    /// Of whole pages, one after the other.
    SequentialWrites,
}

/// How MQSim is given a case. It fills drives by their occupancy and collects in another way: spare space
/// and trigger are those of [`crate::shape::PEERS`], and the occupancy makes it copy about as much.
#[derive(Clone, Copy)]
pub struct Given {
    pub requests: u64,
    /// Of what the host sees, in percent; 0 for a drive that holds nothing.
    pub occupancy: u32,
}

/// What the drive holds before the clock starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Empty,
    Full,
    /// Full, with every block in use and each as live as the next, and then overwritten so many times,
    /// in hundredths.
    Aged(u32),
}

#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub shape: Shape,
    pub load: Load,
    pub start: Start,
    pub queue_depth: u32,
    pub requests: u64,
    /// Only this share of the logical pages is used, one in so many.
    pub one_in: u32,
    /// Whether reads err.
    pub errs: bool,
    /// How MQSim is given the same.
    pub mqsim: Option<Given>,
}

/// What a case cost. Two runs of a case differ in seconds alone.
#[derive(Clone, Debug)]
pub struct Cost {
    pub seconds: f64,
    pub start_up_seconds: f64,
    pub requests: u64,
    pub flash_ops: u64,
    pub write_amplification: f64,
    pub bytes_per_page: f64,
    /// Memory that the process holds more than before the case, where the system says.
    pub resident_bytes: Option<u64>,
    pub hash: String,
}

impl Cost {
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    pub fn ops_per_second(&self) -> f64 {
        self.flash_ops as f64 / self.seconds
    }
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

fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}

impl Case {
    /// Logical pages of its drive.
    pub fn pages(&self) -> u64 {
        self.shape.spec(self.errs).logical_bytes() / PAGE
    }

    /// How live blocks of an aged drive are at first, in percent: as the spare space allows, but for what collection
    /// keeps free.
    pub fn valid_percent(&self) -> u64 {
        let live = 1000.0 / (1000 + self.shape.over_provisioning) as f64;
        (live * 100.0).ceil() as u64 + self.shape.trigger as u64 + 1
    }

    /// Do it.
    pub fn run(&self) -> Cost {
        let resident_before = resident();
        let spec = self.shape.spec(self.errs);
        let begin = Instant::now();
        let geometry = spec.geometry().expect("geometry");
        let scheme = wordline_schemes::build("conventional").expect("scheme");
        let mut device: Device<NoProbe> = Device::new(&spec, &geometry, scheme, NoProbe).expect("device");
        let pages = spec.logical_bytes() / PAGE;
        let all = Initial::holding(Mapped::First(pages as u32));
        match self.start {
            Start::Empty => {}
            Start::Full => device.ftl_mut().setup().precondition(&all, 1).expect("initial state"),
            Start::Aged(_) => {
                let valid = Fraction::percent(self.valid_percent());
                device.ftl_mut().setup().precondition(&Initial { valid, ..all }, 1).expect("initial state");
            }
        }
        let start_up_seconds = begin.elapsed().as_secs_f64();
        // A sweep writes the whole map out, so that the run measures the map and not the image.
        let sweep = if self.start == Start::Empty { 0 } else { pages.div_ceil(MAP_LEAF) };
        let warm_up = match self.start {
            Start::Aged(hundredths) => sweep + pages * hundredths as u64 / 100,
            Start::Full | Start::Empty => sweep,
        };
        let (load, one_in) = (self.load, self.one_in as u64);
        let mut rng = Rng(88_172_645_463_325_252);
        let mut next = 0;
        let mut requests = std::iter::from_fn(move || -> Option<Result<HostRequest, Infallible>> {
            let sweeps = next < sweep;
            let page = match load {
                _ if sweeps => next * MAP_LEAF,
                Load::SequentialWrites => next % pages,
                _ => rng.below(pages / one_in) * one_in,
            };
            next += 1;
            if sweeps {
                return Some(Ok(HostRequest::new(HostOp::Read, page * LBAS, 8)));
            }
            Some(Ok(match load {
                Load::RandomReads(blocks) => {
                    let part = rng.below(LBAS / blocks as u64) * blocks as u64;
                    HostRequest::new(HostOp::Read, page * LBAS + part, blocks)
                }
                _ => HostRequest::new(HostOp::Write, page * LBAS, LBAS as u32),
            }))
        });
        let pacing = Pacing::Closed { queue_depth: self.queue_depth };
        let mut go = |device: &mut Device<NoProbe>, count| {
            let stop = Stop { requests: Some(count), ..Stop::default() };
            drive(device, &mut requests, pacing, stop, |_| {}).expect("run");
            device.drain().expect("drained");
        };
        if warm_up > 0 {
            go(&mut device, warm_up);
        }
        let before = device.ftl().counters().clone();
        let begin = Instant::now();
        go(&mut device, self.requests);
        let seconds = begin.elapsed().as_secs_f64();
        let after = device.ftl().counters();
        let (map, _) = device.ftl().inspect().table_bytes();
        let host = after.host.write_page_bytes - before.host.write_page_bytes;
        Cost {
            seconds,
            start_up_seconds,
            requests: self.requests,
            flash_ops: after.flash_ops() - before.flash_ops(),
            write_amplification: (after.programmed_bytes() - before.programmed_bytes()) as f64 / host as f64,
            bytes_per_page: map as f64 / device.ftl().inspect().mapped() as f64,
            resident_bytes: resident().zip(resident_before).map(|(a, b)| a.saturating_sub(b)),
            hash: device.metrics().result_hash(&after.integers()),
        }
    }
}
