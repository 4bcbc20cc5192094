//! Traces in, traces out. A `Pipeline` reads one or several traces, takes their requests through
//! `Step`s, and writes them in any format: one stream from end to end, in memory that does not grow
//! with the trace. Requests keep the clock and the bytes that their file states, since a trace that was
//! cut out of another must still agree with it.
//!
//! `flow` is a stream that can be opened again, `step` an operation on it, `form` the output format, `loss`
//! what a format cannot represent.

pub(crate) mod flow;
pub(crate) mod form;
pub(crate) mod loss;
pub(crate) mod pipeline;
pub(crate) mod step;
