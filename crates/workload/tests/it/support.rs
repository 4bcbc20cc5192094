//! Requests of a workload, and a number that tells them from others.

use wordline_trace::{DriveShape, Overrides};
use wordline_units::HostRequest;
use wordline_workload::Workload;

pub fn parse(text: &str) -> Workload {
    Workload::parse(text, Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

pub fn requests(text: &str, drive: DriveShape, seed: u64) -> Vec<HostRequest> {
    parse(text).open(drive, seed).unwrap_or_else(|e| panic!("{e}")).map(|r| r.unwrap()).collect()
}

pub fn digest(requests: &[HostRequest]) -> u64 {
    requests.iter().fold(0xcbf2_9ce4_8422_2325, |h, r| {
        [r.arrival.0, r.lba.0, r.blocks as u64, r.op as u64]
            .into_iter()
            .fold(h, |h: u64, x| (h ^ x).wrapping_mul(0x0100_0000_01b3).rotate_left(23))
    })
}
