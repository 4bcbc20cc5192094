//! What a device is made of, except its translation layer: planes, registers, arrays and buses, waits. Each file has a
//! struct and its own methods; none begins an operation.

pub(crate) mod agenda;
pub(crate) mod array;
pub(crate) mod bus;
pub(crate) mod fair;
pub(crate) mod life;
pub(crate) mod plane;
pub(crate) mod queue;
pub(crate) mod queue_delay;
pub(crate) mod registers;
pub(crate) mod resources;
