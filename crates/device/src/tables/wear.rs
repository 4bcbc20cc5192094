//! The table `[wear]` of a device file: wear-out and wear leveling.

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use wordline_config::Section;
use wordline_units::Fraction;

/// Wear-out of blocks, and wear leveling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WearSpec {
    /// Whether a block retires at the erase that uses up its endurance.
    pub enforce: bool,
    /// P/E cycles per simulated erase.
    pub acceleration: u32,
    /// Standard deviation of the endurance of blocks, as a share of the mode's endurance.
    pub spread: Fraction,
    /// Share of factory bad blocks in each medium.
    pub bad_blocks: Fraction,
    /// Whether the erased block with the fewest P/E cycles is opened first.
    pub dynamic: bool,
    /// Maximum lead in P/E cycles of the most worn block of a plane's pool over a block with data at rest;
    /// beyond it, these data are moved. `None` where they are left alone.
    #[serde(rename = "static")]
    pub static_beyond: Option<u32>,
}

impl WearSpec {
    /// Whether all of it is at its defaults.
    pub fn is_off(&self) -> bool {
        *self == WearSpec::default()
    }
}

impl Default for WearSpec {
    fn default() -> WearSpec {
        WearSpec {
            enforce: false,
            acceleration: 1,
            spread: Fraction::ZERO,
            bad_blocks: Fraction::ZERO,
            dynamic: false,
            static_beyond: None,
        }
    }
}

/// Allowed values of a switch, for a reader.
pub(crate) const SWITCH: [(&str, bool); 2] = [("true", true), ("false", false)];
/// An erase that counts as more would use up most of a block's life in any mode.
const MOST_ACCELERATION: u32 = 100_000;

pub(crate) fn read(mut section: Section<'_>) -> Option<WearSpec> {
    let off = WearSpec::default();
    let enforce = section.choice("enforce", &SWITCH, off.enforce);
    let acceleration = section.whole("acceleration", 1..=MOST_ACCELERATION).unwrap_or(off.acceleration);
    let spread = section.take_within("spread", Fraction::ZERO..=Fraction::percent(30)).unwrap_or(off.spread);
    let bad_blocks =
        section.take_within("bad_blocks", Fraction::ZERO..=Fraction::percent(50)).unwrap_or(off.bad_blocks);
    let dynamic = section.choice("dynamic", &SWITCH, off.dynamic);
    let static_beyond = match section.text("static") {
        Some(word) if word == "off" => None,
        Some(_) => section.whole("static", 1..=1 << 24),
        None => None,
    };
    let too_fine = static_beyond.filter(|beyond| *beyond < acceleration.saturating_mul(2));
    if let Some(beyond) = too_fine {
        section.refuse(
            "static",
            format!(
                "with acceleration = {acceleration} one erase adds {acceleration} P/E cycles, so a \
                 threshold of {beyond} would move data at every erase; allowed: at least {}, or a smaller \
                 acceleration",
                acceleration.saturating_mul(2)
            ),
        );
    }
    section.finish();
    let wear = WearSpec { enforce, acceleration, spread, bad_blocks, dynamic, static_beyond };
    too_fine.is_none().then_some(wear)
}

pub(crate) fn write(wear: &WearSpec, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[wear]\nenforce = {}\nacceleration = {}", wear.enforce, wear.acceleration)?;
    writeln!(
        out,
        "spread = \"{}\"\nbad_blocks = \"{}\"\ndynamic = {}",
        wear.spread, wear.bad_blocks, wear.dynamic
    )?;
    match wear.static_beyond {
        Some(beyond) => writeln!(out, "static = {beyond}"),
        None => Ok(()),
    }
}
