//! Common parts of SCSI captures, binary or text.

use crate::reading::writing::{Keeps, Naming};
use wordline_units::HostOp;

/// Size in bytes of the sectors that block numbers count.
pub(crate) const SECTOR: u64 = 512;

/// The operation of a SCSI command, if it concerns the disk's data.
#[inline]
pub(crate) fn command(code: u64) -> Option<HostOp> {
    match code {
        0x2a | 0x8a | 0xaa | 0x0a => Some(HostOp::Write),
        0x28 | 0x88 | 0xa8 | 0x08 => Some(HostOp::Read),
        0x35 | 0x91 => Some(HostOp::Flush),
        _ => None,
    }
}

/// Properties that all these formats keep.
pub(crate) const KEEPS: Keeps = Keeps {
    flush: true,
    unit: SECTOR,
    longest: u32::MAX as u64 / SECTOR * SECTOR,
    tick: 1_000,
    volumes: Naming::None,
    ..Keeps::TRANSFERS
};
