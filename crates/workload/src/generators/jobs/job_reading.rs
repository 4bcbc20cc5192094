//! Parses the keys of a section into a job.

use crate::generators::jobs::ini::Section;
use crate::generators::jobs::job::{
    Between, Distances, Job, MICROSECOND, PRIORITY_CLASSES, SECOND, Spread, ThinkAfter, USUAL_LEVEL,
};
use crate::generators::jobs::reading::Reading;
use crate::generators::jobs::spell::{Amount, DIRECTIONS, KiloBase, by_direction, bytes, range, time, whole};
use crate::generators::jobs::values::percentage;
use wordline_units::{LatencyHint, QueueClass};

const WHERE: &str = "a size, zones such as 10z, or a percentage of the drive";

impl Reading<'_> {
    pub fn job(&mut self, section: &Section) -> Job {
        self.kilo = self.word(
            "kb_base",
            &[("1024", KiloBase::Binary), ("1000", KiloBase::Thousand)],
            KiloBase::Binary,
        );
        let (kinds, random, behind) = self.kinds();
        let (every, gap) = self.sequence(random, behind);
        let sizes = self.sizes();
        let align = self.get("ba", [0; DIRECTIONS], "a size", |text, kilo| {
            by_direction(text, &[0; DIRECTIONS], |t| bytes(t, kilo))
        });
        let align = std::array::from_fn(|d| if align[d] == 0 { sizes[d].min } else { align[d] });
        let depth = self.depth();
        let spread = self.spread();
        let shuffled = self.word(
            "random_generator",
            &[("tausworthe", false), ("tausworthe64", false), ("lfsr", true)],
            false,
        );
        if shuffled && sizes.iter().any(|s| s.min != s.max) {
            self.reject(
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
            self.get("percentage_random", [100; DIRECTIONS], "0 to 100, `reads,writes,trims`", percentages);
        let per_second =
            |text: &str, kilo: KiloBase| by_direction(text, &[0; DIRECTIONS], |t| bytes(t, kilo));
        let rate = self.get("rate", [0; DIRECTIONS], "bytes per second, `reads,writes,trims`", per_second);
        let rate_iops =
            self.get("rate_iops", [0; DIRECTIONS], "requests per second, `reads,writes,trims`", per_second);
        if (0..DIRECTIONS).any(|d| rate[d] > 0 && rate_iops[d] > 0) {
            self.reject("rate_iops", "rate limits the same direction".into(), "one of the two");
        }
        let distances = self.word(
            "rate_process",
            &[("linear", Distances::Even), ("poisson", Distances::Poisson)],
            Distances::Even,
        );
        let think = self.get("thinktime", 0, "a time, in microseconds", |text, _| time(text, MICROSECOND));
        let seconds = |text: &str, _: KiloBase| time(text, SECOND);
        let runtime = self.get("runtime", 0, "a time, in seconds", seconds);
        let time_based = self.flag("time_based", false) && runtime > 0;
        if !time_based && self.flag("time_based", false) {
            self.remark(
                "time_based without runtime= has no effect, as in fio: the job ends by its size.".into(),
            );
        }
        let delay = self.get("startdelay", (0, 0), "a time or a range of times, in seconds", |text, _| {
            let (low, high) = range(text, |t| time(t, SECOND))?;
            if low <= high { Ok((low, high)) } else { Err(format!("{text:?} is not ascending")) }
        });
        let flush_every = self.number("fsync", 0, 0..=u32::MAX as u64);
        let flush_every_data = self.number("fdatasync", 0, 0..=u32::MAX as u64);
        if flush_every > 0 && flush_every_data > 0 {
            self.reject(
                "fdatasync",
                "conflicts with fsync, which issues the same FLUSH".into(),
                "one of the two",
            );
        }
        let writes = kinds.uses(1);
        // As in fio, only an even distribution has a map, and only if random requests begin at multiples of
        // the smallest size.
        let aligned = !random || (0..DIRECTIONS).all(|d| align[d] == sizes[d].min);
        let map = even && !shuffled && aligned && !self.flag("norandommap", false);
        let repeat = self.flag("randrepeat", true) && self.flag("allrandrepeat", true);
        let hint = self.word("prioclass", &PRIORITY_CLASSES, LatencyHint::None);
        let level = self.number("prio", USUAL_LEVEL, 0..=7);
        let job = Job {
            name: section.name.clone(),
            place: section.place.clone(),
            kinds,
            random,
            every,
            gap,
            between: self.word(
                "rw_sequencer",
                &[("sequential", Between::Sequential), ("identical", Between::Identical)],
                Between::Sequential,
            ),
            mix_read: self.mix(),
            sizes_by_randomness: self.flag("bs_is_seq_rand", false),
            align,
            depth,
            clones: self.number("numjobs", 1, 1..=4096) as u32,
            size: self.amount("size", "a size, zones such as 10z, or a percentage of the drive"),
            io_size: self.amount("io_size", "a size, zones such as 10z, or a percentage of size"),
            number_ios: self.number("number_ios", 0, 0..=u64::MAX),
            offset: self.amount("offset", WHERE).unwrap_or(Amount::Bytes(0)),
            offset_increment: self.amount("offset_increment", WHERE).unwrap_or(Amount::Bytes(0)),
            offset_align: self.get("offset_align", 0, "a size", bytes),
            map,
            shuffled: shuffled && even,
            spread,
            percent_random,
            repeat,
            seed: self.number("randseed", 0, 0..=u64::MAX),
            rate,
            rate_iops,
            distances,
            hint,
            streams: self.streams(),
            fua: self.writes_through(),
            reads_for_writes: self.reads_for_writes(),
            priorities: self.priorities(),
            verify: self.verify(random && map, time_based),
            flow: self.flow(),
            floor: self.rate_floor(),
            max_latency: self.get("max_latency", 0, "a time, in microseconds", |t, _| time(t, MICROSECOND)),
            target: self.latency_target(),
            steady: self.steady(),
            stride: self.stride(),
            zones: self.zones(kinds, &sizes),
            serialized: self.overlap(kinds, depth.most),
            file_size: self.file_size(),
            wait_for: self.text("wait_for").map(str::to_string),
            exits: self.exits(),
            new_group: self.flag("new_group", false),
            group_reporting: self.flag("group_reporting", false),
            class: match hint {
                LatencyHint::Short => QueueClass::Urgent,
                LatencyHint::Long => QueueClass::Low,
                LatencyHint::None | LatencyHint::Medium if level < USUAL_LEVEL => QueueClass::High,
                LatencyHint::None | LatencyHint::Medium => QueueClass::Medium,
            },
            think,
            think_is_free: self.flag("rate_ignore_thinktime", false),
            think_every: self.think_every(),
            think_time: self.get("thinktime_iotime", 0, "a time, in seconds", seconds),
            think_after: self.word(
                "thinktime_blocks_type",
                &[("complete", ThinkAfter::Ended), ("issue", ThinkAfter::Issued)],
                ThinkAfter::Ended,
            ),
            runtime: (runtime > 0).then_some(runtime),
            time_based,
            ramp: self.get("ramp_time", 0, "a time, in seconds", seconds),
            delay,
            loops: self.number("loops", 1, 1..=u32::MAX as u64),
            stonewall: self.flag("stonewall", false),
            flush_every: if writes { flush_every.max(flush_every_data) } else { 0 },
            flush_at_end: writes && self.flag("end_fsync", false),
            options: self
                .lines
                .iter()
                .map(|(key, line)| (key.to_string(), line.value.clone().unwrap_or_else(|| "1".into())))
                .collect(),
            sizes,
        };
        let several = self.text("filename").is_some_and(|f| f.replace("\\:", "").contains(':'));
        if several {
            let what = "several files in one job are not supported".to_string();
            self.reject(
                "filename",
                what,
                "one name; use one job per part of the drive, with offset= and size=",
            );
        }
        // Neither has an effect: the map always has its memory, and a job without size= extends to the end of
        // the drive.
        let _ = (self.flag("softrandommap", false), self.flag("fill_device", false));
        job
    }
}
