//! Counters of a drive, each declared once: name, type and explanation. `ftl` and `sim` count in these structs, and a
//! report embeds their figures, so that its JSON, schema and Python types follow from the declaration.

#[macro_use]
mod declaration;
mod amounts;
mod by;
mod cause;
mod flash;
mod host;
mod idle;
mod wear;

pub use amounts::{Nanoseconds, Picojoules};
pub use by::{by_cause, by_due, by_kind, by_reader};
pub use cause::{Cause, Due, OpKind};
pub use flash::{
    EnergyCounts, EnergyOf, ErrorCounts, ErrorFigures, FlashCounts, FlashFigures, MapCounts, MapFigures,
    MultiplaneCounts, MultiplaneFigures, Places, ProgramCounts, ProgramFigures, RefreshCounts,
    RefreshFigures, RegionCounts, RegionFigures,
};
pub use host::{ByOp, Bytes, HostCounts, HostFigures, RequestCounts, RequestFigures, Requests};
pub use idle::{DelayCounts, Delays, IdleCounts, IdleTime};
pub use wear::{CapacityCounts, CapacityFigures, LostCounts, LostFigures};
