//! `device` and what it takes: the comments are the help texts.

use crate::args::python::{DeviceFitArgs, DeviceProbeArgs};
use crate::args::values::pair;
use clap::{Args, Subcommand};
use wordline_device::Interface;
use wordline_units::{Bytes, CellMode, Fraction, Rate, SimDuration};

#[derive(Subcommand, Debug)]
pub(crate) enum DeviceCommand {
    /// Write a device file from the figures of a data sheet
    ///
    /// On a terminal, the command asks for capacity, cell, channels and interface if these options are
    /// missing. It assumes what a data sheet does not state; the file marks each assumed value, and you can
    /// change any of them.
    New(DeviceNewArgs),
    /// Convert ssdconfig.xml (MQSim) or page.parameters (SSDSim) to a device file and list what has no
    /// counterpart
    Import(DeviceImportArgs),
    /// Fit a device file to measurements of a drive: tables, and output of fio
    ///
    /// Takes the size of the SLC cache and the write rates before and after the cliff from the measurements, and
    /// searches for the other values on a scaled-down drive until it reproduces them. Rated random IOPS give the
    /// time of the controller. The file notes the source of each value. Needs Python: pip install '.[fit]' in a clone.
    Fit(DeviceFitArgs),
    /// Write fio job files that identify a drive, and run them on it or on a simulated one
    ///
    /// Each file says what it is for, how long it takes and how much it writes. Jobs that write overwrite the drive.
    /// `device fit` reads the results. Needs Python: pip install '.[fit]' in a clone.
    Probe(DeviceProbeArgs),
    /// Show the geometry of a device and what follows from its file: capacities, rates, latencies, table
    /// sizes
    Show(DeviceShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct DeviceNewArgs {
    /// Device file to write, or - for standard output; its name becomes the name of the device
    #[arg(value_name = "FILE|-")]
    pub(crate) file: String,
    /// Logical capacity: 1TB, 512GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<Bytes>,
    /// Cell mode: slc, mlc, tlc or qlc
    #[arg(long, value_parser = crate::args::values::cell)]
    pub(crate) cell: Option<CellMode>,
    /// Number of channels
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) channels: Option<u32>,
    /// Host interface: sata3, pcie3x2, pcie3x4, pcie4x4, pcie5x4, or a rate such as 2000MB/s
    #[arg(long)]
    pub(crate) interface: Option<Interface>,
    /// Over-provisioning, as a share of the logical capacity [assumed: 7%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) over_provisioning: Option<Fraction>,
    /// Page size [assumed: 16KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) page: Option<Bytes>,
    /// Channel rate, such as 1600MT/s [assumed: 1200MT/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) bus: Option<Rate>,
    /// Page read time, tR [assumed: typical of the cell mode]
    #[arg(long, value_name = "TIME")]
    pub(crate) read: Option<SimDuration>,
    /// Program time of a whole wordline, tPROG [assumed: typical of the cell mode]
    #[arg(long, value_name = "TIME")]
    pub(crate) program: Option<SimDuration>,
    /// Sequential write rate without any cache, from which the program time is derived
    #[arg(long, value_name = "RATE", conflicts_with = "program")]
    pub(crate) write_rate: Option<Rate>,
    /// Block erase time, tBERS [assumed: typical of the cell mode]
    #[arg(long, value_name = "TIME")]
    pub(crate) erase: Option<SimDuration>,
    /// Endurance of a block in P/E cycles [assumed: typical of the cell mode]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) endurance: Option<u32>,
    /// Capacity of a static SLC cache
    #[arg(long, value_name = "SIZE")]
    pub(crate) slc_cache: Option<Bytes>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceImportArgs {
    /// ssdconfig.xml of MQSim or page.parameters of SSDSim; the contents decide which
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Device file to write; its name becomes the name of the device
    #[arg(value_name = "DEVICE.toml|-", default_value = "-")]
    pub(crate) to: String,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceShowArgs {
    /// Built-in device (`wordline list devices`) or device file
    #[arg(value_name = "DEV")]
    pub(crate) device: String,
    /// Set a key of the device before it is shown
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}
