//! Parses what a job draws: kinds, order, sizes and the distribution of addresses.

use crate::generators::jobs::job::{Kinds, LONGEST, Sizes, Spread};
use crate::generators::jobs::reading::Reading;
use crate::generators::jobs::spell::{DIRECTIONS, KiloBase, by_direction, bytes, range, real, whole};
use crate::generators::jobs::values::{percentage, sector_multiple, split, zones};
use wordline_trace::did_you_mean;
use wordline_units::LBA_BYTES;

pub(crate) fn kinds(keys: &mut Reading) -> (Kinds, bool, Option<String>) {
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
    keys.get("rw", (Kinds::Only(0), false, None), &list.join(", "), |text, _| {
        let (word, behind) = text.split_once(':').map_or((text, None), |(w, b)| (w, Some(b.to_string())));
        let found = WORDS.iter().find(|w| w.0 == word).map(|w| w.1);
        let hint = did_you_mean(word, list.iter().copied());
        found.map(|(kinds, random)| (kinds, random, behind)).ok_or_else(|| {
            format!("{word:?} is not an I/O type{}{hint}", if hint.is_empty() { "" } else { "; " })
        })
    })
}

/// What follows the colon of rw.
pub(crate) fn sequence(keys: &mut Reading, random: bool, behind: Option<String>) -> (u64, i64) {
    let Some(text) = behind else { return (1, 0) };
    let (size, backwards) = text.strip_prefix('-').map_or((text.as_str(), false), |size| (size, true));
    match (random, bytes(size, keys.kilo())) {
        (true, Ok(every)) if every > 0 && !backwards => (every, 0),
        (false, Ok(gap)) if gap < 1 << 60 => (1, if backwards { -(gap as i64) } else { gap as i64 }),
        _ => {
            let allowed = if random {
                "a number of requests"
            } else {
                "a gap such as 8k, or -8k, which goes backwards"
            };
            keys.reject("rw", format!("{text:?} after the colon is not valid"), allowed);
            (1, 0)
        }
    }
}

pub(crate) fn mix(keys: &mut Reading) -> u64 {
    let of = |text: &str, _: KiloBase| whole(text).and_then(|p| percentage(p, text));
    let read = keys.get("rwmixread", 50, "0 to 100", of);
    let write = keys.get("rwmixwrite", 50, "0 to 100", of);
    let later = |a: &str, b: &str| keys.order(a) > keys.order(b);
    if later("rwmixwrite", "rwmixread") { 100 - write } else { read }
}

pub(crate) fn sizes(keys: &mut Reading) -> [Sizes; DIRECTIONS] {
    let default = std::array::from_fn(|_| Sizes::one(4096));
    // If several keys set the size, the last line takes effect.
    let last = ["bs", "bsrange", "bssplit"].into_iter().filter_map(|k| Some((keys.order(k)?, k))).max();
    let Some((_, key)) = last else { return default };
    const ALLOWED: &str = "sizes up to 1 GiB";
    let sizes: [Sizes; DIRECTIONS] = keys.get(key, default.clone(), ALLOWED, |text, kilo| {
        let size = |t: &str| {
            bytes(t, kilo).and_then(|n| match n {
                0 => Err(format!("{t:?} is not a request size")),
                1..=LONGEST => Ok(n),
                _ => Err(format!("{t:?} exceeds 1 GiB")),
            })
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
    let parts = |s: &Sizes| [s.min, s.max].into_iter().chain(s.split.iter().map(|s| s.0)).collect::<Vec<_>>();
    if sizes.iter().flat_map(parts).any(|n| !n.is_multiple_of(LBA_BYTES)) {
        let given = keys.text(key).unwrap_or_default().to_string();
        keys.remark(format!(
            "{key}={given} is not a multiple of 512 B: requests are extended to whole pages of 4 KiB, \
             as by a file system, so the drive transfers more bytes than fio counts."
        ));
    }
    sizes
}

pub(crate) fn spread(keys: &mut Reading) -> Spread {
    const ALLOWED: &str = "random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:ACCESS/SIZE:..., zoned_abs:ACCESS/BYTES:...";
    keys.get("random_distribution", Spread::Even, ALLOWED, |text, kilo| {
        let (word, rest) = text.split_once([':', '=']).unwrap_or((text, ""));
        let numbers = |default: f64| -> Result<(f64, Option<f64>), String> {
            let mut parts = rest.split(':').filter(|p| !p.is_empty());
            let first = parts.next().map_or(Ok(default), real)?;
            let centre = parts.next().map(real).transpose()?;
            if centre.is_some_and(|c| c > 1.0) {
                return Err(format!("{text:?}: the center must be a share from 0 to 1"));
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
                    return Err(format!("{deviation} exceeds 100 percent"));
                }
                Ok(Spread::Normal(deviation, centre))
            }),
            "zoned" => zones(rest, Some(100), |t| whole(t).and_then(|p| percentage(p, t))).and_then(|z| {
                for zones in &z {
                    if zones.iter().any(|z| z.1 == 0) {
                        return Err("a zone of 0 percent has no space for a request".into());
                    }
                }
                Ok(Spread::Zoned(z.map(|zones| zones.into_iter().map(|(a, s)| (a, s as u32)).collect())))
            }),
            "zoned_abs" => zones(rest, None, |t| sector_multiple(bytes(t, kilo)?)).map(Spread::ZonedAbs),
            _ => Err(format!("{word:?} is not a distribution")),
        }
    })
}
