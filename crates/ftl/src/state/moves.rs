//! Pages that schemes move: which are on their way, and which wait for room where they go.

use crate::plan::decision::Move;
use crate::state::id::OpId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use wordline_units::Lpn;

/// Moves that have been asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Moves {
    /// Pages that have been read and not yet programmed.
    pub under_way: BTreeSet<Lpn>,
    /// Moves that wait for room in the buffer of their region, with the host programs that wait for them.
    pub waiting: VecDeque<(Move, OpId)>,
}
