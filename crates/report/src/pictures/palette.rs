//! The colours of Wordline's pictures, the same everywhere. A cell mode and a cause of programs
//! have one colour each; a scheme keeps its colour through all pictures of one comparison, and the
//! baseline is grey. All three sets can be told apart without seeing red against green.

use crate::schema::activity::{CAUSES, REPROGRAM};

/// The baseline's colour.
pub const BASELINE: &str = "#646c79";

/// Colours of the schemes that are not the baseline, in order; apart from those of the cell modes, and dark
/// enough for text on white.
pub const SCHEMES: [&str; 7] = ["#4c3fbf", "#b73a57", "#14746b", "#9a3d94", "#6b6b0d", "#1f74a8", "#7a1f4d"];

/// The colour of a cell mode by its key (`slc`, …); grey for any other.
pub fn mode(key: &str) -> &'static str {
    match key {
        "slc" => "#0072B2",
        "mlc" => "#009E73",
        "tlc" => "#E69F00",
        "qlc" => "#D55E00",
        _ => "#9aa3ad",
    }
}

/// The colour of a cause of programs by its key (`host`, `gc`, …); grey for any other.
pub fn cause(key: &str) -> &'static str {
    match key {
        "host" => "#46536b",
        "gc" => "#c7405e",
        "migration" => "#8d6cc4",
        REPROGRAM => "#3fa79f",
        "pad" => "#cdbf9f",
        "metadata" => "#9cb4cc",
        _ => "#9aa3ad",
    }
}

/// The parts of a latency in stacking order, each with its colour: waits warm, work cool, and what is
/// also a cause of programs in its colour.
pub(crate) const LATENCY_PARTS: [(&str, &str); 11] = [
    ("admission", "#9aa3ad"),
    ("map_miss", "#7f9a3c"),
    ("staging", "#cdbf9f"),
    ("behind_host", "#46536b"),
    ("behind_gc", "#c7405e"),
    ("behind_migration", "#8d6cc4"),
    ("space", "#e08a3c"),
    ("die", "#2f8fc4"),
    ("retry", "#e3c229"),
    ("bus", "#3fa79f"),
    ("link", "#9cb4cc"),
];

/// The colour of the run at `index` of a comparison. A scheme's own colour is taken if it is
/// `#rrggbb`, and ignored otherwise.
pub fn scheme(index: usize, baseline: usize, own: Option<&str>) -> &str {
    if index == baseline {
        return BASELINE;
    }
    match own {
        Some(hex) if is_hex(hex) => hex,
        _ => SCHEMES[(index - usize::from(index > baseline)) % SCHEMES.len()],
    }
}

/// The ink that is read best on a ground: black or white, one of which always has 4.5:1.
pub(crate) fn text_on(ground: &str) -> &'static str {
    if contrast("#000000", ground) >= contrast("#ffffff", ground) { "#000000" } else { "#ffffff" }
}

/// The ink of text.
pub(crate) const INK: &str = "#1b212a";

/// Contrast of two colours `#rrggbb`, by WCAG 2: 1 to 21.
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

fn is_hex(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_grey_and_the_others_differ() {
        assert_eq!(scheme(1, 1, Some("#123456")), BASELINE);
        assert_eq!(scheme(0, 1, None), SCHEMES[0]);
        assert_eq!(scheme(2, 1, None), SCHEMES[1]);
        assert_eq!(scheme(2, 0, Some("#123456")), "#123456");
    }

    #[test]
    fn a_colour_that_is_no_colour_is_ignored() {
        assert_eq!(scheme(1, 0, Some("red\"><script>")), SCHEMES[0]);
        assert_eq!(scheme(1, 0, Some("#12é45")), SCHEMES[0]);
    }

    #[test]
    fn text_can_be_read_on_every_part_of_a_bar_and_in_the_colour_of_every_scheme() {
        let parts = stack().into_iter().map(cause).chain(LATENCY_PARTS.map(|(_, colour)| colour));
        for ground in parts.chain(["slc", "mlc", "tlc", "qlc", "other"].map(mode)) {
            assert!(
                contrast(text_on(ground), ground) >= 4.5,
                "{ground}: {}",
                contrast(text_on(ground), ground)
            );
        }
        for colour in SCHEMES.into_iter().chain([BASELINE]) {
            assert!(contrast(colour, "#ffffff") >= 4.8, "{colour}");
        }
    }

    #[test]
    fn every_part_of_a_latency_has_a_name() {
        let named = crate::words::figures::terms::latency_parts().map(|part| part.also[0]);
        assert!(LATENCY_PARTS.into_iter().map(|(key, _)| key).eq(named));
    }

    #[test]
    fn causes_stack_in_the_order_of_the_house() {
        assert_eq!(stack(), ["host", "gc", "migration", "reprogram", "pad", "metadata"]);
    }
}
