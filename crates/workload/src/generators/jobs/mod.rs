//! fio job files without changes. They are read (`ini`, `keys`, `spell`), parsed into jobs (`job`, `policy`),
//! placed on a drive (`placement`) and turned into requests. `draw` decides the kind, address and size of a
//! request, `worker` decides when a job issues it, and `script` runs all jobs. A job issues its next request
//! when one of its own has completed, so the requests do not form a stream: a driver asks `JobScript` for one
//! request at a time. On a drive that takes no time, like fio's null engine, they do form a stream, which
//! `Workload::open` returns.

pub(crate) mod blocks;
pub(crate) mod control;
pub(crate) mod draw;
pub(crate) mod engines;
pub(crate) mod file;
pub(crate) mod flow;
pub(crate) mod form;
pub(crate) mod history;
pub(crate) mod ini;
pub(crate) mod job;
pub(crate) mod job_reading;
pub(crate) mod keys;
pub(crate) mod law_reading;
pub(crate) mod placement;
pub(crate) mod policy;
pub(crate) mod policy_reading;
pub(crate) mod random_blocks;
pub(crate) mod rates;
pub(crate) mod readback;
pub(crate) mod reading;
pub(crate) mod script;
pub(crate) mod shared;
pub(crate) mod spell;
pub(crate) mod steady;
pub(crate) mod step;
pub(crate) mod thoughts;
pub(crate) mod values;
pub(crate) mod worker;
pub(crate) mod zone_reading;
pub(crate) mod zones;
