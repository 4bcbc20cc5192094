//! The description of a drive and how it is read from TOML: typed, with units, every problem of a
//! file reported at once.
//!
//! [`DeviceSpec`] is the resolved description, [`from_toml`] reads it, [`to_toml`] writes it back,
//! [`describe`] and [`drawing`] show it to people, and [`builtin`] lists the drives that come with Wordline. A
//! [`Draft`] makes a device file from a few facts, [`import`] from a file of another simulator. [`config`] is the
//! reader itself, which schemes use for their parameters.

mod builtin;
mod describe;
mod drawing;
mod file;
mod keys;
mod make;
mod plausible;
mod spec;
mod tables;

pub use builtin::{Builtin, builtin, find, measured, names_like};
pub use config::ConfigErrors;
pub use describe::{describe, unloaded_program, unloaded_read};
pub use drawing::drawing;
pub use file::read::{checked, from_toml};
pub use file::write::to_toml;
pub use keys::{KeyTable, key_tables, keys_of};
pub use make::draft::{Draft, Interface};
pub use make::import::{Imported, import};
pub use make::source_file::LeftOut;
pub use plausible::implausible;
pub use spec::buffers::{Ack, Flush, MergeBuffer, ProgramBuffer};
pub use spec::drive::{Capacity, DeviceSpec, HostLink, Lanes, UnwrittenReads};
pub use spec::gc::{Copies, GcClass, GcSpec, IdleMigration, Recheck, SlcCache, Trigger, Victim, WhenFull};
pub use spec::parallel::{
    Allocation, Level, Multiplane, MultiplanePages, Packing, ParallelUnit, Parity, PartialPages, Superblock,
};
pub use tables::dram::{Dram, JOURNAL_ENTRY, MAP_ENTRY, map_pages};
pub use tables::queues::{Arbitration, ArbitrationOrder, HostQueue};
pub use tables::service::{Service, ServiceOrder, Shares, Suspension};
pub use tables::wear::WearSpec;
pub use wordline_config as config;
