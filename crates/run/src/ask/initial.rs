//! The state of the drive before the first request, as users spell it: parts joined by `+`.
//!
//! - `fresh`: nothing written.
//! - `preload`: every logical page that the workload touches holds data, so that a read always
//!   finds something; `preload:read-first` only those that it reads before it writes them. Where the scheme's map
//!   knows sectors: `preload:sectors` of each page only the sectors that it touches (as MQSim preconditions a drive
//!   for a trace), `preload:sectors-read-first` only those that it reads before it writes them, and
//!   `preload:sectors-of-first-read` those of the first read of a page of which nothing was written before (as
//!   MQSim without preconditioning, where such a read makes the page known).
//! - `fill:90%[,order=seq|random][,valid=80%]`: that share of the logical pages holds data, lying
//!   in order or shuffled, in blocks of which the given share is live.
//! - `steady[:90%]`: that share of the logical pages (all, if none is given) and those that the workload
//!   touches hold data, and lie as the workload leaves them in the long run.
//! - `aged_windows[:75%][,valid=70%][,own=100%]`: old data in the first windows of each block, of none up to that
//!   share of them, of which the given share is live: of the pages that the workload touches that share, in extents of
//!   16 pages, and the drive's first others. Where blocks have no windows, the same pages lie in ordinary blocks of which that share is live.
//! - `aged_invalid:70%`: that share of the home region's pages is used up and invalid, the first ones of
//!   each block; `aged_blocks:70%[,data=spread|apart]`: that share of its blocks is used up, with the data
//!   spread evenly over them and all else in them invalid, or with the data in other, free blocks.
//! - `pe:tlc=500[,slc=100]`: program/erase cycles that the blocks have behind them; `pe:qlc=334..666`: from 334
//!   to 666, every number as often as another.
//! - `retention:30d`: the data were programmed this long before, for a drive whose errors are modelled.

use std::fmt;
use std::str::FromStr;
use wordline_device::config::closest;
use wordline_ftl::{Initial, Mapped, Order};
use wordline_trace::Touched;
use wordline_units::{CellMode, Fraction, Lpn, Message, Opt, SectorMask, SimDuration};

/// Which logical pages hold data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filled {
    /// None.
    Fresh,
    /// Those that the workload reads or writes, or those, or their sectors, that it reads before it writes them.
    Preload(Touched),
    /// This share of the drive from its start, as a share.
    Share(Fraction),
    /// This share of the drive from its start, and the pages that the workload touches, as the workload leaves them in
    /// steady state.
    Steady(Fraction),
    /// As many as the old data in the first windows of each block, up to that share of a block.
    Windows(Fraction),
}

/// An initial state as it is spelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitialSpec {
    /// Which pages hold data.
    pub filled: Filled,
    /// How they lie.
    pub order: Order,
    /// Share of valid pages in the blocks that they occupy.
    pub valid: Fraction,
    /// Share of the pages touched by the workload that hold old data.
    pub own: Fraction,
    /// Share of the home region's pages that are used up and invalid.
    pub aged_invalid: Fraction,
    /// Share of the home region's blocks that are used up, with the data spread over them.
    pub aged_blocks: Fraction,
    /// Whether the data are in separate blocks.
    pub data_apart: bool,
    /// P/E cycles of the blocks of each mode.
    pub cycles: [u32; 4],
    /// Maximum number of further cycles.
    pub more_cycles: [u32; 4],
    /// Age of the data at the first request.
    pub retention: SimDuration,
}

/// Longer than any power-off time; it keeps times within 63 bits.
const LONGEST_RETENTION: SimDuration = SimDuration(100 * 366 * 86_400 * 1_000_000_000);

const PARTS: [&str; 9] =
    ["fresh", "preload", "fill", "steady", "aged_windows", "aged_invalid", "aged_blocks", "pe", "retention"];
const ALLOWED: &str = "fresh, preload[:read-first|sectors|sectors-read-first|sectors-of-first-read], fill:SHARE[,order=seq|random][,valid=SHARE], steady[:SHARE], \
     aged_windows[:SHARE[,valid=SHARE][,own=SHARE]], aged_invalid:SHARE, aged_blocks:SHARE[,data=spread|apart], pe:MODE=CYCLES, retention:TIME, joined by +";

impl FromStr for InitialSpec {
    type Err = Message;

    fn from_str(text: &str) -> Result<InitialSpec, Message> {
        let mut spec = Reading(InitialSpec {
            filled: Filled::Fresh,
            order: Order::Random,
            valid: Fraction::ONE,
            own: Fraction::ONE,
            aged_invalid: Fraction::ZERO,
            aged_blocks: Fraction::ZERO,
            data_apart: false,
            cycles: [0; 4],
            more_cycles: [0; 4],
            retention: SimDuration::ZERO,
        });
        let mut seen: Vec<&str> = vec![];
        for part in text.split('+').map(str::trim) {
            let (name, rest) = part.split_once(':').unwrap_or((part, ""));
            let wrong = |what: String| Opt::Initial.of(text) + format!(": {what}\n  allowed: {ALLOWED}");
            let group = match name {
                "fresh" | "preload" | "fill" | "steady" | "aged_windows" => {
                    "one of fresh, preload, fill, steady and aged_windows"
                }
                "aged_invalid" | "aged_blocks" => "aged_invalid or aged_blocks",
                name => name,
            };
            if seen.contains(&group) {
                return Err(wrong(format!("{group} appears twice")));
            }
            seen.push(group);
            spec.take(name, rest).map_err(wrong)?;
        }
        let Reading(spec) = spec;
        let aged = spec.aged_invalid > Fraction::ZERO || spec.aged_blocks > Fraction::ZERO;
        if aged && matches!(spec.filled, Filled::Steady(_) | Filled::Windows(_)) {
            let name = if matches!(spec.filled, Filled::Steady(_)) { "steady" } else { "aged_windows" };
            let what = "defines the contents of every block; omit aged_invalid and aged_blocks";
            return Err(Opt::Initial.of(text) + format!(": {name} {what}\n  allowed: {ALLOWED}"));
        }
        Ok(spec)
    }
}

impl InitialSpec {
    /// The state in which these pages hold data, some of them only in some sectors.
    pub fn holding(&self, mapped: Mapped, lacking: Vec<(Lpn, SectorMask)>) -> Initial {
        Initial {
            mapped,
            lacking,
            order: self.order,
            valid: self.valid,
            aged_invalid: self.aged_invalid,
            aged_blocks: self.aged_blocks,
            data_apart: self.data_apart,
            aged_windows: match self.filled {
                Filled::Windows(share) => share,
                _ => Fraction::ZERO,
            },
            cycles: self.cycles,
            more_cycles: self.more_cycles,
            retention: self.retention,
        }
    }

    /// The modes of worn blocks, with their cycles as spelled.
    pub(crate) fn worn(&self) -> impl Iterator<Item = (CellMode, String)> {
        CellMode::ALL.into_iter().filter_map(|mode| {
            let (least, more) = (self.cycles[mode.index()], self.more_cycles[mode.index()]);
            let spelt = if more == 0 { least.to_string() } else { format!("{least}..{}", least + more) };
            (least + more > 0).then_some((mode, spelt))
        })
    }
}

/// A state as far as its spelling was read.
struct Reading(InitialSpec);

impl Reading {
    fn take(&mut self, name: &str, rest: &str) -> Result<(), String> {
        match name {
            "fresh" if !rest.is_empty() => return Err("fresh takes no value".into()),
            "fresh" => self.0.filled = Filled::Fresh,
            "preload" => {
                self.0.filled = Filled::Preload(match rest {
                    "" => Touched::AtAll,
                    "read-first" => Touched::ReadFirst,
                    "sectors" => Touched::Sectors,
                    "sectors-read-first" => Touched::SectorsReadFirst,
                    "sectors-of-first-read" => Touched::SectorsOfFirstRead,
                    other => {
                        return Err(format!(
                            "preload: {other:?} is not read-first, sectors, sectors-read-first or sectors-of-first-read"
                        ));
                    }
                });
            }
            "fill" => self.fill(rest)?,
            "steady" if rest.is_empty() => self.0.filled = Filled::Steady(Fraction::ONE),
            "steady" => self.0.filled = Filled::Steady(share(rest)?),
            "aged_windows" => self.windows(rest)?,
            "aged_invalid" => self.0.aged_invalid = share(rest)?,
            "aged_blocks" => self.blocks(rest)?,
            "pe" => self.cycles(rest)?,
            "retention" => self.0.retention = retention(rest)?,
            other => {
                let hint = closest(other, PARTS).map_or(String::new(), |c| format!("; did you mean {c:?}?"));
                return Err(format!("{other:?} is not an initial state{hint}"));
            }
        }
        Ok(())
    }

    fn fill(&mut self, rest: &str) -> Result<(), String> {
        let mut parts = rest.split(',').map(str::trim);
        self.0.filled = Filled::Share(share(parts.next().unwrap_or_default())?);
        for part in parts {
            match part.split_once('=') {
                Some(("order", "seq")) => self.0.order = Order::Sequential,
                Some(("order", "random")) => self.0.order = Order::Random,
                Some(("order", other)) => return Err(format!("order: {other:?} is not seq or random")),
                Some(("valid", text)) => self.0.valid = valid(text)?,
                _ => return Err(format!("{part:?} is not order=seq|random or valid=SHARE")),
            }
        }
        Ok(())
    }

    fn windows(&mut self, rest: &str) -> Result<(), String> {
        // ASSUMED: In-place Switch (section V-C) has victims to collect, and says nothing of their number.
        let (mut most, mut live, mut own) = (None, None, None);
        for part in rest.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            match part.split_once('=') {
                Some(("valid", text)) if live.is_none() => live = Some(valid(text)?),
                Some(("own", text)) if own.is_none() => own = Some(share(text)?),
                None if most.is_none() => most = Some(share(part)?),
                _ => return Err(format!("{part:?} is not SHARE, valid=SHARE or own=SHARE, once")),
            }
        }
        self.0.filled = Filled::Windows(most.unwrap_or(Fraction::percent(75)));
        self.0.valid = live.unwrap_or(Fraction::percent(70));
        self.0.own = own.unwrap_or(Fraction::ONE);
        Ok(())
    }

    fn blocks(&mut self, rest: &str) -> Result<(), String> {
        let (part, data) = rest.split_once(',').unwrap_or((rest, "data=spread"));
        self.0.aged_blocks = share(part.trim())?;
        self.0.data_apart = match data.trim().strip_prefix("data=") {
            Some("spread") => false,
            Some("apart") => true,
            _ => return Err(format!("{:?} is not data=spread or data=apart", data.trim())),
        };
        Ok(())
    }

    fn cycles(&mut self, rest: &str) -> Result<(), String> {
        for part in rest.split(',').map(str::trim) {
            let (mode, count) =
                part.split_once('=').ok_or(format!("{part:?} is not MODE=CYCLES, as in tlc=500"))?;
            let mode = CellMode::ALL
                .into_iter()
                .find(|m| m.key() == mode)
                .ok_or(format!("{mode:?} is not slc, mlc, tlc or qlc"))?;
            let whole = |text: &str| -> Result<u32, String> {
                text.trim().parse().map_err(|_| format!("{text:?} is not a whole number of cycles"))
            };
            let (least, most) = count.split_once("..").unwrap_or((count, count));
            let (least, most) = (whole(least)?, whole(most)?);
            self.0.cycles[mode.index()] = least;
            self.0.more_cycles[mode.index()] =
                most.checked_sub(least).ok_or(format!("{count:?} is not an ascending range of cycles"))?;
        }
        Ok(())
    }
}

fn retention(text: &str) -> Result<SimDuration, String> {
    let time: SimDuration = text.parse().map_err(|e| format!("retention: {e}"))?;
    if time > LONGEST_RETENTION { Err(format!("retention: {text} is more than 100 years")) } else { Ok(time) }
}

fn valid(text: &str) -> Result<Fraction, String> {
    let valid = share(text)?;
    if valid == Fraction::ZERO {
        Err("valid: a share of 0 leaves no space for data".into())
    } else {
        Ok(valid)
    }
}

fn share(text: &str) -> Result<Fraction, String> {
    let share: Fraction = text.parse().map_err(|e| format!("{e}"))?;
    if share > Fraction::ONE {
        return Err(format!("{share} is more than 100%"));
    }
    Ok(share)
}

impl fmt::Display for InitialSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.filled {
            Filled::Fresh => f.write_str("fresh")?,
            Filled::Preload(Touched::AtAll) => f.write_str("preload")?,
            Filled::Preload(Touched::ReadFirst) => f.write_str("preload:read-first")?,
            Filled::Preload(Touched::Sectors) => f.write_str("preload:sectors")?,
            Filled::Preload(Touched::SectorsReadFirst) => f.write_str("preload:sectors-read-first")?,
            Filled::Preload(Touched::SectorsOfFirstRead) => f.write_str("preload:sectors-of-first-read")?,
            Filled::Steady(Fraction::ONE) => f.write_str("steady")?,
            Filled::Steady(share) => write!(f, "steady:{share}")?,
            Filled::Windows(share) => {
                write!(f, "aged_windows:{share},valid={}", self.valid)?;
                if self.own < Fraction::ONE {
                    write!(f, ",own={}", self.own)?;
                }
            }
            Filled::Share(share) => {
                let order = if self.order == Order::Sequential { "seq" } else { "random" };
                write!(f, "fill:{share},order={order},valid={}", self.valid)?;
            }
        }
        if self.aged_invalid > Fraction::ZERO {
            write!(f, "+aged_invalid:{}", self.aged_invalid)?;
        }
        if self.aged_blocks > Fraction::ZERO {
            write!(f, "+aged_blocks:{}", self.aged_blocks)?;
            f.write_str(if self.data_apart { ",data=apart" } else { "" })?;
        }
        let worn: Vec<String> =
            self.worn().map(|(mode, cycles)| format!("{}={cycles}", mode.key())).collect();
        if !worn.is_empty() {
            write!(f, "+pe:{}", worn.join(","))?;
        }
        if self.retention > SimDuration::ZERO {
            write!(f, "+retention:{}", self.retention)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_written_as_it_is_read() {
        for text in [
            "fresh",
            "preload",
            "fill:90%,order=seq,valid=80%",
            "fill:100%,order=random,valid=100%+aged_invalid:70%+pe:slc=3,tlc=500",
            "preload+pe:qlc=1",
            "steady",
            "steady:80%+pe:tlc=100",
            "preload:read-first+aged_blocks:70%",
            "preload:read-first+aged_blocks:70%,data=apart",
            "preload:sectors-read-first+pe:slc=1",
            "preload:sectors+aged_invalid:10%",
            "preload:sectors-of-first-read",
            "aged_windows:50%,valid=90%+pe:slc=1",
            "aged_windows:75%,valid=70%,own=50%",
            "aged_windows:75%,valid=70%,own=0%",
            "preload+pe:qlc=167+retention:2592000s",
            "preload+pe:slc=7,qlc=0..333",
        ] {
            let spec: InitialSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!("aged_windows".parse::<InitialSpec>().unwrap().to_string(), "aged_windows:75%,valid=70%");
        assert_eq!(
            "fill:0.5".parse::<InitialSpec>().unwrap().to_string(),
            "fill:50%,order=random,valid=100%"
        );
    }

    #[test]
    fn a_wrong_state_is_met_with_what_is_allowed() {
        for (text, says) in [
            ("prelaod", "did you mean \"preload\"?"),
            ("fill", "fraction"),
            ("fill:120%", "is more than 100%"),
            ("fill:90", "90 without % means 90 times the whole; write 90% for 90 percent"),
            ("fill:90%,order=up", "seq or random"),
            ("fill:90%,valid=0%", "leaves no space for data"),
            ("fresh+preload", "twice"),
            ("steady+fill:90%", "twice"),
            ("steady+aged_invalid:70%", "every block"),
            ("aged_windows+aged_blocks:70%", "every block"),
            ("aged_windows:50%,60%", "once"),
            ("aged_windows:valid=0%", "leaves no space for data"),
            ("aged_windows:own=120%", "is more than 100%"),
            ("aged_windows:own=1%,own=2%", "once"),
            ("steady:x", "fraction"),
            ("preload:writes", "read-first"),
            ("aged_blocks:70%+aged_invalid:70%", "twice"),
            ("aged_blocks:70%,data=away", "data=spread or data=apart"),
            ("pe:tlc=x", "whole number"),
            ("pe:tlc=5..x", "whole number"),
            ("pe:tlc=5..4", "is not an ascending range of cycles"),
            ("pe:plc=1", "slc, mlc, tlc or qlc"),
            ("retention:101y", "retention"),
            ("retention:40000d", "100 years"),
            ("", "is not an initial state"),
        ] {
            let e = text.parse::<InitialSpec>().unwrap_err().to_string();
            assert!(e.contains(says) && e.contains("allowed"), "{text}: {e}");
        }
    }
}
