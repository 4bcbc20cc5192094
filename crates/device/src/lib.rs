//! The description of a drive and how it is read from TOML: typed, with units, every problem of a
//! file reported at once.
//!
//! [`DeviceSpec`] is the resolved description, [`DeviceSpec::from_toml`] reads it, [`to_toml`]
//! writes it back, [`describe`] and [`drawing`] show it to people, and [`builtin`] lists the drives that come
//! with Wordline. A [`Draft`] makes a device file of a few facts, [`import`] one of another simulator's. [`config`] is the reader itself, which schemes use for their parameters.

mod builtin;
mod describe;
mod draft;
mod dram;
mod errors;
mod import;
mod keys;
mod mqsim;
mod queues;
mod read;
mod service;
mod sheet;
mod spec;
mod ssdsim;
mod wear;
mod write;

pub use builtin::{Builtin, builtin, find, names_like};
pub use config::ConfigErrors;
pub use describe::{describe, drawing, unloaded_program, unloaded_read};
pub use draft::{Draft, Interface};
pub use dram::{Dram, JOURNAL_ENTRY, MAP_ENTRY, map_pages};
pub use import::{Imported, LeftOut, import};
pub use keys::{KeyTable, key_tables, keys_of};
pub use queues::{Arbitration, ArbitrationOrder, HostQueue};
pub use service::{Service, ServiceOrder, Shares, Suspension};
pub use spec::*;
pub use wear::WearSpec;
pub use wordline_config as config;
pub use write::to_toml;
