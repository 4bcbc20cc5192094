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

/// Runs whose figures differ by less than this share of the largest are alike.
const ALIKE: f64 = 0.005;

/// A series of so many points is a curve, which is drawn the same where it differs by no more than these shares of
/// the largest: a point of it, and all on average.
const CURVE: (usize, f64, f64) = (16, 0.05, 0.02);

impl Figure {
    /// Whether it shows the same of every scheme, of several: its data, scheme by scheme, have the same words, and
    /// numbers that differ by less than half a percent of the largest of their column, or curves that lie upon each
    /// other.
    pub(crate) fn is_alike(&self) -> bool {
        let mut of: Vec<(String, Vec<Vec<String>>)> = vec![];
        for line in self.csv.lines().skip(1) {
            let mut cells = cells(line);
            let scheme = cells.remove(0);
            match of.last_mut().filter(|(name, _)| *name == scheme) {
                Some((_, rows)) => rows.push(cells),
                None => of.push((scheme, vec![cells])),
            }
        }
        let Some(((_, first), others)) = of.split_first().filter(|(_, others)| !others.is_empty()) else {
            return false;
        };
        let columns = first.first().map_or(0, Vec::len);
        let numbers = |column: usize| {
            let all = of.iter().flat_map(|(_, rows)| rows.iter().filter_map(move |row| row.get(column)));
            all.filter_map(|cell| cell.parse::<f64>().ok()).fold(0.0, |most: f64, v| most.max(v.abs()))
        };
        let most: Vec<f64> = (0..columns).map(numbers).collect();
        let (each, mean) = if first.len() >= CURVE.0 { (CURVE.1, CURVE.2) } else { (ALIKE, ALIKE) };
        // How far two rows are apart in each column, as a share of its largest; `None` where they are not of a kind.
        let apart = |a: &Vec<String>, b: &Vec<String>| -> Option<Vec<f64>> {
            let both = || a.iter().zip(b).enumerate();
            if a.len() != columns || b.len() != columns {
                return None;
            }
            both()
                .map(|(column, (a, b))| match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) if a == b => Some(0.0),
                    (Ok(a), Ok(b)) => Some((a - b).abs() / most[column]).filter(|apart| *apart <= each),
                    _ => (a == b).then_some(0.0),
                })
                .collect()
        };
        let alike = |rows: &Vec<Vec<String>>| {
            if rows.len() != first.len() {
                return false;
            }
            let Some(all) = first.iter().zip(rows).map(|(a, b)| apart(a, b)).collect::<Option<Vec<_>>>()
            else {
                return false;
            };
            (0..columns)
                .all(|column| all.iter().map(|row| row[column]).sum::<f64>() <= mean * all.len() as f64)
        };
        others.iter().all(|(_, rows)| alike(rows))
    }
}

/// The fields of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut out, mut field, mut quoted) = (vec![], String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    out.push(field);
    out
}

/// Rows of CSV under one header.
pub(crate) struct Csv(String);

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

    pub(crate) fn into_text(self) -> String {
        self.0
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
    fn figure_equal_for_all_schemes_is_detected_by_data() {
        let of = |csv: &str| Figure {
            name: "x".into(),
            title: String::new(),
            caption: String::new(),
            svg: String::new(),
            csv: csv.to_string(),
        };
        assert!(of("scheme,t,v\na,1,100\na,2,3\n\"b,c\",1,100.4\n\"b,c\",2,3\n").is_alike());
        assert!(!of("scheme,t,v\na,1,100\na,2,3\nb,1,101\nb,2,3\n").is_alike(), "one percent apart");
        assert!(!of("scheme,t,v\na,1,100\na,2,3\nb,1,100\n").is_alike(), "a row is missing");
        assert!(!of("scheme,what,v\na,gc,1\nb,host,1\n").is_alike(), "another word");
        assert!(!of("scheme,t,v\na,1,100\na,2,3\n").is_alike(), "one scheme alone");
        assert!(!of("scheme,t,v\n").is_alike());
        let curve =
            |name: &str, by: f64| (0..20).map(|t| format!("{name},{t},{}\n", 90.0 + by)).collect::<String>();
        let curves =
            |by: f64| of(&format!("scheme,t,v\n{}{}a,20,100\nb,20,100\n", curve("a", 0.0), curve("b", by)));
        let sorted = |by: f64| of(&format!("scheme,t,v\n{}{}", curve("a", 0.0), curve("b", by)));
        assert!(sorted(1.0).is_alike() && !sorted(3.0).is_alike());
        assert!(!curves(0.0).is_alike(), "a scheme in two places is not one curve");
    }

    #[test]
    fn a_name_stays_one_field() {
        let mut csv = Csv::new("scheme,x");
        csv.row(&["a,\"b\""], &[Some(1.5), None, Some(f64::NAN)]);
        assert_eq!(csv.into_text(), "scheme,x\n\"a,\"\"b\"\"\",1.5,,\n");
    }
}
