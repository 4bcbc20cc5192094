//! Every key of fio that Wordline knows of: what it means here, that it means nothing to a drive, or
//! why it cannot be honoured. Reading, `explain` and docs/jobs.md follow this one list.

use crate::text::parameter::{Parameter, value};

/// What Wordline does with a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is honoured; this is what it means.
    Honoured(&'static str),
    /// It is accepted and changes nothing, because a drive does not see it.
    Unseen,
    /// It cannot be honoured; this is why, and what to do.
    Refused(&'static str),
}

/// A key of a job file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobKey {
    /// Its name and its other names, the first as fio prints it.
    pub names: &'static [&'static str],
    /// What Wordline does with it.
    pub standing: Standing,
}

const fn honoured(names: &'static [&'static str], about: &'static str) -> JobKey {
    JobKey { names, standing: Standing::Honoured(about) }
}

const fn unseen(names: &'static [&'static str]) -> JobKey {
    JobKey { names, standing: Standing::Unseen }
}

const fn refused(names: &'static [&'static str], why: &'static str) -> JobKey {
    JobKey { names, standing: Standing::Refused(why) }
}

/// Options behind the name of a job file, beside keys of fio, which hold for every job.
pub const JOB_OPTIONS: &[Parameter] = &[
    value("section", "name", "all", "names joined by +", "runs these jobs only"),
    value("ignore", "key", "none", "keys joined by +", "leaves out keys that cannot be honoured"),
];

const VERIFY: &str = "a simulated drive keeps no data to verify; Wordline's own tests do that";
const ZONES: &str = "the drive has no zones; leave it out";
const FILES: &str = "a job works on the one drive; give each part of it a job with offset= and size=";
const CONTROL: &str = "it changes or ends a run by what was measured; give runtime= or size=";
const REPLAY: &str = "a trace is a workload of its own: give its file in place of the job file";
const PAGES: &str = "it needs a page cache, and there is none before the drive; say fsync= or fdatasync=";
const BATCH: &str = "requests are issued one by one, each when one has ended; it changes when the host looks, not what it asks";

/// Every key, those that are honoured first.
pub const JOB_KEYS: &[JobKey] = &[
    honoured(
        &["rw", "readwrite"],
        "read, write, trim, randread, randwrite, randtrim, rw (readwrite), randrw, trimwrite, randtrimwrite; `:N` behind a random one draws an address every N requests, `:SIZE` behind a sequential one leaves a gap of SIZE",
    ),
    honoured(
        &["rw_sequencer"],
        "between the draws of `rw=randread:N`: sequential goes on behind, identical asks again",
    ),
    honoured(&["rwmixread"], "percentage of reads of rw and randrw; 50 by default"),
    honoured(
        &["rwmixwrite"],
        "percentage of writes of rw and randrw; of this and rwmixread the later line holds",
    ),
    honoured(&["bs", "blocksize"], "size of a request, 4k by default; `reads,writes,trims`"),
    honoured(
        &["bsrange", "blocksize_range"],
        "sizes from the smallest to the largest in steps of the smallest; `reads,writes,trims`",
    ),
    honoured(
        &["bssplit"],
        "sizes with percentages, 4k/60:64k/40; what has none shares the rest; `reads,writes,trims`",
    ),
    honoured(
        &["bs_is_seq_rand"],
        "the size of reads is that of sequential requests, the size of writes that of random ones",
    ),
    honoured(&["ba", "blockalign"], "random addresses are multiples of it; the smallest size by default"),
    honoured(&["iodepth"], "requests that a job keeps outstanding; 1 by default"),
    honoured(
        &["ioengine"],
        "asynchronous ones keep iodepth outstanding, synchronous ones (psync, the default) one; what the drive sees is otherwise the same",
    ),
    honoured(
        &["numjobs"],
        "so many of the job, which differ in their random numbers and by offset_increment",
    ),
    honoured(
        &["size"],
        "bytes of the drive that the job uses, and that it moves in a loop; also a percentage of the drive; the rest behind offset by default",
    ),
    honoured(&["io_size", "io_limit"], "bytes that the job moves, where that is not size"),
    honoured(&["number_ios"], "requests after which a loop ends"),
    honoured(
        &["offset"],
        "where the job begins; a percentage of the drive is rounded up to the request size",
    ),
    honoured(&["offset_increment"], "how much further each of numjobs begins"),
    honoured(&["offset_align"], "what a percentage as offset is rounded up to"),
    honoured(
        &["random_distribution"],
        "random, zipf:THETA[:CENTRE], pareto:POWER[:CENTRE], normal:DEVIATION[:CENTRE], zoned:ACCESS/SIZE:..., zoned_abs:ACCESS/BYTES:...",
    ),
    honoured(
        &["random_generator"],
        "tausworthe and tausworthe64: the map below; lfsr: a pseudo-random order of all blocks, without a map",
    ),
    honoured(
        &["norandommap"],
        "addresses are drawn anew each time; without it, and with random_distribution=random, every block comes once before any comes again",
    ),
    honoured(&["softrandommap"], "changes nothing: the map always finds its memory"),
    honoured(
        &["percentage_random"],
        "percentage of requests of a random job that are random; the others go on behind the last; `reads,writes,trims`",
    ),
    honoured(
        &["randrepeat"],
        "every loop draws the same addresses (the default), or with 0 new ones; runs are always repeatable",
    ),
    honoured(&["allrandrepeat"], "as randrepeat"),
    honoured(&["randseed"], "goes into the job's random numbers together with the run's seed"),
    honoured(&["rate"], "bytes per second at most; `reads,writes,trims`"),
    honoured(&["rate_iops"], "requests per second at most; `reads,writes,trims`"),
    honoured(
        &["prioclass"],
        "the class of the job's I/O: 1 (realtime) asks the drive for a short access latency, 2 (best effort) for a medium one, 3 (idle) lets it be long; 0 says nothing; where the drive weighs its queues (`host.arbitration`), that of 1 is urgent and that of 3 low",
    ),
    honoured(
        &["prio"],
        "the level within best effort, 0 to 7: below 4 the job's queue is of class high where the drive weighs its queues, otherwise medium",
    ),
    honoured(
        &["write_hint"],
        "how long what the job writes will live: short, medium, long and extreme are the streams 1 to 4, which schemes with streams keep apart; none",
    ),
    honoured(&["rate_process"], "linear: at even distances; poisson: at exponential ones"),
    honoured(&["thinktime"], "microseconds that the job waits, with nothing outstanding"),
    honoured(&["thinktime_blocks"], "requests between two such waits; 1 by default"),
    honoured(
        &["thinktime_blocks_type"],
        "whether those are requests that ended (complete) or were issued (issue)",
    ),
    honoured(&["runtime", "timeout"], "seconds after which the job ends, whether or not it is through"),
    honoured(&["time_based"], "the job begins anew until runtime is over"),
    honoured(
        &["ramp_time"],
        "seconds at the beginning that the job's figures leave out; runtime begins behind it",
    ),
    honoured(&["startdelay"], "seconds before the job begins; of a range, a random one"),
    honoured(&["loops"], "how often the job does its size"),
    honoured(&["stonewall", "wait_for_previous"], "the job waits until all before it have ended"),
    honoured(&["fsync"], "a FLUSH after so many writes, for which the job waits"),
    honoured(&["fdatasync"], "as fsync: both are the drive's FLUSH"),
    honoured(&["end_fsync", "fsync_on_close"], "a FLUSH at the end of each loop of a job that writes"),
    honoured(&["kb_base"], "1024: k is 1024 (the default); 1000: k is 1000"),
    unseen(&["name"]),
    unseen(&["description"]),
    unseen(&["filename"]),
    unseen(&["directory"]),
    unseen(&["filename_format"]),
    unseen(&["unique_filename"]),
    unseen(&["opendir"]),
    unseen(&["lockfile"]),
    unseen(&["direct"]),
    unseen(&["buffered"]),
    unseen(&["atomic"]),
    unseen(&["fallocate"]),
    unseen(&["fadvise_hint", "fadvise"]),
    unseen(&["invalidate"]),
    unseen(&["overwrite"]),
    unseen(&["file_append"]),
    unseen(&["create_serialize"]),
    unseen(&["create_fsync"]),
    unseen(&["create_on_open"]),
    unseen(&["allow_file_create"]),
    unseen(&["allow_mounted_write"]),
    unseen(&["pre_read"]),
    unseen(&["unlink"]),
    unseen(&["unlink_each_loop"]),
    unseen(&["openfiles"]),
    unseen(&["thread"]),
    unseen(&["group_reporting"]),
    unseen(&["new_group"]),
    unseen(&["mem", "iomem"]),
    unseen(&["mem_align", "iomem_align"]),
    unseen(&["hugepage-size"]),
    unseen(&["lockmem"]),
    unseen(&["nice"]),
    unseen(&["cpumask"]),
    unseen(&["cpus_allowed"]),
    unseen(&["cpus_allowed_policy"]),
    unseen(&["numa_cpu_nodes"]),
    unseen(&["numa_mem_policy"]),
    unseen(&["ioscheduler"]),
    unseen(&["clocksource"]),
    unseen(&["gtod_cpu"]),
    unseen(&["gtod_reduce"]),
    unseen(&["disable_lat"]),
    unseen(&["disable_clat"]),
    unseen(&["disable_slat"]),
    unseen(&["disable_bw_measurement", "disable_bw"]),
    unseen(&["clat_percentiles"]),
    unseen(&["lat_percentiles"]),
    unseen(&["slat_percentiles"]),
    unseen(&["percentile_list"]),
    unseen(&["significant_figures"]),
    unseen(&["disk_util"]),
    unseen(&["unit_base"]),
    unseen(&["unified_rw_reporting"]),
    unseen(&["block_error_percentiles"]),
    unseen(&["stats"]),
    unseen(&["write_bw_log"]),
    unseen(&["write_lat_log"]),
    unseen(&["write_iops_log"]),
    unseen(&["write_hist_log"]),
    unseen(&["bwavgtime"]),
    unseen(&["iopsavgtime"]),
    unseen(&["log_entries"]),
    unseen(&["log_avg_msec"]),
    unseen(&["log_hist_msec"]),
    unseen(&["log_hist_coarseness"]),
    unseen(&["log_max_value"]),
    unseen(&["log_offset"]),
    unseen(&["log_prio"]),
    unseen(&["log_compression"]),
    unseen(&["log_compression_cpus"]),
    unseen(&["log_store_compressed"]),
    unseen(&["log_unix_epoch"]),
    unseen(&["log_alternate_epoch"]),
    unseen(&["log_alternate_epoch_clock_id"]),
    unseen(&["per_job_logs"]),
    unseen(&["write_iolog"]),
    unseen(&["zero_buffers"]),
    unseen(&["refill_buffers"]),
    unseen(&["scramble_buffers"]),
    unseen(&["buffer_pattern"]),
    unseen(&["buffer_compress_percentage"]),
    unseen(&["buffer_compress_chunk"]),
    unseen(&["dedupe_percentage"]),
    unseen(&["dedupe_mode"]),
    unseen(&["dedupe_working_set_percentage"]),
    unseen(&["dedupe_global"]),
    unseen(&["exec_prerun"]),
    unseen(&["exec_postrun"]),
    unseen(&["error_dump"]),
    unseen(&["continue_on_error"]),
    unseen(&["exitall_on_error"]),
    unseen(&["ignore_error"]),
    unseen(&["uid"]),
    unseen(&["gid"]),
    unseen(&["cgroup"]),
    unseen(&["cgroup_weight"]),
    unseen(&["cgroup_nodelete"]),
    unseen(&["thinktime_spin"]),
    unseen(&["io_submit_mode"]),
    unseen(&["registerfiles"]),
    unseen(&["fixedbufs"]),
    unseen(&["sqthread_poll"]),
    unseen(&["hipri"]),
    unseen(&["cmdprio_percentage"]),
    unseen(&["userspace_reap"]),
    unseen(&["nonvectored"]),
    unseen(&["uncached"]),
    unseen(&["nowait"]),
    unseen(&["force_async"]),
    refused(&["iodepth_batch", "iodepth_batch_submit"], BATCH),
    refused(&["iodepth_batch_complete_min", "iodepth_batch_complete"], BATCH),
    refused(&["iodepth_batch_complete_max"], BATCH),
    refused(&["iodepth_low"], BATCH),
    refused(
        &["serialize_overlap"],
        "overlapping requests go to the drive as they come, and it puts them in order",
    ),
    refused(&["bs_unaligned", "blocksize_unaligned"], "a drive takes whole sectors"),
    refused(&["nrfiles"], FILES),
    refused(&["file_service_type"], FILES),
    refused(&["filesize"], "the drive has the size that it has; say size= or offset="),
    refused(&["fill_device", "fill_fs"], "the drive does not run out of addresses; say size=100%"),
    refused(
        &["sync"],
        "each write would wait for its data to be durable, which no request asks a drive for; say fsync=1",
    ),
    refused(&["sync_file_range"], PAGES),
    refused(&["write_barrier"], "there are no barriers between host and drive; say fsync="),
    refused(&["read_iolog"], REPLAY),
    refused(&["read_iolog_chunked"], REPLAY),
    refused(&["replay_no_stall"], REPLAY),
    refused(&["replay_redirect"], REPLAY),
    refused(&["replay_scale"], REPLAY),
    refused(&["replay_align"], REPLAY),
    refused(&["replay_time_scale"], REPLAY),
    refused(&["replay_skip"], REPLAY),
    refused(&["merge_blktrace_file"], REPLAY),
    refused(&["merge_blktrace_scalars"], REPLAY),
    refused(&["merge_blktrace_iters"], REPLAY),
    refused(&["verify"], VERIFY),
    refused(&["do_verify"], VERIFY),
    refused(&["verify_only"], VERIFY),
    refused(&["verify_interval"], VERIFY),
    refused(&["verify_offset"], VERIFY),
    refused(&["verify_pattern"], VERIFY),
    refused(&["verify_fatal"], VERIFY),
    refused(&["verify_dump"], VERIFY),
    refused(&["verify_async"], VERIFY),
    refused(&["verify_backlog"], VERIFY),
    refused(&["verify_backlog_batch"], VERIFY),
    refused(&["experimental_verify"], VERIFY),
    refused(&["verify_state_load"], VERIFY),
    refused(&["verify_state_save"], VERIFY),
    refused(&["trim_percentage"], VERIFY),
    refused(&["trim_verify_zero"], VERIFY),
    refused(&["trim_backlog"], VERIFY),
    refused(&["trim_backlog_batch"], VERIFY),
    refused(&["zonemode"], ZONES),
    refused(&["zonesize"], ZONES),
    refused(&["zonecapacity"], ZONES),
    refused(&["zonerange"], ZONES),
    refused(&["zoneskip"], ZONES),
    refused(&["read_beyond_wp"], ZONES),
    refused(&["max_open_zones"], ZONES),
    refused(&["job_max_open_zones"], ZONES),
    refused(&["ignore_zone_limits"], ZONES),
    refused(&["zone_reset_threshold"], ZONES),
    refused(&["zone_reset_frequency"], ZONES),
    refused(&["rate_min"], CONTROL),
    refused(&["rate_iops_min"], CONTROL),
    refused(&["rate_cycle"], CONTROL),
    refused(
        &["rate_ignore_thinktime"],
        "thinktime counts as time in which the rate was not used; leave it out",
    ),
    refused(&["thinktime_iotime"], "the waits of a job go by requests; say thinktime_blocks="),
    refused(&["max_latency"], CONTROL),
    refused(&["latency_target"], CONTROL),
    refused(&["latency_window"], CONTROL),
    refused(&["latency_percentile"], CONTROL),
    refused(&["latency_run"], CONTROL),
    refused(&["exitall"], CONTROL),
    refused(&["exit_what"], CONTROL),
    refused(&["steadystate"], CONTROL),
    refused(&["steadystate_duration"], CONTROL),
    refused(&["steadystate_ramp_time"], CONTROL),
    refused(&["wait_for"], "jobs wait for all before them; put the job behind and say stonewall"),
    refused(&["flow"], "jobs do not steer each other; say rate= or rate_iops="),
    refused(&["flow_id"], "jobs do not steer each other; say rate= or rate_iops="),
    refused(&["flow_sleep"], "jobs do not steer each other; say rate= or rate_iops="),
    refused(&["create_only"], "it makes files and asks a drive for nothing; leave the job out"),
    refused(&["profile"], "it stands for a job file of fio's own; write the jobs out"),
    refused(&["num_range"], "a trim has one range; leave it out"),
];

/// A key by any of its names: its first name, and its standing.
pub(crate) fn standing(key: &str) -> Option<(&'static str, Standing)> {
    JOB_KEYS.iter().find(|k| k.names.contains(&key)).map(|k| (k.names[0], k.standing))
}

/// Every name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    JOB_KEYS.iter().flat_map(|k| k.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_keys() {
        let mut all: Vec<&str> = names().collect();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|w| w[0] == w[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
