//! Whether runs were compared under the same conditions: the table says so, or where they differ.

use crate::schema::report::Report;
use crate::words::number::{self, Quantity};

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
    let of = |name, text: &dyn Fn(&crate::schema::blocks::Conditions) -> String| {
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
pub(crate) fn sentence(conditions: &[Condition], labels: &[String]) -> String {
    let runs = conditions.first().map_or(0, |c| c.texts.len());
    let alike = conditions.iter().filter(|c| !c.differs());
    let alike: Vec<String> = alike.map(|c| format!("{} {}", c.name, c.texts[0])).collect();
    let differing = conditions.iter().filter(|c| c.differs());
    let differing: Vec<String> =
        differing.map(|c| format!("{} ({})", c.name, values(&c.texts, labels))).collect();
    match (runs, differing.as_slice()) {
        (0, _) => String::new(),
        (1, _) => alike.join(", "),
        (_, []) => format!("the same for all: {}", alike.join(", ")),
        (_, names) => format!("not the same for all: {}", names.join(", ")),
    }
}

/// The values of two runs against each other, those of more with the runs that have each.
fn values(texts: &[String], labels: &[String]) -> String {
    if texts.len() <= 2 {
        return texts.join(" against ");
    }
    let mut of: Vec<(&str, Vec<&str>)> = vec![];
    for (text, label) in texts.iter().zip(labels) {
        match of.iter_mut().find(|(t, _)| *t == text) {
            Some((_, who)) => who.push(label),
            None => of.push((text, vec![label])),
        }
    }
    // The value of most of them needs no names.
    let most = of.iter().map(|(_, who)| who.len()).max().unwrap_or(0);
    let usual = of.iter().position(|(_, who)| who.len() == most && most > 1);
    let of = of.iter().enumerate().map(|(i, (text, who))| match Some(i) == usual {
        true => format!("{text} for {most} of them"),
        false => format!("{text} for {}", who.join(", ")),
    });
    of.collect::<Vec<_>>().join("; ")
}
