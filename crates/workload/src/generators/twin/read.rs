//! Reads a twin's file, and reports all its problems together, each with its line.

use crate::generators::twin::description::{
    Arrivals, DRIFT, Description, EXTENT, Envelope, FileLaw, HotLies, Memory, Modulation, REQUESTS_MAX, RUN,
    Rest, Side, Straddle, THETA, Targets, item_in,
};
use crate::generators::twin::values::{
    Address, Average, Blocks, Counts, Hit, Lengths, Numbers, Range, Slashed, Spread,
};
use wordline_config::{ConfigErrors, Problems, Section};
use wordline_trace::{ErrorKind, Problem, QueueDepth, WorkloadError};
use wordline_units::{Count, Fraction, LBA_BYTES, SimDuration};

fn share(s: &mut Section, key: &'static str, default: Fraction) -> Fraction {
    let given = s.take_or(key, default);
    if given > Fraction::ONE {
        s.refuse(key, format!("{given} is more than 100 %"));
    }
    given
}

/// Reads a description and reports problems as an error of the workload.
pub(crate) fn read(text: &str, origin: &str) -> Result<Description, WorkloadError> {
    from_toml(text, origin).map_err(|e| problems(&e))
}

fn problems(errors: &ConfigErrors) -> WorkloadError {
    let all = errors.problems.iter().map(|p| Problem::new(ErrorKind::Option, p.place.to_string(), &*p.text));
    match WorkloadError::of_all(all.collect()) {
        Err(e) => e,
        Ok(()) => Problem::new(ErrorKind::Option, "twin", "cannot be read").into(),
    }
}

/// Reads a twin's file; `origin` is its name in messages.
///
/// # Errors
/// All problems of the file, by line.
pub fn from_toml(text: &str, origin: &str) -> Result<Description, ConfigErrors> {
    let problems = Problems::default();
    let read = Section::from_toml(text, origin, &[], "", &problems).and_then(|s| description(s, &problems));
    problems.finish(read)
}

fn description(mut file: Section, problems: &Problems) -> Option<Description> {
    let mut head = file.section_or_empty("twin");
    let title = head.require::<String>("title", "\"file server, one week\"").unwrap_or_default();
    let original = head.take_list::<String>("original").unwrap_or_default();
    let requests = head.require::<Count>("requests", "1000000").map_or(1, |c| c.0);
    if requests == 0 || requests > REQUESTS_MAX {
        head.refuse("requests", format!("{requests} is not between 1 and {REQUESTS_MAX}"));
    }
    let write = head.require::<Fraction>("write", "\"64.5%\"").unwrap_or_default();
    if write > Fraction::ONE {
        head.refuse("write", format!("{write} is more than 100 %"));
    }
    let run = head.take_within("run", RUN).unwrap_or(4.0);
    head.finish();

    let mut a = file.section_or_empty("arrivals");
    let closed = a.take::<QueueDepth>("closed");
    if closed.is_some()
        && let Some(timed) = ["span", "group", "windows", "envelope"].into_iter().find(|k| a.has(k))
    {
        a.refuse(timed, "a closed loop has no times; remove one of the two keys");
    }
    let span = match closed {
        Some(_) => a.take_or("span", SimDuration::ZERO),
        None => a.require::<SimDuration>("span", "\"7d\"").unwrap_or(SimDuration(1)),
    };
    let group = share(&mut a, "group", Fraction::ZERO);
    if group == Fraction::ONE {
        a.refuse("group", "must be below 100%, which would place all requests at one instant");
    }
    let memory = memory(&mut a);
    let envelope = envelope(&mut a);
    let arrivals = Arrivals { closed, span, group, memory, envelope };
    if span.0 == 0 && arrivals != Arrivals::instantaneous(closed) {
        a.refuse(
            "span",
            "all requests at one instant have no groups, windows or envelope; it must be above 0",
        );
    }
    a.finish();

    let writes = side(file.section_or_empty("write"), Kind::Write);
    let reads = side(file.section_or_empty("read"), Kind::Read);
    let mut t = file.section_or_empty("targets");
    let targets = Targets {
        hits: t.take_list::<Hit>("hits").unwrap_or_default().into_iter().map(|h| (h.0, h.1)).collect(),
        read_volume: t.take::<Average>("read_volume").map(|v| v.0 as u64),
        write_volume: t.take::<Average>("write_volume").map(|v| v.0 as u64),
        written_footprint: t.take::<Average>("written_footprint").map(|v| v.0 as u64),
        partial: t.take::<Range>("partial").map(|r| (r.0, r.1)),
        small: t.take::<Range>("small").map(|r| (r.0, r.1)),
        dispersion: t
            .take_list::<Spread>("dispersion")
            .unwrap_or_default()
            .into_iter()
            .map(|d| (d.0, d.1))
            .collect(),
        same_sectors: t.take("same_sectors"),
        covering: t.take("covering"),
        read_written: t.take("read_written"),
    };
    t.finish();
    let place = file.place().clone();
    file.finish();
    let (reads, writes) = (reads?, writes?);
    if reads.overlap > Fraction::ZERO && writes.hot == Fraction::ZERO {
        problems.add(&place, "read.overlap sends reads to the hot extents of writes, and write.hot is 0");
    }
    Some(Description { title, original, requests, write, run, arrivals, reads, writes, targets })
}

/// A curve over windows or over parts of an envelope, with one number for each.
fn curve(a: &mut Section, key: &'static str, of: &str, many: usize) -> Option<Vec<f64>> {
    let curve = a.take::<Numbers>(key)?.0;
    if curve.len() != many {
        a.refuse(key, format!("{} numbers for {many} {of}; there must be one for each", curve.len()));
        return None;
    }
    Some(curve)
}

fn memory(a: &mut Section) -> Option<Memory> {
    let windows = a.take::<Lengths>("windows").map(|w| w.0);
    let many = windows.as_ref().map_or(0, Vec::len);
    let [reads, writes] = ["read_dispersion", "write_dispersion"].map(|key| {
        if windows.is_none() && a.has(key) {
            a.missing("windows", "\"10ms/1s/100s\"");
        }
        let found = curve(a, key, "windows", many).unwrap_or_else(|| vec![1.0; many]);
        if found.iter().any(|d| *d < 0.0) {
            a.refuse(key, "an index of dispersion must be 0 or more (1 for independent arrivals)");
        }
        found
    });
    let together = curve(a, "together", "windows", many).unwrap_or_else(|| vec![0.0; many]);
    if together.iter().any(|c| c.abs() > 1.0) {
        a.refuse("together", "a correlation lies between -1 and 1");
    }
    Some(Memory { windows: windows?, reads, writes, together })
}

fn envelope(a: &mut Section) -> Option<Envelope> {
    let both = a.take::<Slashed<f64>>("envelope").map(|w| w.0);
    let own = ["read_envelope", "write_envelope"].map(|key| a.take::<Slashed<f64>>(key).map(|w| w.0));
    let period = a.take::<SimDuration>("envelope_period");
    let weights = match (both, own) {
        (Some(both), [None, None]) => Some((both.clone(), both)),
        (None, [Some(reads), Some(writes)]) if reads.len() == writes.len() => Some((reads, writes)),
        (None, [Some(_), Some(_)]) => {
            a.refuse("write_envelope", "its number of parts differs from read_envelope");
            None
        }
        (None, [None, None]) => None,
        (Some(_), _) => {
            a.refuse(
                "envelope",
                "conflicts with read_envelope and write_envelope; remove it or both of them",
            );
            None
        }
        (None, [reads, _]) => {
            a.missing(if reads.is_some() { "write_envelope" } else { "read_envelope" }, "\"6/1/1/1/1/1\"");
            None
        }
    };
    match (weights, period) {
        (Some((reads, writes)), Some(period)) if period.0 / reads.len() as u64 > 0 => {
            Some(Envelope { period, reads, writes })
        }
        (Some(_), Some(period)) => {
            a.refuse("envelope_period", format!("{period} is too short for the parts of the envelope"));
            None
        }
        (Some(_), None) => {
            a.missing("envelope_period", "\"1h\"");
            None
        }
        (None, Some(_)) => {
            a.missing("envelope", "\"6/1/1/1/1/1\"");
            None
        }
        (None, None) => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

fn side(mut s: Section, kind: Kind) -> Option<Side> {
    let sizes = s.require::<Slashed<(u32, f64)>>("sizes", "\"4KiB@66/8KiB@14\"");
    let mean = s.take::<Average>("mean").map(|a| a.0);
    let align = s.take::<Blocks>("align").map_or(8, |b| b.0);
    let page = s.take::<Blocks>("page").map_or(align, |b| b.0);
    if !page.is_multiple_of(align) {
        s.refuse("page", "it is not a multiple of align");
    }
    let rest = rest(&mut s, page);
    let every = s.take::<Count>("modulated_every").map(|c| c.0);
    let factors = s.take::<Slashed<f64>>("modulated_by").map(|f| f.0);
    let modulation = match (factors, every) {
        (_, Some(0)) => {
            s.refuse("modulated_every", "must be at least 1 request");
            None
        }
        (Some(factors), Some(every)) => Some(Modulation { factors, every }),
        (None, None) => None,
        (Some(_), None) => {
            s.missing("modulated_every", "65536");
            None
        }
        (None, Some(_)) => {
            s.missing("modulated_by", "\"0.25/1/2.5\"");
            None
        }
    };
    if modulation.is_some() && !matches!(rest, Rest::Size(_)) {
        s.refuse("modulated_by", "it changes the weight of the size in \"rest\", which is not given");
    }
    let begin = s.take::<Address>("begin").map_or(0, |b| b.0 * LBA_BYTES);
    if !(begin / LBA_BYTES).is_multiple_of(page) {
        s.refuse("begin", "it is not a multiple of page");
    }
    let footprint = s.require::<Average>("footprint", "\"1.6GiB\"").map(|a| a.0 as u64);
    let sequential = share(&mut s, "sequential", Fraction::ZERO);
    let hot = share(&mut s, "hot", Fraction::ZERO);
    let uniform = share(&mut s, "uniform", Fraction::ZERO);
    let sum = Fraction(sequential.0 + hot.0 + uniform.0);
    if sum != Fraction::ONE {
        let key = ["uniform", "hot", "sequential"].into_iter().find(|k| s.has(k)).unwrap_or("uniform");
        s.refuse(
            key,
            format!(
                "sequential {sequential}, hot {hot} and uniform {uniform} add up to {sum}; the sum \
                     must be 100%"
            ),
        );
    }
    let streams = s.whole("streams", 1..=65_536).unwrap_or(4);
    let stretch = s.take::<Average>("stretch").map(|a| a.0 as u64);
    let rewrite = share(&mut s, "rewrite", Fraction::ZERO);
    let hot_space = share(&mut s, "hot_space", Fraction::ONE);
    if hot_space == Fraction::ZERO {
        s.refuse("hot_space", "the hot part is empty; it must be above 0%");
    }
    const PLACES: [(&str, HotLies); 2] = [("scattered", HotLies::Scattered), ("apart", HotLies::Apart)];
    let hot_lies = s.choice("hot_lies", &PLACES, HotLies::Scattered);
    let theta = s.take_within("theta", THETA).unwrap_or(1.0);
    let extent = s.take::<Blocks>("extent").map_or(EXTENT, |b| b.0 * LBA_BYTES);
    if !(extent / LBA_BYTES).is_multiple_of(align) {
        s.refuse("extent", "it is not a multiple of align");
    }
    let item = s.take::<Blocks>("item").map_or(item_in(extent, align), |b| b.0);
    if !item.is_multiple_of(align) {
        s.refuse("item", "it is not a multiple of align");
    }
    if item > extent / LBA_BYTES {
        s.refuse("item", "it is longer than extent");
    }
    let stable = share(&mut s, "stable", Fraction::ZERO);
    let drift = s.take_within("drift", DRIFT).unwrap_or(0.0);
    let page_aligned = share(&mut s, "page_aligned", Fraction::ZERO);
    let straddle = s.take_or("straddle", Straddle::Free);
    let overlap = if kind == Kind::Read { share(&mut s, "overlap", Fraction::ZERO) } else { Fraction::ZERO };
    let files = files(&mut s, align);
    let side = sizes.zip(footprint).map(|(sizes, footprint)| Side {
        sizes: sizes.0,
        mean,
        rest,
        modulation,
        align,
        page,
        page_aligned,
        straddle,
        begin,
        footprint,
        sequential,
        hot,
        uniform,
        streams,
        stretch,
        rewrite,
        hot_space,
        hot_lies,
        theta,
        extent,
        item,
        stable,
        drift,
        overlap,
        files,
    });
    if let Some(side) = &side
        && let Err(what) = crate::generators::twin::sizes::SizeLaw::new(side)
    {
        s.refuse(if s.has("mean") { "mean" } else { "sizes" }, what);
    }
    if let Some(side) = &side
        && let Err(what) = side.room(1)
    {
        s.refuse("footprint", what);
    }
    s.finish();
    side
}

/// Requests that continue a file. Keys of files are only allowed with `files`.
fn files(s: &mut Section, align: u64) -> Option<FileLaw> {
    const KEYS: [&str; 5] = ["files_apart", "file_sizes", "file_lengths", "file_begins", "file_near"];
    if !s.has("files") {
        if KEYS.into_iter().any(|key| s.has(key)) {
            s.missing("files", "\"96%\", the share of requests in a burst that continue a file");
        }
        KEYS.into_iter().for_each(|key| drop(s.take::<String>(key)));
        return None;
    }
    let bursts = share(s, "files", Fraction::ZERO);
    let apart = share(s, "files_apart", bursts);
    let sizes = s.take::<Slashed<(u32, f64)>>("file_sizes").map_or(vec![], |sizes| sizes.0);
    let lengths = s.require::<Counts>("file_lengths", "\"8@3/64@5/512@1\"").map(|counts| counts.0);
    let begins = s.take::<Slashed<(u32, f64)>>("file_begins").map_or(vec![(align as u32, 1.0)], |b| b.0);
    if begins.iter().any(|(unit, _)| !unit.is_power_of_two()) || begins.windows(2).any(|b| b[0].0 >= b[1].0) {
        s.refuse("file_begins", "must be ascending powers of two, such as \"4KiB@3/64KiB@1\"");
    }
    for (key, units) in [("file_sizes", &sizes), ("file_begins", &begins)] {
        if units.iter().any(|(unit, _)| !(*unit as u64).is_multiple_of(align)) {
            s.refuse(key, "one of them is not a multiple of align");
        }
    }
    let near = share(s, "file_near", Fraction::ZERO);
    Some(FileLaw { bursts, apart, sizes, lengths: lengths?, begins, near })
}

fn rest(s: &mut Section, page: u64) -> Rest {
    let size = s.take::<Blocks>("rest").map(|b| b.0 as u32);
    let large = s.has("large").then(|| share(s, "large", Fraction::ZERO));
    let most = s.take::<Blocks>("large_most").map_or(128 * page, |b| b.0);
    match (size, large) {
        (Some(_), Some(_)) => {
            s.refuse("rest", "rest and large exclude each other; set one of them");
            Rest::None
        }
        (Some(size), None) => Rest::Size(size),
        (None, Some(share)) => {
            if most < 2 * page || !most.is_multiple_of(page) {
                s.refuse("large_most", "it is not a multiple of page, of two pages or more");
            }
            Rest::Large { share, most }
        }
        (None, None) => {
            if s.has("mean") {
                s.refuse("mean", "cannot be solved: set rest = SIZE or large = SHARE");
            }
            Rest::None
        }
    }
}
