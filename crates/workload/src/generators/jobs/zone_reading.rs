//! Parses the zones of a job, strided or written in order.

use crate::generators::jobs::job::{Kinds, Sizes};
use crate::generators::jobs::policy::{Stride, ZoneReset, ZoneRule};
use crate::generators::jobs::reading::Reading;
use crate::generators::jobs::spell::{Amount, KiloBase, amount, bytes, real, whole};
use wordline_units::LBA_BYTES;

/// Maximum number of open zones, as in fio.
const MOST_OPEN: u64 = 4096;

/// All keys of zones that are written in order.
const ZONE_KEYS: [&str; 9] = [
    "zonemode",
    "zonesize",
    "zonecapacity",
    "zoneskip",
    "read_beyond_wp",
    "max_open_zones",
    "job_max_open_zones",
    "zone_reset_threshold",
    "zone_reset_frequency",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    None,
    Strided,
    InOrder,
}

const MODES: [(&str, Mode); 3] = [("none", Mode::None), ("strided", Mode::Strided), ("zbd", Mode::InOrder)];

fn zone_mode(keys: &mut Reading) -> (Mode, u64) {
    let size = keys.get("zonesize", 0, "a size", bytes);
    let default = if size > 0 { Mode::Strided } else { Mode::None };
    (keys.word("zonemode", &MODES, default), size)
}

/// A size, a percentage, or a number of zones.
pub(crate) fn zoned_amount(keys: &mut Reading, key: &'static str, allowed: &str) -> Option<Amount> {
    let zone = zone_mode(keys).1;
    keys.get(key, None, allowed, |text, kilo| in_zones(text, kilo, zone).map(Some))
}

fn skip(keys: &mut Reading, zone: u64) -> u64 {
    keys.get("zoneskip", 0, "a size, or zones such as 2z", |text, kilo| match in_zones(text, kilo, zone)? {
        Amount::Bytes(n) => Ok(n),
        Amount::Percent(_) => Err(format!("{text:?} is not a size")),
    })
}

pub(crate) fn stride(keys: &mut Reading) -> Option<Stride> {
    let (mode, size) = zone_mode(keys);
    if mode == Mode::InOrder {
        return None;
    }
    let (range, skip) = (keys.get("zonerange", 0, "a size", bytes), skip(keys, size));
    match (mode, size) {
        (Mode::Strided, 0) => {
            keys.reject("zonemode", "strided needs zonesize".into(), "also set zonesize=SIZE");
            None
        }
        (Mode::None, 1..) => {
            keys.reject("zonesize", "zonemode=none has no zones".into(), "zonemode=strided, or no zonesize");
            None
        }
        (Mode::Strided, _) => Some(Stride { size, range: if range == 0 { size } else { range }, skip }),
        _ => None,
    }
}

/// Zones written in order, which fio emulates on a drive without zones.
pub(crate) fn zones(keys: &mut Reading, kinds: Kinds, sizes: &[Sizes]) -> Option<ZoneRule> {
    let (mode, size) = zone_mode(keys);
    let beyond = keys.flag("read_beyond_wp", false);
    let open = |keys: &mut Reading, key| keys.number(key, 0, 0..=MOST_OPEN) as usize;
    let (most_open, most_open_of_job) = (open(keys, "max_open_zones"), open(keys, "job_max_open_zones"));
    let capacity = keys.get("zonecapacity", 0, "a size", bytes);
    let share = |text: &str, _: KiloBase| match real(text)? {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("{text:?} is not from 0 to 1")),
    };
    let threshold = keys.get("zone_reset_threshold", 0.0, "a share from 0 to 1", share);
    let often = keys.get("zone_reset_frequency", 0.0, "a share of writes from 0 to 1", share);
    if mode != Mode::InOrder {
        return None;
    }
    let reset =
        (often > 0.0).then(|| ZoneReset { threshold, every: (1.0 / often).min(f64::from(u32::MAX)) as u64 });
    if kinds == Kinds::Only(0) && !beyond {
        keys.remark(
            "zonemode=zbd: reads stay below the write pointers, and all zones begin empty, as in fio on a \
             device without zones; read_beyond_wp=1 reads what the drive holds."
                .into(),
        );
    }
    let capacity = if capacity == 0 { size } else { capacity };
    let skip = skip(keys, size);
    let rule = ZoneRule { size, capacity, skip, reads_beyond: beyond, most_open, most_open_of_job, reset };
    check_zones(keys, &rule, kinds, sizes).then_some(rule)
}

/// Whether fio accepts such zones on a drive without zones.
fn check_zones(keys: &mut Reading, rule: &ZoneRule, kinds: Kinds, sizes: &[Sizes]) -> bool {
    let before = keys.problem_count();
    if rule.size == 0 {
        let what = "zbd on a drive without zones needs zonesize=, as in fio".to_string();
        keys.reject("zonemode", what, "also set zonesize=SIZE, such as zonesize=256m after the file name");
        return false;
    }
    if kinds.uses(2) {
        let given: Vec<&str> = ZONE_KEYS.into_iter().filter(|k| keys.has(k)).collect();
        let what = "a trim with zbd resets a zone, which is no operation on a drive without zones".into();
        let allowed =
            format!("disable zones to trim the drive, after the file name: ignore={}", given.join("+"));
        keys.reject("zonemode", what, &allowed);
    }
    if !rule.size.is_multiple_of(LBA_BYTES) {
        keys.reject("zonesize", format!("{} is not a multiple of 512 B", rule.size), "whole sectors");
    }
    if rule.capacity > rule.size || !rule.capacity.is_multiple_of(LBA_BYTES) {
        keys.reject(
            "zonecapacity",
            format!("{} B in a zone of {} B", rule.capacity, rule.size),
            "whole sectors, at most zonesize",
        );
    }
    if !rule.skip.is_multiple_of(rule.size) {
        keys.reject(
            "zoneskip",
            format!("{} is not a multiple of zonesize", rule.skip),
            "whole zones, such as 2z",
        );
    }
    if rule.most_open_of_job > 0 && rule.most_open == 0 {
        keys.reject(
            "job_max_open_zones",
            "requires max_open_zones, as in fio".into(),
            "also set max_open_zones=N",
        );
    }
    let used = || (0..sizes.len()).filter(|d| kinds.uses(*d)).map(|d| &sizes[d]);
    let largest = if kinds.uses(1) { sizes[1].max } else { 0 };
    if largest > rule.capacity {
        let what = format!("requests of {largest} B in a zone of {} B", rule.capacity);
        keys.reject("zonesize", what, "zonesize and zonecapacity of at least one request");
    }
    if used()
        .any(|s| !s.min.is_multiple_of(LBA_BYTES) || s.split.iter().any(|p| !p.0.is_multiple_of(LBA_BYTES)))
    {
        keys.reject(
            "zonemode",
            "zbd needs requests of whole sectors of 512 B, as in fio".into(),
            "bs= in whole sectors",
        );
    }
    let verifies = keys.text("verify").is_some_and(|v| !["0", "none"].contains(&v));
    if verifies && used().any(|s| !rule.size.is_multiple_of(s.min)) {
        keys.reject("zonesize", "verify needs zones of whole requests, as in fio".into(), "a multiple of bs");
    }
    if keys.text("sg_write_mode").is_some_and(|m| m.starts_with("verify_bytchk")) {
        keys.reject(
            "sg_write_mode",
            "a VERIFY does not advance the write pointer of zonemode=zbd".into(),
            "one of the two",
        );
    }
    if keys.flag("verify_only", false) {
        keys.reject("verify_only", "zonemode=zbd reads back its own writes".into(), "one of the two");
    }
    keys.problem_count() == before
}

/// Parse `10z` as this many zones.
fn in_zones(text: &str, kilo: KiloBase, zone: u64) -> Result<Amount, String> {
    let Some(count) = text.strip_suffix(['z', 'Z']) else { return amount(text, kilo) };
    if zone == 0 {
        return Err(format!("{text:?} is a number of zones, but zonesize= is missing"));
    }
    let all = whole(count)?.checked_mul(zone);
    all.map(Amount::Bytes).ok_or_else(|| format!("{text:?} exceeds 2^64"))
}
