//! What jobs and queues of the host ask, and what each was given.

pub(crate) mod jobs;
pub(crate) mod load;
pub(crate) mod queues;
pub(crate) mod tally;
