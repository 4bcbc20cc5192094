//! The runs of a comparison with what is theirs in every picture: label and colour.

use crate::pictures::palette;
use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::words::labels::labels;

/// A colour and the class by which the page may change it.
#[derive(Clone, Debug)]
pub(crate) struct Ink {
    pub class: String,
    pub colour: String,
}

impl Ink {
    /// The one colour of many runs.
    pub(crate) fn of_many() -> Ink {
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
    pub(crate) fn named(&self) -> Named<'_> {
        (&self.labels, &self.inks)
    }

    /// The seed of the first replica, where there are any that differ.
    pub(crate) fn first_seed(&self) -> Option<u64> {
        let first =
            |r: &Report| r.replicas.as_ref().filter(|r| !r.are_identical())?.runs.first().map(|r| r.seed);
        self.reports.iter().find_map(first)
    }

    /// The runs' colours for the page's script: class and colour, in order.
    pub(crate) fn inks_data(&self, shown: impl Iterator<Item = usize>) -> String {
        let inks: Vec<String> =
            shown.map(|i| format!("{}:{}", self.inks[i].class, self.inks[i].colour)).collect();
        inks.join(" ")
    }
}

/// The colour of a scheme, its own if it has one.
pub(crate) fn ink_of(index: usize, baseline: usize, own: Option<&str>) -> Ink {
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

/// The labels of all runs, and their inks.
pub(crate) type Named<'a> = (&'a [String], &'a [Ink]);
