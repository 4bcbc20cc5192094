//! Values that no flash chip or drive has: possible, and simulated as they are, but most often a mistake.

use crate::spec::drive::DeviceSpec;
use std::fmt::Display;
use wordline_flash::{Medium, ModeTiming};
use wordline_units::{CellMode, SimDuration};

/// Values between which none is doubted, and what real parts have, with a source.
///
/// The limits lie several times outside of what is seen: a value may stand for several planes, or for a part of a
/// block on a scaled-down drive.
struct Seen {
    least: u64,
    most: u64,
    parts: &'static str,
}

const READ: Seen = Seen {
    least: 1_000,
    most: 600_000,
    parts: "3us (Samsung Z-NAND; AnandTech, 983 ZET review) to 140us (QLC; RARO, Table IV)",
};
const PROGRAM: Seen = Seen {
    least: 25_000,
    most: 30_000_000,
    parts: "100us (Samsung Z-NAND; AnandTech, 983 ZET review) to 6.55ms (a wordline of QLC; ISSCC 2021, 30.2)",
};
const ERASE: Seen = Seen {
    least: 100_000,
    most: 60_000_000,
    parts: "1.5ms (SLC; HySSD, MSST 2013) to 15ms (TLC; PA-SSD, ICS 2018)",
};
/// In P/E cycles.
const ENDURANCE: Seen =
    Seen { least: 50, most: 1_000_000, parts: "150 (early QLC) to 100000 (Toshiba SLC NAND)" };
/// Of a channel, in kB/s.
const BUS: Seen = Seen {
    least: 10_000,
    most: 20_000_000,
    parts: "50MT/s (asynchronous; Micron MT29F64G08) to 4800MT/s (JESD230G)",
};
/// Of the host link, in kB/s.
const LINK: Seen =
    Seen { least: 50_000, most: 150_000_000, parts: "150MB/s (SATA 1) to 64GB/s (PCIe 7, four lanes)" };

impl Seen {
    fn has(&self, value: u64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// One line for each implausible value: its key, the value, and what real parts have.
pub fn implausible(spec: &DeviceSpec) -> Vec<String> {
    let mut found = vec![];
    let rate = spec.host.rate;
    if !rate.is_off() {
        doubt(&mut found, "host.rate", rate, &LINK, (rate.mb_per_s() * 1e3) as u64, "host links");
    }
    for medium in &spec.media {
        of_medium(medium, &mut found);
    }
    found
}

fn doubt(found: &mut Vec<String>, key: &str, value: impl Display, seen: &Seen, number: u64, what: &str) {
    if !seen.has(number) {
        found.push(format!("{key} = {value} is implausible: {what} have {}", seen.parts));
    }
}

fn of_medium(medium: &Medium, found: &mut Vec<String>) {
    let at = format!("medium.{}", medium.name);
    if !medium.bus.is_off() {
        let number = (medium.bus.mb_per_s() * 1e3) as u64;
        doubt(found, &format!("{at}.bus.rate"), medium.bus, &BUS, number, "channels of flash chips");
    }
    let modes: Vec<(CellMode, &ModeTiming)> =
        CellMode::ALL.into_iter().filter_map(|mode| Some((mode, medium.mode(mode)?))).collect();
    for (mode, timing) in &modes {
        let at = format!("{at}.{}", mode.key());
        let bits = mode.bits() as usize;
        for (key, times, seen) in [
            ("read", &timing.read[..bits], &READ),
            ("program", &timing.program[..bits], &PROGRAM),
            ("erase", &[timing.erase][..], &ERASE),
        ] {
            if let Some(time) = times.iter().find(|time| !seen.has(time.0)) {
                doubt(found, &format!("{at}.{key}"), time, seen, time.0, "flash chips");
            }
        }
        let read = mean(&timing.read[..bits]);
        for (key, time) in [("program", mean(&timing.program[..bits])), ("erase", timing.erase)] {
            if time < read {
                found.push(format!(
                    "{at}.{key} = {time} is implausible: shorter than a read, {read}; flash chips take several \
                     times as long"
                ));
            }
        }
        let others_endure = modes.iter().any(|(_, other)| other.endurance > 0);
        if timing.endurance == 0 && others_endure {
            found.push(format!(
                "{at}.endurance = 0 means not known, so wear in {mode} mode does not count; flash chips have {}",
                ENDURANCE.parts
            ));
        } else if timing.endurance > 0 {
            let number = u64::from(timing.endurance);
            doubt(found, &format!("{at}.endurance"), number, &ENDURANCE, number, "flash chips");
        }
    }
    for pair in modes.windows(2) {
        less_dense_is_faster(&at, (pair[0].0, pair[0].1), (pair[1].0, pair[1].1), found);
    }
}

/// A mode with more bits per cell reads and programs more slowly, and endures less.
fn less_dense_is_faster(
    at: &str,
    (few, less): (CellMode, &ModeTiming),
    (many, more): (CellMode, &ModeTiming),
    found: &mut Vec<String>,
) {
    let why = |key: &str, one: &dyn Display, other: &dyn Display, is: &str| {
        format!(
            "{at}.{}.{key} = {one} is implausible: {is} {other} in {} mode, which has more bits per cell",
            few.key(),
            many
        )
    };
    let times = |mode: CellMode, t: &ModeTiming| {
        let bits = mode.bits() as usize;
        let longest = t.program[..bits].iter().max().copied().unwrap_or_default();
        [("read", mean(&t.read[..bits])), ("program", longest)]
    };
    for ((key, one), (_, other)) in times(few, less).into_iter().zip(times(many, more)) {
        if one > other {
            found.push(why(key, &one, &other, "slower than"));
        }
    }
    if more.endurance > less.endurance && less.endurance > 0 {
        found.push(why("endurance", &less.endurance, &more.endurance, "below"));
    }
}

fn mean(times: &[SimDuration]) -> SimDuration {
    SimDuration(times.iter().map(|time| time.0).sum::<u64>() / times.len().max(1) as u64)
}
