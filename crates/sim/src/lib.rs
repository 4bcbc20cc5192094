//! The device: it owns time and queues. It is stepped from outside, by `submit`, `advance_to` and
//! `next_completion`: a trace, a closed loop and a live client are three drivers of one device.

mod clock;
mod device;
mod drive;
mod metrics;
mod probe;

pub use device::{Busy, Completion, Device, DeviceError, RestoreError};
pub use drive::{DriveError, Pacing, Progress, Stop, Summary, drive};
pub use metrics::{Histogram, Metrics, TimeBin};
pub use probe::{Event, Log, NoProbe, Probe};
