//! The device: it owns time and queues. It is stepped from outside, by `submit`, `advance_to` and
//! `next_completion`: a trace, a closed loop and a live client are three drivers of one device.

mod back_end;
mod blocks;
mod client;
mod clock;
mod completion;
mod device;
mod dispatcher;
mod driver;
mod end;
mod error;
mod front_end;
mod histogram;
mod host;
mod look_ahead;
mod metrics;
mod observer;
mod power;
mod probe;
mod queues;
mod state;

pub use blocks::{Frame, MAP_CELLS_MAX, MAP_FRAMES_MAX, MapRow, map_rows};
pub use client::{Client, Pauses};
pub use completion::Completion;
pub use device::Device;
pub use driver::{Arrivals, DriveError, Host, HostTurn, Pacing, Progress, Stop, Summary, drive, drive_host};
pub use end::EndOfLife;
pub use error::{Busy, DeviceError, RestoreError};
pub use histogram::Histogram;
pub use metrics::{Checkpoint, Free, Measured, Metrics, TimeBin, Usage};
pub use power::PoweredOff;
pub use probe::{Begin, Event, Log, Moment, NoProbe, Probe};
pub use queues::Queues;
