//! What a figure is: where it stands, what it is called, what it says, and how it is read from a report.

use crate::schema::report::Report;
use crate::words::number::Quantity;

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
    /// Where it stands in the JSON of a report; `*` is the name of a cause, a mode, a queue, a table or a metric.
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
}

impl Figure {
    pub(crate) const fn new(
        path: &'static str,
        label: &'static str,
        (quantity, better): (Quantity, Better),
        about: &'static str,
    ) -> Figure {
        Figure { path, label, quantity, better, about, shown: Shown::Always, is_part: false }
    }

    /// Without a row where it is zero in every run.
    pub(crate) const fn if_any(mut self) -> Figure {
        self.shown = Shown::IfAny;
        self
    }

    /// Without a row where no run is like this.
    pub(crate) const fn where_any(mut self, is: fn(&Report) -> bool) -> Figure {
        self.shown = Shown::WhereAny(is);
        self
    }

    /// Indented below the figure that it is a part of.
    pub(crate) const fn part(mut self) -> Figure {
        self.is_part = true;
        self
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

/// A value of a report; `None` where it does not exist.
pub(crate) type Value = fn(&Report) -> Option<f64>;
/// A value of a report under a name.
pub(crate) type NamedValue = fn(&Report, &str) -> Option<f64>;

/// The names that `*` stands for in some reports, and how people read them.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub of: fn(&[Report]) -> Vec<String>,
    pub title: fn(&str) -> String,
}

/// A line of the table.
pub(crate) enum Entry {
    One(Figure, Value),
    /// Figures of everything that has a name, name by name.
    Each(Names, &'static [(Figure, NamedValue)]),
}

/// Figures under one heading.
pub struct Section {
    /// The heading.
    pub title: &'static str,
    pub(crate) entries: &'static [Entry],
}

impl Section {
    /// Its figures, in the order of their rows.
    pub fn figures(&self) -> impl Iterator<Item = &'static Figure> {
        self.entries.iter().flat_map(|entry| match entry {
            Entry::One(figure, _) => std::slice::from_ref(figure).iter().collect::<Vec<_>>(),
            Entry::Each(_, figures) => figures.iter().map(|(figure, _)| figure).collect(),
        })
    }
}

/// Names in the order in which they come, each once, and at most `most` of them.
pub(crate) fn distinct(names: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for name in names {
        if !found.contains(&name) && found.len() < most {
            found.push(name);
        }
    }
    found
}

macro_rules! one {
    ($path:literal, $label:literal, $quantity:expr, $better:expr, $about:expr, $value:expr $(; $($how:ident),+)?) => {
        Entry::One(Figure::new($path, $label, ($quantity, $better), $about)$($(.$how())+)?, $value)
    };
}

macro_rules! latency {
    ($kind:ident, $path:literal, $label:literal, $at:ident, $about:expr) => {
        one!($path, $label, Q::Latency, Lower, $about, |r| r.latency_us.$kind.map(|l| l.$at))
    };
}

pub(crate) use {latency, one};
