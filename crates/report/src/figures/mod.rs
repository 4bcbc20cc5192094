//! The pictures of a comparison, each an SVG that stands alone and the data that it shows as CSV.
//! They are drawn here, not in the browser: the page shows them without a script, and a paper gets
//! the very same picture. A picture without data is left out.

mod against;
mod bars;
mod cdf;
mod drive;
mod lifetime;
mod panels;
mod time;
mod trace;
mod twins;

use crate::comparison::{Comparison, labels};
use crate::palette;
use crate::report::Report;
use crate::rows::{stands_for, workload_label};
use crate::svg::{escape, footnote};
pub use lifetime::lifetime_figures;
pub use trace::trace_figures;
pub use twins::{TwinPanel, twin_figures};

/// How wide pictures are drawn: as a telephone shows them, with text of 12. Wider screens show more of them side
/// by side.
const WIDTH: f64 = 350.0;

/// A picture and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A name for files: `write-latency-cdf`.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub title: String,
    /// How to read it, in a sentence.
    pub caption: String,
    /// The picture, on a transparent ground.
    pub svg: String,
    /// The data as CSV with a header whose names carry the units, a row a point.
    pub csv: String,
}

/// Every picture for which there are data.
pub fn figures(comparison: &Comparison) -> Vec<Figure> {
    Section::ALL.iter().flat_map(|s| s.figures(&Cast::new(comparison, usize::MAX))).collect()
}

/// The parts of the page that hold pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Section {
    Differences,
    Latency,
    Programs,
    Time,
    Drive,
}

impl Section {
    pub(crate) const ALL: [Section; 5] =
        [Section::Differences, Section::Latency, Section::Programs, Section::Time, Section::Drive];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Section::Differences => "Differences",
            Section::Latency => "Latency",
            Section::Programs => "What the programs were for",
            Section::Time => "Over time",
            Section::Drive => "Dies, buses and blocks",
        }
    }

    pub(crate) fn figures(self, cast: &Cast) -> Vec<Figure> {
        let made = match self {
            Section::Differences => vec![against::differences(cast)],
            Section::Latency => vec![
                cdf::latency(cast, &cdf::WRITES),
                cdf::latency(cast, &cdf::READS),
                bars::write_parts(cast),
                bars::read_parts(cast),
            ],
            Section::Programs => {
                vec![
                    bars::by_cause(cast),
                    bars::by_region(cast),
                    bars::erases(cast),
                    time::overlaid(cast, &time::WAF),
                ]
            }
            Section::Time => vec![
                time::latency(cast, &time::WRITE_LATENCY),
                time::latency(cast, &time::READ_LATENCY),
                time::throughput(cast, &time::WRITTEN),
                time::throughput(cast, &time::READ),
                time::overlaid(cast, &time::FREE_BLOCKS),
            ],
            Section::Drive => {
                let busy = [&time::BUSY_DIES, &time::BUSY_BUSES].map(|slow| time::overlaid(cast, slow));
                let wear = drive::wear(cast);
                [drive::blocks(cast), drive::busy(cast)].into_iter().chain(busy).chain(wear).collect()
            }
        };
        let mut made: Vec<Figure> = made.into_iter().flatten().collect();
        if let Some(workload) = cast.reports.first().map(|r| &r.workload)
            && let Some(what) = stands_for(workload)
        {
            for figure in &mut made {
                figure.svg = footnote(&figure.svg, &format!("{}: {what}", workload_label(workload)));
            }
        }
        // A curve is of one run; bars and points are means.
        for figure in made.iter_mut().filter(|f| !MEANS.contains(&f.name)) {
            if let Some(seed) = cast.first_seed() {
                figure.caption.push_str(&format!(" Of the first replica, seed {seed}."));
            }
        }
        made
    }
}

/// Pictures that show the means of replicas.
const MEANS: [&str; 6] = [
    "differences",
    "write-latency-parts",
    "read-latency-parts",
    "programs-by-cause",
    "programs-by-region",
    "erases-by-mode",
];

/// A colour and the class by which the page may change it.
#[derive(Clone, Debug)]
pub(crate) struct Ink {
    pub class: String,
    pub colour: String,
}

impl Ink {
    /// The one colour of many runs.
    fn of_many() -> Ink {
        Ink { class: "s1".to_string(), colour: palette::SCHEMES[0].to_string() }
    }
}

/// The runs with what is theirs in every picture: label and colour.
pub(crate) struct Cast<'a> {
    pub reports: &'a [Report],
    pub labels: Vec<String>,
    pub inks: Vec<Ink>,
    /// Whether all but the baseline have one colour, being too many.
    pub one_colour: bool,
    /// Position of the run that the others are measured against.
    pub baseline: usize,
    /// Most points of one curve.
    pub points: usize,
}

impl Cast<'_> {
    pub(crate) fn new(comparison: &Comparison, points: usize) -> Cast<'_> {
        let baseline = comparison.baseline_index();
        // More colours than can be told apart tell nothing: every run has its name beside it.
        let many = comparison.reports.len() > palette::SCHEMES.len() + 1;
        let inks = comparison
            .reports
            .iter()
            .enumerate()
            .map(|(i, r)| ink_of(i, baseline, r.scheme.colour.as_deref()))
            .map(|ink| if many && ink.class != "s0" { Ink::of_many() } else { ink })
            .collect();
        let labels = labels(&comparison.reports);
        Cast { reports: &comparison.reports, labels, inks, one_colour: many, baseline, points }
    }

    /// Labels and inks.
    fn named(&self) -> panels::Named<'_> {
        (&self.labels, &self.inks)
    }

    /// The seed of the first replica, where there are any that differ.
    fn first_seed(&self) -> Option<u64> {
        let first = |r: &Report| r.replicas.as_ref().filter(|r| !r.are_alike())?.runs.first().map(|r| r.seed);
        self.reports.iter().find_map(first)
    }

    /// The runs' colours for the page's script: class and colour, in order.
    fn inks_data(&self, shown: impl Iterator<Item = usize>) -> String {
        let inks: Vec<String> =
            shown.map(|i| format!("{}:{}", self.inks[i].class, self.inks[i].colour)).collect();
        inks.join(" ")
    }
}

/// The colour of a scheme, its own if it has one.
fn ink_of(index: usize, baseline: usize, own: Option<&str>) -> Ink {
    let colour = palette::scheme(index, baseline, own);
    let class = if colour == palette::BASELINE {
        "s0".to_string()
    } else {
        palette::SCHEMES
            .iter()
            .position(|c| *c == colour)
            .map_or("s-own".to_string(), |i| format!("s{}", i + 1))
    };
    Ink { class, colour: colour.to_string() }
}

/// Rows of CSV under one header.
struct Csv(String);

impl Csv {
    fn new(header: &str) -> Csv {
        Csv(format!("{header}\n"))
    }

    /// A row of names, then numbers; a number that does not exist is an empty field.
    fn row(&mut self, names: &[&str], numbers: &[Option<f64>]) {
        let names = names.iter().map(|n| field(n));
        let fields: Vec<String> =
            names.chain(numbers.iter().map(|n| n.map_or(String::new(), digits))).collect();
        self.0.push_str(&fields.join(","));
        self.0.push('\n');
    }
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// Nanoseconds as seconds, exactly.
fn seconds_of(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Six significant digits, or nothing for what is not finite.
fn digits(x: f64) -> String {
    if !x.is_finite() {
        return String::new();
    }
    format!("{x:.5e}").parse::<f64>().map_or(String::new(), |v| v.to_string())
}

/// A name as a picture has room for it; the data have it whole.
fn short(name: &str) -> String {
    const MOST: usize = 24;
    if name.chars().count() <= MOST {
        return name.to_string();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

/// Attributes that tell the page's script how to read a picture.
fn data(kind: &str, pairs: &[(&str, String)]) -> String {
    let mut out = format!(r#" data-kind="{kind}""#);
    for (key, value) in pairs {
        out.push_str(&format!(r#" data-{key}="{}""#, escape(value)));
    }
    out
}

/// Move labels apart so that each has `room`, as near as can be to where it belongs, between `low`
/// and `high`. Returns the positions in the order given.
fn spread(wanted: &[f64], room: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut at = wanted.to_vec();
    let mut floor = low;
    for i in &order {
        at[*i] = at[*i].max(floor);
        floor = at[*i] + room;
    }
    let mut ceiling = high;
    for i in order.iter().rev() {
        at[*i] = at[*i].min(ceiling);
        ceiling = at[*i] - room;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_spread_until_none_covers_another() {
        let at = spread(&[50.0, 51.0, 49.0], 10.0, 0.0, 100.0);
        assert_eq!(at, [59.0, 69.0, 49.0]);
        let at = spread(&[98.0, 99.0], 10.0, 0.0, 100.0);
        assert_eq!(at, [90.0, 100.0]);
    }

    #[test]
    fn a_name_stays_one_field() {
        let mut csv = Csv::new("scheme,x");
        csv.row(&["a,\"b\""], &[Some(1.5), None, Some(f64::NAN)]);
        assert_eq!(csv.0, "scheme,x\n\"a,\"\"b\"\"\",1.5,,\n");
    }
}
