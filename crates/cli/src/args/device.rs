//! `device` and what it takes: the comments are the help texts.

use crate::args::values::pair;
use clap::{Args, Subcommand};
use wordline_device::Interface;
use wordline_units::{Bytes, CellMode, Fraction, Rate, SimDuration};

#[derive(Subcommand, Debug)]
pub(crate) enum DeviceCommand {
    /// Write a device file from a few facts of a data sheet
    ///
    /// What is not given of capacity, cell, channels and interface is asked on a terminal. What a data sheet does
    /// not say is assumed: the file says so beside each value, and any of them can be changed in it.
    New(DeviceNewArgs),
    /// Make a device file of MQSim's ssdconfig.xml or SSDSim's page.parameters, and name what is not carried over
    Import(DeviceImportArgs),
    /// Draw the geometry of a device, and print what follows from its file: capacities, rates, latencies, tables
    Show(DeviceShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct DeviceNewArgs {
    /// The device file to write, or - for standard output; its name is the drive's
    #[arg(value_name = "FILE|-")]
    pub(crate) file: String,
    /// What the host sees: 1TB, 512GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<Bytes>,
    /// Bits a cell holds: slc, mlc, tlc or qlc
    #[arg(long, value_parser = crate::args::values::cell)]
    pub(crate) cell: Option<CellMode>,
    /// Channels of the controller
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) channels: Option<u32>,
    /// The link to the host: sata3, pcie3x2, pcie3x4, pcie4x4, pcie5x4, or a rate such as 2000MB/s
    #[arg(long)]
    pub(crate) interface: Option<Interface>,
    /// Flash beyond what the host sees, as a share of that [assumed: 7%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) over_provisioning: Option<Fraction>,
    /// Bytes of a page [assumed: 16KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) page: Option<Bytes>,
    /// Rate of a channel, such as 1600MT/s [assumed: 1200MT/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) bus: Option<Rate>,
    /// Time to sense a page [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) read: Option<SimDuration>,
    /// Time to program all pages of a wordline [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) program: Option<SimDuration>,
    /// Sequential writes past any cache, from which the time of a program follows
    #[arg(long, value_name = "RATE", conflicts_with = "program")]
    pub(crate) write_rate: Option<Rate>,
    /// Time to erase a block [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) erase: Option<SimDuration>,
    /// Cycles that a block endures [assumed: usual for the cell]
    #[arg(long, value_name = "CYCLES")]
    pub(crate) endurance: Option<u32>,
    /// A static SLC cache of so much data
    #[arg(long, value_name = "SIZE")]
    pub(crate) slc_cache: Option<Bytes>,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceImportArgs {
    /// ssdconfig.xml of MQSim or page.parameters of SSDSim, told apart by what is in it
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The device file to write; its name is the drive's
    #[arg(value_name = "DEVICE.toml|-", default_value = "-")]
    pub(crate) to: String,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceShowArgs {
    /// A built-in device (`wordline list devices`) or the path of a device file
    #[arg(value_name = "DEV")]
    pub(crate) device: String,
    /// Change a key of the device before it is shown
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}
