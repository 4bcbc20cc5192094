//! The table `[errors]` of a device file: a built-in error model, and changes to it.

use std::fmt::{Display, Write};
use std::ops::RangeInclusive;
use wordline_config::{Section, closest};
use wordline_flash::{Beyond, ErrorModel, MAX_BITS, MOST_RETRIES, ModeErrors, Rber, Refresh};
use wordline_units::{Bytes, CellMode, SimDuration};

const BEYOND: [(&str, Beyond); 2] = [("clamp", Beyond::Clamp), ("uncorrectable", Beyond::Uncorrectable)];
const SECOND: SimDuration = SimDuration(1_000_000_000);

/// The coefficients by name, in the order in which they are in the formula.
type Coefficient = (&'static str, fn(&mut Rber) -> &mut f64);
const COEFFICIENTS: [Coefficient; 9] = [
    ("epsilon", |r| &mut r.epsilon),
    ("alpha", |r| &mut r.alpha),
    ("k", |r| &mut r.k),
    ("beta", |r| &mut r.beta),
    ("m", |r| &mut r.m),
    ("n", |r| &mut r.n),
    ("gamma", |r| &mut r.gamma),
    ("p", |r| &mut r.p),
    ("q", |r| &mut r.q),
];

pub(crate) fn read(mut section: Section<'_>) -> Option<ErrorModel> {
    let name = section.require::<String>("model", "\"raro\"")?;
    let Some(mut model) = ErrorModel::builtin(&name) else {
        let names = ErrorModel::NAMES;
        let near = closest(&name, names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let all = names.join(", ");
        section.refuse(
            "model",
            format!(
                "{name:?} is not an error model; allowed: {all}, or fixed:N with N up to \
                     {MOST_RETRIES}{near}"
            ),
        );
        return None;
    };
    let day = SimDuration(86_400 * SECOND.0);
    model.t_unit = section.take_within("t_unit", SECOND..=SimDuration(366 * day.0)).unwrap_or(model.t_unit);
    model.delta = section.take_within("delta", 0.001..=0.9).unwrap_or(model.delta);
    model.correctable = section.whole("correctable", 1..=1 << 16).unwrap_or(model.correctable);
    let codeword = section.take_within("codeword", Bytes(64)..=Bytes(64 << 10));
    model.codeword = codeword.map_or(model.codeword, |bytes| bytes.0 as u32 * 8);
    model.decode = section.take_within("decode", SimDuration::ZERO..=SECOND).unwrap_or(model.decode);
    model.retransfer = section.choice("retransfer", &[("true", true), ("false", false)], model.retransfer);
    let most = SimDuration(366 * day.0);
    let hour = SimDuration(3_600 * SECOND.0);
    model.refresh = Refresh {
        age: or_never(&mut section, "refresh", |s, key| s.take_within(key, hour..=most)),
        reads: or_never(&mut section, "read_reclaim", |s, key| s.whole(key, 1..=u32::MAX)),
        retries: or_never(&mut section, "refresh_retries", |s, key| s.whole(key, 1..=MOST_RETRIES as u32))
            .map(|retries| retries as u8),
    };
    let mut whole = true;
    for mode in CellMode::ALL {
        let known = &mut model.modes[mode.index()];
        match section.section(mode.key()) {
            Some(table) => {
                let changed = read_mode(mode, table, known.take());
                whole &= changed.is_some();
                *known = changed;
            }
            None if section.has(mode.key()) => *known = None,
            None => {}
        }
    }
    section.finish();
    whole.then_some(model)
}

/// A threshold, or the word for no threshold, which is the default.
fn or_never<T>(
    section: &mut Section<'_>,
    key: &'static str,
    take: impl FnOnce(&mut Section<'_>, &'static str) -> Option<T>,
) -> Option<T> {
    match section.text(key).as_deref() {
        None | Some("never") => None,
        Some(_) => take(section, key),
    }
}

fn read_mode(mode: CellMode, mut section: Section<'_>, known: Option<ModeErrors>) -> Option<ModeErrors> {
    let mut rber = known.as_ref().map_or(Rber::default(), |e| e.rber);
    let mut complete = true;
    for (key, of) in COEFFICIENTS {
        let before = known.is_some().then_some(*of(&mut rber));
        let value = number(&mut section, key, 0.0..=1e9, before);
        complete &= value.is_some();
        *of(&mut rber) = value.unwrap_or_default();
    }
    let sigma = 0.0..=1.0;
    let sigma_block = number(
        &mut section,
        "sigma_block",
        sigma.clone(),
        known.as_ref().map_or(Some(0.0), |e| Some(e.sigma_block)),
    );
    let sigma_page =
        number(&mut section, "sigma_page", sigma, known.as_ref().map_or(Some(0.0), |e| Some(e.sigma_page)));
    let senses = senses(mode, &mut section, known.as_ref());
    let most = known.as_ref().map_or(MOST_RETRIES as u32, |e| e.most_retries as u32);
    let most_retries = section.whole("most_retries", 0..=MOST_RETRIES as u32).unwrap_or(most);
    let beyond = section.choice("beyond", &BEYOND, known.map_or(Beyond::Uncorrectable, |e| e.beyond));
    section.finish();
    Some(ModeErrors {
        rber,
        senses: senses.filter(|_| complete)?,
        sigma_block: sigma_block?,
        sigma_page: sigma_page?,
        most_retries: most_retries as u8,
        beyond,
    })
}

/// A number of the model, or a required one.
fn number(
    section: &mut Section<'_>,
    key: &'static str,
    limits: RangeInclusive<f64>,
    known: Option<f64>,
) -> Option<f64> {
    if known.is_none() && !section.has(key) {
        section.missing(key, "3.9e-10");
    }
    section.take_within(key, limits).or(known)
}

fn senses(mode: CellMode, section: &mut Section<'_>, known: Option<&ModeErrors>) -> Option<[u8; MAX_BITS]> {
    let bits = mode.bits() as usize;
    let Some(given) = section.take_list::<u8>("senses") else {
        if known.is_none() && !section.has("senses") {
            section.missing("senses", &format!("[{}]", vec!["2"; bits].join(", ")));
        }
        return known.map(|e| e.senses);
    };
    if given.len() != bits || given.contains(&0) {
        let text =
            format!("{mode} has {bits} page types; give {bits} numbers of read voltages, each 1 or more");
        section.refuse("senses", text);
        return None;
    }
    let mut senses = [0; MAX_BITS];
    senses[..bits].copy_from_slice(&given);
    Some(senses)
}

pub(crate) fn write(model: &ErrorModel, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[errors]\nmodel = \"{}\"\nt_unit = \"{}\"", model.name, model.t_unit)?;
    writeln!(out, "delta = {}\ncorrectable = {}", model.delta, model.correctable)?;
    writeln!(out, "codeword = \"{}\"", Bytes(model.codeword as u64 / 8))?;
    writeln!(out, "decode = \"{}\"\nretransfer = {}", model.decode, model.retransfer)?;
    let Refresh { age, reads, retries } = model.refresh;
    if let Some(age) = age {
        writeln!(out, "refresh = \"{age}\"")?;
    }
    if let Some(reads) = reads {
        writeln!(out, "read_reclaim = {reads}")?;
    }
    if let Some(retries) = retries {
        writeln!(out, "refresh_retries = {retries}")?;
    }
    let known = ErrorModel::builtin(&model.name);
    for mode in CellMode::ALL {
        if model.mode(mode).is_none() && known.as_ref().is_some_and(|k| k.mode(mode).is_some()) {
            writeln!(out, "{} = \"off\"", mode.key())?;
        }
    }
    for mode in CellMode::ALL {
        let Some(e) = model.mode(mode) else { continue };
        writeln!(out, "\n[errors.{}]", mode.key())?;
        let mut rber = e.rber;
        for (key, of) in COEFFICIENTS {
            writeln!(out, "{key} = {}", float(*of(&mut rber)))?;
        }
        let bits = mode.bits() as usize;
        let beyond = BEYOND.iter().find(|(_, b)| *b == e.beyond).map_or("clamp", |(word, _)| word);
        writeln!(out, "senses = {:?}", &e.senses[..bits])?;
        writeln!(out, "sigma_block = {}\nsigma_page = {}", float(e.sigma_block), float(e.sigma_page))?;
        writeln!(out, "most_retries = {}\nbeyond = \"{beyond}\"", e.most_retries)?;
    }
    Ok(())
}

/// A float in TOML, exact to the last bit.
fn float(value: f64) -> impl Display {
    format!("{value:e}")
}
