//! The keys of a job file, read into jobs: every value, and every key that cannot be honoured.

use crate::error::{ErrorKind, Problem, did_you_mean};
use crate::generators::jobs::ini::{JobText, Line, Section};
use crate::generators::jobs::job::{
    Between, Distances, Job, Kinds, LONGEST, MICROSECOND, PRIORITY_CLASSES, SECOND, Sizes, Spread,
    ThinkAfter, USUAL_LEVEL, WRITE_HINTS,
};
use crate::generators::jobs::keys::{Standing, names, standing};
use crate::generators::jobs::spell::{
    Amount, DIRECTIONS, KiloBase, amount, by_direction, bytes, flag, range, real, time, whole,
};
use crate::generators::jobs::values::{harmless, percentage, sector_multiple, split, zones};
use std::collections::BTreeMap;
use wordline_units::{LBA_BYTES, LatencyHint, QueueClass};

/// The jobs of a file.
pub(crate) fn jobs_of(file: &JobText, problems: &mut Vec<Problem>) -> Vec<Job> {
    // A line of [global] is wrong once, however many jobs it goes to.
    let mut seen: Vec<Problem> = vec![];
    let jobs = file.sections.iter().map(|s| Reading::of(s, &mut seen)).collect();
    let mut unique: Vec<Problem> = vec![];
    for problem in seen {
        if !unique.contains(&problem) {
            unique.push(problem);
        }
    }
    problems.extend(unique);
    jobs
}

/// Engines that keep `iodepth` requests outstanding.
const ASYNCHRONOUS: [&str; 9] =
    ["libaio", "io_uring", "io_uring_cmd", "posixaio", "sg", "null", "windowsaio", "solarisaio", "guasi"];
/// Engines that keep one.
const SYNCHRONOUS: [&str; 7] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];

struct Reading<'a> {
    lines: BTreeMap<&'static str, &'a Line>,
    /// Place of each key among the lines.
    order: BTreeMap<&'static str, usize>,
    kilo: KiloBase,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Reading<'a> {
    fn of(section: &'a Section, problems: &'a mut Vec<Problem>) -> Job {
        let mut reading =
            Reading { lines: BTreeMap::new(), order: BTreeMap::new(), kilo: KiloBase::Binary, problems };
        for (at, line) in section.lines.iter().enumerate() {
            match standing(&line.key) {
                Some((name, Standing::Honoured(_) | Standing::Unseen)) => {
                    reading.lines.insert(name, line);
                    reading.order.insert(name, at);
                }
                Some((_, Standing::Refused(why))) if !harmless(line) => {
                    let what = format!("{} cannot be honoured: {why}", line.key);
                    let hint = format!("or leave it out for one run: FILE:ignore={}", line.key);
                    reading.problems.push(Problem::new(ErrorKind::Option, &line.place, what).hint(hint));
                }
                Some(_) => {}
                None => {
                    let what = format!("{:?} is no key of fio that Wordline knows of", line.key);
                    let hint = did_you_mean(&line.key, names());
                    reading.problems.push(
                        Problem::new(ErrorKind::Option, &line.place, what)
                            .allowed("the keys of `wordline explain fio`")
                            .hint(hint),
                    );
                }
            }
        }
        reading.job(section)
    }

    fn reject(&mut self, key: &str, what: String, allowed: &str) {
        let place = self.lines.get(key).map_or(String::new(), |l| l.place.clone());
        let what = format!("{key}: {what}");
        self.problems.push(Problem::new(ErrorKind::Option, place, what).allowed(allowed));
    }

    /// The value of a key read, or its default.
    fn get<T>(
        &mut self,
        key: &'static str,
        default: T,
        allowed: &str,
        of: impl Fn(&str, KiloBase) -> Result<T, String>,
    ) -> T {
        let Some(line) = self.lines.get(key) else { return default };
        let Some(text) = line.value.as_deref().filter(|v| !v.is_empty()) else {
            self.reject(key, "it has no value".into(), allowed);
            return default;
        };
        match of(text, self.kilo) {
            Ok(value) => value,
            Err(what) => {
                self.reject(key, what, allowed);
                default
            }
        }
    }

    fn flag(&mut self, key: &'static str, default: bool) -> bool {
        let Some(line) = self.lines.get(key) else { return default };
        flag(line.value.as_deref()).unwrap_or_else(|what| {
            self.reject(key, what, "0 or 1");
            default
        })
    }

    fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)], default: T) -> T {
        let list: Vec<&str> = words.iter().map(|w| w.0).collect();
        self.get(key, default, &list.join(", "), |text, _| {
            let found = words.iter().find(|w| w.0 == text).map(|w| w.1);
            found.ok_or_else(|| format!("{text:?} is not one of its words"))
        })
    }

    fn number(&mut self, key: &'static str, default: u64, allowed: std::ops::RangeInclusive<u64>) -> u64 {
        let text = format!("{} to {}", allowed.start(), allowed.end());
        self.get(key, default, &text, |text, kilo| {
            let n = bytes(text, kilo)?;
            if allowed.contains(&n) { Ok(n) } else { Err(format!("{n} is out of range")) }
        })
    }

    fn job(&mut self, section: &Section) -> Job {
        self.kilo = self.word(
            "kb_base",
            &[("1024", KiloBase::Binary), ("1000", KiloBase::Thousand)],
            KiloBase::Binary,
        );
        let (kinds, random, behind) = self.kinds();
        let (every, gap) = self.sequence(random, behind);
        let sizes = self.sizes();
        let align = self.get("ba", [0; DIRECTIONS], "a size, a multiple of 512", |text, kilo| {
            by_direction(text, &[0; DIRECTIONS], |t| sector_multiple(bytes(t, kilo)?))
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
                "lfsr goes with one request size only, as in fio".into(),
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
        let time_based = self.flag("time_based", false);
        if time_based && runtime == 0 {
            self.reject(
                "time_based",
                "there is no runtime, so nothing ends the job".into(),
                "runtime=SECONDS beside it",
            );
        }
        let delay = self.get("startdelay", (0, 0), "a time or a range of times, in seconds", |text, _| {
            let (low, high) = range(text, |t| time(t, SECOND))?;
            if low <= high { Ok((low, high)) } else { Err(format!("{text:?} runs backwards")) }
        });
        let some = |text: &str, kilo: KiloBase| amount(text, kilo).map(Some);
        let flush_every = self.number("fsync", 0, 0..=u32::MAX as u64);
        let flush_every_data = self.number("fdatasync", 0, 0..=u32::MAX as u64);
        if flush_every > 0 && flush_every_data > 0 {
            self.reject(
                "fdatasync",
                "fsync says how often, too, and both are one FLUSH".into(),
                "one of the two",
            );
        }
        let writes = kinds.uses(1);
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
            size: self.get("size", None, "a size, or a percentage of the drive", some),
            io_size: self.get("io_size", None, "a size, or a percentage of size", some),
            number_ios: self.number("number_ios", 0, 0..=u64::MAX),
            offset: self.get("offset", Amount::Bytes(0), "a size, or a percentage of the drive", amount),
            offset_increment: self.get(
                "offset_increment",
                Amount::Bytes(0),
                "a size, or a percentage of the drive",
                amount,
            ),
            offset_align: self
                .get("offset_align", 0, "a size, a multiple of 512", |t, k| sector_multiple(bytes(t, k)?)),
            // Only even addresses have a map; so it is in fio.
            map: even && !shuffled && !self.flag("norandommap", false),
            shuffled: shuffled && even,
            spread,
            percent_random,
            repeat,
            seed: self.number("randseed", 0, 0..=u64::MAX),
            rate,
            rate_iops,
            distances,
            hint,
            stream: self.word("write_hint", &WRITE_HINTS, 0),
            class: match hint {
                LatencyHint::Short => QueueClass::Urgent,
                LatencyHint::Long => QueueClass::Low,
                LatencyHint::None | LatencyHint::Medium if level < USUAL_LEVEL => QueueClass::High,
                LatencyHint::None | LatencyHint::Medium => QueueClass::Medium,
            },
            think,
            think_every: self.number("thinktime_blocks", 1, 1..=u32::MAX as u64),
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
            flush_at_end: writes && self.ends_with_flush(),
            options: self
                .lines
                .iter()
                .map(|(key, line)| (key.to_string(), line.value.clone().unwrap_or_else(|| "1".into())))
                .collect(),
            sizes,
        };
        if self.lines.get("filename").and_then(|l| l.value.as_deref()).is_some_and(|f| f.contains(':')) {
            let what = "several files in one job: a job works on the one drive".to_string();
            self.reject(
                "filename",
                what,
                "one name; give each part of the drive a job with offset= and size=",
            );
        }
        self.flag("softrandommap", false);
        job
    }

    fn kinds(&mut self) -> (Kinds, bool, Option<String>) {
        const WORDS: [(&str, (Kinds, bool)); 11] = [
            ("read", (Kinds::Only(0), false)),
            ("write", (Kinds::Only(1), false)),
            ("trim", (Kinds::Only(2), false)),
            ("randread", (Kinds::Only(0), true)),
            ("randwrite", (Kinds::Only(1), true)),
            ("randtrim", (Kinds::Only(2), true)),
            ("rw", (Kinds::Mixed, false)),
            ("readwrite", (Kinds::Mixed, false)),
            ("randrw", (Kinds::Mixed, true)),
            ("trimwrite", (Kinds::TrimWrite, false)),
            ("randtrimwrite", (Kinds::TrimWrite, true)),
        ];
        let list: Vec<&str> = WORDS.iter().map(|w| w.0).collect();
        self.get("rw", (Kinds::Only(0), false, None), &list.join(", "), |text, _| {
            let (word, behind) = text.split_once(':').map_or((text, None), |(w, b)| (w, Some(b.to_string())));
            let found = WORDS.iter().find(|w| w.0 == word).map(|w| w.1);
            let hint = did_you_mean(word, list.iter().copied());
            found.map(|(kinds, random)| (kinds, random, behind)).ok_or_else(|| {
                format!("{word:?} is no kind of I/O{}{hint}", if hint.is_empty() { "" } else { "; " })
            })
        })
    }

    /// What stands behind the colon of rw.
    fn sequence(&mut self, random: bool, behind: Option<String>) -> (u64, u64) {
        let Some(text) = behind else { return (1, 0) };
        match (random, bytes(&text, self.kilo)) {
            (true, Ok(every)) if every > 0 => (every, 0),
            (false, Ok(gap)) if gap.is_multiple_of(LBA_BYTES) && gap < 1 << 60 => (1, gap),
            _ => {
                let allowed = if random {
                    "a number of requests"
                } else {
                    "a gap, a multiple of 512; backwards is not honoured"
                };
                self.reject("rw", format!("{text:?} behind the colon cannot be used"), allowed);
                (1, 0)
            }
        }
    }

    fn mix(&mut self) -> u64 {
        let of = |text: &str, _: KiloBase| whole(text).and_then(|p| percentage(p, text));
        let read = self.get("rwmixread", 50, "0 to 100", of);
        let write = self.get("rwmixwrite", 50, "0 to 100", of);
        let later = |a: &str, b: &str| self.order.get(a) > self.order.get(b);
        if later("rwmixwrite", "rwmixread") { 100 - write } else { read }
    }

    fn sizes(&mut self) -> [Sizes; DIRECTIONS] {
        let default = std::array::from_fn(|_| Sizes::one(4096));
        let order = |key: &str| self.order.get(key).copied();
        // Of several keys for one thing the last line holds.
        let last = ["bs", "bsrange", "bssplit"].into_iter().filter_map(|k| Some((order(k)?, k))).max();
        let Some((_, key)) = last else { return default };
        const ALLOWED: &str = "multiples of 512 B from 512 B to 1 GiB";
        let sizes: [Sizes; DIRECTIONS] = self.get(key, default.clone(), ALLOWED, |text, kilo| {
            let size = |t: &str| {
                sector_multiple(bytes(t, kilo)?)
                    .and_then(|n| if n <= LONGEST { Ok(n) } else { Err(format!("{t:?} is above 1 GiB")) })
            };
            match key {
                "bs" => by_direction(text, &default, |t| size(t).map(Sizes::one)),
                "bsrange" => by_direction(text, &default, |t| {
                    let (min, max) = range(t, size)?;
                    if min <= max {
                        Ok(Sizes { min, max, split: vec![] })
                    } else {
                        Err(format!("{t:?} runs backwards"))
                    }
                }),
                _ => by_direction(text, &default, |t| split(t, size)),
            }
        });
        sizes
    }

    fn depth(&mut self) -> u32 {
        let depth = self.number("iodepth", 1, 1..=65_536) as u32;
        let engine = self.lines.get("ioengine").and_then(|l| l.value.as_deref());
        let asked = engine.unwrap_or("psync");
        if SYNCHRONOUS.contains(&asked) {
            if depth > 1 {
                let by = if engine.is_some() { "" } else { ", the default," };
                let what = format!("{asked}{by} keeps one request outstanding, so in fio this would be 1");
                self.reject("iodepth", what, "ioengine=libaio or io_uring beside it, or iodepth=1");
            }
        } else if !ASYNCHRONOUS.contains(&asked) {
            let what = format!("{asked:?} is not an engine that reads and writes a drive");
            let allowed = [&ASYNCHRONOUS[..], &SYNCHRONOUS[..]].concat().join(", ");
            self.reject("ioengine", what, &allowed);
        }
        depth
    }

    fn spread(&mut self) -> Spread {
        const ALLOWED: &str = "random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:ACCESS/SIZE:..., zoned_abs:ACCESS/BYTES:...";
        self.get("random_distribution", Spread::Even, ALLOWED, |text, kilo| {
            let (word, rest) = text.split_once([':', '=']).unwrap_or((text, ""));
            let numbers = |default: f64| -> Result<(f64, Option<f64>), String> {
                let mut parts = rest.split(':').filter(|p| !p.is_empty());
                let first = parts.next().map_or(Ok(default), real)?;
                let centre = parts.next().map(real).transpose()?;
                if centre.is_some_and(|c| c > 1.0) {
                    return Err(format!("{text:?}: a centre is a share from 0 to 1"));
                }
                Ok((first, centre))
            };
            match word {
                "random" => Ok(Spread::Even),
                "zipf" => numbers(1.1).and_then(|(theta, centre)| {
                    if theta <= 0.0 || theta > 5.0 {
                        return Err(format!("{theta} is not an exponent above 0 and up to 5"));
                    }
                    Ok(Spread::Zipf(theta, centre))
                }),
                "pareto" => numbers(0.2).and_then(|(h, centre)| {
                    if h <= 0.0 || h >= 1.0 {
                        return Err(format!("{h} is not between 0 and 1"));
                    }
                    Ok(Spread::Pareto(h, centre))
                }),
                "normal" | "gauss" => numbers(0.0).and_then(|(deviation, centre)| {
                    if deviation > 100.0 {
                        return Err(format!("{deviation} is above 100 percent"));
                    }
                    Ok(Spread::Normal(deviation, centre))
                }),
                "zoned" => zones(rest, |t| whole(t).and_then(|p| percentage(p, t))).and_then(|z| {
                    for zones in &z {
                        if zones.iter().any(|z| z.1 == 0) {
                            return Err("a zone of 0 percent has no place for a request".into());
                        }
                        if zones.iter().map(|z| z.1).sum::<u64>() > 100 {
                            return Err("the sizes of the zones are more than 100 percent".into());
                        }
                    }
                    Ok(Spread::Zoned(z.map(|zones| zones.into_iter().map(|(a, s)| (a, s as u32)).collect())))
                }),
                "zoned_abs" => zones(rest, |t| sector_multiple(bytes(t, kilo)?)).map(Spread::ZonedAbs),
                _ => Err(format!("{word:?} is no distribution")),
            }
        })
    }

    fn ends_with_flush(&mut self) -> bool {
        self.flag("end_fsync", false)
    }
}
