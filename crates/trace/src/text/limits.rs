//! Options of several workloads whose values are limited.

use crate::text::parameter::Options;
use wordline_units::{Count, Fraction, SimDuration};

/// A fraction from 0 to 1.
pub fn share(options: &mut Options, key: &str, default: Fraction) -> Fraction {
    let given = options.get::<Fraction>(key, "0% to 100%").unwrap_or(default);
    if given > Fraction::ONE {
        options.reject(key, format!("{given} is more than 100 %"), "0% to 100%", "");
    }
    given
}

/// A whole number within limits.
pub fn number(options: &mut Options, key: &str, default: u64, allowed: std::ops::RangeInclusive<u64>) -> u64 {
    let range = format!("{} to {}", allowed.start(), allowed.end());
    let given = options.get::<wordline_units::Count>(key, &range).map_or(default, |c| c.0);
    if !allowed.contains(&given) {
        options.reject(key, format!("{given} is out of range"), &range, "");
    }
    given
}

/// The number of requests after which a workload stops, if one is given: `over` that of its options.
pub fn requests(options: &mut Options, over: Option<u64>) -> Option<u64> {
    let given = over.or(options.get::<Count>("requests", "1 or more").map(|count| count.0));
    if given == Some(0) {
        options.reject("requests", "the number of requests is 0".into(), "1 or more", "");
    }
    given
}

/// The time after which a workload stops, if one is given. `example` is shown where none can be read.
pub fn duration(options: &mut Options, example: &str) -> Option<SimDuration> {
    let given = options.get::<SimDuration>("duration", example);
    if given == Some(SimDuration::ZERO) {
        options.reject("duration", "a duration of 0 s leaves no requests".into(), example, "");
    }
    given
}

/// The exponent of Zipf's law.
pub fn exponent(options: &mut Options, default: Fraction) -> Fraction {
    const ALLOWED: &str = "0 to 5";
    let given = options.get::<Fraction>("theta", ALLOWED).unwrap_or(default);
    if given.0 > 5 * Fraction::ONE.0 {
        options.reject("theta", format!("{} is out of range", given.as_f64()), ALLOWED, "");
    }
    given
}
