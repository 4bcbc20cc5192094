//! What the back end of a device is made of: planes with queues, registers and waits; arrays and buses with their
//! scheduler. Each file has a struct and its own methods; none begins an operation.

pub(crate) mod agenda;
pub(crate) mod array;
pub(crate) mod bus;
pub(crate) mod commands;
pub(crate) mod fair;
pub(crate) mod idle_work;
pub(crate) mod life;
pub(crate) mod plane;
pub(crate) mod planes;
pub(crate) mod queue;
pub(crate) mod queue_delay;
pub(crate) mod registers;
pub(crate) mod resources;
pub(crate) mod scheduler;
pub(crate) mod transfers;
