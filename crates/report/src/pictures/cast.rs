//! The runs of a comparison with what is theirs in every picture: label and color.

use crate::pictures::palette;
use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::words::labels::labels;
use crate::words::phrases::all_of;
use crate::words::verdict;

/// A color, the class by which the page may change it, and the dashes of a curve.
#[derive(Clone, Debug)]
pub(crate) struct Ink {
    pub class: String,
    pub colour: String,
    pub dashes: &'static str,
}

/// The dashes of runs that are neither baseline nor winner, in turn.
const DASHES: [&str; 4] = ["7 3", "2 2.6", "9 3 2 3", "12 4"];

impl Ink {
    fn new(class: &str, colour: &str) -> Ink {
        Ink { class: class.to_string(), colour: colour.to_string(), dashes: "" }
    }

    /// The attribute for the dashes of a curve.
    pub(crate) fn dash(&self) -> String {
        if self.dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{}""#, self.dashes) }
    }
}

/// Who is compared, whatever with: what a table or a scatter of runs or of lives needs.
#[derive(Clone, Copy)]
pub(crate) struct Roles<'a> {
    pub labels: &'a [String],
    pub inks: &'a [Ink],
    /// Position of the one that the others are measured against.
    pub baseline: usize,
    /// Position of the one that the verdict names first.
    pub winner: Option<usize>,
    /// What the winner is, in a word or two.
    pub first: &'static str,
}

/// The runs with what is theirs in every picture: label and color.
pub(crate) struct Cast<'a> {
    pub reports: &'a [Report],
    pub labels: Vec<String>,
    pub inks: Vec<Ink>,
    /// Position of the run that the others are measured against.
    pub baseline: usize,
    /// Position of the run that the verdict names first.
    pub winner: Option<usize>,
    /// Most points of one curve.
    pub points: usize,
}

impl Cast<'_> {
    pub(crate) fn new(comparison: &Comparison, points: usize) -> Cast<'_> {
        let baseline = comparison.baseline_index();
        let winner = verdict::winner(&comparison.reports, baseline);
        let own: Vec<_> = comparison.reports.iter().map(|r| r.scheme.colour.as_deref()).collect();
        let inks = inks(&own, baseline, winner);
        let labels = labels(&comparison.reports);
        Cast { reports: &comparison.reports, labels, inks, baseline, winner, points }
    }

    /// One run that stands for all.
    pub(crate) fn for_all(&self) -> Cast<'_> {
        Cast {
            reports: std::slice::from_ref(&self.reports[self.baseline]),
            labels: vec![format!("{} schemes", all_of(self.reports.len()))],
            inks: inks(&[None], 0, None),
            baseline: 0,
            winner: None,
            points: self.points,
        }
    }

    /// Who is compared.
    pub(crate) fn roles(&self) -> Roles<'_> {
        Roles {
            labels: &self.labels,
            inks: &self.inks,
            baseline: self.baseline,
            winner: self.winner,
            first: "fastest",
        }
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

    /// The runs' colors for the page's script: class and color, in order.
    pub(crate) fn inks_data(&self, shown: impl Iterator<Item = usize>) -> String {
        let inks: Vec<String> =
            shown.map(|i| format!("{}:{}", self.inks[i].class, self.inks[i].colour)).collect();
        inks.join(" ")
    }
}

/// The ink of each run by what it is; a color of its own, `#rrggbb`, is taken where a run is neither baseline nor
/// winner, and ignored otherwise.
pub(crate) fn inks(own: &[Option<&str>], baseline: usize, winner: Option<usize>) -> Vec<Ink> {
    let mut others = 0;
    let ink = |(run, own): (usize, &Option<&str>)| {
        if run == baseline {
            return Ink::new("s0", palette::BASELINE);
        }
        if Some(run) == winner {
            return Ink::new("s1", palette::WINNER);
        }
        let dashes = DASHES[others % DASHES.len()];
        others += 1;
        match own.filter(|hex| palette::is_hex(hex)) {
            Some(hex) => Ink { dashes, ..Ink::new("s-own", hex) },
            None => Ink { dashes, ..Ink::new("other", palette::OTHER) },
        }
    };
    own.iter().enumerate().map(ink).collect()
}

/// The labels of all runs, and their inks.
pub(crate) type Named<'a> = (&'a [String], &'a [Ink]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_says_what_a_run_is() {
        let of = |own: &[Option<&str>], baseline, winner| -> Vec<String> {
            inks(own, baseline, winner).into_iter().map(|ink| ink.colour).collect()
        };
        assert_eq!(of(&[None; 3], 0, Some(2)), [palette::BASELINE, palette::OTHER, palette::WINNER]);
        assert_eq!(of(&[None; 2], 1, Some(1)), [palette::OTHER, palette::BASELINE]);
        assert_eq!(of(&[None, Some("#123456")], 0, None), [palette::BASELINE, "#123456"]);
        assert_eq!(of(&[None, Some("#123456")], 0, Some(1)), [palette::BASELINE, palette::WINNER]);
        for bad in ["red\"><script>", "#12é45"] {
            assert_eq!(of(&[None, Some(bad)], 0, None), [palette::BASELINE, palette::OTHER]);
        }
    }

    #[test]
    fn runs_of_one_colour_differ_by_their_dashes() {
        let dashes: Vec<_> = inks(&[None; 6], 0, Some(1)).into_iter().map(|ink| ink.dashes).collect();
        assert_eq!(dashes, ["", "", "7 3", "2 2.6", "9 3 2 3", "12 4"]);
    }
}
