//! Requests of jobs and queues of the host, and their results.

pub(crate) mod jobs;
pub(crate) mod load;
pub(crate) mod queues;
pub(crate) mod tally;
