//! The drives of the benches.

use wordline_device::DeviceSpec;

/// Bytes of a page, which is the mapping unit too.
pub const PAGE: u64 = 16_384;
pub const LBAS: u64 = PAGE / 512;

/// Times of the flash in microseconds, and transfers a second of a bus of one byte, in millions.
pub const READ_US: u32 = 40;
pub const PROGRAM_US: u32 = 200;
pub const ERASE_US: u32 = 3_000;
pub const BUS_MTS: u32 = 1_200;
pub const PAGES_PER_BLOCK: u64 = 256;

/// A drive of one cell mode with one plane a die.
#[derive(Clone, Copy)]
pub struct Shape {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub gib: u64,
    /// Spare space over what the host sees, in tenths of a percent.
    pub over_provisioning: u32,
    /// Free blocks of a plane below which it collects, in percent.
    pub trigger: u32,
}

impl Shape {
    pub fn blocks_per_plane(self) -> u64 {
        let dies = self.channels as u64 * self.dies_per_channel as u64;
        (self.gib << 30) / (dies * PAGES_PER_BLOCK * PAGE)
    }

    pub fn spec(self, errs: bool) -> DeviceSpec {
        wordline_device::from_toml(&self.text(errs), "bench", &[]).expect("the bench's own device")
    }

    /// Its device file.
    pub fn text(self, errs: bool) -> String {
        let blocks = self.blocks_per_plane();
        format!(
            r#"
[device]
name = "bench"
description = "fixed work"
[medium.flash]
channels = {}
chips_per_channel = {}
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {blocks}
wordlines_per_block = {PAGES_PER_BLOCK}
page = "16KiB"
bus = {{ rate = "{BUS_MTS}MT/s", width = 1 }}
[medium.flash.slc]
read = "{READ_US}us"
program = "{PROGRAM_US}us"
erase = "{ERASE_US}us"
[mapping]
unit = "16KiB"
sector = "4KiB"
[capacity]
over_provisioning = "{}.{}%"
[gc]
trigger = "free_blocks < {}%"
hard_reserve = 2
{}
"#,
            self.channels,
            self.dies_per_channel,
            self.over_provisioning / 10,
            self.over_provisioning % 10,
            self.trigger,
            if errs { ERRORS } else { "" },
        )
    }
}

/// The drive on which the other simulators were measured.
pub const PEERS: Shape =
    Shape { channels: 8, dies_per_channel: 1, gib: 16, over_provisioning: 70, trigger: 10 };
/// The same with little spare space, so that much is copied.
pub const PEERS_HEAVY: Shape = Shape { over_provisioning: 143, trigger: 2, ..PEERS };

/// Errors that ask for as much arithmetic as any: pages and blocks that differ, and several retries.
const ERRORS: &str = r#"
[errors]
model = "raro"
[errors.slc]
epsilon = 0.013
sigma_block = 0.02
sigma_page = 0.03
most_retries = 16
"#;
