//! A drive of a few blocks, as text, and the requests of its host.

use crate::media::Versions;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{DriveInfo, Ftl, Refusal, Scheme};

/// A drive and its numbering.
#[derive(Clone)]
pub struct Drive {
    /// As named in its file.
    pub spec: DeviceSpec,
    /// Positions of its places.
    pub geometry: Geometry,
}

/// Common settings of all drives; keys of a line override them.
const TEXT: &str = r#"
[device]
name = "few blocks"
description = "for a search of all its states"
{fast}
[medium.flash]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 4
wordlines_per_block = 2
page = "512B"
bus = { rate = "1ns/B", width = 1 }
[medium.flash.slc]
read = "3us"
program = "20us"
erase = "50us"
[medium.flash.mlc]
read = ["4us", "6us"]
program = ["30us", "60us"]
erase = "50us"
[medium.flash.tlc]
read = ["5us", "7us", "9us"]
program = {tlc}
erase = "60us"
one_shot = {one_shot}
{qlc}
[mapping]
unit = "512B"
sector = "512B"
[capacity]
logical = "2KiB"
[gc]
trigger = "free_blocks < 20%"
hard_reserve = 1
[slc_cache]
static_blocks = 2
dynamic_blocks = 0
trigger = "free_blocks < 50%"
when_full = "direct"
"#;

const FAST: &str = r#"
[medium.fast]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 4
wordlines_per_block = 2
page = "512B"
bus = { rate = "1ns/B" }
[medium.fast.slc]
read = "2us"
program = "15us"
erase = "40us"
"#;

const QLC: &str = r#"
[medium.flash.qlc]
read = "11us"
program = ["50us", "100us", "150us", "200us"]
erase = "70us"
"#;

impl Drive {
    /// The drive with other values for some keys. Three words are not keys of a device: `one-shot`, `qlc` and `fast`
    /// (a second medium of SLC).
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(keys: &[(&str, &str)]) -> Result<Drive, String> {
        let has = |word: &str| keys.iter().any(|(key, _)| *key == word);
        let text = TEXT
            .replace("{fast}", if has("fast") { FAST } else { "" })
            .replace("{qlc}", if has("qlc") { QLC } else { "" })
            .replace("{tlc}", if has("one-shot") { "\"90us\"" } else { "[\"40us\", \"80us\", \"120us\"]" })
            .replace("{one_shot}", if has("one-shot") { "true" } else { "false" });
        let own = |key: &str| ["one-shot", "qlc", "fast"].contains(&key);
        let keys = keys.iter().filter(|(key, _)| !own(key));
        let keys: Vec<(String, String)> = keys.map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let spec = wordline_device::from_toml(&text, "few blocks", &keys).map_err(|e| e.to_string())?;
        let geometry = spec.geometry().map_err(|e| e.to_string())?;
        Ok(Drive { spec, geometry })
    }

    /// Its logical pages.
    pub fn logical_pages(&self) -> u32 {
        (self.spec.logical_bytes() / self.spec.unit.0) as u32
    }

    /// The translation layer of such a drive, fresh.
    ///
    /// # Errors
    /// When the scheme refuses it.
    pub fn layer(&self, scheme: Box<dyn Scheme>) -> Result<Ftl, Refusal> {
        let info =
            DriveInfo { spec: &self.spec, geometry: &self.geometry, logical_pages: self.logical_pages() };
        Ftl::over(&info, scheme, Versions::default())
    }
}
