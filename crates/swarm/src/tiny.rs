//! Drives of a few hundred pages, for tests. What matters to the mechanism are fields; the rest is as in a
//! device file.

use wordline_device::DeviceSpec;

/// A drive of a few hundred pages whose logical capacity leaves `spare` blocks per plane.
#[derive(Clone, Debug)]
pub struct Tiny {
    /// Number of channels.
    pub channels: u32,
    /// Chips per channel, with one die each.
    pub chips: u32,
    /// Planes per die.
    pub planes: u32,
    /// Blocks per plane.
    pub blocks: u32,
    /// Wordlines per block.
    pub wordlines: u32,
    /// Mapping units per page.
    pub units_per_page: u32,
    /// Sectors of 512 bytes per unit.
    pub sectors_per_unit: u32,
    /// Spare blocks per plane.
    pub spare: u32,
    /// Whether TLC is programmed one-shot.
    pub one_shot: bool,
    /// Whether multi-plane operations are allowed.
    pub multiplane: bool,
    /// Whether a multi-plane operation needs the same page number in each plane.
    pub same_pages: bool,
    /// Pages of a buffer that acknowledges writes. Without one, programs acknowledge them.
    pub ack_buffer: Option<u32>,
    /// Speed of the bus, such as `1ns/B`, or `off`.
    pub bus: &'static str,
    /// The cache register, as in a device file.
    pub cache_register: &'static str,
    /// Further lines of the device file, such as [`QLC`].
    pub extra: &'static str,
    /// Blocks per plane of a second, faster medium with pages of one unit; 0 for none.
    pub fast_blocks: u32,
}

/// A fourth mode, for [`Tiny::extra`].
pub const QLC: &str = r#"
[medium.flash.qlc]
read = "11us"
program = ["50us", "100us", "150us", "200us"]
erase = "70us"
endurance = 1000
"#;

impl Default for Tiny {
    fn default() -> Tiny {
        Tiny {
            channels: 1,
            chips: 1,
            planes: 1,
            blocks: 12,
            wordlines: 4,
            units_per_page: 1,
            sectors_per_unit: 4,
            spare: 5,
            one_shot: false,
            multiplane: false,
            same_pages: false,
            ack_buffer: None,
            bus: "1ns/B",
            cache_register: "off",
            extra: "",
            fast_blocks: 0,
        }
    }
}

impl Tiny {
    /// Total number of planes.
    pub fn planes(&self) -> u32 {
        self.channels * self.chips * self.planes
    }

    /// Logical capacity in units, if data at rest are stored with this many bits per cell.
    pub fn units(&self, bits: u32) -> u32 {
        self.planes() * (self.blocks - self.spare) * self.wordlines * bits * self.units_per_page
    }

    /// The device. Its capacity fills all but the spare blocks, with this many bits per cell.
    ///
    /// # Panics
    /// If `extra` or another text is not valid in a device file.
    pub fn spec(&self, bits: u32) -> DeviceSpec {
        let unit = self.sectors_per_unit * 512;
        let ack =
            self.ack_buffer.map_or(String::new(), |n| format!("[ack]\nmode = \"buffer\"\npages = {n}\n"));
        let fast = format!(
            "[medium.fast]\nchannels = 2\nchips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\n\
             blocks_per_plane = {}\nwordlines_per_block = 6\npage = \"{unit}B\"\nbus = {{ rate = \"1ns/B\" }}\n\
             [medium.fast.slc]\nread = \"2us\"\nprogram = \"15us\"\nerase = \"40us\"\ncopy_back = \"16us\"\n",
            self.fast_blocks
        );
        let fast = if self.fast_blocks > 0 { fast } else { String::new() };
        let text = format!(
            r#"
[device]
name = "tiny"
description = "for tests"
{fast}[medium.flash]
channels = {}
chips_per_channel = {}
dies_per_chip = 1
planes_per_die = {}
blocks_per_plane = {}
wordlines_per_block = {}
page = "{}B"
bus = {{ rate = "{}", width = 1 }}
cache_register = "{}"
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
program = {}
erase = "60us"
one_shot = {}
[parallel]
multiplane = "{}"
multiplane_pages = "{}"
[mapping]
unit = "{unit}B"
sector = "512B"
[capacity]
logical = "{}B"
[gc]
trigger = "free_blocks < 20%"
hard_reserve = 2
[slc_cache]
static_blocks = 3
dynamic_blocks = 0
trigger = "free_blocks < 50%"
when_full = "direct"
{ack}{}
"#,
            self.channels,
            self.chips,
            self.planes,
            self.blocks,
            self.wordlines,
            unit * self.units_per_page,
            self.bus,
            self.cache_register,
            if self.one_shot { "\"90us\"" } else { "[\"40us\", \"80us\", \"120us\"]" },
            self.one_shot,
            if self.multiplane { "opportunistic" } else { "off" },
            if self.same_pages { "same" } else { "any" },
            self.units(bits) * unit,
            self.extra,
        );
        wordline_device::from_toml(&text, "tiny", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}
