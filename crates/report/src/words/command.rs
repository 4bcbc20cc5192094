//! The command that reproduces a result, ready for a shell, on one line or broken before options.

use crate::schema::report::Report;
use unicode_width::UnicodeWidthStr;

/// The words quoted for a shell, on one line.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ")
}

/// The same on lines of at most `width` columns where options allow it: each but the last ends in a backslash,
/// each but the first is indented.
pub(crate) fn shell_lines(words: &[String], width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    const GOES_ON: &str = " \\";
    let mut lines: Vec<String> = vec![];
    for option in options(words) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + option.width() + GOES_ON.len() <= width => {
                line.push(' ');
                line.push_str(&option);
            }
            Some(line) => {
                line.push_str(GOES_ON);
                lines.push(format!("{INDENT}{option}"));
            }
            None => lines.push(option),
        }
    }
    lines
}

/// The command's name, and each option with its value.
fn options(words: &[String]) -> Vec<String> {
    let mut options: Vec<String> = vec![];
    for word in words {
        match options.last_mut() {
            Some(last) if !word.starts_with("--") => *last = format!("{last} {}", quoted(word)),
            _ => options.push(quoted(word)),
        }
    }
    options
}

/// A word as a shell takes it.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%@+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Sentence about a command with a Python class that is in no file.
pub fn class_without_file(command: &str) -> Option<&'static str> {
    command.contains("py:#").then_some(
        "py:# is a class without a file: it was defined in an interpreter, a notebook or a function; \
         define it at the top level of a file and use py:FILE#CLASS",
    )
}

/// The command that runs all of these together, if they differ in the scheme only.
pub(crate) fn of_all(reports: &[Report]) -> Option<Vec<String>> {
    let [first, others @ ..] = reports else { return None };
    let (mut words, scheme, at) = apart(first)?;
    if others.is_empty() {
        return Some(first.command.clone());
    }
    let mut schemes = vec![scheme];
    for other in others {
        let (rest, scheme, _) = apart(other)?;
        if rest != words {
            return None;
        }
        schemes.push(scheme);
    }
    let named = schemes.into_iter().flat_map(|s| ["--scheme".to_string(), s]);
    words.splice(at..at, named);
    *words.get_mut(1)? = "compare".to_string();
    Some(words)
}

/// The words of a run's command without its scheme, the scheme, and its position.
fn apart(report: &Report) -> Option<(Vec<String>, String, usize)> {
    let at = report.command.iter().position(|w| w == "--scheme")?;
    let mut words = report.command.clone();
    let scheme = words.drain(at..(at + 2).min(words.len())).nth(1)?;
    Some((words, scheme, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(|w| w.replace('_', " ")).collect()
    }

    fn run(text: &str) -> Report {
        Report { command: words(text), ..Report::default() }
    }

    #[test]
    fn a_command_survives_a_shell() {
        let line =
            shell_line(&words("wordline run --workload a_b.csv --set gc.trigger=free_<_5% --scheme it's"));
        assert_eq!(
            line,
            r"wordline run --workload 'a b.csv' --set 'gc.trigger=free < 5%' --scheme 'it'\''s'"
        );
    }

    #[test]
    fn long_commands_break_before_options() {
        let command = words("wordline compare --device demo-8gb --scheme conventional --scheme slc-cache");
        let lines = shell_lines(&command, 44);
        assert_eq!(
            lines,
            ["wordline compare --device demo-8gb \\", "  --scheme conventional --scheme slc-cache"]
        );
        let joined = lines.join("\n").replace(" \\\n ", "");
        assert_eq!(joined, shell_line(&command));
    }

    #[test]
    fn runs_that_differ_in_the_scheme_have_one_command() {
        let runs = [
            run("wordline run --device d --scheme a --seed 7"),
            run("wordline run --device d --scheme b --seed 7"),
        ];
        let all = of_all(&runs).unwrap();
        assert_eq!(all, words("wordline compare --device d --scheme a --scheme b --seed 7"));
        assert_eq!(of_all(&runs[..1]).unwrap(), runs[0].command);
        let other = run("wordline run --device e --scheme b --seed 7");
        assert_eq!(of_all(&[runs[0].clone(), other]), None);
        assert_eq!(of_all(&[Report::default()]), None);
    }
}
