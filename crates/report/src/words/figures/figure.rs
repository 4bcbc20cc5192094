//! Definition of a figure: its path, label, sentence, and when it has a row.

use crate::schema::report::Report;
use crate::words::figures::computed::{NAMES, Names, Value, computed};
use crate::words::number::Quantity;
use Quantity::{Bytes, Count, Energy, EnergyPerByte, Iops, Latency, Number, Rate, Share, Time, Waf};

/// The better direction of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Better {
    Lower,
    Higher,
    Neither,
}

/// When a figure has a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    Always,
    /// If it is not zero in every run.
    IfAny,
    /// If any run satisfies this.
    WhereAny(fn(&Report) -> bool),
}

/// Ratio of the two ways of counting WAF from which on both have a row.
const ROUNDED_UP: f64 = 1.1;

/// One figure of a report.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its path in the JSON of a report; `*` is the name of a cause, a mode, a queue, a table or a metric.
    pub path: &'static str,
    /// The label of its row; `*` is that name as people read it.
    pub label: &'static str,
    pub(crate) quantity: Quantity,
    pub(crate) better: Better,
    /// One sentence that explains it.
    pub about: &'static str,
    pub(crate) shown: Shown,
    /// A part of the figure above it.
    pub(crate) is_part: bool,
    /// Whether it is decisive between schemes.
    pub(crate) decides: bool,
    /// The names that `*` stands for.
    pub(crate) names: Option<&'static Names>,
    /// How it is computed, if it is not read from its path.
    pub(crate) computed: Option<Value>,
}

/// Quantities of figures, in the words of the table.
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
    /// The figure of a line of the table, if it is one.
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
                "if rounded up" => {
                    figure.shown = Shown::WhereAny(|r| {
                        r.waf.as_ref().is_some_and(|waf| waf.per_host_byte > Some(ROUNDED_UP * waf.total))
                    });
                }
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

    /// Its label with a name for `*`.
    pub(crate) fn label_of(&self, name: &str) -> String {
        self.label.replace('*', name)
    }

    /// Its full name under a heading: `Write latency: p99`, or the heading alone.
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
