//! Traces in, traces out. A `Pipeline` reads one or several traces, applies `Step`s to their requests, and
//! writes them in any format. It is a single stream, whose memory does not grow with the trace. Requests keep
//! the clock and the byte addresses of their file, so that a trace that was cut out of another still agrees
//! with it.
//!
//! `flow` is a stream that can be opened again, `step` an operation on it, `form` the output format, `loss`
//! what a format cannot represent.

pub(crate) mod flow;
pub(crate) mod form;
pub(crate) mod loss;
pub(crate) mod pipeline;
pub(crate) mod step;
