//! Whether runs were compared under the same conditions: the table says so, or where they differ.

use crate::number::{self, Quantity};
use crate::report::Report;

/// A condition, as text for every run.
pub(crate) struct Condition {
    pub name: &'static str,
    pub texts: Vec<String>,
}

impl Condition {
    /// Whether not all runs have the same.
    pub fn differs(&self) -> bool {
        self.texts.windows(2).any(|w| w[0] != w[1])
    }
}

/// The conditions of runs that all say theirs; none where one does not.
pub(crate) fn conditions(reports: &[Report]) -> Vec<Condition> {
    let Some(all) = reports.iter().map(|r| r.conditions.as_ref()).collect::<Option<Vec<_>>>() else {
        return vec![];
    };
    let of = |name, text: &dyn Fn(&crate::Conditions) -> String| {
        let texts = all.iter().map(|c| text(c).replace(number::NO_BREAK, " ")).collect();
        Condition { name, texts }
    };
    vec![
        of("capacity", &|c| number::bytes(c.capacity_bytes)),
        of("over-provisioning", &|c| format!("{:.1} %", c.over_provisioning * 100.0)),
        of("RAM", &|c| Quantity::Bytes.show(c.ram_bytes as f64)),
        of("initial state", &|c| c.initial.clone()),
    ]
}

/// What the runs have in common, and in which conditions they differ.
pub(crate) fn sentence(conditions: &[Condition]) -> String {
    let runs = conditions.first().map_or(0, |c| c.texts.len());
    let alike = conditions.iter().filter(|c| !c.differs());
    let alike: Vec<String> = alike.map(|c| format!("{} {}", c.name, c.texts[0])).collect();
    let differing = conditions.iter().filter(|c| c.differs());
    let differing: Vec<String> =
        differing.map(|c| format!("{} ({})", c.name, c.texts.join(" against "))).collect();
    match (runs, differing.as_slice()) {
        (0, _) => String::new(),
        (1, _) => alike.join(", "),
        (_, []) => format!("the same for all: {}", alike.join(", ")),
        (_, names) => format!("not the same for all: {}", names.join(", ")),
    }
}
