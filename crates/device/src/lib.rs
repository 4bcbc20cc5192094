//! The description of a drive and how it is read from TOML: typed, with units, every problem of a
//! file reported at once.
//!
//! [`DeviceSpec`] is the resolved description, [`DeviceSpec::from_toml`] reads it, [`to_toml`]
//! writes it back, [`describe`] shows it to people, and [`builtin`] lists the drives that come
//! with Wordline. [`config`] is the reader itself, which schemes use for their parameters.

mod builtin;
mod describe;
mod errors;
mod read;
mod service;
mod spec;
mod wear;
mod write;

pub use builtin::{Builtin, builtin, find, names_like};
pub use config::ConfigErrors;
pub use describe::{describe, unloaded_program, unloaded_read};
pub use service::{Service, ServiceOrder, Suspension};
pub use spec::*;
pub use wear::WearSpec;
pub use wordline_config as config;
pub use write::to_toml;
