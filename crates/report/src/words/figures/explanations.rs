//! Text of `explain` for figures and terms, and the schema of reports with every figure.

#[cfg(feature = "schema")]
use crate::schema::report::Report;
use crate::words::figures::figure::{Figure, Section};
use crate::words::figures::table::SECTIONS;
use crate::words::figures::terms::{Term, terms};

/// A figure or a term, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its name as tables and pages have it.
    pub name: String,
    /// One sentence.
    pub about: &'static str,
    /// Its path and unit, or kind and source, each with its heading.
    pub facts: Vec<(&'static str, String)>,
}

/// Everything of this name: figures by label (`WAF`), heading and label (`write latency p99`, `write p99`) or JSON path
/// (`waf.total`), and terms (`GC`, `region S`, `not steady`). Case, `-` and `_` do not matter.
pub fn explained(name: &str) -> Vec<Explained> {
    let wanted = plain(name);
    let under = |section: &'static Section| section.figures.iter().map(move |figure| (section.title, figure));
    let named = SECTIONS.iter().flat_map(under).filter(|(title, figure)| {
        let label = figure.label.trim_start_matches("* ");
        let first = title.split(' ').next().unwrap_or_default();
        let names = [
            label.to_string(),
            format!("{title} {label}"),
            format!("{first} {label}"),
            figure.path.to_string(),
        ];
        label != "*" && names.iter().any(|n| plain(n) == wanted)
    });
    let of_section = SECTIONS.iter().filter(|section| plain(section.title) == wanted);
    let mut found: Vec<Explained> =
        named.chain(of_section.flat_map(under)).map(|(title, figure)| of_figure(title, figure)).collect();
    let same = |term: &&Term| [term.name].iter().chain(&term.also).any(|n| plain(n) == wanted);
    found.extend(terms().filter(same).map(of_term));
    found
}

/// Every figure and every term.
pub fn every_explained() -> Vec<Explained> {
    let figures = SECTIONS.iter().flat_map(|s| s.figures.iter().map(|figure| of_figure(s.title, figure)));
    figures.chain(terms().map(of_term)).collect()
}

fn of_figure(title: &str, figure: &Figure) -> Explained {
    Explained {
        name: figure.under(title),
        about: figure.about,
        facts: vec![("JSON", figure.path.to_string()), ("unit", figure.measured())],
    }
}

fn of_term(term: &Term) -> Explained {
    let also = (!term.also.is_empty()).then(|| term.also.join(", "));
    let facts = [("also", also), ("kind", Some(term.kind.to_string()))].into_iter();
    let facts = facts.chain([("source", term.source.map(str::to_string))]);
    Explained {
        name: term.name.to_string(),
        about: term.about,
        facts: facts.filter_map(|(what, text)| Some((what, text?))).collect(),
    }
}

/// Every explained name, for completion and for suggestions.
pub fn explainable() -> Vec<&'static str> {
    let labels =
        SECTIONS.iter().flat_map(|s| std::iter::once(s.title).chain(s.figures.iter().map(|f| f.label)));
    let mut names: Vec<&str> =
        labels.filter(|label| !label.contains('*')).chain(terms().map(|t| t.name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The JSON schema of a report as it is committed, for programs without `schemars`.
pub const REPORT_SCHEMA_TEXT: &str = include_str!("../../../report.schema.json");

/// The JSON schema of a report: that of its types, and under `figures`, by path, the name, unit and sentence of each
/// figure.
#[cfg(feature = "schema")]
pub fn report_schema() -> schemars::Schema {
    let mut figures = std::collections::BTreeMap::<&str, String>::new();
    for section in &*SECTIONS {
        for figure in &section.figures {
            let (name, measured, about) = (figure.under(section.title), figure.measured(), figure.about);
            let text = figures.entry(figure.path).or_default();
            *text = format!("{text} {name} ({measured}). {about}").trim_start().to_string();
        }
    }
    let mut schema = schemars::schema_for!(Report);
    schema.insert("figures".to_string(), serde_json::json!(figures));
    schema
}

/// Every term by kind as a page of Markdown: docs/glossary.md.
pub fn glossary() -> String {
    let mut page = "# Glossary\n\n`wordline explain TERM` prints a term.\n".to_string();
    let mut kind = "";
    for term in terms() {
        if term.kind != kind {
            kind = term.kind;
            page += &format!(
                "\n## {}{}\n\n| term | also | meaning | source |\n|---|---|---|---|\n",
                kind[..1].to_uppercase(),
                &kind[1..]
            );
        }
        let also = term.also.join(", ");
        page +=
            &format!("| {} | {also} | {} | {} |\n", term.name, term.about, term.source.unwrap_or_default());
    }
    page
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::activity::CAUSES;
    use crate::words::figures::terms::{latency_part, latency_parts};

    #[test]
    fn figures_and_terms_are_found_by_every_name() {
        let paths = |name: &str| -> Vec<String> {
            explained(name)
                .into_iter()
                .flat_map(|e| e.facts)
                .filter(|(what, _)| *what == "JSON")
                .map(|f| f.1)
                .collect()
        };
        assert_eq!(paths("waf.total"), ["waf.total"]);
        assert_eq!(paths("WAF"), ["waf.total", "steady_state.after.waf"]);
        for name in ["Write latency p99", "WRITE-LATENCY p99", "latency_us.write.p99"] {
            assert_eq!(paths(name), ["latency_us.write.p99"], "{name}");
        }
        assert_eq!(paths("write p99"), ["latency_us.write.p99", "queues.*.write.percentiles_ns"]);
        assert_eq!(paths("p99.9").len(), 2);
        assert_eq!(paths("write_amplification")[0], "waf.total");
        assert_eq!(explained("no such thing"), []);
        assert_eq!(explained("Steady_State")[0].name, "steady");
    }

    /// What storage engineers typed, and measures of a page, of which nothing was known.
    #[test]
    fn synonyms_of_the_field_are_explained() {
        for name in [
            "tail latency, p9999, 99th percentile, median, bandwidth, pSLC, overprovisioning, iodepth, FTL, page, block",
            "plane, die, channel, superpage, fsync, ECC, LDPC, UBER, RBER, ZNS, FDP, P/E, erase count, bad block",
            "hot data, cold data, greedy, word line, writes until wear-out, baseline, verdict, Pareto front",
            "significant",
        ]
        .iter()
        .flat_map(|line| line.split(", "))
        {
            assert!(!explained(name).is_empty(), "{name} is not explained");
        }
    }

    #[test]
    fn all_that_pictures_and_tables_name_is_explained() {
        let names = CAUSES.into_iter().chain(["slc", "mlc", "tlc", "qlc", "reprogram"]);
        let parts = latency_parts().map(|part| part.also[0]);
        for name in names.chain(parts).chain(explainable()) {
            assert!(!explained(name).is_empty(), "{name} is not explained");
        }
        assert_eq!(latency_part("behind_gc"), "waiting for GC");
    }
}
