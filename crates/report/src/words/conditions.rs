//! Whether runs were compared under equal conditions; the table states the differences.

use crate::schema::report::Report;
use crate::words::names::mode_title;
use crate::words::number::{self, Quantity, Unit};
use std::collections::BTreeMap;

/// A condition, as text for every run.
pub(crate) struct Condition {
    pub name: &'static str,
    pub texts: Vec<String>,
    differs: bool,
}

impl Condition {
    /// Whether not all runs have the same.
    pub fn differs(&self) -> bool {
        self.differs
    }
}

/// The flash of two runs is the same where no mode of it differs by more than this share.
const SAME_FLASH: f64 = 0.01;

/// Whether two layouts use the same flash.
fn is_same_flash(a: &BTreeMap<String, u64>, b: &BTreeMap<String, u64>) -> bool {
    let of = |flash: &BTreeMap<String, u64>, mode: &String| flash.get(mode).copied().unwrap_or(0);
    let all = a.values().sum::<u64>().max(b.values().sum());
    let near = |mode: &String| of(a, mode).abs_diff(of(b, mode)) as f64 <= SAME_FLASH * all as f64;
    a.keys().chain(b.keys()).all(near)
}

/// Flash by mode, in one unit: `42.0 GiB TLC + 2.00 GiB SLC`.
pub(crate) fn flash(by_mode: &BTreeMap<String, u64>) -> String {
    flash_in(by_mode, unit_of(by_mode.values().copied()))
}

/// The unit for all parts of a sum, or of several that are compared.
fn unit_of(sizes: impl Iterator<Item = u64> + Clone) -> Unit {
    Quantity::Bytes.unit_for(sizes.map(|bytes| bytes as f64))
}

fn flash_in(by_mode: &BTreeMap<String, u64>, unit: Unit) -> String {
    let modes = ["qlc", "tlc", "mlc", "slc"].into_iter().filter_map(|mode| Some((mode, *by_mode.get(mode)?)));
    let each = modes.map(|(mode, bytes)| {
        // The flash size is exact (10,752 MiB), so that over-provisioning follows from it.
        let whole = bytes as f64 / unit.size;
        let size = match whole >= 1000.0 && whole.fract() == 0.0 {
            true => number::count(whole as u64),
            false => Quantity::Bytes.with_spread(bytes as f64, None, unit).0,
        };
        format!("{size}{}{} {}", number::NO_BREAK, unit.sign, mode_title(mode))
    });
    each.collect::<Vec<_>>().join(" + ")
}

/// An initial state with its rest in days, where it has whole ones: `preload+retention:30d`.
fn in_days(initial: &str) -> String {
    const DAY: u64 = 86_400;
    let days = |part: &str| {
        let seconds: u64 = part.strip_prefix("retention:")?.strip_suffix('s')?.parse().ok()?;
        (seconds > 0 && seconds.is_multiple_of(DAY)).then(|| format!("retention:{}d", seconds / DAY))
    };
    let parts = initial.split('+').map(|part| days(part).unwrap_or_else(|| part.to_string()));
    parts.collect::<Vec<_>>().join("+")
}

/// The conditions of runs that all state them; none if one does not.
pub(crate) fn conditions(reports: &[Report]) -> Vec<Condition> {
    let Some(all) = reports.iter().map(|r| r.conditions.as_ref()).collect::<Option<Vec<_>>>() else {
        return vec![];
    };
    let of = |name, text: &dyn Fn(&crate::schema::blocks::Conditions) -> String| {
        let texts: Vec<String> = all.iter().map(|c| text(c).replace(number::NO_BREAK, " ")).collect();
        Condition { name, differs: texts.windows(2).any(|w| w[0] != w[1]), texts }
    };
    let mut found = vec![
        of("capacity", &|c| number::bytes(c.capacity_bytes)),
        of("over-provisioning", &|c| format!("{:.1} %", c.over_provisioning * 100.0)),
        of("RAM", &|c| Quantity::Bytes.show(c.ram_bytes as f64)),
        of("initial state", &|c| in_days(&c.initial)),
    ];
    if all.iter().all(|c| !c.flash_bytes.is_empty()) {
        let differs = all.windows(2).any(|w| !is_same_flash(&w[0].flash_bytes, &w[1].flash_bytes));
        // One unit for all parts of all runs, so that they can be added and compared.
        let unit = unit_of(all.iter().flat_map(|c| c.flash_bytes.values().copied()));
        found.insert(1, Condition { differs, ..of("flash", &|c| flash_in(&c.flash_bytes, unit)) });
    }
    found
}

/// What the runs have in common, and the conditions in which they differ.
pub(crate) fn sentence(conditions: &[Condition], labels: &[String]) -> String {
    let runs = conditions.first().map_or(0, |c| c.texts.len());
    let alike = conditions.iter().filter(|c| !c.differs());
    let alike: Vec<String> = alike.map(|c| format!("{} {}", c.name, c.texts[0])).collect();
    let differing = conditions.iter().filter(|c| c.differs());
    let differing: Vec<String> =
        differing.map(|c| format!("{} ({})", c.name, values(&c.texts, labels))).collect();
    match (runs, differing.as_slice()) {
        (0, _) => String::new(),
        (1, _) => alike.join(", "),
        (_, []) => format!("identical for all: {}", alike.join(", ")),
        (_, names) => format!("not identical for all: {}", names.join(", ")),
    }
}

/// The values of two runs against each other, those of more with the runs that have each.
fn values(texts: &[String], labels: &[String]) -> String {
    if texts.len() <= 2 {
        return texts.join(" against ");
    }
    let mut of: Vec<(&str, Vec<&str>)> = vec![];
    for (text, label) in texts.iter().zip(labels) {
        match of.iter_mut().find(|(t, _)| *t == text) {
            Some((_, who)) => who.push(label),
            None => of.push((text, vec![label])),
        }
    }
    // The value of most of them needs no names.
    let most = of.iter().map(|(_, who)| who.len()).max().unwrap_or(0);
    let usual = of.iter().position(|(_, who)| who.len() == most && most > 1);
    let of = of.iter().enumerate().map(|(i, (text, who))| match Some(i) == usual {
        true => format!("{text} for {most} schemes"),
        false => format!("{text} for {}", who.join(", ")),
    });
    of.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_that_is_built_is_told_exactly() {
        let of = |tlc: u64, slc: u64| [("tlc".to_string(), tlc << 20), ("slc".to_string(), slc << 20)];
        assert_eq!(flash(&of(10_752, 512).into()).replace('\u{a0}', " "), "10,752 MiB TLC + 512 MiB SLC");
    }

    #[test]
    fn a_rest_of_whole_days_is_in_days() {
        assert_eq!(in_days("preload+retention:2592000s"), "preload+retention:30d");
        assert_eq!(in_days("retention:90s+fill:90%"), "retention:90s+fill:90%");
    }
}
