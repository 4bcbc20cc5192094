//! Drives of a few hundred pages, for tests: what matters to the mechanism as fields, the rest as a device file has it.

use wordline_device::DeviceSpec;

/// A drive of a few hundred pages whose capacity leaves each plane `spare` blocks.
#[derive(Clone, Debug)]
pub struct Tiny {
    /// Channels.
    pub channels: u32,
    /// Chips of a channel, each with one die.
    pub chips: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Wordlines of a block.
    pub wordlines: u32,
    /// Units of a page, which is mapped by units.
    pub units_per_page: u32,
    /// Sectors of 512 bytes of a unit.
    pub sectors_per_unit: u32,
    /// Blocks of a plane that the host does not get.
    pub spare: u32,
    /// Whether TLC is programmed a wordline at once.
    pub one_shot: bool,
    /// Whether planes of a die may work together.
    pub multiplane: bool,
    /// Whether then only on pages of one number.
    pub same_pages: bool,
    /// Pages of a buffer that acknowledges writes; none where programs do.
    pub ack_buffer: Option<u32>,
    /// The rate of the bus, such as `1ns/B`, or `off`.
    pub bus: &'static str,
    /// The second register, as a device file has it.
    pub cache_register: &'static str,
    /// Further lines of the device file, such as [`QLC`].
    pub extra: &'static str,
    /// Blocks a plane of a second, faster medium, with pages of a unit; 0 for none.
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
    /// Planes of the drive.
    pub fn planes(&self) -> u32 {
        self.channels * self.chips * self.planes
    }

    /// Logical units, if data rest in blocks of this many bits.
    pub fn units(&self, bits: u32) -> u32 {
        self.planes() * (self.blocks - self.spare) * self.wordlines * bits * self.units_per_page
    }

    /// The device, whose capacity fills blocks of cells of this many bits but for the spare ones.
    ///
    /// # Panics
    /// When `extra`, or another text among the fields, is none that a device file may have.
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
        DeviceSpec::from_toml(&text, "tiny", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}
