//! Sentences about several runs, merged: sentences that differ only in numbers become one, with the runs concerned and
//! the ranges of the numbers.

/// A sentence, and the runs concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// Labels of the runs; empty if it concerns all of them.
    pub who: Vec<String>,
    pub text: String,
}

/// Sentences, each with the number of its run.
type Sentences = Vec<(usize, String)>;

impl Said {
    /// The sentence behind the names of its runs.
    pub(crate) fn whole(&self) -> String {
        if self.who.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.who.join(", "), self.text)
        }
    }
}

/// The sentences of runs, each once. Sentences equal except for numbers are merged if there are at least `least`; fewer
/// stay separate. A sentence about all runs names none.
pub(crate) fn once(sentences: Sentences, labels: &[String], least: usize) -> Vec<Said> {
    let mut groups: Vec<(Vec<Piece>, Sentences)> = vec![];
    for (run, text) in sentences {
        let shape = pieces(&text);
        let alike = |(other, _): &&mut (Vec<Piece>, Sentences)| same_shape(other, &shape);
        match groups.iter_mut().find(alike) {
            Some((_, all)) => all.push((run, text)),
            None => groups.push((shape, vec![(run, text)])),
        }
    }
    groups.into_iter().flat_map(|(_, all)| joined(all, labels, least)).collect()
}

/// `both` or `all N`, before the word for what is counted.
pub(crate) fn all_of(count: usize) -> String {
    if count == 2 { "both".to_string() } else { format!("all {count}") }
}

fn joined(all: Sentences, labels: &[String], least: usize) -> Vec<Said> {
    let mut texts: Vec<(String, Vec<usize>)> = vec![];
    for (run, text) in all {
        match texts.iter_mut().find(|(t, _)| *t == text) {
            Some((_, runs)) => runs.push(run),
            None => texts.push((text, vec![run])),
        }
    }
    let runs: usize = texts.iter().map(|(_, r)| r.len()).sum();
    if texts.len() > 1 && runs >= least {
        // From where to where a number goes is not a value of an option.
        let has_option = texts.iter().any(|(text, _)| text.contains("--"));
        let spread = match has_option {
            true => serves_all(&texts),
            false => spread(&texts.iter().map(|(t, _)| pieces(t)).collect::<Vec<_>>()),
        };
        let mut who: Vec<usize> = texts.into_iter().flat_map(|(_, r)| r).collect();
        who.sort_unstable();
        texts = vec![(spread, who)];
    }
    let named = |runs: Vec<usize>| {
        let others: Vec<&str> =
            (0..labels.len()).filter(|i| !runs.contains(i)).map(|i| labels[i].as_str()).collect();
        match others.len() {
            0 => vec![],
            // The exceptions are shorter than the rule.
            1..=2 if labels.len() > 4 => vec![format!("all but {}", others.join(" and "))],
            _ => runs.into_iter().filter_map(|r| labels.get(r).cloned()).collect(),
        }
    };
    texts.into_iter().map(|(text, runs)| Said { who: named(runs), text }).collect()
}

/// Among sentences that propose a value of one option, keep the one that serves all runs: the largest for a size,
/// length or share of valid data, the smallest for a rate.
fn serves_all(texts: &[(String, Vec<usize>)]) -> String {
    let value = |text: &str| {
        let numbers = pieces(text).into_iter().rev();
        let last =
            numbers.filter_map(|p| if let Piece::Number(_, value) = p { Some(value) } else { None }).next();
        last.unwrap_or(0.0) * if text.contains("rate=") { -1.0 } else { 1.0 }
    };
    let best = texts.iter().max_by(|a, b| value(&a.0).total_cmp(&value(&b.0)));
    best.map_or(String::new(), |(text, _)| text.clone())
}

/// A number as it is written, or the text between numbers.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Number(String, f64),
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut out = vec![];
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[start..];
        let mut end =
            tail.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(tail.len());
        // A full stop or a comma behind a number is the sentence's.
        end = tail[..end].trim_end_matches(['.', ',']).len();
        let value = tail[..end].replace(',', "").parse();
        out.push(Piece::Text(rest[..start].to_string()));
        match value {
            Ok(value) => out.push(Piece::Number(tail[..end].to_string(), value)),
            Err(_) => out.push(Piece::Text(tail[..end].to_string())),
        }
        rest = &tail[end..];
    }
    out.push(Piece::Text(rest.to_string()));
    out
}

fn same_shape(a: &[Piece], b: &[Piece]) -> bool {
    let same = |pair: (&Piece, &Piece)| match pair {
        (Piece::Text(a), Piece::Text(b)) => a == b,
        (Piece::Number(..), Piece::Number(..)) => true,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// One sentence for several of one shape, with ranges of their numbers.
fn spread(all: &[Vec<Piece>]) -> String {
    let at = |i: usize| -> String {
        let numbers = || {
            all.iter().filter_map(|p| match &p[i] {
                Piece::Number(text, value) => Some((text, *value)),
                Piece::Text(_) => None,
            })
        };
        let least = numbers().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = numbers().max_by(|a, b| a.1.total_cmp(&b.1));
        match (least, most, &all[0][i]) {
            (Some((a, _)), Some((b, _)), _) if a == b => a.clone(),
            (Some((a, _)), Some((b, _)), _) => format!("{a} to {b}"),
            (_, _, Piece::Text(text) | Piece::Number(text, _)) => text.clone(),
        }
    };
    (0..all[0].len()).map(at).collect()
}

/// From this many runs on, those of one verdict share a sentence; the table has the figures of each.
pub(crate) const TOGETHER: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(n: usize) -> Vec<String> {
        ["a", "b", "c", "d", "e", "f"][..n].iter().map(|s| s.to_string()).collect()
    }

    fn say(texts: &[(usize, &str)], n: usize, least: usize) -> Vec<String> {
        let texts = texts.iter().map(|(run, t)| (*run, t.to_string())).collect();
        once(texts, &labels(n), least).iter().map(Said::whole).collect()
    }

    #[test]
    fn the_same_of_all_is_said_once_without_names() {
        assert_eq!(say(&[(0, "no collection."), (1, "no collection.")], 2, 2), ["no collection."]);
        assert_eq!(say(&[(0, "no collection."), (2, "no collection.")], 3, 2), ["a, c: no collection."]);
    }

    #[test]
    fn numbers_that_differ_become_a_range() {
        let texts = [(0, "full 3 times, of 1,200."), (2, "full 18 times, of 1,200."), (3, "slow.")];
        assert_eq!(say(&texts, 4, 2), ["a, c: full 3 to 18 times, of 1,200.", "d: slow."]);
        let texts = [(0, "8,300 were under way"), (1, "0.5 were under way"), (2, "12 were under way")];
        assert_eq!(say(&texts, 3, 2), ["0.5 to 8,300 were under way"]);
    }

    #[test]
    fn an_option_has_the_value_that_serves_all_runs() {
        let texts = [(0, "full 9 times; --set a.b=3 helps."), (1, "full 7 times; --set a.b=5 helps.")];
        assert_eq!(say(&texts, 2, 2), ["full 7 times; --set a.b=5 helps."]);
        let texts = [(0, "--set w.rate=300 is slow enough."), (1, "--set w.rate=50 is slow enough.")];
        assert_eq!(say(&texts, 2, 2), ["--set w.rate=50 is slow enough."]);
    }

    #[test]
    fn of_many_the_exceptions_are_named() {
        let texts: Vec<(usize, &str)> = [0, 1, 2, 4].map(|run| (run, "slow.")).into();
        assert_eq!(say(&texts, 6, 2), ["all but d and f: slow."]);
        assert_eq!(say(&texts[..3], 6, 2), ["a, b, c: slow."]);
    }

    #[test]
    fn few_stay_apart_where_each_number_counts() {
        let texts = [(0, "steady from 3 s."), (1, "steady from 5 s."), (2, "steady from 5 s.")];
        assert_eq!(say(&texts, 3, 4), ["a: steady from 3 s.", "b, c: steady from 5 s."]);
    }
}
