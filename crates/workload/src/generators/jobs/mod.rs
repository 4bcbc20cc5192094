//! fio job files as they are: read (`ini`, `keys`, `spell`), understood (`job`, `policy`), laid out on a
//! drive (`placed`) and turned into requests (`draw`, which says what and where, `worker`, which says when
//! one job asks, and `script`, which has them all). A job pulls its next request when one of its own has
//! ended, so the requests of a job file are no stream: `JobScript` is asked by a driver, request by
//! request. Against a drive that takes no time at all, which is fio's null engine, they are a stream
//! again, and that is what `Workload::open` gives.

pub(crate) mod blocks;
pub(crate) mod control;
pub(crate) mod draw;
pub(crate) mod draw_zones;
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
