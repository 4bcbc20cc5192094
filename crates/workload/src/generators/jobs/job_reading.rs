//! Parses a job file into jobs, each from the keys of its section.

use crate::generators::jobs::engines::{Engine, engine};
use crate::generators::jobs::ini::{JobText, Section};
use crate::generators::jobs::job::{
    Between, Distances, Job, MICROSECOND, PRIORITY_CLASSES, SECOND, Spread, ThinkAfter, USUAL_LEVEL,
};
use crate::generators::jobs::reading::Reading;
use crate::generators::jobs::spell::{Amount, DIRECTIONS, KiloBase, by_direction, bytes, range, time, whole};
use crate::generators::jobs::values::percentage;
use crate::generators::jobs::{law_reading, policy_reading, zone_reading};
use wordline_trace::Problem;
use wordline_units::{LatencyHint, QueueClass};

const WHERE: &str = "a size, zones such as 10z, or a percentage of the drive";

/// The jobs of a file, and what a reader of their results should know.
pub(crate) fn jobs_of(file: &JobText, problems: &mut Vec<Problem>) -> (Vec<Job>, Vec<String>) {
    // Report an invalid line of [global] once, however many jobs inherit it.
    let (mut seen, mut remarks, mut unseen) = (vec![], vec![], vec![]);
    let asking: Vec<&str> =
        file.sections.iter().filter(|s| asks_a_drive(s)).map(|s| s.name.as_str()).collect();
    let of = |s| job(&mut Reading::of(s, &asking, &mut seen, &mut remarks, &mut unseen), s);
    let jobs = file.sections.iter().map(of).collect();
    let mut unique: Vec<Problem> = vec![];
    for problem in seen {
        if !unique.contains(&problem) {
            unique.push(problem);
        }
    }
    problems.extend(unique);
    if !unseen.is_empty() {
        let keys = unseen.join(", ");
        remarks.push(format!("ignored fio keys, which do not affect a drive: {keys}."));
    }
    (jobs, remarks)
}

/// Whether the engine of a job uses a block device.
fn asks_a_drive(section: &Section) -> bool {
    let named = section.lines.iter().rev().find(|line| line.key == "ioengine");
    let engine = named.and_then(|line| line.value.as_deref()).and_then(engine);
    !matches!(engine, Some(Engine::Refused(_)))
}

/// The job of a section.
fn job(keys: &mut Reading, section: &Section) -> Job {
    let (kinds, random, behind) = law_reading::kinds(keys);
    let (every, gap) = law_reading::sequence(keys, random, behind);
    let sizes = law_reading::sizes(keys);
    let align = keys.get("ba", [0; DIRECTIONS], "a size", |text, kilo| {
        by_direction(text, &[0; DIRECTIONS], |t| bytes(t, kilo))
    });
    let align = std::array::from_fn(|d| if align[d] == 0 { sizes[d].min } else { align[d] });
    let depth = policy_reading::depth(keys);
    let spread = law_reading::spread(keys);
    let shuffled = keys.word(
        "random_generator",
        &[("tausworthe", false), ("tausworthe64", false), ("lfsr", true)],
        false,
    );
    if shuffled && sizes.iter().any(|s| s.min != s.max) {
        keys.reject(
            "random_generator",
            "lfsr requires a single request size, as in fio".into(),
            "tausworthe",
        );
    }
    let even = spread == Spread::Even;
    let percentages = |text: &str, _: KiloBase| {
        by_direction(text, &[100; DIRECTIONS], |t| whole(t).and_then(|p| percentage(p, t)))
    };
    let percent_random =
        keys.get("percentage_random", [100; DIRECTIONS], "0 to 100, `reads,writes,trims`", percentages);
    let per_second = |text: &str, kilo: KiloBase| by_direction(text, &[0; DIRECTIONS], |t| bytes(t, kilo));
    let rate = keys.get("rate", [0; DIRECTIONS], "bytes per second, `reads,writes,trims`", per_second);
    let rate_iops =
        keys.get("rate_iops", [0; DIRECTIONS], "requests per second, `reads,writes,trims`", per_second);
    if (0..DIRECTIONS).any(|d| rate[d] > 0 && rate_iops[d] > 0) {
        keys.reject("rate_iops", "rate limits the same direction".into(), "one of the two");
    }
    let distances = keys.word(
        "rate_process",
        &[("linear", Distances::Even), ("poisson", Distances::Poisson)],
        Distances::Even,
    );
    let think = keys.get("thinktime", 0, "a time, in microseconds", |text, _| time(text, MICROSECOND));
    let seconds = |text: &str, _: KiloBase| time(text, SECOND);
    let runtime = keys.get("runtime", 0, "a time, in seconds", seconds);
    let time_based = keys.flag("time_based", false) && runtime > 0;
    if !time_based && keys.flag("time_based", false) {
        keys.remark("time_based without runtime= has no effect, as in fio: the job ends by its size.".into());
    }
    let delay = keys.get("startdelay", (0, 0), "a time or a range of times, in seconds", |text, _| {
        let (low, high) = range(text, |t| time(t, SECOND))?;
        if low <= high { Ok((low, high)) } else { Err(format!("{text:?} is not ascending")) }
    });
    let flush_every = keys.number("fsync", 0, 0..=u32::MAX as u64);
    let flush_every_data = keys.number("fdatasync", 0, 0..=u32::MAX as u64);
    if flush_every > 0 && flush_every_data > 0 {
        keys.reject(
            "fdatasync",
            "conflicts with fsync, which issues the same FLUSH".into(),
            "one of the two",
        );
    }
    let writes = kinds.uses(1);
    // As in fio, only an even distribution has a map, and only if random requests begin at multiples of
    // the smallest size.
    let aligned = !random || (0..DIRECTIONS).all(|d| align[d] == sizes[d].min);
    let map = even && !shuffled && aligned && !keys.flag("norandommap", false);
    let repeat = keys.flag("randrepeat", true) && keys.flag("allrandrepeat", true);
    let hint = keys.word("prioclass", &PRIORITY_CLASSES, LatencyHint::None);
    let level = keys.number("prio", USUAL_LEVEL, 0..=7);
    let job = Job {
        name: section.name.clone(),
        place: section.place.clone(),
        kinds,
        random,
        every,
        gap,
        between: keys.word(
            "rw_sequencer",
            &[("sequential", Between::Sequential), ("identical", Between::Identical)],
            Between::Sequential,
        ),
        mix_read: law_reading::mix(keys),
        sizes_by_randomness: keys.flag("bs_is_seq_rand", false),
        align,
        depth,
        clones: keys.number("numjobs", 1, 1..=4096) as u32,
        size: zone_reading::zoned_amount(
            keys,
            "size",
            "a size, zones such as 10z, or a percentage of the drive",
        ),
        io_size: zone_reading::zoned_amount(
            keys,
            "io_size",
            "a size, zones such as 10z, or a percentage of size",
        ),
        number_ios: keys.number("number_ios", 0, 0..=u64::MAX),
        offset: zone_reading::zoned_amount(keys, "offset", WHERE).unwrap_or(Amount::Bytes(0)),
        offset_increment: zone_reading::zoned_amount(keys, "offset_increment", WHERE)
            .unwrap_or(Amount::Bytes(0)),
        offset_align: keys.get("offset_align", 0, "a size", bytes),
        map,
        shuffled: shuffled && even,
        spread,
        percent_random,
        repeat,
        seed: keys.number("randseed", 0, 0..=u64::MAX),
        rate,
        rate_iops,
        distances,
        hint,
        streams: policy_reading::streams(keys),
        fua: policy_reading::writes_through(keys),
        reads_for_writes: policy_reading::reads_for_writes(keys),
        priorities: policy_reading::priorities(keys),
        verify: policy_reading::verify(keys, random && map, time_based),
        flow: policy_reading::flow(keys),
        floor: policy_reading::rate_floor(keys),
        max_latency: keys.get("max_latency", 0, "a time, in microseconds", |t, _| time(t, MICROSECOND)),
        target: policy_reading::latency_target(keys),
        steady: policy_reading::steady(keys),
        stride: zone_reading::stride(keys),
        zones: zone_reading::zones(keys, kinds, &sizes),
        serialized: policy_reading::overlap(keys, kinds, depth.most),
        file_size: policy_reading::file_size(keys),
        wait_for: keys.text("wait_for").map(str::to_string),
        exits: policy_reading::exits(keys),
        new_group: keys.flag("new_group", false),
        group_reporting: keys.flag("group_reporting", false),
        class: match hint {
            LatencyHint::Short => QueueClass::Urgent,
            LatencyHint::Long => QueueClass::Low,
            LatencyHint::None | LatencyHint::Medium if level < USUAL_LEVEL => QueueClass::High,
            LatencyHint::None | LatencyHint::Medium => QueueClass::Medium,
        },
        think,
        think_is_free: keys.flag("rate_ignore_thinktime", false),
        think_every: policy_reading::think_every(keys),
        think_time: keys.get("thinktime_iotime", 0, "a time, in seconds", seconds),
        think_after: keys.word(
            "thinktime_blocks_type",
            &[("complete", ThinkAfter::Ended), ("issue", ThinkAfter::Issued)],
            ThinkAfter::Ended,
        ),
        runtime: (runtime > 0).then_some(runtime),
        time_based,
        ramp: keys.get("ramp_time", 0, "a time, in seconds", seconds),
        delay,
        loops: keys.number("loops", 1, 1..=u32::MAX as u64),
        stonewall: keys.flag("stonewall", false),
        flush_every: if writes { flush_every.max(flush_every_data) } else { 0 },
        flush_at_end: writes && keys.flag("end_fsync", false),
        options: keys.options(),
        sizes,
    };
    let several = keys.text("filename").is_some_and(|f| f.replace("\\:", "").contains(':'));
    if several {
        let what = "several files in one job are not supported".to_string();
        keys.reject("filename", what, "one name; use one job per part of the drive, with offset= and size=");
    }
    // Neither has an effect: the map always has its memory, and a job without size= extends to the end of
    // the drive.
    let _ = (keys.flag("softrandommap", false), keys.flag("fill_device", false));
    job
}
