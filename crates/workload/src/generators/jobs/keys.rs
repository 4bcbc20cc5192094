//! Every key of fio that Wordline knows of: what it means here, that it means nothing to a drive, or
//! why it cannot be honoured. Reading, `explain` and lab/results/fio-keys.md follow this one list.

use crate::generators::jobs::unseen::UNSEEN;
use wordline_trace::Parameter;
use wordline_trace::options::value;

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

const fn refused(names: &'static [&'static str], why: &'static str) -> JobKey {
    JobKey { names, standing: Standing::Refused(why) }
}

/// Options behind the name of a job file, beside keys of fio, which hold for every job.
pub const JOB_OPTIONS: &[Parameter] = &[
    value("section", "name", "all", "names joined by +", "runs these jobs only"),
    value("ignore", "key", "none", "keys joined by +", "leaves out keys that cannot be honoured"),
];

const VERIFY: &str =
    "what is read back is what was written, and no state of an earlier fio is at hand; leave it out";
const FILES: &str = "a job works on the one drive; give each part of it a job with offset= and size=";
const REPLAY: &str = "a trace is a workload of its own: give its file in place of the job file";
const PAGES: &str = "it needs a page cache, and there is none before the drive; say fsync= or fdatasync=";

/// Keys that say what a drive is asked.
const HONOURED: &[JobKey] = &[
    honoured(
        &["rw", "readwrite"],
        "read, write, trim, randread, randwrite, randtrim, rw (readwrite), randrw, trimwrite, randtrimwrite; `:N` behind a random one draws an address every N requests, `:SIZE` behind a sequential one leaves a gap of SIZE, and with a minus goes backwards",
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
    honoured(
        &["bs", "blocksize"],
        "size of a request, 4k by default; what is no multiple of 512 B is widened to whole pages of 4 KiB, as a file system would; `reads,writes,trims`",
    ),
    honoured(
        &["bsrange", "blocksize_range"],
        "sizes from the smallest to the largest in steps of the smallest; `reads,writes,trims`",
    ),
    honoured(
        &["bssplit"],
        "sizes with percentages, 4k/60:64k/40; what has none shares the rest, and of shares that come to another sum the largest is as large as 100 leaves it; `reads,writes,trims`",
    ),
    honoured(
        &["bs_is_seq_rand"],
        "the size of reads is that of sequential requests, the size of writes that of random ones",
    ),
    honoured(&["ba", "blockalign"], "random addresses are multiples of it; the smallest size by default"),
    honoured(&["iodepth"], "requests that a job keeps outstanding; 1 by default"),
    honoured(
        &["ioengine"],
        "asynchronous ones keep iodepth outstanding, synchronous ones (psync, the default) one, whatever iodepth says; what the drive sees is otherwise the same",
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
        &["offset", "fileoffset"],
        "where the job begins; a percentage of the drive is rounded up to the request size",
    ),
    honoured(&["offset_increment"], "how much further each of numjobs begins"),
    honoured(&["offset_align"], "what a percentage as offset is rounded up to"),
    honoured(
        &["random_distribution"],
        "random, zipf:THETA[:CENTRE], pareto:POWER[:CENTRE], normal:DEVIATION[:CENTRE], zoned:ACCESS/SIZE:..., zoned_abs:ACCESS/BYTES:...; sizes that are left out share the rest",
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
    honoured(
        &["fsync"],
        "a FLUSH after so many writes, for which the job waits; in a mixed job also behind each request until the next write, as in fio",
    ),
    honoured(&["fdatasync"], "as fsync: both are the drive's FLUSH"),
    honoured(&["end_fsync", "fsync_on_close"], "a FLUSH at the end of each loop of a job that writes"),
    honoured(&["kb_base"], "1024: k is 1024 (the default); 1000: k is 1000"),
    honoured(
        &["iodepth_batch", "iodepth_batch_submit"],
        "requests that are submitted together; 1 by default, 0 is iodepth",
    ),
    honoured(
        &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        "requests that must have ended before a full job asks again; 1 by default",
    ),
    honoured(&["iodepth_batch_complete_max"], "changes nothing: what has ended is seen when it ends"),
    honoured(&["iodepth_low"], "outstanding requests down to which a full job waits; iodepth by default"),
    honoured(
        &["sync"],
        "1, sync or dsync: writes with FUA, which end when their data are on flash; 0 or none",
    ),
    honoured(&["writefua"], "1: writes with FUA"),
    honoured(
        &["sg_write_mode"],
        "write, write_same and write_same_ndob: writes; verify and write_and_verify: writes with FUA; verify_bytchk_00, _01 and _11: the drive reads the range; write_stream: the stream of stream_id",
    ),
    honoured(&["stream_id"], "the stream of sg_write_mode=write_stream, 1 to 31"),
    honoured(
        &["dataplacement"],
        "fdp or streams: the streams of plids, which schemes with streams keep apart; none",
    ),
    honoured(&["fdp"], "1: dataplacement=fdp"),
    honoured(
        &["plids", "fdp_pli"],
        "numbers and ranges by commas: identifier N of fdp is stream N + 1, of streams N; none by default",
    ),
    honoured(
        &["plid_select", "fdp_pli_select"],
        "which of plids a write takes: roundrobin (the default), or random",
    ),
    honoured(
        &["cmdprio_percentage"],
        "percentage of requests with the class of cmdprio_class, the others with that of prioclass; `reads,writes`",
    ),
    honoured(&["cmdprio_class"], "a class as in prioclass, 1 by default; `reads,writes`"),
    honoured(&["cmdprio"], "the level of those: a request says its class alone"),
    honoured(
        &["cmdprio_bssplit"],
        "as cmdprio_percentage for each size: SIZE/PERCENT[/CLASS/LEVEL]:...; `reads,writes`",
    ),
    honoured(
        &["verify"],
        "what a loop wrote is read back behind it, in the order of writing, or of addresses where there is no map; the bytes themselves are not compared",
    ),
    honoured(&["do_verify"], "0: nothing is read back"),
    honoured(&["verify_only"], "nothing is written: what would be is read"),
    honoured(&["verify_backlog"], "writes after which as many are read back"),
    honoured(&["verify_backlog_batch"], "how many are read back then"),
    honoured(
        &["trim_percentage"],
        "percentage of what verify would read back that is trimmed before, by trim_backlog",
    ),
    honoured(&["trim_backlog"], "writes after which some of it is trimmed; without it nothing is"),
    honoured(&["trim_backlog_batch"], "how many are trimmed then, and one; as trim_backlog by default"),
    honoured(&["trim_verify_zero"], "what was trimmed is read back, too (1, the default), or not (0)"),
    honoured(&["experimental_verify"], "what is read back is drawn again: the order of writing"),
    honoured(
        &["filesize"],
        "bytes of the drive that the job uses, from address 0; size is then what it moves in a loop",
    ),
    honoured(&["fill_device", "fill_fs"], "the job goes on to the end of the drive"),
    honoured(
        &["zonemode"],
        "strided: zonesize bytes within zonerange, then zoneskip further; zbd: zones written in order, by fio's rules for a device without zones; none",
    ),
    honoured(&["zonesize"], "bytes moved in a strided zone; the size of a zone of zbd, which needs it"),
    honoured(&["zonerange"], "the addresses of a strided zone; zonesize by default"),
    honoured(
        &["zoneskip"],
        "addresses between strided zones, and between those of a sequential job with zbd; `2z` is two zones",
    ),
    honoured(&["zonecapacity"], "bytes of a zone of zbd that are written; zonesize by default"),
    honoured(
        &["read_beyond_wp"],
        "1: reads of zbd go where they are drawn; otherwise they stay below the write pointers, and all zones begin empty",
    ),
    honoured(&["max_open_zones"], "most zones of zbd that are open for writes; 0 for any"),
    honoured(&["job_max_open_zones"], "the same of one job"),
    honoured(
        &["zone_reset_threshold"],
        "share of a job's addresses that are written before zones begin anew by zone_reset_frequency",
    ),
    honoured(
        &["zone_reset_frequency"],
        "share of writes before which their zone begins anew; a full one always does",
    ),
    honoured(
        &["serialize_overlap"],
        "1: a request waits for those outstanding that it overlaps; with io_submit_mode=offload also for other jobs'",
    ),
    honoured(
        &["rate_min", "ratemin"],
        "the job ends, as in fio, when its bytes per second over a rate_cycle are below; not in the first 2 s; `reads,writes,trims`",
    ),
    honoured(&["rate_iops_min"], "the same of requests per second"),
    honoured(&["rate_cycle", "ratecycle"], "milliseconds over which those are taken; 1000 by default"),
    honoured(
        &["max_latency"],
        "the job ends, as in fio, at the first request that takes longer, in microseconds",
    ),
    honoured(
        &["latency_target"],
        "microseconds that requests may take: the depth is sought, as in fio, by doubling and halving, up to iodepth",
    ),
    honoured(&["latency_window"], "microseconds between two such steps"),
    honoured(&["latency_percentile"], "percentage of requests that must keep latency_target; 100 by default"),
    honoured(&["latency_run"], "1: goes on seeking instead of ending with the depth found"),
    honoured(
        &["steadystate", "ss"],
        "iops:LIMIT, iops_slope:LIMIT, bw:LIMIT or bw_slope:LIMIT, perhaps in %: the job, or its group with group_reporting, ends when seconds of steadystate_duration keep it",
    ),
    honoured(&["steadystate_duration", "ss_dur"], "seconds that are looked at"),
    honoured(&["steadystate_ramp_time", "ss_ramp"], "seconds before they begin"),
    honoured(&["exitall"], "when the first job ends, others end, too: which, says exit_what"),
    honoured(&["exit_what"], "group (the default), stonewall (all that have begun), or all"),
    honoured(&["wait_for"], "the job begins when all of that name have ended"),
    honoured(&["flow"], "the share of the job's requests among those of its flow_id"),
    honoured(&["flow_id"], "which jobs share; 0 by default"),
    honoured(&["flow_sleep"], "microseconds that a job waits that is ahead, with nothing outstanding"),
    honoured(&["new_group"], "a group of its own begins, as for exit_what and steadystate"),
    honoured(&["group_reporting"], "steadystate looks at the group; each job keeps its own figures"),
    honoured(&["thinktime_iotime"], "seconds between two waits of thinktime"),
    honoured(
        &["rate_ignore_thinktime"],
        "1: what rate would have asked for during thinktime is not caught up; 0, the default: it is",
    ),
    honoured(&["io_submit_mode"], "offload: a synchronous engine, too, keeps iodepth outstanding"),
];

/// Keys that cannot be honoured.
const REFUSED: &[JobKey] = &[
    refused(
        &["bs_unaligned", "blocksize_unaligned"],
        "sizes drawn from a range would be no multiple of the smallest; leave it out",
    ),
    refused(&["nrfiles", "nr_files"], FILES),
    refused(&["file_service_type"], FILES),
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
    refused(&["verify_state_load"], VERIFY),
    refused(&["create_only"], "it makes files and asks a drive for nothing; leave the job out"),
    refused(&["readfua"], "no read asks a drive to leave its RAM aside; leave it out"),
    refused(&["dp_scheme"], "a list in a file of its own; say plids="),
    refused(&["deallocate"], "leave it out; say rw=trim"),
    refused(&["write_mode"], "say rw=, and for what zeroes or trims a job of trims"),
    refused(&["verify_mode"], "a read says it"),
    refused(&["sprandom"], "it overwrites a drive for its over-provisioning; say --initial steady"),
    refused(&["percentage_sequential"], "fio has given it up; say percentage_random="),
    refused(&["profile"], "it stands for a job file of fio's own; write the jobs out"),
    refused(&["num_range"], "a trim has one range; leave it out"),
];

/// Every key: those that are honoured first, then those that a drive does not see.
pub fn job_keys() -> impl Iterator<Item = JobKey> {
    let unseen = UNSEEN.iter().map(|names| JobKey { names, standing: Standing::Unseen });
    HONOURED.iter().copied().chain(unseen).chain(REFUSED.iter().copied())
}

/// A key by any of its names: its first name, and its standing.
pub(crate) fn standing(key: &str) -> Option<(&'static str, Standing)> {
    job_keys().find(|k| k.names.contains(&key)).map(|k| (k.names[0], k.standing))
}

/// Every name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    job_keys().flat_map(|k| k.names.iter().copied())
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
