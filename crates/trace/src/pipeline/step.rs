//! Operations on the requests of a trace: cut, scale, loop, shift, sample.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::pipeline::flow::{Flow, Records};
use crate::random::RandomStream;
use crate::reading::record::{HIGHEST_ADDRESS, Record};
use crate::requests::pace::Ratio;
use crate::text::numbers::grouped;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use wordline_hash::splitmix;
use wordline_units::{Bytes, HostOp, LBA_BYTES, SimDuration};

/// Unit of address scaling in bytes.
pub(crate) const EXTENT: u64 = 1 << 20;
/// Unit of page sampling in bytes.
const PAGE: u64 = 4096;

/// An operation on the requests.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Keeps requests within all three limits.
    Cut {
        /// Time since the first request.
        time: TimeRange,
        /// Numbers of requests, counted in the volume if one is named.
        requests: NumberRange,
        /// A volume's name.
        volume: Option<String>,
    },
    /// Scales the times since the first request, and the addresses. Extents of 1 MiB move as a whole, to
    /// their number times the factor, rounded down. Contiguous data within an extent stay contiguous; with a
    /// factor of 0.5, two neighboring extents overlap.
    Scale {
        /// Factor of times.
        time: Scale,
        /// Factor of addresses.
        footprint: Scale,
    },
    /// The trace repeated this many times.
    Loop {
        /// Number of repetitions.
        times: u32,
        /// Time from the last request of a round to the first of the next. By default the mean time between
        /// requests.
        gap: Option<SimDuration>,
    },
    /// Moves requests to later times and higher addresses.
    Shift {
        /// Added to all times.
        time: SimDuration,
        /// Added to all addresses; a multiple of 512 bytes.
        offset: Bytes,
    },
    /// Keeps each request with a probability, independently.
    SampleRequests {
        /// The probability.
        share: Share,
        /// Seed of the random stream.
        seed: u64,
    },
    /// Keeps the requests to a random set of 4 KiB pages, chosen by a hash of volume and page, as in SHARDS
    /// (Waldspurger et al., FAST 2015). Of a request that is partly in the set, these parts are kept, with
    /// adjoining pages as one request. A FLUSH is always kept.
    SamplePages {
        /// The share of all pages.
        share: Share,
        /// Seed of the hash.
        seed: u64,
    },
}

/// A range of times; the end is excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimeRange {
    /// The first time within the range.
    pub from: SimDuration,
    /// The first time after the range.
    pub to: Option<SimDuration>,
}

/// Numbers from 0: `1000..2000`, `1000..`, `..2000`; the end is excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NumberRange {
    from: u64,
    to: Option<u64>,
}

impl FromStr for NumberRange {
    type Err = String;
    fn from_str(text: &str) -> Result<NumberRange, String> {
        let fail = || format!("{text:?} is not a range such as \"1000..2000\", \"1000..\" or \"..2000\"");
        let (from, to) = text.split_once("..").ok_or_else(fail)?;
        let number = |t: &str| t.parse::<wordline_units::Count>().map(|c| c.0).map_err(|_| fail());
        let range = NumberRange {
            from: if from.is_empty() { 0 } else { number(from)? },
            to: if to.is_empty() { None } else { Some(number(to)?) },
        };
        if range.to.is_some_and(|to| to <= range.from) {
            return Err(format!("{text:?} is an empty range; numbers start at 0"));
        }
        Ok(range)
    }
}

/// A factor above 0, exact: `2`, `0.5`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale(Ratio);

impl Scale {
    /// The factor 1.
    pub const ONE: Scale = Scale(Ratio::ONE);
}

impl FromStr for Scale {
    type Err = String;
    fn from_str(text: &str) -> Result<Scale, String> {
        text.parse().map(Scale)
    }
}

/// A share above 0 and up to 1: `10%`, `0.1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Threshold among 2^64 equally likely numbers.
    last: u64,
}

impl Share {
    fn takes(self, bits: u64) -> bool {
        bits <= self.last
    }
}

impl FromStr for Share {
    type Err = String;
    fn from_str(text: &str) -> Result<Share, String> {
        let fail = || format!("{text:?} is not a share above 0 and up to 1, such as \"10%\" or \"0.1\"");
        let (number, parts) = text.strip_suffix('%').map_or((text, 1), |number| (number, 100));
        let ratio: Ratio = number.trim().parse().map_err(|_| fail())?;
        let (share, whole) = (ratio.numerator as u128, ratio.denominator as u128 * parts);
        let numbers = (share << 64) / whole;
        if share > whole || numbers == 0 {
            return Err(fail());
        }
        Ok(Share { last: (numbers - 1) as u64 })
    }
}

impl Step {
    /// The requests of `input` after this operation.
    pub(crate) fn after(self, input: Box<dyn Flow>) -> Box<dyn Flow> {
        Box::new(Stepped { input: Arc::from(input), step: self })
    }
}

struct Stepped {
    input: Arc<dyn Flow>,
    step: Step,
}

impl Flow for Stepped {
    fn label(&self) -> &str {
        self.input.label()
    }

    fn volumes(&self) -> &[String] {
        self.input.volumes()
    }

    fn open(&self) -> Result<Records, WorkloadError> {
        let label = self.input.label().to_string();
        match &self.step {
            Step::Cut { time, requests, volume } => self.cut(*time, *requests, volume.as_deref()),
            Step::Scale { time, footprint } => Ok(scaled(self.input.open()?, label, *time, *footprint)),
            Step::Loop { times, gap } => self.looped(*times, *gap),
            Step::Shift { time, offset } => {
                let (time, offset) = (time.0, offset.0);
                Ok(Box::new(self.input.open()?.map(move |record| {
                    let r = record?;
                    let late = r.time.checked_add(time);
                    placed(
                        r,
                        late,
                        if r.op == HostOp::Flush { Some(0) } else { r.offset.checked_add(offset) },
                    )
                    .map_err(|what| beyond(&label, what))
                })))
            }
            Step::SampleRequests { share, seed } => {
                let (share, mut random) = (*share, RandomStream::new(*seed, "trace sample"));
                let chosen = move |r: &Result<Record, _>| r.is_err() || share.takes(random.bits());
                Ok(Box::new(self.input.open()?.filter(chosen)))
            }
            Step::SamplePages { share, seed } => {
                let (share, seed) = (*share, *seed);
                Ok(Box::new(self.input.open()?.flat_map(move |record| match record {
                    Ok(r) if r.op != HostOp::Flush => Kept::Parts(Parts { rest: Some(r), share, seed }),
                    whole => Kept::Whole(Some(whole)),
                })))
            }
        }
    }
}

/// The kept part of a request.
enum Kept {
    /// Errors and FLUSHes pass unchanged.
    Whole(Option<Result<Record, WorkloadError>>),
    Parts(Parts),
}

impl Iterator for Kept {
    type Item = Result<Record, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Kept::Whole(whole) => whole.take(),
            Kept::Parts(parts) => parts.next().map(Ok),
        }
    }
}

/// The parts of a request in sampled pages.
struct Parts {
    rest: Option<Record>,
    share: Share,
    seed: u64,
}

impl Parts {
    fn is_in(&self, volume: u16, page: u64) -> bool {
        self.share.takes(splitmix(splitmix(self.seed ^ (volume as u64) << 48).wrapping_add(page)))
    }
}

impl Iterator for Parts {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let r = self.rest?;
        let past = r.offset + r.bytes;
        let mut pages = r.offset / PAGE..past.div_ceil(PAGE);
        let first = pages.find(|page| self.is_in(r.volume, *page));
        let Some(first) = first else {
            self.rest = None;
            return None;
        };
        let end = pages.find(|page| !self.is_in(r.volume, *page)).map_or(past, |page| page * PAGE);
        let start = r.offset.max(first * PAGE);
        self.rest = (end < past).then(|| Record { offset: end, bytes: past - end, ..r });
        Some(Record { offset: start, bytes: end - start, ..r })
    }
}

/// The request at another time and address, or which of them exceeds its limit.
fn placed(r: Record, time: Option<u64>, offset: Option<u64>) -> Result<Record, &'static str> {
    let time = time.ok_or("a time is beyond 2^64 ns")?;
    let offset =
        offset.filter(|at| *at <= HIGHEST_ADDRESS - r.bytes).ok_or("an address is beyond 2^62 bytes")?;
    Ok(Record { time, offset, ..r })
}

fn beyond(label: &str, what: &str) -> WorkloadError {
    Problem::new(ErrorKind::Option, label, what)
        .allowed("a smaller factor, offset or number of repetitions")
        .into()
}

fn scaled(input: Records, label: String, time: Scale, footprint: Scale) -> Records {
    let mut first = None;
    Box::new(input.map(move |record| {
        let r = record?;
        let start = *first.get_or_insert(r.time);
        let late = time.0.multiply(r.time - start).and_then(|t| t.checked_add(start));
        let extent = footprint.0.multiply(r.offset / EXTENT).and_then(|e| e.checked_mul(EXTENT));
        let offset = extent.map(|e| e + r.offset % EXTENT);
        placed(r, late, offset).map_err(|what| beyond(&label, what))
    }))
}

impl Stepped {
    fn cut(
        &self,
        time: TimeRange,
        requests: NumberRange,
        volume: Option<&str>,
    ) -> Result<Records, WorkloadError> {
        let number = match volume {
            None => None,
            Some(wanted) => {
                let labels = self.input.volumes();
                let at = labels.iter().position(|l| l == wanted).ok_or_else(|| {
                    let known = labels.iter().take(40).map(String::as_str);
                    let hint = crate::error::did_you_mean(wanted, labels.iter().map(String::as_str));
                    Problem::new(
                        ErrorKind::Option,
                        format!("--volume {wanted}"),
                        format!("unknown volume {wanted:?}"),
                    )
                    .allowed(known.collect::<Vec<_>>().join(", "))
                    .hint(hint)
                })?;
                Some(at as u16)
            }
        };
        let mut first = None;
        let on_volume = move |r: &Record| number.is_none_or(|n| n == r.volume);
        // Numbers count the requests of the volume; times count from the first request of all.
        let mut count = 0u64;
        let kept = self.input.open()?.map_while(move |record| {
            let r = match record {
                Ok(r) => r,
                Err(e) => return Some(Some(Err(e))),
            };
            let since = r.time - *first.get_or_insert(r.time);
            if time.to.is_some_and(|to| since >= to.0) || requests.to.is_some_and(|to| count >= to) {
                return None;
            }
            if !on_volume(&r) {
                return Some(None);
            }
            count += 1;
            let is_in = since >= time.from.0 && count > requests.from;
            Some(is_in.then_some(Ok(r)))
        });
        Ok(Box::new(kept.flatten()))
    }

    fn looped(&self, times: u32, gap: Option<SimDuration>) -> Result<Records, WorkloadError> {
        let (input, mut left) = (Arc::clone(&self.input), times);
        let mut records = input.open()?;
        let label = self.input.label().to_string();
        let mut span: Option<Range<u64>> = None;
        let (mut count, mut later, mut is_first_round, mut failed) = (0u64, 0u64, true, false);
        Ok(Box::new(std::iter::from_fn(move || {
            while !failed {
                match records.next() {
                    Some(Ok(r)) => {
                        if is_first_round {
                            count += 1;
                            span = Some(span.as_ref().map_or(r.time, |s| s.start)..r.time);
                        }
                        let moved = placed(r, r.time.checked_add(later), Some(r.offset));
                        failed = moved.is_err();
                        return Some(moved.map_err(|what| beyond(&label, what)));
                    }
                    Some(Err(e)) => {
                        failed = true;
                        return Some(Err(e));
                    }
                    None => {
                        is_first_round = false;
                        left = left.saturating_sub(1);
                        if left == 0 {
                            return None;
                        }
                        records = match input.open() {
                            Ok(records) => records,
                            Err(e) => {
                                failed = true;
                                return Some(Err(e));
                            }
                        };
                        let span = span.clone().unwrap_or(0..0);
                        let length = span.end - span.start;
                        let mean = length / (count.max(2) - 1);
                        let step = length.checked_add(gap.map_or(mean, |g| g.0));
                        match step.and_then(|step| later.checked_add(step)) {
                            Some(t) => later = t,
                            None => {
                                failed = true;
                                return Some(Err(beyond(&label, "a time is beyond 2^64 ns")));
                            }
                        }
                    }
                }
            }
            None
        })))
    }
}

impl Step {
    /// Check that the operation is possible.
    ///
    /// # Errors
    ///
    /// A cut that is always empty, a loop of 0 rounds, an offset that is not a multiple of 512 bytes.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let refuse = |place: &str, what: String, allowed: &str| {
            Err(Problem::new(ErrorKind::Option, place, what).allowed(allowed).into())
        };
        match self {
            Step::Cut { time: TimeRange { from, to: Some(to) }, .. } if to <= from => {
                refuse("--until", format!("{to} is not after {from}"), "a time after --from")
            }
            Step::Loop { times: 0, .. } => {
                refuse("--times", "the number of repetitions is 0".into(), "1 or more")
            }
            Step::Shift { offset, .. } if !offset.0.is_multiple_of(LBA_BYTES) => {
                let what = format!("{} bytes is not a multiple of 512", grouped(offset.0));
                refuse("--offset", what, "a multiple of 512 B, such as 1GiB")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_numbers_has_something_in_it() {
        assert_eq!("10..20".parse(), Ok(NumberRange { from: 10, to: Some(20) }));
        assert_eq!("..1M".parse(), Ok(NumberRange { from: 0, to: Some(1_000_000) }));
        assert_eq!("5..".parse(), Ok(NumberRange { from: 5, to: None }));
        for bad in ["", "5", "5..5", "7..5", "a..b", "..0"] {
            assert!(bad.parse::<NumberRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_share_is_above_nothing_and_at_most_all() {
        assert_eq!("100%".parse(), Ok(Share { last: u64::MAX }));
        assert_eq!("1".parse(), "100%".parse::<Share>());
        assert_eq!("50%".parse(), Ok(Share { last: (1 << 63) - 1 }));
        assert_eq!("0.5".parse(), "50%".parse::<Share>());
        for bad in ["0", "0%", "101%", "1.1", "-1%", "x", ""] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
    }
}
