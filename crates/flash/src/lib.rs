//! What the chip can do: how a drive is built, which page of a block may be programmed next, how long
//! each operation takes, and how often a page must be read again. It refuses the illegal with an
//! error and never panics; who decides what to program, and when, lives further down the data path.

mod errors;
mod geometry;
mod rule;
mod slot;
mod timing;
mod window;

pub use errors::{
    Beyond, ErrorModel, MOST_RETRIES, ModeErrors, Rber, Refresh, Retries, RetryLaw, Stress, standard_normal,
};
pub use geometry::{Geometry, GeometryError, Medium, Topology};
pub use rule::{IllegalProgram, ProgramRule};
pub use slot::{BlockShape, BlockState, SlotClass};
pub use timing::{CacheRegister, CommandOverhead, MAX_BITS, MediumEnergy, ModeEnergy, ModeTiming};
pub use window::{MOST_INTERFERENCE, MOST_REPROGRAMS, MOST_WINDOW_LAYERS, RuleError, Window, interference};
