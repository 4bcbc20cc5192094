//! Capabilities of the chip: geometry, which page of a block can be programmed next, operation times, and
//! read retries. Illegal operations return an error, never a panic; later stages of the data path decide what
//! to program and when.

mod errors;
mod geometry;
mod rule;
mod slot;
mod timing;
mod window;

pub use errors::{
    Beyond, ErrorModel, MOST_RETRIES, ModeErrors, Rber, Refresh, Retries, RetryLaw, Stress, standard_normal,
};
pub use geometry::{Geometry, GeometryError, Medium, Topology, has_slot_numbers};
pub use rule::{IllegalProgram, ProgramRule};
pub use slot::{BlockShape, BlockState, SlotClass};
pub use timing::{CacheRegister, CommandOverhead, MAX_BITS, MediumEnergy, ModeEnergy, ModeTiming};
pub use window::{MOST_INTERFERENCE, MOST_REPROGRAMS, MOST_WINDOW_LAYERS, RuleError, Window, interference};
