//! A picture as it leaves this room: its drawing, and the data that it shows.

use crate::pictures::svg::escape;
use std::borrow::Cow;

/// How wide pictures are drawn: as a telephone shows them, with text of 12. Wider screens show more of them side
/// by side.
pub(crate) const WIDTH: f64 = 350.0;

/// A picture and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A name for files: `write-latency-cdf`.
    pub name: Cow<'static, str>,
    /// What it shows, in a few words.
    pub title: String,
    /// How to read it, in a sentence.
    pub caption: String,
    /// The picture, on a transparent ground.
    pub svg: String,
    /// The data as CSV with a header whose names carry the units, a row a point.
    pub csv: String,
}

/// Rows of CSV under one header.
pub(crate) struct Csv(pub(crate) String);

impl Csv {
    pub(crate) fn new(header: &str) -> Csv {
        Csv(format!("{header}\n"))
    }

    /// A row of names, then numbers; a number that does not exist is an empty field.
    pub(crate) fn row(&mut self, names: &[&str], numbers: &[Option<f64>]) {
        let names = names.iter().map(|n| field(n));
        let fields: Vec<String> =
            names.chain(numbers.iter().map(|n| n.map_or(String::new(), digits))).collect();
        self.0.push_str(&fields.join(","));
        self.0.push('\n');
    }
}

pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// Six significant digits, or nothing for what is not finite.
fn digits(x: f64) -> String {
    if !x.is_finite() {
        return String::new();
    }
    format!("{x:.5e}").parse::<f64>().map_or(String::new(), |v| v.to_string())
}

/// Attributes that tell the page's script how to read a picture.
pub(crate) fn data(kind: &str, pairs: &[(&str, String)]) -> String {
    let mut out = format!(r#" data-kind="{kind}""#);
    for (key, value) in pairs {
        out.push_str(&format!(r#" data-{key}="{}""#, escape(value)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_field() {
        let mut csv = Csv::new("scheme,x");
        csv.row(&["a,\"b\""], &[Some(1.5), None, Some(f64::NAN)]);
        assert_eq!(csv.0, "scheme,x\n\"a,\"\"b\"\"\",1.5,,\n");
    }
}
