//! Terms of tables and pages, each with a sentence: causes, regions, cell modes, latency parts, verdicts, and terms of
//! the field. `terms.txt` has them.

use std::sync::LazyLock;

/// A term with the sentence that explains it.
#[derive(Clone, Debug)]
pub struct Term {
    /// The term as tables and pages have it.
    pub name: &'static str,
    /// Its other names: JSON keys, abbreviations.
    pub also: Vec<&'static str>,
    /// Its kind.
    pub kind: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Where the field defines it.
    pub source: Option<&'static str>,
}

const TEXT: &str = include_str!("terms.txt");

static TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| {
    let mut kind = "";
    let mut terms = vec![];
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            kind = heading;
        } else if let [name, also, about, ref source @ ..] =
            line.split('|').map(str::trim).collect::<Vec<_>>()[..]
        {
            let also = also.split(", ").filter(|word| !word.is_empty()).collect();
            terms.push(Term { name, also, kind, about, source: source.first().copied() });
        }
    }
    terms
});

/// Every term, parts of a latency among them.
pub(crate) fn terms() -> impl Iterator<Item = &'static Term> {
    TERMS.iter()
}

/// Parts of the mean latency, each with its JSON key.
pub(crate) fn latency_parts() -> impl Iterator<Item = &'static Term> {
    terms().filter(|term| term.kind == "part of the mean latency")
}

/// The name of a latency part; any other key unchanged.
pub(crate) fn latency_part(key: &str) -> String {
    let known = latency_parts().find(|part| part.also == [key]);
    known.map_or_else(|| key.replace('_', " "), |part| part.name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_text_is_a_term_or_a_heading() {
        let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
        assert_eq!(terms().count(), lines.count());
        assert!(terms().all(|term| term.about.ends_with('.') && !term.kind.is_empty()));
        assert_eq!(latency_parts().count(), 11);
    }
}
