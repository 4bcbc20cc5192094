//! The colors of Wordline's pictures, the same everywhere, each with one meaning: a run is the baseline, the winner
//! or another, and a cell mode and a cause of programs have one hue each. What is close in hue has a pattern, a marker
//! or its name beside it, and all sets can be told apart without seeing red against green.

use crate::schema::activity::{CAUSES, REPROGRAM};

/// The baseline's color.
pub const BASELINE: &str = "#262d38";

/// The winner's color, on pages that name one.
pub(crate) const WINNER: &str = SCHEMES[0];

/// The color of all other runs, which differ by dashes, markers and names.
pub(crate) const OTHER: &str = "#6b7480";

/// Colors of the schemes that are not the baseline, in order; apart from those of the cell modes, and dark
/// enough for text on white.
pub const SCHEMES: [&str; 7] = ["#4c3fbf", "#b73a57", "#14746b", "#9a3d94", "#6b6b0d", "#1f74a8", "#7a1f4d"];

/// The color of a cell mode by its key (`slc`, …); grey for any other.
pub fn mode(key: &str) -> &'static str {
    match key {
        "slc" => "#0072B2",
        "mlc" => "#009E73",
        "tlc" => "#E69F00",
        "qlc" => "#D55E00",
        _ => "#9aa3ad",
    }
}

/// The color of a cause of programs by its key (`host`, `gc`, …); grey for any other.
pub fn cause(key: &str) -> &'static str {
    match key {
        "host" => "#46536b",
        "gc" => "#c7405e",
        "migration" => "#8d6cc4",
        REPROGRAM => "#3fa79f",
        "pad" => "#cdbf9f",
        "metadata" => "#b9cde4",
        "parity" => "#8a7420",
        _ => "#9aa3ad",
    }
}

/// The parts of a latency in stacking order, each with its color: waits warm, work cool, and what is
/// also a cause of programs in its color.
pub(crate) const LATENCY_PARTS: [(&str, &str); 11] = [
    ("admission", "#9aa3ad"),
    ("map_miss", "#7f9a3c"),
    ("staging", "#d9a0bf"),
    ("behind_host", "#46536b"),
    ("behind_gc", "#c7405e"),
    ("behind_migration", "#8d6cc4"),
    ("space", "#8a5a3c"),
    ("die", "#5f86d9"),
    ("retry", "#e3c229"),
    ("bus", "#a5c663"),
    ("link", "#b9b4ec"),
];

/// The ink that is read best on a ground: black or white, one of which always has 4.5:1.
pub(crate) fn text_on(ground: &str) -> &'static str {
    if contrast("#000000", ground) >= contrast("#ffffff", ground) { "#000000" } else { "#ffffff" }
}

/// The ink of text.
pub(crate) const INK: &str = "#1b212a";

/// Contrast of two colors `#rrggbb`, by WCAG 2: 1 to 21.
fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(hex: &str) -> f64 {
    let part = |from: usize| {
        let text = hex.get(from..from + 2).unwrap_or("0");
        let value = f64::from(u8::from_str_radix(text, 16).unwrap_or(0)) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

/// Causes in stacking order, with the kind reprogram in its place among them.
pub(crate) fn stack() -> Vec<&'static str> {
    let mut order = CAUSES.to_vec();
    order.insert(3, REPROGRAM);
    order
}

pub(crate) fn is_hex(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_legible_on_every_bar_part_and_scheme_color() {
        let parts = stack().into_iter().map(cause).chain(LATENCY_PARTS.map(|(_, colour)| colour));
        for ground in parts.chain(["slc", "mlc", "tlc", "qlc", "other"].map(mode)) {
            assert!(
                contrast(text_on(ground), ground) >= 4.5,
                "{ground}: {}",
                contrast(text_on(ground), ground)
            );
        }
        for colour in SCHEMES.into_iter().chain([BASELINE, OTHER]) {
            assert!(contrast(colour, "#ffffff") >= 4.7, "{colour}");
        }
    }

    #[test]
    fn every_part_of_a_latency_has_a_name() {
        let named = crate::words::figures::terms::latency_parts().map(|part| part.also[0]);
        assert!(LATENCY_PARTS.into_iter().map(|(key, _)| key).eq(named));
    }

    /// A color as eyes without red (protanopia) or without green (deuteranopia) cones see it, in linear RGB; the
    /// matrices of Machado et al. 2009 for full severity.
    fn seen(hex: &str, eyes: &[[f64; 3]; 3]) -> [f64; 3] {
        let part = |from: usize| {
            let value = f64::from(u8::from_str_radix(&hex[from..from + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let rgb = [part(1), part(3), part(5)];
        eyes.map(|row| row.iter().zip(rgb).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0))
    }

    /// The distance of two colors in CIE L*a*b*.
    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        let lab = |[r, g, b]: [f64; 3]| {
            let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
            let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
            let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
            let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
            [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
        };
        lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn set_colors_differ_without_red_and_green() {
        let eyes = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        ];
        let sets = [
            ("roles", vec![BASELINE, WINNER, OTHER]),
            ("modes", ["slc", "mlc", "tlc", "qlc"].map(mode).to_vec()),
            ("causes", stack().into_iter().map(cause).collect()),
        ];
        for (name, set) in sets {
            for (i, a) in set.iter().enumerate() {
                for b in &set[i + 1..] {
                    for eyes in &eyes {
                        let far = distance(seen(a, eyes), seen(b, eyes));
                        assert!(far >= 15.0, "{name}: {a} and {b} are {far:.1} apart");
                    }
                }
            }
        }
    }

    #[test]
    fn a_colour_has_one_meaning() {
        let causes: Vec<&str> = stack().into_iter().map(cause).collect();
        let waits = ["behind_host", "behind_gc", "behind_migration", "admission"];
        let parts =
            LATENCY_PARTS.into_iter().filter(|(key, _)| !waits.contains(key)).map(|(_, colour)| colour);
        let modes = ["slc", "mlc", "tlc", "qlc"].map(mode);
        let mut all: Vec<&str> =
            [BASELINE, WINNER, OTHER].into_iter().chain(modes).chain(causes).chain(parts).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn sheet_has_the_colours_of_causes_and_parts() {
        const SHEET: &str = include_str!("../../assets/page.css");
        let causes = stack().into_iter().map(|key| (key, cause(key)));
        for (key, colour) in causes.chain(LATENCY_PARTS) {
            assert!(SHEET.contains(&format!(".k-{key} {{ background: {colour} !important; }}")), "{key}");
        }
        for colour in [BASELINE, WINNER, OTHER] {
            assert!(SHEET.contains(colour), "{colour}");
        }
    }

    #[test]
    fn causes_stack_in_the_order_of_the_house() {
        assert_eq!(stack(), ["host", "gc", "migration", "reprogram", "pad", "metadata", "parity"]);
    }
}
