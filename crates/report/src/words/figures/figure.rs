//! What a figure is: where it stands, what it is called, what it says, and when it has a row.

use crate::schema::report::Report;
use crate::words::figures::computed::{NAMES, Names, Value, computed};
use crate::words::number::Quantity;
use Quantity::{Bytes, Count, Energy, EnergyPerByte, Iops, Latency, Number, Rate, Share, Time, Waf};

/// Which end of a figure is the good one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Better {
    Lower,
    Higher,
    Neither,
}

/// When a figure that some run has gets a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    Always,
    /// Where it is not zero in every run.
    IfAny,
    /// Where any run is like this.
    WhereAny(fn(&Report) -> bool),
}

/// One figure of a report.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Where it is in the JSON of a report; `*` is the name of a cause, a mode, a queue, a table or a metric.
    pub path: &'static str,
    /// What its row is called; `*` is that name as people read it.
    pub label: &'static str,
    pub(crate) quantity: Quantity,
    pub(crate) better: Better,
    /// One sentence that explains it.
    pub about: &'static str,
    pub(crate) shown: Shown,
    /// A part of the figure above it.
    pub(crate) is_part: bool,
    /// Whether it decides between schemes.
    pub(crate) decides: bool,
    /// The names that `*` stands for.
    pub(crate) names: Option<&'static Names>,
    /// How it is read where it is not directly from its path.
    pub(crate) computed: Option<Value>,
}

/// What a figure can measure, in the words of the table.
const QUANTITIES: [(&str, Quantity); 11] = [
    ("latency", Latency),
    ("time", Time),
    ("rate", Rate),
    ("IOPS", Iops),
    ("bytes", Bytes),
    ("count", Count),
    ("number", Number),
    ("share", Share),
    ("energy", Energy),
    ("energy per byte", EnergyPerByte),
    ("ratio", Waf),
];

fn named<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, it)| *it)
}

impl Figure {
    /// The figure of a line of the table; nothing where it is none.
    pub(crate) fn of_line(line: &'static str) -> Option<Figure> {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [path, label, measured, when, about] = columns[..] else { return None };
        let (quantity, better) = measured.split_once(", ")?;
        let sides = [("lower", Better::Lower), ("higher", Better::Higher), ("neither", Better::Neither)];
        let mut figure = Figure {
            path,
            label,
            quantity: named(&QUANTITIES, quantity)?,
            better: named(&sides, better)?,
            about,
            shown: Shown::Always,
            is_part: false,
            decides: false,
            names: None,
            computed: computed(path, label),
        };
        for word in when.split(", ").filter(|word| !word.is_empty()) {
            match word {
                "part" => figure.is_part = true,
                "decides" => figure.decides = true,
                "if any" => figure.shown = Shown::IfAny,
                "if early copies" => {
                    figure.shown = Shown::WhereAny(|r| r.waf.as_ref().is_some_and(|waf| waf.paper.is_some()));
                }
                "if padding" => {
                    figure.shown =
                        Shown::WhereAny(|r| r.waf.as_ref().is_some_and(|waf| waf.cause("pad") > 0.0));
                }
                _ => figure.names = Some(NAMES.iter().find(|names| word == names.each)?),
            }
        }
        Some(figure)
    }

    /// What it is called where `*` has a name.
    pub(crate) fn label_of(&self, name: &str) -> String {
        self.label.replace('*', name)
    }

    /// What it is called under a heading, where no `*` has a name: `Write latency: p99`, or the heading alone.
    pub(crate) fn under(&self, heading: &str) -> String {
        match self.label.trim_start_matches("* ") {
            "*" => heading.to_string(),
            label => format!("{heading}: {label}"),
        }
    }

    /// Its unit in the JSON and which way is better: `microseconds; lower is better`.
    pub fn measured(&self) -> String {
        let unit = if self.path.contains("_ns") { "nanoseconds" } else { self.quantity.stored() };
        let better = match self.better {
            Better::Lower => "lower is better",
            Better::Higher => "higher is better",
            Better::Neither => "neither end is better",
        };
        format!("{unit}; {better}")
    }
}

/// Figures under one heading, in the order of their rows.
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The figures.
    pub figures: Vec<Figure>,
}
