//! Drives that are saved and restored, and what is asked of them.

use crate::support::SWARM;
use std::fs::File;
use wordline_device::{DeviceSpec, Victim};
use wordline_ftl::{BoxedMedia, Initial, Label, Mapped, StateFile};
use wordline_sim::{Device, NoProbe, RestoreError};
use wordline_swarm::{Drive, Rng};
use wordline_units::{Fraction, HostOp, HostRequest, Lpn, SimTime};

/// A drive under a scheme, as often as it is wanted.
pub struct Plan {
    pub drive: Drive,
    pub name: String,
    seed: u64,
    initial: Option<Initial>,
    media: fn() -> BoxedMedia,
}

impl Plan {
    pub fn new(seed: u64, rng: &mut Rng, media: fn() -> BoxedMedia) -> Plan {
        let mut drive = SWARM.small_drive(rng).unwrap_or_else(|e| panic!("{e}"));
        if seed / 3 % 4 == 2 {
            drive = drive.changed(|spec| spec.gc.victim = Victim::DChoices(3));
        }
        if seed % 4 == 1 {
            drive = drive.changed(|spec| wears_out(spec, seed % 8 == 1));
        }
        let pages = drive.logical_pages();
        let initial = match rng.below(3) {
            0 => None,
            1 => Some(Initial { cycles: [3, 0, 7, 0], ..Initial::holding(Mapped::First(pages)) }),
            _ => {
                let some = (0..pages).filter(|p| p % 5 < 2).map(Lpn).collect();
                Some(Initial { valid: Fraction::percent(90), ..Initial::holding(Mapped::Set(some)) })
            }
        };
        Plan { name: drive.scheme.spelling.clone(), drive, seed, initial, media }
    }

    pub fn spec(&self) -> &DeviceSpec {
        &self.drive.spec
    }

    pub fn label(&self) -> Label<'_> {
        Label { device: self.spec(), scheme: &self.name }
    }

    pub fn build(&self) -> Device<NoProbe> {
        let (geometry, media) = (&self.drive.geometry, (self.media)());
        let mut device = Device::over(self.spec(), geometry, self.drive.scheme(), NoProbe, media)
            .unwrap_or_else(|e| panic!("{e}"));
        if let Some(initial) = &self.initial {
            device.ftl_mut().setup().precondition(initial, self.seed).unwrap_or_else(|e| panic!("{e}"));
        }
        device
    }

    pub fn save(&self, device: &Device<NoProbe>) -> (File, String) {
        let mut file = tempfile::tempfile().unwrap();
        let checksum = device.save(self.label(), self.seed, &mut file).unwrap();
        (file, checksum)
    }

    pub fn restore(&self, state: &StateFile) -> Result<Device<NoProbe>, RestoreError> {
        let (geometry, media) = (&self.drive.geometry, (self.media)());
        Device::restore_over(self.label(), geometry, self.drive.scheme(), NoProbe, state, media)
    }
}

/// Blocks last so few erases that some wear out.
fn wears_out(spec: &mut DeviceSpec, levels: bool) {
    for mode in spec.media.iter_mut().flat_map(|m| m.modes.iter_mut().flatten()) {
        mode.endurance = 40;
    }
    spec.wear.enforce = true;
    (spec.wear.spread, spec.wear.acceleration) = (Fraction::percent(30), 8);
    spec.wear.static_beyond = levels.then_some(16);
}

/// A request, when it comes, and the bytes of a write.
pub type Asked = (HostRequest, SimTime, Vec<u8>);

pub fn requests(spec: &DeviceSpec, rng: &mut Rng, length: u64, from: SimTime) -> Vec<Asked> {
    let sectors = spec.logical_bytes() / 512;
    let mut now = from.0;
    (1..=length)
        .map(|stamp| {
            let longest = [1, 5_000, 400_000][rng.below(3) as usize];
            now += rng.below(longest);
            // Half of the requests meet in a few places, so that they overtake one another.
            let first = if rng.below(2) == 0 { rng.below(sectors) } else { rng.below(sectors.min(12)) };
            let count = (1 + rng.below(11)).min(sectors - first) as u32;
            let (op, count) = match rng.below(20) {
                0..=11 => (HostOp::Write, count),
                12..=16 => (HostOp::Read, count),
                17..=18 => (HostOp::Trim, count),
                _ => (HostOp::Flush, 0),
            };
            let bytes = if op == HostOp::Write { count as usize * 64 } else { 0 };
            let data = (stamp ^ rng.state()).to_le_bytes().repeat(bytes);
            (HostRequest::new(op, first, count).at(SimTime(now)), SimTime(now), data)
        })
        .collect()
}

/// What came out of a drive: number, time, outcome and data of each request, in their order.
pub type Ended = Vec<(u64, SimTime, u8, Vec<u8>)>;

pub fn take(device: &mut Device<NoProbe>, until: SimTime, ended: &mut Ended) {
    while let Some(c) = device.next_completion(until).unwrap_or_else(|e| panic!("{e}")) {
        ended.push((c.number, c.at, c.outcome as u8, c.data));
    }
}

pub fn serve(device: &mut Device<NoProbe>, asked: &[Asked], ended: &mut Ended) {
    for (request, at, data) in asked {
        device.submit_with(*request, *at, data).unwrap_or_else(|e| panic!("{e}"));
        take(device, *at, ended);
    }
}

pub fn end(device: &mut Device<NoProbe>, ended: &mut Ended) {
    take(device, SimTime::NEVER, ended);
    device.drain().unwrap_or_else(|e| panic!("{e}"));
    take(device, SimTime::NEVER, ended);
    device.ftl_mut().tables().check().unwrap_or_else(|e| panic!("{e}"));
}
