//! Small drives, as text.

use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::DriveInfo;

/// One plane of ten blocks, of which a block holds 4, 8 or 12 pages of four sectors.
const TEXT: &str = r#"
[device]
name = "bench"
description = "for tests of the translation layer"
[medium.flash]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 10
wordlines_per_block = 4
page = "2KiB"
bus = { rate = "1ns/B", width = 1, energy = "2pJ" }
[medium.flash.slc]
read = "3us"
program = "20us"
erase = "50us"
endurance = 1000
energy = { read = "1nJ", program = "10nJ", erase = "100nJ" }
[medium.flash.mlc]
read = ["4us", "6us"]
program = ["30us", "60us"]
erase = "50us"
endurance = 1000
energy = { read = "2nJ", program = "20nJ", erase = "100nJ" }
[medium.flash.tlc]
read = ["5us", "7us", "9us"]
program = "90us"
one_shot = true
erase = "60us"
endurance = 1000
energy = { read = "3nJ", program = "30nJ", erase = "100nJ" }
[mapping]
unit = "2KiB"
sector = "512B"
[capacity]
logical = "32KiB"
[gc]
trigger = "free_blocks < 30%"
hard_reserve = 1
"#;

/// A drive and its numbering.
#[derive(Clone)]
pub struct Drive {
    pub spec: DeviceSpec,
    pub geometry: Geometry,
}

/// That drive with other values for some keys.
pub fn drive(keys: &[(&str, &str)]) -> Drive {
    let keys: Vec<(String, String)> = keys.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let spec = wordline_device::from_toml(TEXT, "bench", &keys).unwrap_or_else(|e| panic!("{e}"));
    let geometry = spec.geometry().unwrap_or_else(|e| panic!("{e}"));
    Drive { spec, geometry }
}

impl Drive {
    /// What a scheme is given.
    pub fn info(&self) -> DriveInfo<'_> {
        let logical_pages = (self.spec.logical_bytes() / self.spec.unit.0) as u32;
        DriveInfo { spec: &self.spec, geometry: &self.geometry, logical_pages }
    }
}
